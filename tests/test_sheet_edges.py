# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges of sheets: nothing passes between the vertices of a coarse one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.rigid_bodies import BOX_CORNERS, BOX_TRIANGLES, FLOOR, momenta, rigid_box, run_of
from fixtures.scenes import Run, block, rotation
from fixtures.sheets import grid
from fixtures.shells import unit_sphere
from sinew.solver.mesh.geometry.self_intersections import crossing_faces
from sinew.solver.mesh.geometry.triangle_bvh import build_bvh
from sinew.solver.runtime.arrays import Floats
from sinew.solver.scene.contact import Collider, Collision
from sinew.solver.scene.scene import Body, Meshing
from sinew.solver.scene.sheet_presets import SHEET_PRESETS

SAMPLES = np.array([[i, j, 8 - i - j] for i in range(9) for j in range(9 - i)]) / 8.0  # of every triangle
TURNS = {
    "face": np.eye(3),
    "edge": rotation([0, 1, 0], np.pi / 4.0),
    "corner": rotation([0, 1, 0], np.arctan(np.sqrt(0.5))) @ rotation([1, 0, 0], np.pi / 4.0),
}
SIDE = 0.16


def coarse_cloth(height: float, cells: int = 5, size: float = 0.6, preset: str = "COTTON", **settings: Any) -> Body:
    """Returns a square of cloth whose vertices are `size` / `cells` apart, not over the middle of the origin."""
    nodes, triangles = grid((cells, cells), (size, size))
    made = SHEET_PRESETS[preset]
    settings = {"material": made.material, "sheet": made.sheet, "key": "cloth", "name": "Cloth"} | settings
    at = nodes - [0.46 * size, 0.43 * size, -height]
    return Body(at, triangles, meshing=Meshing("sheet"), **settings)


def top(turn: Floats) -> float:
    """Returns the height of a turned cube over its centre [m]."""
    return float((SIDE * BOX_CORNERS @ turn.T)[:, 2].max())


def sampled(x: Floats, triangles: np.ndarray) -> Floats:
    """Returns places all over triangles [m], (k, 3)."""
    return np.einsum("sc,tci->tsi", SAMPLES, x[triangles]).reshape(-1, 3)


def depth_in_cube(points: Floats, turn: Floats, at: Floats) -> float:
    """Returns how deep the deepest point is in a cube [m], below 0 if none is."""
    return float((0.5 * SIDE - np.abs((points - at) @ turn).max(axis=1)).max())


@pytest.mark.parametrize("turn", ["face", *(pytest.param(turn, marks=pytest.mark.slow) for turn in ("edge", "corner"))])
def test_no_part_of_a_coarse_sheet_is_in_a_cube_on_which_it_fell(tmp_path: Path, turn: str) -> None:
    body, cube = coarse_cloth(top(TURNS[turn]) + 0.03), SIDE * BOX_CORNERS @ TURNS[turn].T
    run = run_of(tmp_path, body, colliders=(Collider("cube", "Cube", "mesh", cube, BOX_TRIANGLES),), frame_end=60)
    deepest = -1.0
    for _ in range(12):
        run.advance()
        x = sampled(run.render["cloth"], body.triangles)
        deepest = max(deepest, depth_in_cube(x, TURNS[turn], np.zeros(3)))
    assert deepest < 0.004
    assert x[:, 2].max() > top(TURNS[turn]) - 0.004  # it still lies on the cube
    assert sum(report.not_converged for report in run.reports) == 0


def test_a_ball_smaller_than_a_triangle_does_not_pass_through_a_sheet(tmp_path: Path) -> None:
    vertices, triangles = unit_sphere(2)
    ball = Collider("ball", "Ball", "mesh", 0.05 * vertices, triangles)
    body = coarse_cloth(0.08)
    run = run_of(tmp_path, body, colliders=(ball,), frame_end=60)
    nearest = 1.0
    for _ in range(14):
        run.advance()
        nearest = min(nearest, np.linalg.norm(sampled(run.render["cloth"], body.triangles), axis=1).min())
    assert nearest > 0.046


@pytest.mark.slow
@pytest.mark.parametrize("turn", ["edge", "corner"])
def test_a_rigid_cube_that_falls_on_a_held_sheet_stays_on_it(tmp_path: Path, turn: str) -> None:
    body = coarse_cloth(0.0)
    border = np.flatnonzero((np.abs(body.vertices - body.vertices.mean(axis=0))[:, :2] > 0.29).any(axis=1))
    body = replace(body, pinned=border.astype(np.int32))
    cube = rigid_box((SIDE, SIDE, SIDE), (0.0, 0.0, top(TURNS[turn]) + 0.02), TURNS[turn])
    run = run_of(tmp_path, body, cube, frame_end=60)
    run.advance(16)
    corners = run.render["box"]
    frame = np.stack([corners[4] - corners[0], corners[2] - corners[0], corners[1] - corners[0]], axis=1) / SIDE
    x = sampled(run.render["cloth"], body.triangles)
    assert depth_in_cube(x, frame, corners.mean(axis=0)) < 0.006
    assert corners.mean(axis=0)[2] > 0.0


def ridge(key: str, turn: Floats, at: tuple[float, float, float], **settings: Any) -> Body:
    """Returns one fold of cloth of four triangles, whose edges alone can meet those of another one across it."""
    vertices = np.array(
        [[-0.2, 0, 0], [0.2, 0, 0], [-0.2, 0.2, -0.2], [0.2, 0.2, -0.2], [-0.2, -0.2, -0.2], [0.2, -0.2, -0.2]]
    )
    triangles = np.array([[0, 1, 3], [0, 3, 2], [1, 0, 4], [1, 4, 5]], np.int32)
    made = SHEET_PRESETS["LEATHER"]
    settings = {"material": made.material, "sheet": made.sheet, "key": key, "name": key.capitalize()} | settings
    return Body(vertices @ turn.T + at, triangles, meshing=Meshing("sheet"), **settings)


def test_folds_that_cross_do_not_pass_and_keep_momentum(tmp_path: Path) -> None:
    smooth = Collision(0.0)  # friction acts on both sides of the distance that they keep, which turns them
    thrown = {"initial_velocity": (0.0, 0.0, -1.0), "collision": smooth}
    upper = ridge("upper", np.diag([1.0, -1.0, -1.0]), (0.01, 0.02, 0.06), **thrown)
    lower = ridge("lower", rotation([0, 0, 1], np.pi / 2.0), (0.0, 0.0, 0.0), collision=smooth)
    run = run_of(tmp_path, upper, lower, gravity=(0.0, 0.0, 0.0), frame_end=60, substeps=8)
    before = momenta(run)
    run.advance(3)
    after = momenta(run)
    assert run.state.v[run.built.model.bodies[1].nodes, 2].mean() < -0.3  # the lower one was hit
    np.testing.assert_allclose(after[0], before[0], atol=1e-6 * np.abs(before[0]).max())
    # implicit Euler takes more from what tumbles: with half the steps five times as much, also where nothing touches
    np.testing.assert_allclose(after[1], before[1], atol=2e-3 * 0.2 * np.abs(before[0]).max())
    mass, v = run.built.model.mass, run.state.v
    assert 0.5 * mass @ (v * v).sum(axis=1) < 0.25 * mass.sum()  # half of it had 1 m/s
    gap = run.render["upper"][:2, 2].mean() - run.render["lower"][:2, 2].mean()
    assert gap > 0.0


def test_folds_that_begin_nearer_than_they_keep_part_gently(tmp_path: Path) -> None:
    """Where the distance was asked for at once, they gained nine times the energy of their fall."""
    lower = ridge("lower", rotation([0, 0, 1], np.pi / 2.0), (0.0, 0.0, 0.0), collision=Collision(0.0))
    upper = ridge("upper", np.diag([1.0, -1.0, -1.0]), (0.01, 0.02, 0.01), collision=Collision(0.0))
    run = run_of(tmp_path, upper, lower, gravity=(0.0, 0.0, 0.0), frame_end=60, substeps=8)
    run.advance(6)
    assert np.abs(run.state.v).max() < 0.5
    assert run.render["upper"][:2, 2].mean() - run.render["lower"][:2, 2].mean() > 0.02


def test_two_strips_of_one_sheet_that_cross_meet_by_their_edges(tmp_path: Path) -> None:
    """The strips are of one body, one cell wide and long, so that where they cross there are no vertices."""
    nodes, triangles = grid((1, 1), (0.6, 0.1))
    low = nodes - [0.3, 0.05, 0.0]
    high = low[:, [1, 0, 2]] * [-1.0, 1.0, 1.0] + [0.013, 0.017, 0.05]
    made = SHEET_PRESETS["LEATHER"]
    body = Body(
        np.concatenate([low, high]), np.concatenate([triangles, triangles + 4]).astype(np.int32), key="cloth",
        name="Cloth", meshing=Meshing("sheet"), material=made.material, sheet=made.sheet,
        collision=Collision(0.3, 0.0, True), pinned=np.arange(4, dtype=np.int32),
    )  # fmt: skip
    run = run_of(tmp_path, body, frame_end=60)
    for _ in range(8):
        run.advance()
        x = np.ascontiguousarray(run.render["cloth"])
        assert not len(crossing_faces(build_bvh(x, body.triangles), body.triangles)[0])
    assert x[4:, 2].min() > -0.02


def test_edges_of_a_flat_sheet_do_not_meet_their_neighbours(tmp_path: Path) -> None:
    """Nothing pushes a sheet whose thickness is far more than its edges: all are as near as they are at rest."""
    body = coarse_cloth(0.0, 6, 0.3, collision=Collision(0.3, 0.2, True))
    run = run_of(tmp_path, body, gravity=(0.0, 0.0, 0.0), frame_end=60)
    run.advance(3)
    np.testing.assert_allclose(run.render["cloth"], body.vertices, atol=1e-9)


@pytest.mark.slow
def test_contacts_of_sheet_edges_resume_to_the_same_bytes(tmp_path: Path) -> None:
    from sinew.solver.mechanics.state import State

    jelly = block((2, 2, 2), (0.1, 0.1, 0.1), (-0.03, -0.02, 0.03), turn=TURNS["edge"], key="jelly")
    body = coarse_cloth(0.25, collision=Collision(0.3, 0.0, True))
    one = run_of(tmp_path / "one", body, jelly, colliders=(FLOOR,), frame_end=60)
    one.advance(8)
    first = one.simulation.contacts.surfaces.first_edge_id
    assert (one.state.fields["contact.id"] >= first).any()
    saved = one.state.copy()
    one.advance(2)
    two: Run = run_of(tmp_path / "two", body, jelly, colliders=(FLOOR,), frame_end=60)
    two.simulation.state = State(**vars(saved))
    two.advance(2)
    assert two.state.x.tobytes() == one.state.x.tobytes()
