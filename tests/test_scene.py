# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene comes back from disk as it was, and its digest changes with what can change the result."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.tiny_bakes import tiny_scene
from sinew.solver.runtime.errors import BadInput, StorageFailed
from sinew.solver.scene.flesh import Flesh
from sinew.solver.scene.material import MaterialPaint
from sinew.solver.scene.scene import ARRAYS_FILE, SCENE_FILE, Body, Collider, Material, Meshing, Scene, Settings
from sinew.solver.scene.validation import check_scene

NODES = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], np.int32)


def small_scene() -> Scene:
    body = Body(
        key="b0",
        name="Würfel 立方",
        vertices=NODES,
        triangles=FACES,
        material=Material(youngs_modulus=2e5, poisson_ratio=0.3),
        meshing=Meshing(method="given", tet_size=None, divisions=3),
        pinned=np.array([1], np.int32),
        pin_weights=np.array([0.5]),
        initial_velocity=(0.0, 1.0, -2.0),
        tet_nodes=NODES,
        tets=np.array([[0, 1, 2, 3]], np.int32),
    )
    ground = Collider(key="c0", name="Ground")
    mesh = Collider(key="c1", name="Table", shape="mesh", vertices=NODES * 0.1, triangles=FACES, friction=0.25)
    return Scene((body, replace(body, key="b1", tets=None, tet_nodes=None)), (ground, mesh), Settings(fps=23.976))


def same(a: Any, b: Any) -> bool:
    if dataclasses.is_dataclass(a):
        return type(a) is type(b) and all(same(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a))
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return type(a) is type(b) and bool(a == b)


def test_a_scene_comes_back_as_it_was(tmp_path: Path):
    scene = small_scene()
    scene.save(tmp_path / "scene")
    loaded = Scene.load(tmp_path / "scene")
    assert same(scene, loaded)
    assert scene.digest() == loaded.digest()
    assert sorted(path.name for path in (tmp_path / "scene").iterdir()) == [ARRAYS_FILE, SCENE_FILE]


def test_an_empty_scene_comes_back(tmp_path: Path):
    Scene().save(tmp_path)
    assert same(Scene(), Scene.load(tmp_path))


@settings(max_examples=25, deadline=None)
@given(
    fps=st.floats(1, 240),
    gravity=st.tuples(*[st.floats(-20, 20)] * 3),
    start=st.integers(-1000, 1000),
    strict=st.booleans(),
    threads=st.none() | st.integers(1, 64),
    name=st.text(max_size=20).filter(lambda text: text.isprintable()),
)
def test_any_settings_come_back(tmp_path_factory, fps, gravity, start, strict, threads, name):
    folder = tmp_path_factory.mktemp("scene")
    asked = Settings(frame_start=start, fps=fps, gravity=gravity, strict=strict, threads=threads)
    scene = Scene((), (Collider(key="c", name=name),), asked)
    scene.save(folder)
    assert same(scene, Scene.load(folder))


@pytest.mark.parametrize(
    "change",
    [
        lambda s: replace(s, bodies=s.bodies[:1]),
        lambda s: replace(s, bodies=s.bodies[::-1]),
        lambda s: replace(s, bodies=(replace(s.bodies[0], vertices=NODES + 1e-12), s.bodies[1])),
        lambda s: replace(s, bodies=(replace(s.bodies[0], material=Material()), s.bodies[1])),
        lambda s: replace(s, bodies=(replace(s.bodies[0], simulated_scale=0.5), s.bodies[1])),
        lambda s: replace(s, bodies=(replace(s.bodies[0], pin_weights=np.array([1.0])), s.bodies[1])),
        lambda s: replace(s, colliders=s.colliders[:1]),
        lambda s: replace(s, settings=replace(s.settings, substeps=5)),
        lambda s: replace(s, settings=replace(s.settings, frame_start=2)),
        lambda s: replace(s, settings=replace(s.settings, gravity=(0.0, 0.0, -9.0))),
    ],
)
def test_the_digest_changes_with_what_changes_the_result(change):
    scene = small_scene()
    assert change(scene).digest() != scene.digest()


@pytest.mark.parametrize("change", [{"threads": 1}, {"strict": True}, {"frame_end": 1000}])
def test_the_digest_ignores_how_hard_to_work(change):
    scene = small_scene()
    assert replace(scene, settings=replace(scene.settings, **change)).digest() == scene.digest()


def test_the_digest_is_that_of_earlier_caches_where_the_linear_solver_is_not_chosen():
    """As Sinew 0.2 computed it, which had no such setting: its caches are resumed."""
    scene = small_scene()
    assert scene.digest() == "a47c048fe7dff6a3d95b52ac48c788e95f45af5e11ec404ee70977ad3bccc7ae"
    chosen = replace(scene, settings=replace(scene.settings, linear_solver="jacobi"))
    assert chosen.digest() != scene.digest()


def test_a_body_is_made_of_lists_with_nothing_else():
    body = Body(NODES.tolist(), FACES.tolist(), pinned=[0, 2])
    assert body.vertices.dtype == np.float64 and body.triangles.dtype == body.pinned.dtype == np.int32
    assert body.pin_weights.tolist() == [1.0, 1.0] and (body.key, body.name) == ("body", "Body")
    scene = Scene([body], [Collider()])
    assert scene.bodies == (body,) and scene.colliders[0].shape == "plane"
    check_scene(scene)


def test_an_unknown_linear_solver_is_refused():
    scene = small_scene()
    with pytest.raises(BadInput, match='"cholesky".*auto, jacobi, multigrid'):
        check_scene(replace(scene, settings=replace(scene.settings, linear_solver="cholesky")))


def test_the_digest_ignores_how_an_array_lies_in_memory():
    scene = small_scene()
    turned = replace(scene.bodies[0], vertices=np.asfortranarray(NODES))
    assert replace(scene, bodies=(turned, scene.bodies[1])).digest() == scene.digest()


def test_a_scene_of_another_format_is_refused(tmp_path: Path):
    small_scene().save(tmp_path)
    tree = json.loads((tmp_path / SCENE_FILE).read_text(encoding="utf-8"))
    (tmp_path / SCENE_FILE).write_text(json.dumps({**tree, "format": 99}), encoding="utf-8")
    with pytest.raises(StorageFailed) as caught:
        Scene.load(tmp_path)
    assert caught.value.kind == "scene-format"


@pytest.mark.parametrize("damage", [lambda p: p.unlink(), lambda p: p.write_bytes(p.read_bytes()[:40])])
@pytest.mark.parametrize("file", [SCENE_FILE, ARRAYS_FILE])
def test_a_damaged_scene_is_refused(tmp_path: Path, file: str, damage):
    small_scene().save(tmp_path)
    damage(tmp_path / file)
    with pytest.raises(StorageFailed) as caught:
        Scene.load(tmp_path)
    assert caught.value.kind == "scene-unreadable" and str(tmp_path) in str(caught.value)


def test_time_starts_at_the_first_frame():
    asked = Settings(frame_start=101, frame_end=110, fps=25.0)
    assert asked.time(101) == 0.0 and asked.time(102.5) == pytest.approx(0.06) and asked.frame_count == 10


def test_painted_flesh_keeps_the_digest_and_the_file_of_0_2(tmp_path):
    """0.2 stored the paint of flesh among its own values; the digests are those that its code gave."""
    plain = tiny_scene()
    paint = np.linspace(0.0, 1.0, len(plain.bodies[0].vertices))
    flesh = replace(
        plain.bodies[0], flesh=Flesh("dynamic"), material_paint=MaterialPaint(youngs_modulus=paint, density=2.0 * paint)
    )
    painted = replace(plain, bodies=(flesh, plain.bodies[1]))
    assert plain.digest() == "5f38c57676937dd315ef381282615ad9fffe3376fa30e36f01169548f41ff54c"
    assert painted.digest() == "23f83597c006a7cc0f6a50c3c2f1236e8f0462cd899dac223e10e6f6020b4eb5"
    painted.save(tmp_path)
    tree = json.loads((tmp_path / "scene.json").read_text())
    body = tree["scene"]["bodies"][0]
    names = {"stiffness_paint": "youngs_modulus", "volume_paint": "poisson_ratio", "density_paint": "density"}
    body["flesh"] |= {former: body["material_paint"][now] for former, now in names.items()}
    del body["material_paint"]
    (tmp_path / "scene.json").write_text(json.dumps(tree))
    assert Scene.load(tmp_path).digest() == painted.digest()
    soft = replace(plain, bodies=(replace(flesh, flesh=None), plain.bodies[1]))
    assert len({plain.digest(), painted.digest(), soft.digest()}) == 3
