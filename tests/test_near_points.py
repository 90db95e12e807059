# SPDX-License-Identifier: GPL-3.0-or-later
"""Points and surfaces that are let go because nothing is near: the same bytes, and work only where something is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fixtures.scenes import Run, rotation
from fixtures.stamps import TET, pressed_by_a_small_stamp
from sinew.solver.contact.colliders.rigid_colliders import build_collider
from sinew.solver.contact.detection import near_points as near_points_module
from sinew.solver.contact.detection import surface_contacts
from sinew.solver.contact.detection.contact_sample_points import ContactPoints
from sinew.solver.contact.detection.near_points import near_points
from sinew.solver.contact.surfaces.point_triangle_search import PointTriangleSearch
from sinew.solver.mesh.geometry.closest_point import closest_points
from sinew.solver.mesh.geometry.winding_number import winding_numbers
from sinew.solver.scene.scene import Collider
from sinew.solver.scene.tracks import TrackReader
from test_collider_contact import sheet, slab

SIZE = 0.2  # of tets [m]
COLLIDERS = [Collider("ground", "Ground", thickness=0.05), slab((3.0, 3.0, 1.0)), sheet(3.0, thickness=0.2)]


def small_tets(random: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the nodes of tets in a cube of 6 m, and tets of nodes of their own."""
    middle = random.uniform(-3.0, 3.0, (count, 1, 3))
    nodes = (middle + random.uniform(-0.5 * SIZE, 0.5 * SIZE, (count, 4, 3))).reshape(-1, 3)
    return nodes, np.arange(4 * count, dtype=np.int32).reshape(-1, 4)


def points_in(random: np.random.Generator, tets: int, each: int) -> ContactPoints:
    weights = random.normal(0.25, 0.3, (tets * each, 4))  # many are outside of their tets
    weights[:, 3] = 1.0 - weights[:, :3].sum(axis=1)
    one = np.ones(len(weights))
    tet = random.permutation(np.repeat(np.arange(tets, dtype=np.int32), each))
    return ContactPoints(tet, weights, one, one, one, one, SIZE * one, one, one)


def reached(built, pose: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Returns which points [m], (k, 3), touch a collider or are inside, the slow way."""
    local = (positions - pose[3]) @ pose[:3]
    if built.bvh is None:
        return local @ built.normal < built.max_thickness
    near = closest_points(built.bvh, local).distance < built.max_thickness
    return near | (built.is_closed & (np.abs(winding_numbers(built.bvh, local)) > 0.5))


@pytest.mark.parametrize("collider", COLLIDERS, ids=["plane", "slab", "sheet"])
def test_no_point_that_touches_is_left_out_while_everything_moves(tmp_path, collider) -> None:
    random = np.random.default_rng(5)
    x, tets = small_tets(random, 400)
    points = points_in(random, 400, 8)
    built = build_collider(collider, TrackReader(tmp_path, wait=0.0))
    pose, touched, looked_up = np.vstack([rotation([1.0, 2.0, 3.0], 0.4), [0.1, 0.0, -0.2]]), 0, []
    for _ in range(60):
        after, moved = x + random.uniform(-0.02, 0.02, x.shape), pose.copy()
        if collider.shape == "mesh":
            moved[3] += random.uniform(-0.03, 0.03, 3)
            moved[:3] = rotation([0.0, 1.0, 0.0], 0.004) @ moved[:3]
        near = near_points(built, np.vstack([pose, moved]), points, tets, x, after)
        assert near is not None and len(near) < 0.75 * len(points)
        for at, where in ((pose, x), (moved, after)):
            positions = np.einsum("ka,kai->ki", points.weights, where[tets[points.tet]])
            wanted = np.flatnonzero(reached(built, at, positions))
            assert set(wanted.tolist()) <= set(near.tolist())
            touched += len(wanted)
        looked_up.append(points.near_points[built.key])
        x, pose = after, moved
    assert touched > 1000
    assert 1 < len(set(map(id, looked_up))) < 40  # not in every step


def test_a_few_points_are_all_looked_at(tmp_path) -> None:
    random = np.random.default_rng(6)
    x, tets = small_tets(random, 50)
    built = build_collider(COLLIDERS[0], TrackReader(tmp_path, wait=0.0))
    pose = np.tile(np.vstack([np.eye(3), np.zeros(3)]), (2, 1))
    assert near_points(built, pose, points_in(random, 50, 3), tets, x, x) is None


@pytest.mark.parametrize("each", [3, 8], ids=["few points", "many points"])
def test_points_of_held_tets_are_left_out(tmp_path, each: int) -> None:
    random = np.random.default_rng(7)
    x, tets = small_tets(random, 50)
    points, is_fixed = points_in(random, 50, each), np.zeros(len(x), bool)
    is_fixed[tets[::2]] = True
    built = build_collider(COLLIDERS[0], TrackReader(tmp_path, wait=0.0))
    pose = np.tile(np.vstack([np.eye(3), np.zeros(3)]), (2, 1))
    near, moving = near_points(built, pose, points, tets, x, x), np.flatnonzero(points.tet % 2 == 1)
    wanted = moving if near is None else np.intersect1d(near, moving)
    assert np.array_equal(near_points(built, pose, points, tets, x, x, is_fixed), wanted)
    assert (near is None) == (each == 3) and 0 < len(wanted)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rigid", "deforming"])
def test_particles_that_are_let_go_change_no_byte(tmp_path: Path, monkeypatch, kind: str) -> None:
    made = pressed_by_a_small_stamp(6, 2, kind)
    searches: list[int] = []
    gather = PointTriangleSearch.gather
    monkeypatch.setattr(PointTriangleSearch, "gather", lambda self, end: (searches.append(1), gather(self, end))[1])
    run = Run(tmp_path / "near", made.scene, **made.tracks)
    counts, calls = [], []
    for _ in range(30):
        searches.clear()
        run.advance()
        near = run.built.contact_points.near_points.get("stamp")
        counts.append(len(near.points) if near is not None else -1)
        calls.append(len(searches))
    every = len(run.built.contact_points)
    if kind == "rigid":
        assert 0.0 < max(counts) < 0.45 * every and counts[-1] == 0  # near the stamp, and then nowhere
    else:
        assert max(calls) > 0 and calls[-1] == 0
    monkeypatch.setattr(near_points_module, "MIN_POINTS_PER_TET", np.inf)
    monkeypatch.setattr(surface_contacts, "surfaces_may_meet", lambda *of: True)
    whole = Run(tmp_path / "all", made.scene, **made.tracks)
    whole.advance(30)
    assert whole.state.x.tobytes() == run.state.x.tobytes()
    assert whole.render["clay"].tobytes() == run.render["clay"].tobytes()
    assert run.reports[-1].bodies["clay"]["deepest_dent"] > 0.2 * TET
