# SPDX-License-Identifier: GPL-3.0-or-later
"""A house of rigid cards with Exact contact: it stands by friction alone, and falls where there is too little of it."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.exact_checks import advance_and_count
from fixtures.rigid_bodies import centres, rigid_box, run_of
from sinew.solver.scene.contact import Collider, Collision
from sinew.solver.scene.scene import Body

LENGTH, WIDTH, THICKNESS = 0.09, 0.06, 3.0e-4  # of a card [m]
TILT = np.deg2rad(20.0)  # from upright
HAIR = 1.0e-4  # between cards at the start [m]
STEPS_PER_FRAME = 4
EXACT = {"contact": "exact", "fps": 24.0, "substeps": STEPS_PER_FRAME, "frame_end": 200}


def card_house(levels: int, friction: float) -> list[Body]:
    """Returns pairs of cards that lean on each other, one less in each level, and cards that lie between levels."""
    c, s = np.cos(TILT), np.sin(TILT)
    reach, height = 0.5 * (THICKNESS * c + LENGTH * s), 0.5 * (THICKNESS * s + LENGTH * c)  # halves of a leaning card
    pitch, floor, cards = 4.0 * reach + 2.0 * HAIR + 2.0e-3, HAIR, list[Body]()

    def add(size: tuple[float, float, float], x: float, z: float, tilt: float) -> None:
        turn = np.array([[np.cos(tilt), 0.0, np.sin(tilt)], [0.0, 1.0, 0.0], [-np.sin(tilt), 0.0, np.cos(tilt)]])
        cards.append(rigid_box(size, (x, 0.0, z), turn, f"card{len(cards)}", collision=Collision(friction)))

    for pairs in range(levels, 0, -1):
        for k in range(pairs):
            middle = (k - 0.5 * (pairs - 1)) * pitch
            for side in (1.0, -1.0):
                x = middle - side * (reach + 0.5 * HAIR)
                add((THICKNESS, WIDTH, LENGTH), x, floor + height, side * TILT)
        floor += 2.0 * height + HAIR
        for k in range(pairs - 1):
            x = (k - 0.5 * (pairs - 2)) * pitch
            add((pitch - 5.0e-4, WIDTH, THICKNESS), x, floor + 0.5 * THICKNESS, 0.0)
        floor += THICKNESS + HAIR
    return cards


@pytest.mark.parametrize(("friction", "levels", "frames"), [(0.6, 5, 125), (0.1, 2, 25)])
def test_a_card_house(tmp_path, reach, friction, levels, frames) -> None:
    cards, floor = card_house(levels, friction), Collider("floor", "Floor", "plane", friction=friction)
    run = run_of(tmp_path, *cards, colliders=(floor,), **EXACT)
    top = centres(run)[:, 2].argmax()
    start = centres(run)
    found = advance_and_count(run, 4 * frames // 5)
    late = centres(run)
    found += advance_and_count(run, frames // 5)
    steps, unsettled = STEPS_PER_FRAME * frames, sum(report.unsettled for report in run.reports)
    house = f"a house of {len(cards)} cards in {levels} levels, friction {friction:g}"
    line = f"exact: intersections, {house}, {steps} steps"
    reach("Contact", line, found, 0, found == 0)
    reach("Contact", "exact: steps of it that did not converge", unsettled, 4, unsettled <= 4)
    sunk = float(start[top, 2] - centres(run)[top, 2])
    if friction < 0.3:
        reach("Contact", "exact: how far its top falls", f"{1e3 * sunk:.0f} mm", "≥ 40 mm", sunk >= 0.04)
        return
    reach("Contact", "exact: how far its top sinks", f"{1e3 * sunk:.1f} mm", "2 mm", sunk <= 2e-3)
    crept = float(np.abs(centres(run) - late).max())
    reach("Contact", "exact: how far a card moves in its last second", f"{crept:.1e} m", "1e-6 m", crept <= 1e-6)
