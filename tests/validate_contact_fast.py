# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing passes through, however fast: `make validate`, or

python -m pytest -s tests/validate_contact_fast.py
"""

from __future__ import annotations

import numpy as np
import pytest

from contact_measures import depths, size_of
from contact_scenes import NOTHING, pairs
from reach_table import reach
from scenes import Run, block
from sinew.solver.scene import Material, Scene, Settings
from test_contact import sheet

SECTION = "Contact"


def order_of(run, number: int) -> float:
    """Returns how far the second body of a pair is ahead of the first along the way of the first [m]."""
    first, second = (run.built.model.bodies[i].nodes for i in (2 * number, 2 * number + 1))
    way = np.array(run.scene.bodies[2 * number].initial_velocity)
    return float((run.state.x[second].mean(axis=0) - run.state.x[first].mean(axis=0)) @ way / np.linalg.norm(way))


def overlap_of(run, number: int) -> float:
    """Returns how deep a vertex of one body of a pair is in the other, over the smaller of their sizes."""
    a, b = (run.scene.bodies[i] for i in (2 * number, 2 * number + 1))
    depth = max(
        depths(run.render[a.key], run.render[b.key], b.triangles).max(),
        depths(run.render[b.key], run.render[a.key], a.triangles).max(),
    )
    return float(depth) / min(size_of(a.vertices), size_of(b.vertices))


@pytest.mark.parametrize(("E", "fastest"), [((1.0e7, 1.0e9), 100.0), ((1.0e5, 1.0e7), 30.0)])
def test_pairs_do_not_pass_through(tmp_path, E, fastest):
    count = 100
    run = Run(tmp_path, pairs(count, fastest, E))
    passed, deep, quickest = set(), np.zeros(count), 0.0
    apart = [order_of(run, i) for i in range(count)]
    met = np.zeros(count, bool)
    for _ in range(14):
        run.advance()
        quickest = max(quickest, float(np.linalg.norm(run.state.v, axis=1).max()))
        for i in range(count):
            deep[i] = max(deep[i], overlap_of(run, i))
            passed |= {i} if order_of(run, i) < 0.0 else set()
    for i in range(count):
        way = np.array(run.scene.bodies[2 * i].initial_velocity) * 14 / 24
        met[i] = order_of(run, i) > apart[i] - 0.9 * np.linalg.norm(way)
    name = f"{count} random pairs at up to {fastest:g} m/s, E {E[0]:.0e} to {E[1]:.0e} Pa"
    value = f"{len(passed)} {sorted(passed)[:5] if passed else ''}".strip()
    reach(SECTION, f"{name}: pairs that passed through each other", value, "0", not passed)
    worst = int(deep.argmax())
    value = f"{(deep > 0.01).sum()}, deepest {deep[worst]:.1%} (pair {worst})"
    reach(SECTION, f"{name}: pairs of which a vertex was deeper than 1 % of the size", value, "0", deep.max() < 0.01)
    value = f"{quickest:.0f} m/s"
    reach(SECTION, f"{name}: fastest node", value, f"{1.5 * fastest:g} m/s", quickest < 1.5 * fastest)
    reach(SECTION, f"{name}: pairs that met", int(met.sum()), count, bool(met.all()))


@pytest.mark.parametrize("sides", ["auto", "front"])
def test_a_fast_body_stays_above_a_sheet(tmp_path, sides):
    lowest = np.inf
    for number, height in enumerate((0.5, 1.3, 2.9, 4.4)):
        body = block(
            (3, 3, 3), (0.4,) * 3, at=(-0.2, -0.2, height), material=Material(1.0e8, 0.3, stiffness_damping=0.002),
            initial_velocity=(0.0, 0.0, -100.0),
        )  # fmt: skip
        run = Run(tmp_path / str(number), Scene((body,), (sheet(sides=sides),), Settings(gravity=NOTHING)))
        lowest = min(lowest, *(float(run.advance()[:, 2].min()) for _ in range(12)))
    value = f"{1e3 * lowest:.1f} mm"
    reach(SECTION, f"box of 0.4 m at 100 m/s onto a thin sheet ({sides}): lowest", value, "-4 mm", lowest > -4e-3)
