# SPDX-License-Identifier: GPL-3.0-or-later
"""What follows a cut: fields of nodes and tets, methods, pins, goals, hooks, springs, bones, poses and fibres."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.bone_scenes import limb, rod
from fixtures.cut_runs import MIDDLE, SLANTED, STILL, WEIGHTLESS, CutRun, bar, cut_bar, halves, moving
from fixtures.scenes import Run, block
from sinew.solver.constraints.attachments.surface_attachments import SurfaceAttachments
from sinew.solver.constraints.attachments.surface_links import SurfaceLinks
from sinew.solver.constraints.goal import BodyGoal
from sinew.solver.mechanics.state_fields import DAMAGE_FIELD, FLOWED, PLASTIC_STRAIN, TEMPERATURE
from sinew.solver.runtime.errors import BadInput, SolveFailed
from sinew.solver.scene.attachment import Attachment
from sinew.solver.scene.flesh import DYNAMIC, Bone, Flesh
from sinew.solver.scene.formulation import FormulationSettings
from sinew.solver.scene.goal import Goal
from sinew.solver.scene.hook import Hook
from sinew.solver.scene.material import Plasticity
from sinew.solver.scene.muscle import Muscle
from sinew.solver.scene.scene import Body, Scene, Settings
from sinew.solver.simulation.features.muscles import Muscles


def test_fields_go_to_the_copies(tmp_path: Path):
    one = moving(cut_bar(tmp_path))
    state, random = one.simulation.state, np.random.default_rng(0)
    n, m = one.simulation.built.model.node_count, one.simulation.built.model.tet_count
    fields = {
        name: random.random((m, *shape)) for name, shape in ((PLASTIC_STRAIN, (6,)), (FLOWED, ()), (DAMAGE_FIELD, ()))
    }
    fields[TEMPERATURE] = random.random(n)
    state.fields |= {name: values.copy() for name, values in fields.items()}
    x, v = state.x.copy(), state.v.copy()
    one.cut(SLANTED, MIDDLE)
    cut = one.simulation.built.cuts[0].tets
    for name, values in fields.items():
        rows = cut.origin if name == TEMPERATURE else cut.parent
        assert np.array_equal(state.fields[name], values[rows]), name
    assert np.array_equal(state.x, x[cut.origin]) and np.array_equal(state.v, v[cut.origin])


@pytest.mark.parametrize(
    "more",
    [
        {"method": FormulationSettings("linear")},
        {"method": FormulationSettings("green")},
        {"method": FormulationSettings("polar", scheme="bdf2")},
        {"flesh": Flesh(DYNAMIC)},
        {"flesh": Flesh(DYNAMIC, scheme="newmark")},
        {"plasticity": Plasticity(yield_strain=0.01, flow=20.0)},
    ],
)
def test_any_method_goes_on_after_a_cut(tmp_path: Path, more: dict[str, Any]):
    one = cut_bar(tmp_path, replace(WEIGHTLESS, tolerance=1e-9), **more)
    simulation = one.simulation
    simulation.state.x = simulation.state.x * [1.1, 0.97, 1.0]
    simulation.advance()
    one.cut(SLANTED, MIDDLE)
    before = simulation.built.model.mass @ simulation.state.v
    for _ in range(4):
        assert simulation.advance().report.converged
    v, mass = simulation.state.v, simulation.built.model.mass
    assert np.abs(mass @ v - before).max() < 1e-6 * (mass @ np.linalg.norm(v, axis=1))
    assert len(halves(one)) == 2


def test_vertices_stay_where_they_are_and_pins_hold_both_halves(tmp_path: Path):
    ends = np.flatnonzero(np.isin(bar().vertices[:, 0], (0.0, 4.0))).astype(np.int32)
    one = cut_bar(tmp_path, Settings(frame_end=80), pinned=ends)
    one.simulation.advance()
    before = one.simulation.positions()["block"]
    one.cut(SLANTED, MIDDLE)
    assert np.abs(one.simulation.positions()["block"] - before).max() < 1e-13
    for _ in range(10):
        assert one.simulation.advance().report.converged
    drawn = one.simulation.positions()["block"]
    assert np.abs(drawn[ends] - bar().vertices[ends]).max() < 1e-12
    assert len(one.simulation.built.pins[0].regions) == 2
    assert drawn[:, 2].min() < -0.2  # ends that hang free


def test_goals_pull_copies_to_where_they_pulled_the_nodes(tmp_path: Path):
    one = cut_bar(tmp_path, Settings(frame_end=80), goal=Goal(strength=0.7))
    one.simulation.advance()
    before = next(force for force in one.simulation.built.forces if isinstance(force, BodyGoal))
    one.cut(SLANTED, MIDDLE)
    goal = next(force for force in one.simulation.built.forces if isinstance(force, BodyGoal))
    cut = one.simulation.built.cuts[0].tets
    assert np.array_equal(goal.origin, cut.origin) and goal.motion is before.motion
    model = one.simulation.built.model
    assert np.array_equal(model.tets[goal.tet_of_node, goal.corner_of_node], np.arange(model.node_count))
    for _ in range(5):
        assert one.simulation.advance().report.converged
    assert np.abs(one.simulation.positions()["block"] - bar().vertices).max() < 0.5


def test_hooks_pull_the_half_that_has_their_points(tmp_path: Path):
    paint = (bar().vertices[:, 0] > 3.9).astype(float)
    one = cut_bar(tmp_path, WEIGHTLESS, hooks=(Hook(paint),))
    one.simulation.advance()
    one.cut(SLANTED, MIDDLE)
    assert any(force.kind == "hook" for force in one.simulation.built.forces)
    for _ in range(3):
        assert one.simulation.advance().report.converged


def test_springs_to_another_body_go_on_with_the_points_of_each_half(tmp_path: Path):
    plate = block((4, 2, 2), (4.0, 1.0, 0.4), at=(0.0, 0.0, 1.05), key="plate")
    top = np.arange(len(plate.vertices), dtype=np.int32)[plate.vertices[:, 2] > 1.4]
    plate = replace(plate, pinned=top)
    hung = bar(attachments=(Attachment("plate", "spring", reach=0.2),))
    one = CutRun(Run(tmp_path, Scene((hung, plate), settings=Settings(frame_end=80))))
    for _ in range(4):
        one.simulation.advance()

    def links() -> SurfaceLinks:
        force = next(force for force in one.simulation.built.forces if isinstance(force, SurfaceAttachments))
        return force.links[0]

    before, x, tets = links(), one.simulation.state.x, one.simulation.built.model.tets
    places = before.points(x, tets)
    stiffness = before.stiffness
    one.cut(SLANTED, MIDDLE)
    now, x, tets = links(), one.simulation.state.x, one.simulation.built.model.tets
    assert np.abs(now.points(x, tets) - places).max() < 1e-12
    assert now.stiffness == pytest.approx(stiffness, rel=1e-9)
    assert np.abs(now.target.simulated_vertices(x, tets)).max() < 10.0
    for _ in range(10):
        assert one.simulation.advance().report.converged
    middles = [one.simulation.state.x[own].mean(axis=0) for own in halves(one)]
    assert len(middles) == 3 and min(middle[2] for middle in middles) > 0.0  # both halves still hang
    with pytest.raises(BadInput, match="attachments of others to it"):
        CutRun(one.simulation, "plate").cut([1.0, 0.0, 0.0], 2.0)


def test_bones_hold_the_half_that_is_in_them(tmp_path: Path):
    vertices, triangles = rod(-0.1, 1.1)
    bone = Bone("bone", "Bone", vertices, triangles)
    body = limb(flesh=Flesh(DYNAMIC), material=STILL)
    run = Run(tmp_path, Scene((body,), settings=Settings(frame_end=80, gravity=(0.0, 0.0, -9.81)), bones=(bone,)))
    one = CutRun(run, "limb")
    one.simulation.advance()
    held = one.simulation.built.bones.fixed_nodes
    X = one.simulation.built.model.X
    places = {tuple(place) for place in X[held].round(9).tolist()}
    assert (X[held, 0] > 0.99).any()  # nodes of tets that the cut parts
    one.cut([1.0, 0.0, 0.0], 1.03)
    first, second = halves(one)
    now = one.simulation.built.bones.fixed_nodes
    assert (now < first.stop).all() and len(now) == len(held)  # none of the copies whose material is outside
    built = one.simulation.built
    assert {tuple(place) for place in built.model.X[now].round(9).tolist()} == places
    in_bone = [tuple(place) in places for place in built.model.X[second].round(9).tolist()]
    assert any(in_bone)
    one.cut([0.0, 0.0, 1.0], 0.55)  # through the bone: both slices of the half stay with it
    bones = one.simulation.built.bones
    assert len(bones.fixed_nodes) == len(held)
    for _ in range(8):
        assert one.simulation.advance().report.converged
    heights = [(one.simulation.state.x - one.simulation.built.model.X)[own, 2].mean() for own in halves(one)]
    assert len(heights) == 4 and sum(height < -0.4 for height in heights) == 2
    assert sum(height > -0.2 for height in heights) == 2


def posed_limb(folder: Path, flesh: Flesh) -> CutRun:
    """Returns flesh between two bones, of which the second moves away in four frames."""
    bones = tuple(Bone(key, key, *rod(*ends)) for key, ends in (("one", (-0.1, 1.1)), ("two", (2.9, 4.1))))
    away = np.tile(np.eye(4), (2, 1, 1))
    away[1, :3, 3] = [0.3, 0.1, 0.0]
    settings = Settings(frame_end=80, gravity=(0.0, 0.0, 0.0), pose_tolerance=1e-9)
    run = Run(
        folder,
        Scene((limb(flesh=flesh),), settings=settings, bones=bones),
        bone__two__matrix=(np.array([0.0, 4.0 / 24.0]), away, "rigid"),
    )
    return CutRun(run, "limb")


def test_flesh_that_follows_a_pose_comes_to_rest_in_halves(tmp_path: Path):
    one = posed_limb(tmp_path, Flesh(self_contact=False))
    for _ in range(5):
        assert one.simulation.advance().report.converged
    stretched = one.simulation.state.x
    before = np.linalg.norm(stretched - one.simulation.built.model.X, axis=1)
    assert ((before > 0.02) & (before < 0.28)).any()  # between the bones
    one.cut(SLANTED, MIDDLE)
    assert one.simulation.advance().report.converged
    model, x = one.simulation.built.model, one.simulation.state.x
    for own, moved in zip(halves(one), ([0.0, 0.0, 0.0], [0.3, 0.1, 0.0]), strict=True):
        assert np.abs(x[own] - model.X[own] - moved).max() < 1e-6  # without a load as at rest, each with its bone


def test_a_piece_of_flesh_that_nothing_holds_has_no_pose(tmp_path: Path):
    one = posed_limb(tmp_path, Flesh(self_contact=False))
    one.simulation.advance()
    one.cut([1.0, 0.0, 0.0], 1.6)
    one.cut([1.0, 0.0, 0.0], 2.3)
    with pytest.raises(SolveFailed, match="Limb"):
        one.simulation.advance()


def test_flesh_that_touches_itself_in_poses_is_not_cut(tmp_path: Path):
    one = posed_limb(tmp_path, Flesh())
    with pytest.raises(BadInput, match="Self Collisions"):
        one.cut(SLANTED, MIDDLE)


def muscle_bar() -> Body:
    x = bar().vertices[:, 0]
    muscle = Muscle(origin=(x == 0.0).astype(float), insertion=(x == 4.0).astype(float), activation=0.3)
    return bar(flesh=Flesh(DYNAMIC), muscle=muscle)


def test_fibres_are_those_of_the_tets(tmp_path: Path):
    one = CutRun(Run(tmp_path, Scene((muscle_bar(),), settings=replace(WEIGHTLESS, tolerance=1e-8))))
    before = one.simulation.built.feature(Muscles)
    one.simulation.advance()
    one.cut(SLANTED, MIDDLE)
    one.cut([0.0, 1.0, 0.1], 0.55)
    now, cut = one.simulation.built.feature(Muscles), one.simulation.built.cuts[0].tets
    assert before is not None and now is not None and len(now.tets) == len(cut.parent)
    for was, values in zip(before.arrays, now.arrays, strict=True):
        assert np.array_equal(values, was[cut.parent])
    assert np.array_equal(now.activations(one.simulation.state), before.activations(one.simulation.state))
    assert np.array_equal(now.cached[0]["is_origin"], before.cached[0]["is_origin"][cut.origin])
    for _ in range(3):
        assert one.simulation.advance().report.converged
