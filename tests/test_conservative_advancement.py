# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions of pairs end before they come too close, and not much before: on paths made to mislead."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fixtures.closed_surfaces import torus
from fixtures.sheets import grid
from reference.closest_features import edge_edge_distance2, point_triangle_distance2
from sinew.solver.contact.exact import pair_search
from sinew.solver.contact.exact.closest_features import (
    allocate_closest_points,
    closest_of_edges,
    closest_on_triangle_to_point,
)
from sinew.solver.contact.exact.conservative_advancement import (
    ARRIVED_RATIO,
    EDGE_EDGE,
    POINT_TRIANGLE,
    SafeDistance,
    advance_pair,
    limit_motion,
)
from sinew.solver.contact.exact.contact_mesh import close_pairs, make_contact_mesh
from sinew.solver.contact.exact.pair_search import PairSearch
from sinew.solver.contact.exact.squared_distance import squared_distance

KINDS = {POINT_TRIANGLE: closest_on_triangle_to_point, EDGE_EDGE: closest_of_edges}
SIDES = {POINT_TRIANGLE: [0], EDGE_EDGE: [0, 1]}
SHARE = 0.1


def distances(kind, start, motion, times):
    closest, found = allocate_closest_points(), []
    for time in times:
        x = start + time * motion
        KINDS[kind](x, closest)
        found.append(np.sqrt(squared_distance(x, closest)))
    return np.array(found)


def misleading_paths(kind, count, seed):
    """Yields starts and motions of four corners that fly through each other, slide, turn, nearly touch or stay."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        start, motion = rng.uniform(-1.0, 1.0, (4, 3)), rng.normal(size=(4, 3))
        side = SIDES[kind]
        others = [i for i in range(4) if i not in side]
        aim = start[others].mean(axis=0) - start[side].mean(axis=0)
        motion = 0.3 * motion
        motion[side] += rng.uniform(1.0, 3.0) * aim  # most pairs would meet
        match number % 6:
            case 1:  # one side flies far through the other one
                motion[side] += 1000.0 * aim
            case 2:  # slides along closely
                start[:, 2] *= 1e-9
                start[side, 2] += 1e-6
                motion[:, 2] *= 1e-9
            case 3:  # starts with next to no distance, and closes it
                start[:, 2] = rng.uniform(-1e-9, 1e-9, 4)
                start[side, 2] += 1e-7
            case 4:  # nearly parallel, flat
                start[3] = start[2] + rng.choice([1.0, -0.7]) * (start[1] - start[0]) + 1e-7 * rng.normal(size=3)
            case 5:  # both move together, far and fast
                motion = motion + 1e4 * rng.normal(size=3)
        yield start, motion


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("minimum", [0.0, 1e-8])
def test_motions_end_in_time_and_not_early(kind, minimum) -> None:
    room, closest, ended, arrived = np.empty((4, 3)), allocate_closest_points(), 0, 0
    for start, motion in misleading_paths(kind, 240, 7):
        distance = distances(kind, start, motion, [0.0])[0]
        time = advance_pair(kind, start, motion, SafeDistance(minimum, SHARE), 1.0, room, closest)
        assert 0.0 <= time <= 1.0
        if distance <= minimum:
            assert time == 0.0
            continue
        kept = minimum + SHARE * (distance - minimum)
        rounding = 1e-14 * (np.abs(start).max() + np.abs(motion).max())
        along = distances(kind, start, motion, np.linspace(0.0, time, 300))
        assert along.min() >= kept - rounding
        if time < 1.0:
            ended += 1
            arrived += along[-1] <= minimum + ARRIVED_RATIO * (kept - minimum) + rounding
    assert ended > 60 and arrived >= 0.95 * ended, (ended, arrived)


def test_a_head_on_motion_ends_at_the_share_that_is_told() -> None:
    start = np.array([[0.2, 0.2, 1.0], [0.0, 0, 0], [1.0, 0, 0], [0.0, 1.0, 0]])
    motion = np.zeros((4, 3))
    motion[0, 2] = -4.0
    safe, stencils, none = SafeDistance(0.2, 0.25), np.arange(4, dtype=np.int32)[None], np.zeros(1)
    assert limit_motion(POINT_TRIANGLE, stencils, none, start, motion, safe, 1.0) == pytest.approx(0.25 * 0.6)
    assert limit_motion(POINT_TRIANGLE, stencils, none, start, motion, safe, 0.1) == 0.1
    assert limit_motion(POINT_TRIANGLE, stencils, none, start, -motion, safe, 1.0) == 1.0
    thick = np.array([0.3])
    assert limit_motion(POINT_TRIANGLE, stencils, thick, start, motion, safe, 1.0) == pytest.approx(0.25 * 0.75 * 0.5)


def test_no_later_than_the_ipc_toolkit() -> None:
    ipctk = pytest.importorskip("ipctk")
    exact, room, closest, hits = (
        ipctk.TightInclusionCCD(1e-6, 10_000_000, 0.999),
        np.empty((4, 3)),
        allocate_closest_points(),
        0,
    )
    for kind in KINDS:
        for number, (start, motion) in enumerate(misleading_paths(kind, 60, 11)):
            if number % 6 not in (0, 4):
                continue  # takes seconds there
            ccd = exact.point_triangle_ccd if kind == POINT_TRIANGLE else exact.edge_edge_ccd
            is_hit, time = ccd(*start, *(start + motion))
            own = advance_pair(kind, start, motion, SafeDistance(0.0, SHARE), 1.0, room, closest)
            if is_hit:
                hits += 1
                assert own <= time + 1e-5
    assert hits > 10


def tangle(seed):
    """Returns two tori and a sheet that move through each other: mesh, starts and ends [m], (n, 3)."""
    rng = np.random.default_rng(seed)
    parts = [torus(8, 6), torus(8, 6), grid((4, 4), (2.0, 2.0))]
    first = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    vertices = np.concatenate([part + rng.uniform(-0.3, 0.3, 3) for part, _ in parts])
    triangles = np.concatenate([part + begin for (_, part), begin in zip(parts, first[:-1], strict=True)])
    surface = np.repeat([0, 1, 2], np.diff(first)).astype(np.int32)
    may_touch = np.array([[False, True, True], [True, True, True], [True, True, False]])
    mesh = make_contact_mesh(vertices, triangles.astype(np.int32), surface, may_touch)
    return mesh, vertices, vertices + 0.1 * rng.normal(size=vertices.shape)


def test_no_close_pair_is_left_out() -> None:
    mesh, start, end = tangle(3)
    found = close_pairs(mesh, start, end, 0.05)
    assert len(mesh.points) == len(start) and len(mesh.edges) == len(np.unique(mesh.edges, axis=0))
    sets = [{tuple(row) for row in pairs.tolist()} for pairs in found]
    assert [len(each) for each in sets] == [len(each) for each in found]
    lower, upper = np.minimum(start, end), np.maximum(start, end)
    wanted = [
        [(int(p), *t) for p, t in itertools.product(mesh.points, mesh.triangles.tolist())],
        [(*a, *b) for a, b in itertools.combinations(mesh.edges.tolist(), 2)],
    ]
    for kind, rows, own in zip((1, 2), wanted, sets, strict=True):
        near = set()
        for row in rows:
            one, other = list(row[:kind]), list(row[kind:])
            if set(one) & set(other) or not mesh.may_touch[mesh.surface[one[0]], mesh.surface[other[0]]]:
                continue
            gap = np.maximum(lower[one].min(0) - upper[other].max(0), lower[other].min(0) - upper[one].max(0))
            if gap.max() <= 0.05:
                near.add(row)
        assert own == near and len(near) > 500


def test_the_limit_is_that_of_the_first_pair() -> None:
    mesh, start, end = tangle(5)
    pairs = close_pairs(mesh, start, end, 0.0)
    safe = SafeDistance(0.0, SHARE)
    room, closest = np.empty((4, 3)), allocate_closest_points()
    for kind, stencils, reference in zip(KINDS, pairs, (point_triangle_distance2, edge_edge_distance2), strict=True):
        apart = np.array([row for row in stencils[:300] if reference(start[row]) > 1e-6])
        alone = [advance_pair(kind, start[row], (end - start)[row], safe, 1.0, room, closest) for row in apart]
        limit = limit_motion(kind, apart, np.zeros(len(apart)), start, end - start, safe, 1.0)
        assert limit == min(alone) and 0.0 < limit < 1.0


def as_sets(groups) -> list[set]:
    """Returns the pairs of points and triangles and those of edges, each once."""
    return [{tuple(row) for row in np.asarray(group).tolist()} for group in groups]


def test_pairs_are_kept_while_no_vertex_leaves_its_margin() -> None:
    mesh, start, end = tangle(7)
    search = PairSearch(mesh, 0.02, 0.01)
    first = search.pairs(start, end)
    inside = start + 0.4 * (end - start)
    assert search.pairs(inside, end + 0.009) is first
    near = close_pairs(mesh, inside, end + 0.009, 0.02)
    for kept, found in zip(first, near, strict=True):
        assert {tuple(row) for row in found.tolist()} <= {tuple(row) for row in kept.vertices.tolist()}


@pytest.mark.parametrize(("move", "searches"), [(0.011, 1), (0.1, 2)])
def test_pairs_are_picked_out_without_a_search_while_no_vertex_leaves_its_wide_box(move, searches, monkeypatch) -> None:
    mesh, start, end = tangle(7)
    made = []
    monkeypatch.setattr(pair_search, "close_pairs", lambda *args: made.append(args) or close_pairs(*args))
    search = PairSearch(mesh, 0.02, 0.01, wide_margin=0.05)
    first = search.pairs(start, end)
    moved = end.copy()
    moved[3, 1] = max(start[3, 1], end[3, 1]) + move
    again = search.pairs(start, moved)
    assert again is not first and len(made) == searches
    for groups, there in ((first, end), (again, moved)):
        wanted = close_pairs(mesh, np.minimum(start, there) - 0.01, np.maximum(start, there) + 0.01, 0.02)
        assert as_sets(group.vertices for group in groups) == as_sets(wanted)
        assert [len(group.vertices) for group in groups] == [len(rows) for rows in wanted]


def test_paths_that_are_expected_need_one_search() -> None:
    mesh, start, end = tangle(7)
    search = PairSearch(mesh, 0.02, 0.01, expected=(start, end))
    before = search.all_pairs(start, start)
    wide = search._wide
    assert search.all_pairs(start, end) is not before and search._wide is wide
