# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies with Preview Tets get these where Preview is chosen, and nowhere else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh
from fixtures.export_scenes import exported
from sinew.addon.baking import bake_status
from sinew.addon.export import input_digest
from sinew.addon.objects import roles, tet_estimate
from sinew.solver.bake.cache import CacheMetadata, layout
from sinew.solver.mesh.geometry.triangle_surface import Surface
from sinew.solver.mesh.tetrahedralize import tetrahedralize
from sinew.solver.scene.scene import Scene


def body_with_preview(count: int = 1000) -> tuple[bpy.types.Scene, bpy.types.Object]:
    """Returns a scene with one body of 6,000 tets, and other ones at Preview."""
    scene = fresh()
    obj = add_box()
    roles.make_body(obj)
    obj.sinew.sizing, obj.sinew.tet_count = "COUNT", 6000
    obj.sinew.use_preview_tets, obj.sinew.preview_tets = True, count
    return scene, obj


def exported_size(scene: bpy.types.Scene, folder: Path) -> float:
    """Returns the tet size of the only body of an exported scene [m]."""
    size = exported(scene, folder)[0].bodies[0].meshing.tet_size
    assert size is not None
    return size


@pytest.mark.parametrize(
    "sizing", [{"sizing": "COUNT", "tet_count": 6000}, {"sizing": "DIVISIONS", "divisions": 20}, {"sizing": "SIZE"}]
)
def test_tets_are_those_of_the_chosen_detail(sizing: dict[str, object], tmp_path: Path) -> None:
    scene, obj = body_with_preview()
    for name, value in sizing.items():
        setattr(obj.sinew, name, value)
    obj.sinew.use_preview_tets = False
    plain = exported_size(scene, tmp_path / "plain.sinew")
    obj.sinew.use_preview_tets = True
    assert exported_size(scene, tmp_path / "final.sinew") == plain
    scene.sinew.bake_detail = "PREVIEW"
    found = exported(scene, tmp_path / "preview.sinew")[0].bodies[0]
    made = tetrahedralize(Surface(found.vertices, found.triangles), found.meshing, "box")
    assert 600 <= len(made.tets) <= 1500
    assert tet_estimate.tet_count(obj, 1.0, is_preview=True) == pytest.approx(len(made.tets), rel=0.3)
    obj.sinew.use_preview_tets = False
    assert exported_size(scene, tmp_path / "again.sinew") == plain


def test_a_preview_is_never_finer_than_the_final_bake(tmp_path: Path) -> None:
    scene, _ = body_with_preview(1_000_000)
    final = exported_size(scene, tmp_path / "final.sinew")
    scene.sinew.bake_detail = "PREVIEW"
    assert exported_size(scene, tmp_path / "preview.sinew") == final


def test_a_final_bake_stays_up_to_date_whatever_the_preview_is() -> None:
    scene, obj = body_with_preview()
    final = input_digest.settings_digest(scene)
    obj.sinew.preview_tets = 1100
    assert input_digest.settings_digest(scene) == final
    scene.sinew.bake_detail = "PREVIEW"
    preview = input_digest.settings_digest(scene)
    assert preview != final
    obj.sinew.preview_tets = 1200
    assert input_digest.settings_digest(scene) not in (preview, final)
    obj.sinew.use_preview_tets = False
    assert input_digest.settings_digest(scene) == final


def test_the_button_says_that_it_bakes_a_preview() -> None:
    scene, obj = body_with_preview()
    assert bake_status.status(scene).label == "Simulate"
    scene.sinew.bake_detail = "PREVIEW"
    assert bake_status.status(scene).label == "Simulate at Preview"
    obj.sinew.use_preview_tets = False
    assert bake_status.status(scene).label == "Simulate"


@pytest.mark.slow
def test_a_bake_without_a_window_is_final(tmp_path: Path) -> None:
    scene, _ = body_with_preview()
    scene.frame_end = 2
    final = exported_size(scene, tmp_path / "final.sinew")
    scene.sinew.bake_detail = "PREVIEW"
    source, cache, out = tmp_path / "source.blend", tmp_path / "cache.sinew", tmp_path / "out.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(source))
    command = [sys.executable, "-m", "sinew", "bake", str(source), "--cache", str(cache), "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    assert CacheMetadata.load(cache).frame_end == 2
    assert Scene.load(cache / layout.SCENE_FOLDER).bodies[0].meshing.tet_size == final
    bpy.ops.wm.open_mainfile(filepath=str(out))
    status = bake_status.status(bpy.context.scene)
    assert not status.outdated and status.baked_label == "Baked to Frame 2"
