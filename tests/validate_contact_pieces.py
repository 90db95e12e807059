# SPDX-License-Identifier: GPL-3.0-or-later
"""What bodies that break on the ground break into, and how the pieces lie on each other: `make validate`, or

python -m pytest -s tests/validate_contact_pieces.py
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from fixtures.claim_table import reach
from fixtures.energy_measures import kinetic_energy
from fixtures.relative_time import RelativeTime
from fixtures.scenes import Run, block, rotation
from sinew.solver.mesh.node_splitting.minimum_fragment import MIN_FRAGMENT_CELLS
from sinew.solver.scene.scene import Body, Collider, Fracture, Material, Meshing, Scene, Settings

SECTION = "Contact"
PLASTER = Material(youngs_modulus=2.0e7, poisson_ratio=0.2, density=1200.0, stiffness_damping=2.0e-4)
SIZE = 0.3
# 2 until 2026-11-24, and raised after it was seen: on a machine where 0.2.0 took 2.96 s, this took 2.4 to 2.7 s
MAX_SECONDS = 4.0
TIMED_FRAMES = 30  # while pieces tumble over each other
SECONDS_TO_REST, RESTING_SHARE = 3.0, 1.0e-6  # of a heap; its energy of motion over that of the fall
GROUND = (Collider("ground", "Ground"),)


def falling(fracture: Fracture, tets_across: int, speed: float) -> Body:
    """Returns a block on its corner right above the ground, that falls on it at a speed [m/s]."""
    turn = rotation((0.8, 0.6, 0.0), 0.5)
    body = block(
        (4, 4, 4), (SIZE, SIZE, SIZE), turn=turn, key="block", material=PLASTER, fracture=fracture,
        initial_velocity=(0.0, 0.0, -speed),
    )  # fmt: skip
    lift = [0.0, 0.0, 0.05 - body.vertices[:, 2].min()]
    tets = Meshing(tet_size=SIZE / tets_across)
    return replace(body, vertices=body.vertices + lift, meshing=tets, tet_nodes=None, tets=None)


def speeds(run: Run) -> np.ndarray:
    """Returns how fast the middles of all pieces move [m/s], (p,)."""
    model = run.built.model
    first = np.asarray(model.pattern.island_start, np.int64)[:-1]
    momentum = np.add.reduceat(model.mass[:, None] * run.state.v, first)
    return np.linalg.norm(momentum, axis=1) / np.add.reduceat(model.mass, first)


@pytest.mark.parametrize(
    ("strength", "toughness", "tets_across", "speed", "frames", "least", "is_heap"),
    [(1.0e5, 1.0e4, 4, 10.0, 96, 2, False), (1.5e4, 2.0e3, 5, 6.0, 96, 150, True)],
)
def test_a_block_breaks_on_the_ground(tmp_path, strength, toughness, tets_across, speed, frames, least, is_heap):
    """Some pieces have to come to rest, and so does a heap of many, which has to go on in time as well.

    Into how many a block breaks is sensitive to round-off: a few more or less come of any change in contact. Those that
    stand on their edge topple over later, and may break by that, so that four seconds are looked at.
    """
    body = falling(Fracture(strength, toughness), tets_across, speed)
    run = Run(tmp_path, Scene((body,), GROUND, Settings(frame_end=frames + 1)))
    count, fastest, seconds, timer = [], 0.0, [], RelativeTime(time.thread_time)
    shares, fall = [], 0.5 * float(run.built.model.mass.sum()) * speed**2
    for _ in range(frames):
        seconds.append(timer.time(run.advance)[0])
        shares.append(kinetic_energy(run) / fall)
        count.append(run.built.model.pattern.island_count)
        fastest = max(fastest, float(speeds(run).max()))
    built, reports, steps = run.built, run.reports, frames * run.scene.settings.substeps
    assert built.fracture is not None
    piece = np.searchsorted(built.model.pattern.island_start, built.model.tets[:, 0], side="right") - 1
    cell = float(np.median(built.fracture.size)) ** 3
    smallest = float(np.bincount(piece, built.fracture.material).min()) / cell
    name = f"block of {built.model.tet_count} tets, E 2e7 Pa, bears {strength:.1e} Pa, hits the ground at {speed} m/s"
    reach(SECTION, f"{name}: pieces", count[-1], f"at least {least}", count[-1] >= least)
    reach(
        SECTION,
        f"{name}: smallest piece, in cells of the lattice",
        smallest,
        MIN_FRAGMENT_CELLS,
        smallest >= MIN_FRAGMENT_CELLS * 0.999,
    )
    reach(SECTION, f"{name}: fastest piece", f"{fastest:.1f} m/s", f"{1.5 * speed:.1f} m/s", fastest <= 1.5 * speed)
    wrong, unsettled = sum(report.not_converged for report in reports), sum(report.unsettled for report in reports)
    told = f"{wrong}, {unsettled} unsettled, of {steps}"
    reach(SECTION, f"{name}: steps that did not converge", told, "1 %", wrong <= 0.01 * steps)
    each = float(np.mean(seconds[:TIMED_FRAMES]))
    reach(
        SECTION,
        f"{name}: processor time of one of its first {TIMED_FRAMES} frames ({timer.slowdown()})",
        f"{each:.2f} s",
        f"{MAX_SECONDS:g} s",
        each <= MAX_SECONDS,
    )
    if is_heap:
        moving = np.flatnonzero(np.array(shares) > RESTING_SHARE)
        rest = (int(moving.max(initial=-1)) + 1) / run.scene.settings.fps
        told = f"from {rest:.2f} s to the end at {frames / run.scene.settings.fps:g} s"
        claim = f"{name}: {count[-1]} pieces at rest, energy of motion below {RESTING_SHARE:g} of the fall's"
        reach(SECTION, claim, told, f"from {SECONDS_TO_REST:g} s on", rest <= SECONDS_TO_REST)
    else:
        late = count[-1] - count[-25]
        reach(SECTION, f"{name}: pieces that break off in the last second", late, 0, late == 0)
        reach(
            SECTION,
            f"{name}: energy of motion in the end, of that at first",
            f"{shares[-1]:.1e}",
            "1e-5",
            shares[-1] <= 1e-5,
        )
