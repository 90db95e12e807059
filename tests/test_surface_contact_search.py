# SPDX-License-Identifier: GPL-3.0-or-later
"""Where skins meet during a step: nothing slips through, whatever is deformed and however it moves."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from fixtures.collision_surfaces import gaps_at, skins_from
from fixtures.triangle_patches import faces_of, sheet, winding, wobble
from sinew.solver.contact.surfaces import candidate_search
from sinew.solver.contact.surfaces.closest_point_walk import MIN_ALIGNED_COSINE, triangle_frame
from sinew.solver.contact.surfaces.point_triangle_narrow_phase import ExistingContacts, find_covering_contacts
from sinew.solver.contact.surfaces.point_triangle_search import PointTriangleSearch
from sinew.solver.contact.surfaces.time_of_impact import NO_IMPACT, time_of_impact

# --- one look ----------------------------------------------------------------------------------------------------


def test_the_search_finds_what_trying_all_pairs_finds():
    rng = np.random.default_rng(0)
    many = left_alone = 0
    for trial in range(8):
        parts = []
        for _ in range(3):
            vertices, triangles = faces_of(trimesh.creation.icosphere(1, radius=0.5))
            parts.append((vertices + rng.normal(size=3) * 0.6, triangles))
        skins = skins_from(parts, sizes=1e-3)
        start = skins.rest
        end = start + wobble(start, 4.0, rng)
        met = PointTriangleSearch(skins, start).find(end)
        found = {(int(p), int(s)): int(t) for p, s, t in zip(met.point, met.surface, met.triangle, strict=True)}
        expected, out, scratch = {}, np.empty(3), np.empty((1, 9))
        for p in range(skins.vertex_count):
            for skin in range(3):
                if skin == skins.surface_of[p]:
                    continue
                best = NO_IMPACT
                for t in range(int(skins.triangle_start[skin]), int(skins.triangle_start[skin + 1])):
                    when = time_of_impact(start, end, p, *skins.triangles[t], 1, 1e-3, scratch, out)
                    if when < best:
                        best, expected[p, skin] = when, t
        # what goes in and comes out again within the step is not met
        assert found.keys() <= expected.keys(), trial
        for p, skin in expected.keys() - found.keys():
            own, faces = skins.vertices_of(skin), skins.triangles[skins.triangles_of(skin)]
            left_alone += winding(end[own], faces - own.start, end[p : p + 1])[0] > 0.5
        many += len(found)
    assert many > 40 and left_alone == 0


def test_pieces_that_cannot_move_do_not_meet_each_other_and_all_else_stays() -> None:
    rng = np.random.default_rng(8)
    parts = []
    for place in ((0.0, 0.0, 0.0), (0.7, 0.0, 0.0), (0.3, 0.6, 0.1)):
        vertices, triangles = faces_of(trimesh.creation.icosphere(2, radius=0.4))
        parts.append((vertices + place, triangles))
    skins = skins_from(parts, sizes=1e-3)
    moves = skins.surface_of == 2
    end = skins.rest + np.where(moves[:, None], wobble(skins.rest, 0.4, rng), 0.0)
    end[~moves, 0] += np.where(skins.surface_of[~moves] == 0, 0.1, 0.0)  # what is held may be led into each other
    every = PointTriangleSearch(skins, skins.rest).find(end)
    is_wanted = moves[every.point] | moves[skins.triangles[every.triangle, 0]]
    few = PointTriangleSearch(skins, skins.rest, is_movable=moves).find(end)
    assert 0 < is_wanted.sum() < len(is_wanted)
    for name in ("id", "point", "triangle", "normal", "gap"):
        assert np.array_equal(getattr(few, name), getattr(every, name)[is_wanted]), name


@pytest.mark.parametrize("target", ["anywhere", "vertices", "edges"])
def test_no_way_leads_into_a_deforming_body_unseen(target):
    """Points come from outside and are inside at the end of the step: all are met; the way out is free."""
    rng = np.random.default_rng(5)
    vertices, triangles = faces_of(trimesh.creation.icosphere(3))
    start = vertices + wobble(vertices, 0.15, rng)
    end = start + wobble(vertices, 0.3, rng) + 0.05
    outside = rng.normal(size=(4000, 3))
    outside *= rng.uniform(1.4, 3.0, (4000, 1)) / np.linalg.norm(outside, axis=1, keepdims=True)
    middle, t, k = 0.5 * (start + end), rng.integers(0, len(triangles), 4000), rng.uniform(0, 1, (4000, 1))
    inside = rng.normal(size=(4000, 3)) * 0.3
    if target != "anywhere":  # through a vertex or an edge as they are at the middle of the step
        k = k if target == "edges" else np.ones_like(k)
        through = k * middle[triangles[t, 0]] + (1.0 - k) * middle[triangles[t, 1]]
        away = through / np.linalg.norm(through, axis=1, keepdims=True) + 0.3 * rng.normal(size=(4000, 3))
        outside, inside = through + 0.5 * away, through - 0.5 * away
    is_out = winding(start, triangles, outside) < 0.01
    is_in = winding(end, triangles, inside) > 0.99
    skins = skins_from([(vertices, triangles), (outside, np.zeros((0, 3)))])
    both = np.concatenate([start, outside]), np.concatenate([end, inside])
    met = PointTriangleSearch(skins, both[0]).find(both[1])
    is_met = np.zeros(4000, bool)
    is_met[met.point[met.surface == 0] - len(vertices)] = True
    goes_in = is_out & is_in
    assert goes_in.sum() > 500
    assert is_met[goes_in].all()
    back = PointTriangleSearch(skins, both[1]).find(both[0])
    left = np.zeros(4000, bool)
    left[back.point[back.surface == 0] - len(vertices)] = True
    assert not left[goes_in].all()
    if target == "anywhere":
        assert left[goes_in].mean() < 0.02  # but for ways that go out and in again


def test_the_plane_is_that_of_the_triangle_at_the_end():
    vertices, triangles = sheet(1, 4.0)
    skins = skins_from([(vertices, triangles), ([[0.2, 0.1, 0.5]], np.zeros((0, 3)))])
    start = skins.rest
    turn = np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]]).T
    end = start @ turn.T
    end[4] = turn @ [0.2, 0.1, -0.3]
    met = PointTriangleSearch(skins, start).find(end)
    assert len(met) == 1 and met.side[0] == 1 and met.id[0] == 0 * 5 + 4 and met.point[0] == 4 and met.surface[0] == 0
    np.testing.assert_allclose(met.normal[0], turn @ [0, 0, 1.0], atol=1e-12)
    assert gaps_at(skins, met, start, end)[0] == pytest.approx(-0.3, abs=1e-9)


def test_sides_of_closed_bodies_and_of_sheets():
    vertices, triangles = sheet(2)
    above, below = [[0.1, 0.2, 0.5]], [[0.1, 0.2, -0.5]]
    for one_sided, up_is_met in ((True, False), (False, True)):
        skins = skins_from([(vertices, triangles), (above + below, np.zeros((0, 3)))], one_sided=[one_sided, True])
        start, end = skins.rest.copy(), skins.rest.copy()
        end[-2:] = start[[-1, -2]]
        met = PointTriangleSearch(skins, start).find(end)
        assert [(int(p) - len(vertices), int(s)) for p, s in zip(met.point, met.side, strict=True)] == (
            [(0, 1), (1, -1)] if up_is_met else [(0, 1)]
        )
        for row in range(len(met)):
            np.testing.assert_allclose(met.normal[row], [0, 0, met.side[row]], atol=1e-12)


@pytest.mark.parametrize("speed", [0.1, 1.0, 10.0, 100.0, 1000.0])
def test_nothing_is_too_fast(speed):
    """A block of points at up to 100 m/s, and a sheet that comes the other way, at 24 frames of 4 steps."""
    rng = np.random.default_rng(1)
    vertices, triangles = sheet(6)
    points = rng.uniform(-0.45, 0.45, (300, 3)) * [1, 1, 0.2] + [0, 0, 0.2]
    skins = skins_from([(vertices, triangles), (points, np.zeros((0, 3)))], one_sided=[False, True])
    x, dt = skins.rest.copy(), 1.0 / 96.0
    velocity = np.where(np.arange(len(x))[:, None] < len(vertices), [0.0, 0, 0.3], [0.0, 0, -0.7]) * speed
    seen = np.zeros(len(x), bool)
    for _ in range(10_000):
        end = x + velocity * dt
        seen[PointTriangleSearch(skins, x).find(end).point] = True
        x = end
        if x[-300:, 2].max() < x[: len(vertices), 2].min() - 0.01:
            break
    assert seen[-300:].all()


def test_what_touches_at_rest_is_met_and_what_overlaps_is_not():
    vertices, triangles = faces_of(trimesh.creation.box((1.0, 1.0, 1.0)).subdivide())
    for gap, is_met in ((0.0, True), (-1e-9, True), (1e-9, True), (-0.01, False)):
        skins = skins_from([(vertices, triangles), (vertices + [0, 0, 1.0 + gap], triangles)])
        end = skins.rest.copy()
        end[len(vertices) :, 2] -= 1e-3
        met = PointTriangleSearch(skins, skins.rest).find(end)
        assert (len(met) > 0) == is_met, gap
        if is_met:
            assert (np.abs(met.normal[:, 2]) > 0.99).all()
            assert len(np.unique(met.point)) >= 2 * 9  # the corners of the faces that lie on each other, both ways


def test_own_triangles_beside_a_point_are_not_met():
    """A strip folds over onto itself; the tets at its hinge share nodes."""
    vertices, triangles = sheet(8)
    cell = np.round((vertices[:, 0] + 0.5) * 8).astype(int)
    nodes = np.stack(
        [cell * 100, cell * 100 + 1, np.arange(len(vertices)) + 5000, np.arange(len(vertices)) + 9000], axis=1
    )
    skins = skins_from([(vertices, triangles)], may_touch=[[True]], nodes=nodes)
    angle = np.pi * (vertices[:, 0] > 0) * 0.999
    end = vertices.copy()
    right = vertices[:, 0] > 0.0
    end[right, 0], end[right, 2] = vertices[right, 0] * np.cos(angle[right]), vertices[right, 0] * np.sin(angle[right])
    start = vertices.copy()
    start[right, 0], start[right, 2] = 0.0, vertices[right, 0]
    closed = end.copy()
    closed[right, 2] = -0.01
    met = PointTriangleSearch(skins, start).find(closed)
    assert len(met) > 10
    first, second = skins.nodes[met.point], skins.nodes[skins.triangles[met.triangle]]
    assert not (first[:, None, :, None] == second[:, :, None, :]).any()


# --- further looks, threads, switches ----------------------------------------------------------------------------


def drop(rng):
    parts = []
    for at in ((0, 0, 0), (1.01, 0, 0), (0, 1.01, 0.1), (0.5, 0.5, 0.9)):
        vertices, triangles = faces_of(trimesh.creation.icosphere(3, radius=0.5))
        parts.append((vertices + at, triangles))
    skins = skins_from(parts, sizes=0.1)
    middles = np.stack([skins.rest[skins.vertices_of(skin)].mean(axis=0) for skin in range(4)])
    towards = 0.1 * (middles.mean(axis=0) - middles)
    return skins, skins.rest + towards[skins.surface_of] + wobble(skins.rest, 0.03, rng)


def rows(met):
    return [getattr(met, name) for name in ("id", "point", "surface", "triangle", "place", "normal", "gap", "side")]


def test_parts_and_threads_change_nothing(monkeypatch):
    skins, end = drop(np.random.default_rng(2))
    monkeypatch.setattr("sinew.solver.runtime.threads.thread_pool.thread_count", lambda: 1)
    whole = PointTriangleSearch(skins, skins.rest).find(end)
    assert len(whole) > 40 and (np.diff(whole.id) > 0).all()
    monkeypatch.setattr("sinew.solver.runtime.threads.thread_pool.thread_count", lambda: 4)
    monkeypatch.setattr(candidate_search, "MAX_ITEMS_PER_TASK", 100)
    monkeypatch.setattr(candidate_search, "INITIAL_PAIRS_PER_ITEM", 1)
    for one, other in zip(rows(whole), rows(PointTriangleSearch(skins, skins.rest).find(end)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_further_looks_find_what_a_first_one_finds():
    rng = np.random.default_rng(3)
    skins, end = drop(rng)
    for amount in (1e-4, 0.3):  # within what is to spare, and far beyond
        search = PointTriangleSearch(skins, skins.rest)
        first = search.find(end)
        other = end + wobble(end, amount, rng)
        again, alone = search.find(other), PointTriangleSearch(skins, skins.rest).find(other)
        both = np.isin(alone.id, again.id)
        assert both.mean() > 0.99, amount
        # what was found first goes on with its place, and planes are those of the new end
        kept = np.isin(again.id, first.id)
        assert kept.any()
        pushed = gaps_at(skins, alone, skins.rest, other) < 0.0
        assert np.isin(alone.point[pushed], again.point).all()


def test_what_is_known_is_where_a_search_finds_it_and_nothing_is_added():
    rng = np.random.default_rng(4)
    skins, end = drop(rng)
    search = PointTriangleSearch(skins, skins.rest)
    assert not len(search.find_known(end))
    first = search.find(end)
    assert len(first) > 40
    other = np.where((skins.surface_of == 3)[:, None], skins.rest, end + 1e-3)  # the uppermost stays behind
    known, pairs = search.find_known(other), search.pairs
    assert 0 < len(known) < len(first) and np.isin(known.id, first.id).all() and search.pairs is pairs
    again = search.find(other)
    found = np.searchsorted(again.id, known.id)
    unmoved = again.triangle[found] == known.triangle  # contacts that do not push move where the search finds them
    assert unmoved.sum() > 20
    for name in ("id", "point", "place", "normal", "gap", "side"):
        np.testing.assert_array_equal(getattr(known, name)[unmoved], getattr(again, name)[found[unmoved]])


@pytest.mark.parametrize("moved", [[0], [1, 3], [0, 2, 3]])
def test_only_what_leaves_its_margin_is_searched_again(moved, monkeypatch):
    """Pairs are those of a whole search of the same paths, where pieces that stay in their margins keep theirs."""
    skins, end = drop(np.random.default_rng(8))
    search, fitted, fit = PointTriangleSearch(skins, skins.rest), [], candidate_search.fit_boxes
    search.gather(end)
    before = sum(len(point) for point, _ in search.pairs)
    monkeypatch.setattr(candidate_search, "fit_boxes", lambda own, *to: (fitted.extend(own.tolist()), fit(own, *to)))
    is_moved = np.isin(skins.surface_of, moved)
    expected = end + np.where(is_moved, 0.15, 0.0)[:, None]
    search.gather(expected + np.where(is_moved, 0.0, 0.005)[:, None])
    assert sorted(fitted) == moved
    whole = PointTriangleSearch(skins, skins.rest)
    whole.gather(expected)
    for one, other in zip(search.pairs, whole.pairs, strict=True):
        np.testing.assert_array_equal(one, other)
    assert sum(len(point) for point, _ in search.pairs) not in (0, before)
    np.testing.assert_array_equal(search.candidates.margin, whole.candidates.margin)


def test_what_is_slow_is_not_looked_for_as_far_as_what_is_fast():
    """One splinter that flies away made the boxes of all of its body larger: 200,000 pairs here instead of 5,400."""
    skins, end = drop(np.random.default_rng(5))
    search = PointTriangleSearch(skins, skins.rest)
    search.find(end)
    before = sum(len(point) for point, _ in search.pairs)
    away = end.copy()
    away[0] += [0.0, 0.0, 3.0]
    again = PointTriangleSearch(skins, skins.rest)
    again.find(away)
    others = np.concatenate([point for point, _ in again.pairs]) != 0
    # but for triangles that hang on it
    assert others.sum() < 1.5 * before
    # and for the mean motion of its piece, of 162 vertices
    assert again.candidates.margin[0] > 0.29
    np.testing.assert_allclose(again.candidates.margin[1:], search.candidates.margin[1:], atol=0.1 * 3.0 / 162)


def test_what_flies_fast_is_not_looked_for_further_in_itself_and_meets_the_same():
    """Both halves of a torn skin fly apart, one at ten sizes a step: pairs are those of what hardly moves."""
    rng = np.random.default_rng(6)
    one, triangles = faces_of(trimesh.creation.icosphere(3, radius=0.5))
    two = one + [3.0, 0.0, 0.0]
    skin = (np.concatenate([one, two]), np.concatenate([triangles, triangles + len(one)]))
    target = (one * 0.2 + [8.0, 0.0, 0.0], triangles)
    skins = skins_from([skin, target], sizes=0.05, may_touch=[[True, True], [True, False]])
    start = skins.rest
    jitter = 0.01 * rng.normal(size=start.shape)
    slow, fast = start + jitter, start + jitter
    fast[len(one) : 2 * len(one)] += [10.0, 0.0, 0.0]
    searches = [PointTriangleSearch(skins, start) for _ in range(2)]
    resting, met = (search.find(end) for search, end in zip(searches, (slow, fast), strict=True))
    assert len(skins.pieces.surface) == 3 and skins.pieces.surface.tolist() == [0, 0, 1]
    pairs = [np.concatenate([point for point, _ in search.pairs]) for search in searches]
    own = [np.count_nonzero(points < len(one)) for points in pairs]
    assert own[1] == own[0] > 0  # the half that stays is not in the other's way
    # all that the target's points are in the way of is met, and by the half that flies alone
    assert len(resting) == 0 and len(met) > 50
    assert (met.point[met.surface == 1] >= len(one)).all()
    assert (skins.pieces.of_triangle[met.triangle[met.surface == 0]] == 1).all()
    flown = [np.count_nonzero((points >= len(one)) & (points < 2 * len(one))) for points in pairs]
    with_target = len(one) * len(triangles)
    assert flown[1] <= flown[0] + with_target  # and not all pairs of its own besides


def test_pieces_are_what_triangles_connect():
    loose = np.array([[9.0, 9.0, 9.0], [8.0, 8.0, 8.0]])
    one, triangles = faces_of(trimesh.creation.icosphere(1))
    both = (np.concatenate([one, loose, one + 5.0]), np.concatenate([triangles, triangles + len(one) + 2]))
    skins = skins_from([(loose, np.zeros((0, 3))), both])
    pieces = skins.pieces
    assert pieces.surface.tolist() == [0, 1, 1, 1]
    numbers = [pieces.of_vertex[:2], pieces.of_vertex[2 : 2 + len(one)], pieces.of_vertex[2 + len(one) : 4 + len(one)]]
    assert [len(set(each.tolist())) for each in numbers] == [1, 1, 1]
    assert len({int(each[0]) for each in [*numbers, pieces.of_vertex[-1:]]}) == 4
    np.testing.assert_array_equal(pieces.of_triangle, pieces.of_vertex[skins.triangles[:, 0]])


def test_skins_that_are_switched_off_meet_nothing():
    skins, end = drop(np.random.default_rng(2))
    met = PointTriangleSearch(skins, skins.rest, is_active=np.array([True, False, True, True])).find(end)
    assert len(met) > 0 and not (met.surface == 1).any() and not (skins.surface_of[met.point] == 1).any()
    assert len(PointTriangleSearch(skins, skins.rest, is_active=np.zeros(4, bool)).find(end)) == 0


def test_existing_contacts_cover_aligned_triangles_with_a_common_corner():
    rng = np.random.default_rng(4)
    end, triangles = rng.normal(size=(30, 3)), np.array([rng.permutation(30)[:3] for _ in range(40)], np.int32)
    key = np.sort(rng.integers(0, 12, 60))
    existing = ExistingContacts(
        key, rng.integers(0, 40, 60).astype(np.int32), rng.normal(size=(60, 3)), rng.random(60) < 0.5
    )
    asked, triangle = rng.integers(0, 14, 200), rng.integers(0, 40, 200).astype(np.int32)
    which, out = np.flatnonzero(rng.random(200) < 0.7), np.full(200, -7, np.int32)
    find_covering_contacts(which, asked, triangle, end, triangles, existing, out)
    wanted = np.full(200, -7, np.int32)
    for row in which:
        a, b, c = end[triangles[triangle[row]]]
        normal = np.cross(b - a, c - a)
        wanted[row] = -1
        for contact in np.flatnonzero(key == asked[row])[::-1]:
            is_aligned = existing.normal[contact] @ normal > MIN_ALIGNED_COSINE * np.linalg.norm(normal)
            if is_aligned and set(triangles[triangle[row]]) & set(triangles[existing.triangle[contact]]):
                wanted[row] = contact
    assert (wanted >= 0).sum() > 10
    np.testing.assert_array_equal(out, wanted)


# --- frames ------------------------------------------------------------------------------------------------------


def test_frames_are_rotations_and_flat_triangles_have_none():
    rng = np.random.default_rng(0)
    frame = np.empty((3, 3))
    for _ in range(20):
        positions = rng.normal(size=(3, 3))
        assert not triangle_frame(positions, np.array([[0, 1, 2]], np.int32), 0, frame)
        np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(frame) == pytest.approx(1.0)
        normal = np.cross(positions[1] - positions[0], positions[2] - positions[0])
        np.testing.assert_allclose(frame[2], normal / np.linalg.norm(normal), atol=1e-12)
    assert triangle_frame(np.zeros((3, 3)), np.array([[0, 1, 2]], np.int32), 0, frame)
    np.testing.assert_array_equal(frame, np.eye(3))
