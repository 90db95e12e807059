# SPDX-License-Identifier: GPL-3.0-or-later
"""What is held from both sides is pressed by what it takes to squeeze it, and by no more however long it lasts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures import closed_surfaces as shapes
from fixtures.contact_scenes import NOTHING, RUBBER, plates
from fixtures.energy_measures import elastic_energy
from fixtures.scenes import Run, block, pose, rotation
from sinew.solver.scene.scene import Collider, Scene, Settings
from sinew.solver.simulation.step_attempt import StepAttempt
from sinew.solver.simulation.step_interval import StepPart

SOFT = replace(RUBBER, youngs_modulus=1.0e5)
STILL = Settings(gravity=NOTHING)


def test_a_plate_in_a_narrow_gap_presses_as_it_is_squeezed(tmp_path):
    """By (λ + 2 μ) times its strain, since its faces stick."""
    thick, share = 0.1, 0.95
    body = block((4, 4, 1), (1.0, 1.0, thick), at=(-0.5, -0.5, -0.5 * thick), material=SOFT)
    colliders, tracks = plates(1.02 * thick, share * thick, 0.6)
    closing = {name: ([0.0, 0.25, 10.0], values[1][[0, 1, 1]], "rigid") for name, values in _arrays(tracks).items()}
    run = Run(tmp_path, Scene((body,), colliders, STILL), **closing)
    model, forces = run.built.model, []
    wanted = float((model.lam + 2.0 * model.mu)[0]) * (1.0 - share)
    for _ in range(2):
        run.advance(24)
        forces.append(-run.reports[-1].colliders["lower"][2])
    assert forces == pytest.approx([wanted, wanted], rel=0.01)


def test_what_a_plate_presses_from_above_begins_each_step_in_its_contacts(tmp_path):
    """Gravity in the prediction took all of them out of reach, so that each step was solved five times."""
    body = block((3, 3, 3), (0.3, 0.3, 0.3), at=(0.0, 0.0, 0.0005), material=replace(RUBBER, youngs_modulus=1.0e7))
    down = rotation([1, 0, 0], np.pi)
    heights = ([0.0, 0.25], [pose(down, (0.0, 0.0, z)) for z in (0.32, 0.2985)], "rigid")
    colliders = (Collider("ground", "Ground"), Collider("plate", "Plate", friction=0.4))
    run = Run(tmp_path, Scene((body,), colliders), collider__plate__matrix=heights)
    run.advance(20)
    assert run.reports[-1].solves == run.scene.settings.substeps and run.reports[-1].unsettled == 0
    begin = run.state.time
    contacts = StepAttempt(run.simulation, run.built.model, StepPart(begin, begin + 0.01), None).contacts
    assert contacts is not None
    pushed = contacts.previous.id[contacts.previous.force > 0.0]
    from_above = pushed >= contacts.point_count
    assert from_above.sum() > 10 and np.isin(pushed, contacts.contact_set.id).all()


def wedged() -> tuple[Scene, dict]:
    """Returns a block that is pushed to where two walls are nearer to each other than nothing, and stays there."""
    body = block((4, 4, 2), (0.3, 0.4, 0.2), at=(-0.15, -0.2, 0.4), material=SOFT)
    cube, triangles = shapes.cube(1)
    colliders = [Collider("top", "Top", "mesh", cube * [0.2, 1.0, 0.2], triangles)]
    heights = ([0.0, 0.5, 100.0], [pose(move=(0.0, 0.0, z)) for z in (0.8, 0.2, 0.2)], "rigid")
    tracks = {"collider__top__matrix": heights}
    for name, side in (("left", -1.0), ("right", 1.0)):
        turn = rotation([0, 1, 0], np.radians(15.0 * side))
        wall = Collider(name, name.capitalize(), "mesh", cube * [1.0, 3.0, 4.0], triangles, friction=0.3)
        colliders.append(wall)
        at = pose(turn, move=0.5 * side * turn[:, 0])
        tracks[f"collider__{name}__matrix"] = ([0.0], [at], "rigid")
    return Scene((body,), tuple(colliders), STILL), tracks


@pytest.mark.slow
def test_walls_do_not_press_ever_harder_on_what_cannot_come_out(tmp_path):
    """What is in both walls is pushed out of each into the other."""
    scene, tracks = wedged()
    run = Run(tmp_path, scene, **tracks)
    forces, energies = [], []
    for _ in range(3):
        run.advance(24)
        forces.append(float(np.hypot(*np.array(run.reports[-1].colliders["left"])[[0, 2]])))
        energies.append(elastic_energy(run.built.model, run.state.x))
    assert max(forces) < 1.4 * forces[0]
    assert max(energies) < 1.05 * min(energies)


def _arrays(tracks: dict) -> dict:
    return {name: (times, np.array(values)) for name, (times, values, _) in tracks.items()}
