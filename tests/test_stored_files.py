# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that Sinew 0.2.0 stored still load, with all that was set, keyed, driven and baked in them.

tests/stored_files/make_0_2_0.py makes these files by the code of that version.
"""

from __future__ import annotations

import gzip
import json
import runpy
import shutil
from pathlib import Path
from typing import Any

import pytest

from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.postprocess.finish_cache import postprocess_cache
from sinew.solver.bake.run_bake import BakeOptions, run_bake

FOLDER = Path(__file__).parent / "stored_files" / "v0.2.0"
MAKER = runpy.run_path(str(FOLDER.parent / "make_0_2_0.py"))
CACHES = sorted(path.stem for path in (FOLDER / "caches").glob("*.zip"))
BLENDS = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.blend") if path.stem != "library")
KEYED_OR_DRIVEN = {"breaking_stress", "flow", "maximum_strain", "pin_stiffness", "source_temperature", "yield_strain"}


@pytest.fixture(scope="module")
def values() -> dict[str, Any]:
    return json.loads(gzip.decompress((FOLDER / MAKER["VALUES_FILE"]).read_bytes()))


@pytest.fixture
def cache(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    folder = tmp_path / f"{request.param}.sinew"
    shutil.unpack_archive(FOLDER / "caches" / f"{request.param}.zip", folder)
    return folder


@pytest.mark.parametrize("blend", BLENDS)
def test_settings_load_with_their_curves_and_drivers(blend: str, values: dict[str, Any]) -> None:
    bpy = pytest.importorskip("bpy")
    from fixtures.blender_scenes import fresh

    fresh()
    bpy.ops.wm.open_mainfile(filepath=str(FOLDER / blend))
    now, before = MAKER["stored_values"](), values[Path(blend).name]
    assert now.keys() == before.keys()
    for owner, settings in before.items():
        lost = {name: (old, now[owner].get(name)) for name, old in settings.items() if now[owner].get(name) != old}
        assert not lost, owner
    if blend == "settings.blend":
        values_now = {name: now["object Body"][name] for name in before["object Body"]}
        moving = {name for name, (first, *others) in values_now.items() if others != [first] * len(others)}
        assert moving == KEYED_OR_DRIVEN


def test_an_override_and_a_linked_object_keep_their_own_values(values: dict[str, Any]) -> None:
    shot = values["shot.blend"]
    overridden, linked = shot["object Overridden"], shot["object Linked of a library"]
    assert overridden["youngs_modulus"][0] == 54321.0 and linked["youngs_modulus"][0] == 12345.0


@pytest.mark.slow
@pytest.mark.parametrize("cache", CACHES, indirect=True)
def test_caches_are_read_and_resumed(cache: Path) -> None:
    reader = CacheReader(cache)
    first, last = reader.baked_range() or (0, 0)
    assert not reader.integrity_problems() and not reader.verify().problems and last > first
    before = {frame: reader.read_frame(frame).x for frame in range(first, last + 1)}
    run_bake(cache, lambda event: None, options=BakeOptions(resume=True, frame_end=last + 2, accept_changes=True))
    assert CacheReader(cache).baked_range() == (first, last + 2)
    for frame, x in before.items():
        assert (CacheReader(cache).read_frame(frame).x == x).all()


@pytest.mark.parametrize("cache", ["breaks"], indirect=True)
def test_what_broke_is_finished(cache: Path) -> None:
    baked = CacheReader(cache).results()
    assert baked and baked[0]["pieces"] > 1
    shutil.rmtree(cache / "result")
    postprocess_cache(cache, lambda event: None)
    assert CacheReader(cache).results() == baked
