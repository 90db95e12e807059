# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies of adaptive tets in scenes: they fall, hang, are held, bound and baked as others, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sinew.solver.api as sinew
from fixtures.closed_surfaces import sphere
from fixtures.scenes import JELLY, Run, block
from sinew.solver.mechanics.model import Model
from sinew.solver.mechanics.state import State
from sinew.solver.mesh.embedding import Binding
from sinew.solver.mesh.geometry.triangle_surface import make_surface
from sinew.solver.mesh.mesh_npz import from_arrays, to_arrays
from sinew.solver.mesh.tetrahedralize import tetrahedralize
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.body_binding import BodyBinding
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.fine_regions import FineRegions
from sinew.solver.scene.flesh import Bone, Flesh
from sinew.solver.scene.formulation import FormulationSettings
from sinew.solver.scene.goal import Goal
from sinew.solver.scene.material import Heat
from sinew.solver.scene.meshing import Meshing
from sinew.solver.scene.muscle import Muscle
from sinew.solver.scene.rigid_core import Core
from sinew.solver.scene.scene import Body, Fracture, Scene, Settings
from sinew.solver.scene.tracks import NoTracks
from sinew.solver.simulation.build import build

ADAPTIVE = Meshing("adaptive", divisions=12)
GROUND = Collider("ground", "Ground")


def ball(height: float = 1.05, **more: Any) -> Body:
    """Returns a ball of 1 m radius whose upper half is painted."""
    vertices, triangles = sphere(12)
    fine = FineRegions((vertices[:, 2] > 0.4).astype(float))
    settings = {"material": JELLY, "meshing": replace(ADAPTIVE, fine=fine), "key": "ball", "name": "Ball"} | more
    return Body(vertices + [0.0, 0.0, height], triangles, **settings)


def gap(model: Model, state: State) -> float:
    """Returns how far nodes at T-junctions are from where their parents put them [m]."""
    x = state.x.copy()
    assert model.bound is not None
    model.bound.interpolate(x)
    return float(np.abs(x - state.x).max())


@pytest.mark.slow
def test_it_falls_and_lands_without_a_gap(tmp_path: Path) -> None:
    run = Run(tmp_path, Scene((ball(),), (GROUND,), Settings(frame_end=30)))
    model = run.built.model
    assert model.bound is not None and len(model.bound.nodes) > 100 and not model.mass[model.bound.nodes].any()
    assert model.mass.sum() == pytest.approx(JELLY.density * run.built.bodies[0].mesh.report.volume, rel=1e-12)
    for _ in range(20):
        x = run.advance()
        assert gap(model, run.state) < 1e-14
    assert all(not report.not_converged for report in run.reports)
    assert -0.02 < x[:, 2].min() < 0.01 and 0.8 < x[:, 2].max() < 2.0


def momenta_made(folder: Path, meshing: Meshing) -> tuple[float, float]:
    """Returns how much momentum and angular momentum a free ball that turns makes in five frames, of what it has."""
    still = replace(JELLY, stiffness_damping=0.0, mass_damping=0.0)
    body = ball(material=still, meshing=meshing, initial_velocity=(0.3, 0.1, -0.2), initial_spin=(0.3, 0.4, -0.2))
    run = Run(folder, Scene((body,), settings=Settings(frame_end=10, gravity=(0.0, 0.0, 0.0), tolerance=1e-13)))
    mass, state = run.built.model.mass, run.state
    before = mass @ state.v, mass @ np.cross(state.x, state.v)
    run.advance(5)
    after = mass @ run.state.v, mass @ np.cross(run.state.x, run.state.v)
    linear, angular = (float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(after, before, strict=True))
    return linear, angular


def test_free_it_keeps_its_momenta_as_even_tets_do(tmp_path: Path) -> None:
    linear, angular = momenta_made(tmp_path / "own", ADAPTIVE)
    _, even = momenta_made(tmp_path / "even", replace(ADAPTIVE, method="robust"))
    assert linear < 1e-12 and angular < max(1e-9, 2.0 * even)


def test_pinned_vertices_are_held_exactly_beside_t_junctions(tmp_path: Path) -> None:
    body = ball()
    pinned = np.flatnonzero(body.vertices[:, 2] < 1.3).astype(np.int32)  # from large tets to small ones
    run = Run(tmp_path, Scene((replace(body, pinned=pinned),), settings=Settings(frame_end=10)))
    model, pins = run.built.model, run.built.pins[0]
    assert not np.isin(pins.fixed_nodes, model.bound.nodes).any()
    held = model.tets[pins.exact_binding.tet]
    assert np.isin(held, model.bound.nodes).any()  # T-junctions are among the corners of what is held
    x = run.advance(5)
    assert np.abs(x[pinned] - body.vertices[pinned]).max() < 1e-9
    tops = model.X[:, 2] > 1.9
    assert np.abs(run.state.x - model.X)[tops].max() > 0.01
    assert gap(model, run.state) < 1e-14


def test_pins_turn_it_as_one_piece(tmp_path: Path) -> None:
    body = ball()
    pinned = np.flatnonzero(body.vertices[:, 2] < 1.3).astype(np.int32)
    angle = 0.02
    turn = np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])
    targets = np.stack([body.vertices[pinned] @ turn.T] * 2)
    scene = Scene((replace(body, pinned=pinned),), settings=Settings(frame_end=80, gravity=(0.0, 0.0, 0.0)))
    run = Run(tmp_path, scene, body__ball__targets=([0.0, 0.01], targets))
    x = run.advance(60)
    assert np.abs(x - body.vertices @ turn.T).max() < 2e-3


@pytest.mark.parametrize("strength", [0.5, 1.0])
def test_a_goal_draws_it(tmp_path: Path, strength: float) -> None:
    paint = (ball().vertices[:, 2] < 1.3).astype(float)
    goal = Goal(strength=strength, stiffness=1.0e4, paint=paint)
    run = Run(tmp_path, Scene((ball(goal=goal),), settings=Settings(frame_end=10)))
    x = run.advance(8)
    off = np.abs(x - ball().vertices)[paint > 0.0]
    assert off.max() < (1e-9 if strength == 1.0 else 0.05)


@pytest.mark.slow
def test_a_bone_holds_it(tmp_path: Path) -> None:
    vertices, triangles = sphere(8)
    bone = Bone("bone", "Bone", 0.4 * vertices + [0.0, 0.0, 1.05], triangles)
    flesh = Flesh(motion="dynamic")
    fine = FineRegions(places=bone.vertices, reach=0.1)
    body = ball(flesh=flesh, meshing=replace(ADAPTIVE, fine=fine))
    run = Run(tmp_path, Scene((body,), settings=Settings(frame_end=10), bones=(bone,)))
    model = run.built.model
    assert run.built.bones is not None
    held = run.built.bones.fixed_nodes
    assert len(held) > 20 and not np.isin(held, model.bound.nodes).any()
    run.advance(4)
    assert np.abs(run.state.x[held] - model.X[held]).max() < 1e-12 and gap(model, run.state) < 1e-14


def test_another_body_is_bound_to_it_and_it_to_another(tmp_path: Path) -> None:
    foot = block((3, 3, 3), (1.2, 1.2, 0.5), (-0.6, -0.6, -0.3), key="foot")
    hat = block((2, 2, 2), (0.5, 0.5, 0.5), (-0.25, -0.25, 1.95), key="hat", bindings=(BodyBinding("ball", 0.01),))
    body = ball(bindings=(BodyBinding("foot", 0.01),))
    run = Run(tmp_path, Scene((foot, body, hat), (GROUND,), Settings(frame_end=20)))
    model = run.built.model
    own = model.bodies
    bound = model.bound.nodes
    counts = [int(((bound >= part.nodes.start) & (bound < part.nodes.stop)).sum()) for part in own]
    assert counts[0] == 0 and counts[2] > 0
    assert counts[1] > len(run.built.bodies[1].mesh.junctions) > 100  # T-junctions, and nodes in the foot
    run.advance(6)
    assert gap(model, run.state) < 1e-14 and np.isfinite(run.state.x).all()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["qr", "green", "hybrid", "bdf2", "flesh", "newmark"])
def test_other_formulations_move_it_the_same_way(tmp_path: Path, method: str) -> None:
    pinned = np.flatnonzero(ball().vertices[:, 2] < 0.5).astype(np.int32)
    more: dict[str, Any] = {"pinned": pinned}
    if method in ("flesh", "newmark"):
        more["flesh"] = Flesh(motion="dynamic", scheme="newmark" if method == "newmark" else "euler")
    elif method == "bdf2":
        more["method"] = FormulationSettings(scheme="bdf2")
    else:
        more["method"] = FormulationSettings(method)
    run = Run(tmp_path, Scene((ball(**more),), settings=Settings(frame_end=10)))
    x = run.advance(6)
    plain = Run(tmp_path / "plain", Scene((ball(pinned=pinned),), settings=Settings(frame_end=10))).advance(6)
    moved = np.linalg.norm(plain - ball().vertices, axis=1).max()
    assert moved > 0.05 and np.linalg.norm(x - plain, axis=1).max() < 0.35 * moved
    assert gap(run.built.model, run.state) < 1e-12


@pytest.mark.parametrize(
    ("feature", "more"),
    [
        ("Follow Pose", {"flesh": Flesh()}),
        ("Muscle", {"flesh": Flesh(motion="dynamic"), "muscle": Muscle()}),
        ("Rigid Core", {"core": Core()}),
        ("Heat", {"heat": Heat()}),
        ("the Method Hierarchical", {"method": FormulationSettings("hierarchical")}),
        ("Gravity Already in Shape", {"gravity_in_shape": True}),
        ("Animated", {"animated": True}),
    ],
)
def test_what_it_does_not_support_is_named(feature: str, more: dict[str, Any]) -> None:
    with pytest.raises(BadInput) as raised:
        build(Scene((ball(**more),)), NoTracks(), lambda *_: None)
    assert raised.value.kind == "adaptive-combined"
    assert feature in str(raised.value) and "Robust" in str(raised.value)


def test_paint_of_another_mesh_is_named() -> None:
    with pytest.raises(BadInput) as raised:
        build(Scene((ball(meshing=replace(ADAPTIVE, fine=FineRegions(np.ones(3)))),)), NoTracks(), lambda *_: None)
    assert raised.value.kind == "paint-without-vertices"


@pytest.mark.slow
def test_where_it_may_break_it_has_the_tets_of_bodies_that_break() -> None:
    built = build(Scene((ball(fracture=Fracture()),)), NoTracks(), lambda *_: None)
    assert built.model.bound is None


@pytest.mark.slow
def test_a_bake_resumed_and_one_that_ran_through_have_the_same_bytes(tmp_path: Path) -> None:
    scene = Scene((ball(),), (GROUND,), Settings(frame_end=12))
    whole = sinew.bake(scene, tmp_path / "whole.sinew")
    sinew.bake(replace(scene, settings=replace(scene.settings, frame_end=10)), tmp_path / "parts.sinew")
    parts = sinew.bake(scene, tmp_path / "parts.sinew", resume=True)
    assert whole.play_path("ball").read_bytes() == parts.play_path("ball").read_bytes()
    assert np.abs(whole.read_frame(12).x - whole.read_frame(1).x).max() > 0.05


def test_stored_tets_have_their_junctions() -> None:
    vertices, triangles = sphere(12)
    mesh = tetrahedralize(make_surface(vertices, triangles, "ball"), ball().meshing, "ball")
    binding = Binding(np.zeros(len(vertices), np.int32), np.tile([1.0, 0.0, 0.0, 0.0], (len(vertices), 1)))
    arrays = {name: np.asarray(values) for name, values in to_arrays(ball(), mesh, binding).items()}
    again, _ = from_arrays(arrays)
    for name in ("nodes", "start", "parents", "weights"):
        assert getattr(again.junctions, name).tobytes() == getattr(mesh.junctions, name).tobytes()
    with pytest.raises(ValueError, match="junction"):
        from_arrays(arrays | {"junction_start": arrays["junction_start"][::-1].copy()})


def test_a_scene_without_fine_regions_has_the_digest_that_it_had(tmp_path: Path) -> None:
    scene = Scene((ball(),))
    scene.save(tmp_path)
    stored = Scene.load(tmp_path).bodies[0].meshing.fine
    assert stored is not None and np.array_equal(stored.paint, ball().meshing.fine.paint)
    assert scene.digest() != Scene((ball(meshing=ADAPTIVE),)).digest()
