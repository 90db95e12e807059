# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that are cut while they move: momenta and energy, what follows a cut, what is refused, the same bytes."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.bone_scenes import limb, rod
from fixtures.cut_runs import CutRun
from fixtures.energy_measures import elastic_energy, energy, kinetic_energy
from fixtures.scenes import JELLY, Run, block
from sinew.solver.constraints.attachments.surface_attachments import SurfaceAttachments
from sinew.solver.constraints.attachments.surface_links import SurfaceLinks
from sinew.solver.constraints.goal import BodyGoal
from sinew.solver.mechanics.state import State
from sinew.solver.mechanics.state_fields import DAMAGE_FIELD, FLOWED, PLASTIC_STRAIN, TEMPERATURE
from sinew.solver.runtime.errors import BadInput
from sinew.solver.runtime.threads.thread_count import using_threads
from sinew.solver.scene.attachment import Attachment
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.flesh import DYNAMIC, Bone, Flesh
from sinew.solver.scene.formulation import FormulationSettings
from sinew.solver.scene.goal import Goal
from sinew.solver.scene.hook import Hook
from sinew.solver.scene.material import Plasticity
from sinew.solver.scene.muscle import Muscle
from sinew.solver.scene.scene import Body, Fracture, Scene, Settings
from sinew.solver.simulation.cutting.cut_bodies import apply_cuts
from sinew.solver.simulation.features.muscles import Muscles
from sinew.solver.simulation.simulation import FrameCallbacks, Simulation

STILL = replace(JELLY, stiffness_damping=0.0)
WEIGHTLESS = Settings(frame_end=80, gravity=(0.0, 0.0, 0.0), tolerance=1e-12)
GROUND = Collider("ground", "Ground")
BAR = (8, 2, 2), (4.0, 1.0, 1.0)
SLANTED, MIDDLE = np.array([1.0, 0.2, 0.1]), 2.15


def bar(**more: Any) -> Body:
    return block(*BAR, **({"material": STILL} | more))


def cut_bar(folder: Path, settings: Settings = WEIGHTLESS, **more: Any) -> CutRun:
    return CutRun(Run(folder, Scene((bar(**more),), settings=settings)))


def totals(simulation: Simulation) -> dict[str, np.ndarray]:
    """Returns mass, momenta and energies of all bodies."""
    model, state = simulation.built.model, simulation.state
    return {
        "mass": np.array([model.mass.sum()]),
        "momentum": model.mass @ state.v,
        "angular momentum": model.mass @ np.cross(state.x, state.v),
        "kinetic": np.array([0.5 * model.mass @ (state.v**2).sum(axis=1)]),
        "elastic": np.array([elastic_energy(model, state.x)]),
    }


def moving(one: CutRun) -> CutRun:
    """Gives a body uneven strains and velocities."""
    x = one.simulation.state.x
    one.simulation.state.x = x + 0.1 * np.stack([np.sin(x[:, 1]), x[:, 0] * x[:, 2], np.cos(2.0 * x[:, 0])], axis=1)
    one.simulation.state.v = np.cross([1.0, -2.0, 0.5], x) + np.sin(3.0 * x[:, [2, 0, 1]])
    return one


def halves(one: CutRun) -> list[slice]:
    """Returns the nodes of the pieces."""
    starts = one.simulation.built.model.pattern.island_start.astype(int).tolist()
    return [slice(*ends) for ends in zip(starts[:-1], starts[1:], strict=True)]


@pytest.mark.parametrize("offset", [MIDDLE, 2.0 + 1e-9, 2.0])
def test_a_cut_changes_neither_mass_nor_momenta_nor_energy(tmp_path: Path, offset: float):
    one = moving(cut_bar(tmp_path))
    before, nodes = totals(one.simulation), one.simulation.built.model.node_count
    one.cut([1.0, 0.0, 0.0] if offset < MIDDLE else SLANTED, offset)
    assert one.simulation.built.model.node_count > nodes and len(halves(one)) == 2
    for name, values in totals(one.simulation).items():
        assert np.abs(values - before[name]).max() < 1e-12 * np.abs(before[name]).max(), name


def test_a_second_cut_of_moving_halves_changes_them_as_little(tmp_path: Path):
    one = moving(cut_bar(tmp_path))
    one.cut(SLANTED, MIDDLE)
    one.simulation.advance()
    before = totals(one.simulation)
    one.cut([0.1, 1.0, 0.0], 0.7)
    assert len(halves(one)) == 4
    for name, values in totals(one.simulation).items():
        assert np.abs(values - before[name]).max() < 1e-12 * np.abs(before[name]).max(), name


def test_halves_of_a_stretched_bar_recoil_without_a_reaction(tmp_path: Path):
    ends = np.flatnonzero(np.isin(bar().vertices[:, 0], (0.0, 4.0))).astype(np.int32)
    targets = (np.array([0.0]), (bar().vertices[ends] * [1.1, 1.0, 1.0])[None])
    one = CutRun(Run(tmp_path, Scene((bar(pinned=ends),), settings=WEIGHTLESS), body__block__targets=targets))
    simulation = one.simulation
    for _ in range(60):
        simulation.step(0.2)  # steps so long bring it to rest
    assert kinetic_energy(simulation) < 1e-12
    stored = elastic_energy(simulation.built.model, simulation.state.x)
    one.cut(SLANTED, MIDDLE)
    assert elastic_energy(simulation.built.model, simulation.state.x) == pytest.approx(stored, rel=1e-12)
    most, last = 0.0, stored
    for _ in range(200):  # a wave takes 0.17 s from the cut to an end
        simulation.step(1e-3)
        now = kinetic_energy(simulation) + elastic_energy(simulation.built.model, simulation.state.x)
        assert now < last * (1.0 + 1e-9)
        most, last = max(most, kinetic_energy(simulation)), now
    assert most > 0.6 * stored
    assert len(halves(one)) == 2
    drawn, is_first = simulation.positions()["block"], bar().vertices @ SLANTED < MIDDLE
    assert drawn[is_first, 0].max() + 0.2 < drawn[~is_first, 0].min()  # they have drawn back


def test_no_half_feels_the_other(tmp_path: Path):
    one = cut_bar(tmp_path)
    simulation = one.simulation
    simulation.state.x = simulation.state.x * [1.1, 0.95, 1.0]
    one.cut(SLANTED, MIDDLE)
    mass, largest = simulation.built.model.mass, 0.0
    for _ in range(10):
        simulation.advance()
        v = simulation.state.v
        largest = max(largest, float(mass @ np.linalg.norm(v, axis=1)))
        for part in halves(one):
            assert np.abs(mass[part] @ v[part]).max() < 1e-12 * largest
    assert largest > 1.0
    alone = Simulation(simulation.scene, simulation.tracks, simulation.built, simulation.state.copy())
    simulation.advance()
    alone.state.x[halves(one)[1]] += [5.0, 0.0, 0.0]
    alone.state.v[halves(one)[1]] *= 2.0
    alone.advance()
    first = halves(one)[0]
    assert np.abs(alone.state.x[first] - simulation.state.x[first]).max() < 1e-12


def test_a_cut_beside_the_body_changes_no_byte(tmp_path: Path):
    found = []
    for cuts in (False, True):
        one = moving(cut_bar(tmp_path))
        one.simulation.advance()
        if cuts:
            one.cut([1.0, 0.0, 0.0], 9.0)
        one.simulation.advance()
        found.append((one.simulation.state.x.tobytes(), one.simulation.state.v.tobytes()))
    assert found[0] == found[1]


def test_a_cut_between_the_steps_of_a_frame(tmp_path: Path):
    one = moving(cut_bar(tmp_path, replace(WEIGHTLESS, substeps=4)))
    steps, found = 0, []

    def cut_before_third() -> None:
        nonlocal steps
        steps += 1
        if steps == 3:
            found.append(totals(one.simulation))
            one.cut(SLANTED, MIDDLE)
            found.append(totals(one.simulation))

    report = one.simulation.advance(FrameCallbacks(before_step=cut_before_third)).report
    assert report.converged and len(halves(one)) == 2
    for name, values in found[0].items():
        assert np.abs(found[1][name] - values).max() < 1e-12 * np.abs(values).max(), name
    assert one.simulation.advance().report.converged


def falling(folder: Path) -> CutRun:
    body = block((3, 3, 3), at=(0.0, 0.0, 0.3), key="block")
    return CutRun(Run(folder, Scene((body,), (GROUND,), Settings(frame_end=60, tolerance=1e-6))))


def test_a_falling_jelly_is_cut_by_two_planes_in_turn(tmp_path: Path):
    one = falling(tmp_path)
    simulation = one.simulation
    for frame in range(2, 41):
        report = simulation.advance().report
        assert report.converged
        if frame in (6, 16):
            before, stored = totals(simulation), energy(simulation)
            one.cut(([1.0, 0.1, 0.0], [0.0, 1.0, 0.15])[frame == 16], 0.52)
            for name, values in totals(simulation).items():
                assert np.abs(values - before[name]).max() < 1e-12 * np.abs(before[name]).max(), name
            assert energy(simulation) == pytest.approx(stored, rel=1e-12)
    assert len(halves(one)) == 4
    drawn = simulation.positions()["block"]
    assert drawn[:, 2].min() > -0.02 and np.isfinite(drawn).all()
    assert report.contacts >= 4  # every piece lies on the ground
    model = simulation.built.model
    on_ground = [
        drawn[np.isin(model.tets[simulation.built.bodies[0].binding.tet, 0], range(part.start, part.stop)), 2]
        for part in halves(one)
    ]
    assert all(len(heights) and heights.min() < 0.02 for heights in on_ground)


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


def checkpoint(simulation: Simulation) -> State:
    """Returns the state of a simulation as a file brings it back."""
    file = io.BytesIO()
    np.savez(file, **simulation.state.to_arrays())
    file.seek(0)
    with np.load(file) as arrays:
        return State.from_arrays(arrays)


def bytes_of(simulation: Simulation) -> dict[str, bytes]:
    return {name: values.tobytes() for name, values in simulation.state.to_arrays().items()}


def test_threads_and_a_resume_leave_the_same_bytes(tmp_path: Path):
    found = []
    for threads, resumes in ((1, False), (2, False), (1, True)):
        with using_threads(threads):
            one = falling(tmp_path)
            for frame in range(2, 15):
                one.simulation.advance()
                if frame in (6, 10):
                    one.cut(([1.0, 0.1, 0.0], [0.0, 1.0, 0.15])[frame == 10], 0.52)
                if resumes and frame in (6, 8, 12):
                    state, fresh = checkpoint(one.simulation), falling(tmp_path).simulation
                    built = apply_cuts(fresh.built, state)
                    assert built.model.tets.tobytes() == one.simulation.built.model.tets.tobytes()
                    assert built.model.mass.tobytes() == one.simulation.built.model.mass.tobytes()
                    one.simulation = Simulation(fresh.scene, fresh.tracks, built, state)
            found.append(bytes_of(one.simulation))
    assert found[0] == found[1] == found[2]


def other(**more: Any) -> Body:
    return block((2, 1, 1), at=(0.0, 5.0, 0.0), key="other", **more)


REFUSED: dict[str, tuple[tuple[Body, ...], str]] = {
    "a body beside": ((bar(), other()), "may touch itself, another body"),
    "hierarchical": ((bar(method=FormulationSettings("hierarchical")),), "the Method"),
    "sag": ((bar(gravity_in_shape=True),), "Gravity Already in Shape"),
    "fracture": ((bar(fracture=Fracture(breaking_stress=1e9)),), "Fracture"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_follow_a_cut_is_refused_and_nothing_is_lost(tmp_path: Path, name: str):
    bodies, words = REFUSED[name]
    one = CutRun(Run(tmp_path, Scene(bodies, settings=WEIGHTLESS)))
    built, before = one.simulation.built, bytes_of(one.simulation)
    with pytest.raises(BadInput, match="(?i)" + words) as found:
        one.cut(SLANTED, MIDDLE)
    assert "Block" in str(found.value) and found.value.next_step
    assert one.simulation.built is built and bytes_of(one.simulation) == before
