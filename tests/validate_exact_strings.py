# SPDX-License-Identifier: GPL-3.0-or-later
"""Fast strings, points and edges without faces, with Exact contact: no string crosses a triangle, or leaves its box."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.intersection_tally import add_steps
from fixtures.rigid_bodies import run_of
from fixtures.scenes import Run, block
from sinew.solver.mesh.geometry.segment_surface_crossings import segments_crossing
from sinew.solver.mesh.geometry.triangle_bvh import build_bvh
from sinew.solver.mesh.shapes import box
from sinew.solver.scene.contact import Collider, Collision
from sinew.solver.scene.scene import Body, Meshing
from sinew.solver.scene.sheet import Sheet
from test_strand_scenes import NO_FACES, NYLON, chain

ROOM, THICKNESS, FRAMES = 0.4, 2.0e-3, 50  # edge of the room [m]
EXACT = {"contact": "exact", "fps": 25.0, "substeps": 8, "gravity": (0.0, 0.0, 0.0), "frame_end": 200}
UNDAMPED = replace(NYLON, mass_damping=0.0)


def shots(speed: float) -> list[Body]:
    """Returns strings of one edge and of four that fly in all directions, each 0.1 m long."""
    rng, bodies = np.random.default_rng(3), list[Body]()
    for number in range(8):
        count = 1 if number % 2 else 4
        along, direction = rng.normal(size=(2, 3))
        at = 0.12 * (np.array([number % 2, number // 2 % 2, number // 4]) * 2.0 - 1.0)
        steps = np.linspace(-0.05, 0.05, count + 1)[:, None]
        velocity = speed * direction / np.linalg.norm(direction)
        bodies.append(
            Body(
                at + steps * along / np.linalg.norm(along), NO_FACES, UNDAMPED, Meshing("sheet"), key=f"shot{number}",
                name=f"Shot {number}", sheet=Sheet(thickness=THICKNESS, bending=0.1, strands=chain(count)),
                initial_velocity=tuple(velocity), collision=Collision(0.0),
            )
        )  # fmt: skip
    return bodies


def count_crossings(run: Run, walls: Collider) -> int:
    """Returns how many strings cross a triangle of the jelly or of the room, or are outside of it."""
    positions, found = run.simulation.positions(), 0
    jelly = next(body for body in run.scene.bodies if body.key == "jelly")
    trees = [build_bvh(walls.vertices, walls.triangles), build_bvh(positions["jelly"], jelly.triangles)]
    for body in run.scene.bodies:
        if not body.is_sheet:
            continue
        x = positions[body.key]
        begin, end = (x[body.sheet.strands[:, side]] for side in (0, 1))
        found += sum(int(segments_crossing(tree, begin, end).sum()) for tree in trees)
        found += int((np.abs(x).max(axis=1) > 0.5 * ROOM).sum())
    return found


@pytest.mark.parametrize("speed", [5.0, 50.0])
def test_fast_strings_in_a_room(tmp_path, reach, speed) -> None:
    vertices, triangles = box((ROOM,) * 3, 1)
    walls = Collider("room", "Room", "mesh", vertices, triangles, sides="both")
    jelly = block((3, 3, 3), (0.1, 0.1, 0.1), at=(-0.05, -0.05, -0.05), key="jelly", collision=Collision(0.0))
    run, found, looks = run_of(tmp_path, jelly, *shots(speed), colliders=(walls,), **EXACT), 0, 0

    def look() -> None:
        nonlocal found, looks
        found, looks = found + count_crossings(run, walls), looks + 1

    for _ in range(FRAMES):
        run.advance(before_step=look)
    look()
    add_steps(looks - 1, found)
    unsettled, most = (sum(report.unsettled for report in run.reports), max(report.contacts for report in run.reports))
    line = f"exact: strings at {speed:g} m/s in a room with a jelly, {looks - 1} steps: crossings, or outside"
    reach("Contact", line, found, 0, found == 0)
    reach("Contact", "exact: pairs that push at most there", most, "some", most > 0)
    # one of 400 at 50 m/s was seen before the bound was set: 0.25 m in a step, more than twice what a string is long
    reach("Contact", "exact: steps of them that did not converge", unsettled, 2, unsettled <= 2)
