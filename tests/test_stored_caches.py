# SPDX-License-Identifier: GPL-3.0-or-later
"""Heads, reports, tets and checkpoints of a cache with wrong types or sizes end in one sentence."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.tiny_bakes import tiny_scene, write_scene
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.mechanics.state import State
from sinew.solver.mechanics.topology_state import check_fits
from sinew.solver.mesh.mesh_npz import from_arrays
from sinew.solver.runtime.checksums import CHECKSUM_KEY, npz_bytes
from sinew.solver.runtime.errors import StorageFailed

Arrays = dict[str, Any]


@pytest.fixture(scope="module")
def baked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    cache = tmp_path_factory.mktemp("baked") / "c.sinew"
    write_scene(cache, tiny_scene(3))
    run_bake(cache, lambda event: None)
    return cache


@pytest.fixture
def cache(baked: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(baked, tmp_path / "c.sinew"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bodies", None),
        ("bodies", {}),
        ("bodies", [5]),
        ("bodies", [{"key": "../x", "name": "X", "vertices": 3}]),
        ("bodies", [{"key": "x", "name": "X", "vertices": "3"}]),
        ("bodies", [{"key": "x", "name": "X", "vertices": -3}]),
        ("bodies", [{"key": "x", "name": "X", "vertices": 3}] * 2),
        ("frame_start", 1.5),
        ("frame_start", True),
        ("frame_end", "9"),
        ("frame_end", 10**30),
        ("fps", 0),
        ("fps", float("nan")),
        ("fps", "24"),
        ("samples_per_frame", 0),
        ("samples_per_frame", 1e300),
        ("scene", 7),
        ("tracks", None),
        ("settings", []),
        ("more", 1),
    ],
)
def test_wrong_values_of_a_head_are_named(cache: Path, name: str, value: Any) -> None:
    tree = json.loads((cache / "cache.json").read_text(encoding="utf-8"))
    shutil.rmtree(cache / "model")
    del tree[CHECKSUM_KEY]  # by hand, or by an earlier Sinew
    (cache / "cache.json").write_text(json.dumps({**tree, name: value}))
    with pytest.raises(StorageFailed) as caught:
        CacheReader(cache)
    assert caught.value.kind == "cache-unreadable"
    assert "key" in caught.value.text or name in caught.value.text
    assert "\n" not in caught.value.text


@pytest.mark.parametrize("text", ["null", "[]", "5", '"x"', "{", '{"format": 1}', "[" * 100_000])
def test_what_is_no_head_at_all(cache: Path, text: str) -> None:
    shutil.rmtree(cache / "model")
    (cache / "cache.json").write_text(text)
    with pytest.raises(StorageFailed) as caught:
        CacheReader(cache)
    assert caught.value.kind in ("cache-unreadable", "cache-format")


@pytest.mark.parametrize(
    "line",
    [
        "5", "[]", "null", '{"frame": "x"}', '{"frame": 2, "residual": "x"}', '{"frame": 2, "contacts": null}',
        '{"frame": 2, "contacts": -1}', '{"frame": 2, "bodies": []}', '{"frame": 2, "bodies": {"falls": 3}}',
        '{"frame": 2, "colliders": {"g": 5}}', '{"frame": 2, "inverted_tets": 1.5}', '{"frame": 2, "converged": "no"}',
        '{"frame": 2, "warnings": {}}', '{"frame": 2, "warnings": ["soft"]}',
        '{"frame": 2, "warnings": [{"kind": "collapses", "sentence": "It sags."}]}',
        '{"frame": 2, "warnings": [{"kind": "collapses", "sentence": 5, "next_step": ""}]}', "[" * 100_000,
    ],
)  # fmt: skip
def test_wrong_lines_of_a_report_are_left_out(cache: Path, line: str) -> None:
    path = cache / "report.jsonl"
    first = path.read_text(encoding="utf-8").splitlines()[0]
    path.write_text(f"{first}\n{line}\n", encoding="utf-8")
    reader = CacheReader(cache)
    assert [said["frame"] for said in reader.report()] == [1]
    assert reader.convergence().not_converged == 0


def _without(name: str) -> Callable[[Arrays], Arrays]:
    return lambda arrays: {other: array for other, array in arrays.items() if other != name}


def _with(name: str, change: Callable[[Any], Any]) -> Callable[[Arrays], Arrays]:
    return lambda arrays: {**arrays, name: change(arrays[name])}


SPOILT_POINTS = [
    _without("x"),
    _without("v"),
    _without("time"),
    _with("x", lambda x: x[:-1]),
    _with("x", lambda x: x[:, :2]),
    _with("x", lambda x: x.astype(str)),
    _with("x", lambda x: x * np.nan),
    _with("v", lambda v: v[:-1]),
    _with("v", lambda v: v.astype(complex)),
    _with("time", lambda time: np.zeros(2)),
    _with("time", lambda time: np.array("x")),
    lambda arrays: {**arrays, "x": arrays["x"][:-1], "v": arrays["v"][:-1]},
    lambda arrays: {**arrays, "field.node.temperature": np.zeros(3)},
    lambda arrays: {**arrays, "field.tet.flowed": np.zeros(3)},
    lambda arrays: {**arrays, "field.topology.tets": np.zeros((1, 4), np.int32)},
    lambda arrays: {**arrays, "field.other": np.array(["x"])},
    lambda arrays: {**arrays, "field.contact.id": np.zeros(2), "field.contact.kappa": np.zeros((2, 1))},
    lambda arrays: {**arrays, "field.contact.id": np.zeros(2), "field.contact.kappa": np.zeros(3)},
    lambda arrays: {**arrays, "field.contact.id": np.zeros(2), "field.contact.shear": np.zeros(2)},
    lambda arrays: {**arrays, "field.contact.id": np.array(0)},
]
SPOILT_MODELS = [
    *map(_without, ("nodes", "tets", "fill", "binding_tet", "binding_weights", "report", "joined_tets")),
    _with("nodes", lambda nodes: nodes[:-1]),
    _with("nodes", lambda nodes: nodes + np.inf),
    _with("tets", lambda tets: tets[:, :3]),
    _with("tets", lambda tets: tets + 2**31),
    _with("tets", lambda tets: tets - 1),
    _with("tets", lambda tets: tets.astype(float)),
    _with("fill", lambda fill: fill[:-1]),
    _with("binding_tet", lambda tet: tet + 10**6),
    _with("binding_tet", lambda tet: tet[:-1]),
    _with("binding_weights", lambda weights: weights[:, :3]),
    _with("binding_weights", lambda weights: weights * 1.0e160),
    _with("report", lambda report: np.array("{")),
    _with("report", lambda report: np.array("[]")),
    _with("report", lambda report: np.array(str(report).replace("0", '"x"', 1))),
]


@pytest.mark.parametrize("spoil", SPOILT_POINTS)
def test_a_checkpoint_of_wrong_types_or_sizes_is_none(baked: Path, spoil: Callable[[Arrays], Arrays]) -> None:
    reader = CacheReader(baked)
    meshes = [from_arrays(reader.read_model(key))[0] for key in ("falls", "hangs")]
    counts = sum(len(mesh.nodes) for mesh in meshes), sum(len(mesh.tets) for mesh in meshes)
    arrays = reader.read_resume(3)
    check_fits(State.from_arrays(arrays), *counts)
    with pytest.raises(ValueError):
        check_fits(State.from_arrays(spoil(arrays)), *counts)


@pytest.mark.parametrize("spoil", SPOILT_MODELS)
def test_tets_of_wrong_types_or_sizes_are_none(baked: Path, spoil: Callable[[Arrays], Arrays]) -> None:
    with pytest.raises(ValueError):
        from_arrays(spoil(CacheReader(baked).read_model("falls")))


def test_a_bake_is_not_resumed_from_tets_of_wrong_sizes(cache: Path) -> None:
    path = cache / "model" / "falls.npz"
    with np.load(path) as file:
        arrays = dict(file)
    path.write_bytes(npz_bytes({**arrays, "fill": arrays["fill"][:-1]}))
    with pytest.raises(StorageFailed) as caught:
        run_bake(cache, lambda event: None, options=BakeOptions(resume=True, frame_end=4))
    assert "\n" not in caught.value.text and CacheReader(cache).last_frame() == 3
