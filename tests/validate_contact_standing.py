# SPDX-License-Identifier: GPL-3.0-or-later
"""What has to stand, and what must not: `make validate`, or

python -m pytest -s tests/validate_contact_standing.py
"""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.claim_table import reach
from fixtures.contact_scenes import arch, stack
from fixtures.penetration_measures import DeepestEver
from fixtures.scenes import Run

SECTION = "Contact"


def middle(run, number: int):
    """Returns the middle of a body [m], (3,)."""
    nodes = run.built.model.bodies[number].nodes
    mass = run.built.model.mass[nodes]
    return mass @ run.state.x[nodes] / mass.sum()


def steps_of(run) -> str:
    """Returns how many steps were not settled or not converged."""
    steps = len(run.reports) * run.scene.settings.substeps
    unsettled = sum(report.unsettled for report in run.reports)
    return f"{unsettled} unsettled, {sum(report.not_converged for report in run.reports)} not converged of {steps}"


@pytest.mark.parametrize(("E", "cells"), [(1.0e7, 2), (1.0e8, 1)])
def test_a_stack_of_ten_boxes_stands(tmp_path, E, cells):
    """A column of these that is one piece buckles under its own weight below E = 1.5e6 Pa.

    Source: Greenhill's critical height, L³ = 7.84 E I / (ρ g A).
    """
    size, count = 0.1, 10
    run = Run(tmp_path, stack(count, size, cells, E))
    start, ever, places = middle(run, count - 1), DeepestEver(run), []
    for frame in range(240):
        run.advance()
        places.append(middle(run, count - 1))
        if frame % 12 == 0:
            ever.look(run)
    aside = max(float(np.linalg.norm((place - start)[:2])) for place in places) / size
    settled = np.array(places[120:])
    later = float(np.linalg.norm(settled - settled[0], axis=1).max()) / size
    name = f"ten boxes of {size} m, E = {E:.0e} Pa, stand for ten seconds"
    reach(SECTION, f"{name}: top drifts aside", f"{aside:.3%} of a box; {steps_of(run)}", "1 %", aside < 0.01)
    reach(SECTION, f"{name}: top moves in the last five seconds", f"{later:.3%} of a box", "0.2 %", later < 0.002)
    reach(SECTION, f"{name}: deepest in each other", ever, "1 %", ever.depth < 0.01)


def test_an_arch_of_seven_stones_stands_by_friction_only(tmp_path):
    for mu, seconds in ((0.7, 10), (0.0, 2)):
        run = Run(tmp_path / str(mu), arch(mu))
        start = middle(run, 3)
        run.advance(12)
        early = middle(run, 3)
        run.advance(24 * seconds - 12)
        fell, later = float(start[2] - middle(run, 3)[2]), float(np.linalg.norm(middle(run, 3) - early))
        name = f"arch of seven stones, 2 m wide, μ {mu:g}, {seconds} s"
        if mu:
            reach(SECTION, f"{name}: crown sinks", f"{1e3 * fell:.2f} mm; {steps_of(run)}", "10 mm", fell < 0.01)
            reach(SECTION, f"{name}: crown moves after half a second", f"{1e3 * later:.2f} mm", "2 mm", later < 0.002)
        else:
            reach(SECTION, f"{name}: crown falls", f"{fell:.2f} m", "more than 0.4 m", fell > 0.4)
