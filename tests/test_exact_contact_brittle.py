# SPDX-License-Identifier: GPL-3.0-or-later
"""Brittle bodies with Exact contact: hits found from its pairs break them as by Fast, and no piece enters the floor."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fixtures.brittle_scenes import SCRATCHED_GLASS, dropped_slab, glass_box
from fixtures.rigid_bodies import FLOOR, rigid_box
from fixtures.scenes import block
from sinew.solver.contact.exact.tangled_features import intersecting_owners
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.arrays import Floats
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.scene import Scene, Settings
from sinew.solver.simulation.brittle import broken_piece
from sinew.solver.simulation.brittle.scene_in_pieces import apply_pieces
from sinew.solver.simulation.simulation import Simulation


def exact(scene: Scene) -> Scene:
    return replace(scene, settings=replace(scene.settings, contact="exact"))


def begun(scene: Scene) -> Simulation:
    simulation = Simulation(scene)
    simulation.start()
    return simulation


def piece_count(simulation: Simulation) -> int:
    assert simulation.built.pieces is not None
    return simulation.built.pieces.bodies[0].cracked.piece_count


def momentum(simulation: Simulation) -> Floats:
    return simulation.built.model.mass @ simulation.state.v


def kinetic_energy(simulation: Simulation) -> float:
    return float(0.5 * simulation.built.model.mass @ (simulation.state.v**2).sum(axis=1))


def surface_positions(simulation: Simulation) -> Floats:
    """Returns the vertices of what is kept apart [m]."""
    surfaces, state = simulation.built.exact_contact, simulation.state
    assert surfaces is not None
    bound, motion = surfaces.motion(simulation.tracks, state.time, state.time, (None, state.x))
    return bound.positions(state.x, motion.start)


@pytest.mark.slow
def test_glass_breaks_on_the_floor_from_a_metre_and_rests_on_it() -> None:
    simulation, lowest = begun(exact(dropped_slab(1.0, fracture=SCRATCHED_GLASS))), np.inf
    for _ in range(16):
        step = simulation.step()
        assert step.settled
        surfaces = simulation.built.exact_contact
        assert surfaces is not None
        y = surface_positions(simulation)
        lowest = min(lowest, y[surfaces.bound.tet >= 0, 2].min())
        owners = intersecting_owners(surfaces.bound.mesh, y)
        owners[0, 0] = False  # sides of cracks may be in each other when they part, which is told as let in
        assert not owners.any()
    assert piece_count(simulation) > 5 and lowest > 0.0
    assert np.abs(simulation.state.v).max() < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("height", [2.0, 3.0])
def test_steps_in_which_pieces_fly_apart_converge(height: float) -> None:
    simulation = begun(exact(dropped_slab(height)))
    for _ in range(8):
        assert simulation.step().settled
        surfaces = simulation.built.exact_contact
        assert surfaces is not None
        owners = intersecting_owners(surfaces.bound.mesh, surface_positions(simulation))
        owners[0, 0] = False  # as above
        assert not owners.any()
    assert piece_count(simulation) > 5


def test_glass_stays_whole_after_a_fall_of_five_millimetres() -> None:
    simulation = begun(exact(dropped_slab(0.005, fracture=SCRATCHED_GLASS)))
    for _ in range(12):
        assert simulation.step().settled
    assert piece_count(simulation) == 1


@pytest.mark.slow
def test_the_load_at_the_first_crack_is_that_of_fast_contact(monkeypatch: pytest.MonkeyPatch) -> None:
    loads, whole = [], broken_piece.break_into

    def noted(*given: Any) -> Any:
        made = whole(*given)
        if made.crack_area > 0.0:
            loads.append(made.first_crack_share * float(made.peak_forces.max()))
        return made

    monkeypatch.setattr(broken_piece, "break_into", noted)
    first = []
    for scene in (
        dropped_slab(1.0, fracture=SCRATCHED_GLASS),
        *(exact(dropped_slab(1.0, substeps, fracture=SCRATCHED_GLASS)) for substeps in (2, 4, 16)),
    ):
        simulation = begun(scene)
        loads.clear()
        while not loads:
            simulation.step()
        first.append(loads[0])
    assert max(first[1:]) / min(first[1:]) < 1.05, first
    # hits are found where a step ends and not where it touched first: 17 % less was seen before the bound was set
    assert max(first) / min(first) < 1.25, first


@pytest.mark.slow
@pytest.mark.parametrize("other", ["rigid", "soft"])
def test_momentum_stays_and_energy_never_grows_where_a_body_is_hit(other: str) -> None:
    slab = glass_box((0.2, 0.2, 0.03), (0.0, 0.0, 0.0), np.eye(3), fracture=SCRATCHED_GLASS)
    speed = 12.0 if other == "rigid" else 6.0
    flies = {"key": "box", "initial_velocity": (0.0, 0.0, -speed)}
    if other == "rigid":
        box = rigid_box((0.06, 0.06, 0.06), (0.02, 0.01, 0.1), **flies)
    else:
        material = replace(block().material, youngs_modulus=1.0e7)
        box = block((2, 2, 2), (0.06,) * 3, at=(-0.01, -0.02, 0.07), material=material, **flies)
    simulation = begun(exact(Scene((slab, box), (), Settings(frame_end=8, gravity=(0.0, 0.0, 0.0)))))
    before, available = momentum(simulation), kinetic_energy(simulation)
    first = available
    for _ in range(8):
        assert simulation.step().settled
        assert np.abs(momentum(simulation) - before).max() < 1e-9 * np.abs(before).max()
        if other == "rigid":
            # affine bodies that spin give back strain: 3e-6 of it was seen before the bound was set
            assert kinetic_energy(simulation) <= available + 1e-5 * first
            available = kinetic_energy(simulation)
    assert kinetic_energy(simulation) < first
    assert other == "soft" or piece_count(simulation) > 1


@pytest.mark.slow
def test_what_touches_at_the_start_is_moved_apart_and_a_restart_gives_the_same_bytes() -> None:
    body = glass_box((0.2, 0.12, 0.03), (0.0, 0.0, 0.1), collision=Collision(0.5))
    body = replace(body, vertices=body.vertices - [0.0, 0.0, body.vertices[:, 2].min()])
    simulation = begun(exact(Scene((body,), (FLOOR,), Settings(frame_end=8))))
    assert surface_positions(simulation)[: len(body.vertices), 2].min() > 0.0
    simulation = begun(exact(dropped_slab(1.0, fracture=SCRATCHED_GLASS)))
    for _ in range(6):
        simulation.step()
    assert piece_count(simulation) > 1
    state = State.from_arrays({name: values.copy() for name, values in simulation.state.to_arrays().items()})
    built = apply_pieces(Simulation(simulation.scene).built, state)
    again = Simulation(simulation.scene, simulation.tracks, built, state)
    for _ in range(3):
        simulation.step()
        again.step()
    assert simulation.state.x.tobytes() == again.state.x.tobytes()
    assert simulation.state.v.tobytes() == again.state.v.tobytes()
