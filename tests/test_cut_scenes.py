# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that are cut while they move: momenta and energy, what is refused, the same bytes."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.cut_runs import MIDDLE, SLANTED, WEIGHTLESS, CutRun, bar, cut_bar, halves, moving, totals
from fixtures.energy_measures import elastic_energy, energy, kinetic_energy
from fixtures.scenes import Run, block
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.errors import BadInput
from sinew.solver.runtime.threads.thread_count import using_threads
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.formulation import FormulationSettings
from sinew.solver.scene.scene import Body, Fracture, Scene, Settings
from sinew.solver.simulation.cutting.cut_bodies import apply_cuts
from sinew.solver.simulation.simulation import FrameCallbacks, Simulation

GROUND = Collider("ground", "Ground")


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
