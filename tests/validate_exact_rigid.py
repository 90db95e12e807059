# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid bodies with Exact contact: a heap of boxes, a stack, a heavy ball in jelly; no triangles ever intersect."""

from __future__ import annotations

import numpy as np

from fixtures.closed_surfaces import sphere
from fixtures.exact_checks import advance_and_count
from fixtures.rigid_bodies import FLOOR, RIGID, centres, distortion, momenta, rigid_box, run_of
from fixtures.scenes import Run, block, rotation
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.scene import Body, Material
from validate_exact_contact import welded

EXACT = {"contact": "exact", "fps": 24.0, "substeps": 4, "frame_end": 200}
RUBS = Collision(0.5)


def follow(run: Run, frames: int) -> tuple[int, int]:
    """Moves on, and returns how many triangles intersected, and how many steps did not converge."""
    found = advance_and_count(run, frames)
    return found, sum(report.unsettled for report in run.reports)


def test_a_heap_of_boxes(tmp_path, reach) -> None:
    rng, boxes = np.random.default_rng(0), []
    for k in range(24):
        turn = np.asarray(rotation(rng.normal(size=3), rng.uniform(0.0, 3.0)))
        at = (0.08 * rng.normal(), 0.08 * rng.normal(), 0.1 + 0.18 * k)
        boxes.append(rigid_box((0.1,) * 3, at, turn, f"box{k}", collision=RUBS))
    run = run_of(tmp_path, *boxes, colliders=(FLOOR,), **EXACT)
    found, unsettled = follow(run, 100)
    reach("Contact", "exact: intersections, 24 rigid boxes fall into a heap, 400 steps", found, 0, found == 0)
    reach("Contact", "exact: steps of it that did not converge", unsettled, 4, unsettled <= 4)
    shape = distortion(run)
    reach("Contact", "exact: largest change of a box of 0.1 m", f"{shape:.1e} m", "1e-5 m", shape <= 1e-5)


def test_a_stack_of_boxes(tmp_path, reach) -> None:
    stack = [rigid_box((0.1,) * 3, (0.004 * k, 0.0, 0.051 + 0.102 * k), key=f"b{k}", collision=RUBS) for k in range(8)]
    run = run_of(tmp_path, *stack, colliders=(FLOOR,), **EXACT)
    found, unsettled = follow(run, 48)
    place = centres(run)
    reach("Contact", "exact: intersections, a stack of 8 boxes, 192 steps", found, 0, found == 0 and unsettled == 0)
    further, _ = follow(run, 48)
    reach("Contact", "exact: intersections in the next two seconds, 192 steps", further, 0, further == 0)
    creep = float(np.abs(centres(run) - place).max())
    reach("Contact", "exact: motion of its boxes in the next two seconds", f"{creep:.1e} m", "5e-5 m", creep <= 5e-5)


def test_a_ball_in_jelly(tmp_path, reach) -> None:
    vertices, triangles = welded(*sphere(5))
    ball = Body(0.04 * vertices + [0.0, 0.0, 0.2], triangles, Material(density=3000.0), RIGID, key="ball",
                name="Ball", initial_velocity=(0.0, 0.0, -4.0), collision=RUBS)  # fmt: skip
    jelly = block((5, 5, 3), (0.2, 0.2, 0.1), at=(-0.1, -0.1, 0.0), key="jelly", collision=RUBS)
    run = run_of(tmp_path, jelly, ball, **EXACT, gravity=(0.0, 0.0, 0.0))
    before = momenta(run)[0]
    found, unsettled = follow(run, 24)
    reach("Contact", "exact: intersections, a heavy ball hits jelly, 96 steps", found, 0, found == 0 and unsettled == 0)
    lost = float(np.linalg.norm(momenta(run)[0] - before) / np.linalg.norm(before))
    reach("Contact", "exact: momentum that both lose", f"{lost:.1e}", "1e-9", lost <= 1e-9)
