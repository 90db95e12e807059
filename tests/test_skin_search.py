# SPDX-License-Identifier: GPL-3.0-or-later
"""Where skins meet during a step: nothing slips through, whatever is deformed and however it moves."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from sinew.solver.geometry.bvh import build_bvh
from sinew.solver.geometry.closest import closest_points
from sinew.solver.geometry.winding import winding_numbers
from sinew.solver.skins import search as searching
from sinew.solver.skins.nearest import frame_of
from sinew.solver.skins.search import SkinSearch
from sinew.solver.skins.skin import Known
from sinew.solver.skins.time_of_impact import NEVER, impact
from skin_worlds import gaps_at, known_from, skins_from


def faces_of(mesh):
    return np.array(mesh.vertices), np.array(mesh.faces, np.int32)


def sheet(cells=4, size=1.0):
    """Returns a flat square about the origin that looks up."""
    axis = np.linspace(-size / 2, size / 2, cells + 1)
    x, y = np.meshgrid(axis, axis, indexing="ij")
    vertices = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    corner = np.arange((cells + 1) ** 2).reshape(cells + 1, cells + 1)
    a, b, c, d = (corner[i : i + cells, j : j + cells].ravel() for i, j in ((0, 0), (1, 0), (1, 1), (0, 1)))
    return vertices, np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]).astype(np.int32)


def stair():
    """Returns a closed prism with edges that stick out and one that goes in."""
    outline = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    vertices = np.array([(x, y, z) for z in (0.0, 1.0) for x, y in outline], float)
    walls = [f for k in range(6) for f in ((k, (k + 1) % 6, (k + 1) % 6 + 6), (k, (k + 1) % 6 + 6, k + 6))]
    caps = [(0, 1, 2), (0, 2, 3), (0, 3, 5), (3, 4, 5)]
    faces = walls + [tuple(6 + i for i in cap) for cap in caps] + [cap[::-1] for cap in caps]
    mesh = trimesh.Trimesh(vertices, faces, process=False).subdivide().subdivide()
    assert mesh.is_watertight and mesh.volume > 0
    return faces_of(mesh)


def wobble(vertices, amount, rng, scale=2.0):
    """Returns a smooth motion of points [m] that bends and shears what they are of."""
    total = np.zeros_like(vertices)
    for _ in range(3):
        wave, phase, way = rng.normal(size=3) * scale, rng.uniform(0, 6), rng.normal(size=3)
        total += np.sin(vertices @ wave + phase)[:, None] * way
    return amount * total / 3.0


def winding(vertices, triangles, points):
    return winding_numbers(build_bvh(vertices, triangles), points)


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
        met = SkinSearch(skins, start).find(end)
        found = {(int(p), int(s)): int(t) for p, s, t in zip(met.point, met.skin, met.triangle, strict=True)}
        expected, out, scratch = {}, np.empty(3), np.empty((1, 9))
        for p in range(skins.vertex_count):
            for skin in range(3):
                if skin == skins.skin_of[p]:
                    continue
                best = NEVER
                for t in range(int(skins.triangle_start[skin]), int(skins.triangle_start[skin + 1])):
                    when = impact(start, end, p, *skins.triangles[t], 1, 1e-3, scratch, out)
                    if when < best:
                        best, expected[p, skin] = when, t
        # what goes in and comes out again within the step is not met
        assert found.keys() <= expected.keys(), trial
        for p, skin in expected.keys() - found.keys():
            own, faces = skins.vertices_of(skin), skins.triangles[skins.triangles_of(skin)]
            left_alone += winding(end[own], faces - own.start, end[p : p + 1])[0] > 0.5
        many += len(found)
    assert many > 40 and left_alone == 0


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
    met = SkinSearch(skins, both[0]).find(both[1])
    is_met = np.zeros(4000, bool)
    is_met[met.point[met.skin == 0] - len(vertices)] = True
    goes_in = is_out & is_in
    assert goes_in.sum() > 500
    assert is_met[goes_in].all()
    back = SkinSearch(skins, both[1]).find(both[0])
    left = np.zeros(4000, bool)
    left[back.point[back.skin == 0] - len(vertices)] = True
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
    met = SkinSearch(skins, start).find(end)
    assert len(met) == 1 and met.side[0] == 1 and met.id[0] == 0 * 5 + 4 and met.point[0] == 4 and met.skin[0] == 0
    np.testing.assert_allclose(met.normal[0], turn @ [0, 0, 1.0], atol=1e-12)
    assert gaps_at(skins, met, start, end)[0] == pytest.approx(-0.3, abs=1e-9)


def test_sides_of_closed_bodies_and_of_sheets():
    vertices, triangles = sheet(2)
    above, below = [[0.1, 0.2, 0.5]], [[0.1, 0.2, -0.5]]
    for one_sided, up_is_met in ((True, False), (False, True)):
        skins = skins_from([(vertices, triangles), (above + below, np.zeros((0, 3)))], one_sided=[one_sided, True])
        start, end = skins.rest.copy(), skins.rest.copy()
        end[-2:] = start[[-1, -2]]
        met = SkinSearch(skins, start).find(end)
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
        seen[SkinSearch(skins, x).find(end).point] = True
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
        met = SkinSearch(skins, skins.rest).find(end)
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
    skins = skins_from([(vertices, triangles)], meets=[[True]], nodes=nodes)
    angle = np.pi * (vertices[:, 0] > 0) * 0.999
    end = vertices.copy()
    right = vertices[:, 0] > 0.0
    end[right, 0], end[right, 2] = vertices[right, 0] * np.cos(angle[right]), vertices[right, 0] * np.sin(angle[right])
    start = vertices.copy()
    start[right, 0], start[right, 2] = 0.0, vertices[right, 0]
    closed = end.copy()
    closed[right, 2] = -0.01
    met = SkinSearch(skins, start).find(closed)
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
    return skins, skins.rest + towards[skins.skin_of] + wobble(skins.rest, 0.03, rng)


def rows(met):
    return [getattr(met, name) for name in ("id", "point", "skin", "triangle", "place", "normal", "gap", "side")]


def test_parts_and_threads_change_nothing(monkeypatch):
    skins, end = drop(np.random.default_rng(2))
    monkeypatch.setattr("sinew.solver.geometry.chunks.thread_count", lambda: 1)
    whole = SkinSearch(skins, skins.rest).find(end)
    assert len(whole) > 40 and (np.diff(whole.id) > 0).all()
    monkeypatch.setattr("sinew.solver.geometry.chunks.thread_count", lambda: 4)
    monkeypatch.setattr(searching, "PART", 100)
    monkeypatch.setattr(searching, "ROOM", 1)
    for one, other in zip(rows(whole), rows(SkinSearch(skins, skins.rest).find(end)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_further_looks_find_what_a_first_one_finds():
    rng = np.random.default_rng(3)
    skins, end = drop(rng)
    for amount in (1e-4, 0.3):  # within what is to spare, and far beyond
        search = SkinSearch(skins, skins.rest)
        first = search.find(end)
        other = end + wobble(end, amount, rng)
        again, alone = search.find(other), SkinSearch(skins, skins.rest).find(other)
        both = np.isin(alone.id, again.id)
        assert both.mean() > 0.99, amount
        # what was found first goes on with its place, and planes are those of the new end
        kept = np.isin(again.id, first.id)
        assert kept.any()
        pushed = gaps_at(skins, alone, skins.rest, other) < 0.0
        assert np.isin(alone.point[pushed], again.point).all()


def test_skins_that_are_switched_off_meet_nothing():
    skins, end = drop(np.random.default_rng(2))
    met = SkinSearch(skins, skins.rest, is_active=np.array([True, False, True, True])).find(end)
    assert len(met) > 0 and not (met.skin == 1).any() and not (skins.skin_of[met.point] == 1).any()
    assert len(SkinSearch(skins, skins.rest, is_active=np.zeros(4, bool)).find(end)) == 0


# --- contacts that last ------------------------------------------------------------------------------------------


def keep_out(skins, start, wish, known, rounds=8):
    """Moves the points of the last skin where they want to go, as far as contacts let them; returns ends and met."""
    end, search = wish.copy(), SkinSearch(skins, start, known)
    own = skins.vertices_of(len(skins) - 1)
    for _ in range(rounds):
        met = search.find(end)
        ahead = gaps_at(skins, met, start, end)
        pushed = (ahead < -1e-12) & (met.point >= own.start)
        if not pushed.any():
            break
        for row in np.flatnonzero(pushed):
            corners = skins.triangles[met.triangle[row]]
            away = end[met.point[row]] - met.place[row] @ end[corners]
            depth = met.normal[row] @ away
            if depth < 0.0:
                end[met.point[row]] -= depth * met.normal[row]
    return end, search.find(end)


@pytest.mark.parametrize("shape", ["box", "stair", "ball"])
def test_points_never_get_into_what_they_touch(shape):
    """Points press on a body from all sides and slide over its edges while it is deformed, for many steps."""
    rng = np.random.default_rng(11)
    if shape == "box":
        vertices, triangles = faces_of(trimesh.creation.box((1.5, 1.5, 1.5)).subdivide().subdivide())
    elif shape == "stair":
        vertices, triangles = stair()
        vertices = vertices - vertices.mean(axis=0)
    else:
        vertices, triangles = faces_of(trimesh.creation.icosphere(2))
    points = rng.normal(size=(150, 3))
    points *= rng.uniform(1.6, 2.2, (150, 1)) / np.linalg.norm(points, axis=1, keepdims=True)
    skins = skins_from([(vertices, triangles), (points, np.zeros((0, 3)))], sizes=0.3)
    count, x, known = len(vertices), skins.rest.copy(), Known.none()
    deepest = 0.0
    for step in range(120):
        wish = x.copy()
        wish[:count] = vertices + wobble(vertices, 0.15 * np.sin(0.1 * step), np.random.default_rng(1), 1.5)
        push = -x[count:] + 2.0 * np.cross([0.3, 0.5, 1.0], x[count:]) + rng.normal(size=(150, 3))
        wish[count:] += 0.05 * push
        end, met = keep_out(skins, x, wish, known)
        known, x = known_from(met), end
        inside = winding(x[:count], triangles, x[count:]) > 0.5
        if inside.any():
            deep = closest_points(build_bvh(x[:count], triangles), x[count:][inside]).distance
            deepest = max(deepest, float(deep.max()))
    assert len(known) > 50
    assert deepest < 0.02, deepest


def test_points_stay_on_their_side_of_a_sheet():
    rng = np.random.default_rng(4)
    vertices, triangles = sheet(8, 3.0)
    points = rng.uniform(-0.8, 0.8, (200, 3))
    points[:, 2] = np.where(np.arange(200) < 100, 0.3, -0.3)
    skins = skins_from([(vertices, triangles), (points, np.zeros((0, 3)))], sizes=0.3, one_sided=[False, True])
    count, x, known = len(vertices), skins.rest.copy(), Known.none()
    for step in range(100):
        wish = x.copy()
        wish[:count, 2] = 0.2 * np.sin(0.15 * step) * np.sin(2.0 * vertices[:, 0] + 0.1 * step)
        wish[count:, 2] += np.where(np.arange(200) < 100, -0.03, 0.03)
        wish[count:, :2] += 0.01 * rng.normal(size=(200, 2)) - 0.02 * x[count:, :2]
        end, met = keep_out(skins, x, wish, known)
        known, x = known_from(met), end
    found = closest_points(build_bvh(x[:count], triangles), x[count:])
    corners = x[triangles[found.triangle]]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    height = np.einsum("ki,ki->k", normal, x[count:] - corners[:, 0])
    side = np.where(np.arange(200) < 100, 1.0, -1.0)
    assert (height * side / np.linalg.norm(normal, axis=1) > -0.005).all()
    assert (known.side == side[known.id % skins.vertex_count - count]).all()
    assert len(np.unique(known.id % skins.vertex_count)) > 150


def test_contacts_go_on_while_points_are_inside_and_end_when_they_have_left():
    vertices, triangles = faces_of(trimesh.creation.box((1.0, 1.0, 1.0)).subdivide().subdivide())
    skins = skins_from([(vertices, triangles), ([[0.03, 0.02, 0.55]], np.zeros((0, 3)))])
    x = skins.rest.copy()

    def go(height, known):
        end = x.copy()
        end[-1, 2] = height
        met = SkinSearch(skins, x, known).find(end)
        x[-1, 2] = height
        return met

    met = go(0.4, None)
    assert len(met) == 1
    for height in (0.3, 0.3, 0.45, 0.499, 0.5):
        met = go(height, known_from(met))
        assert len(met) == 1 and met.normal[0] == pytest.approx([0, 0, 1], abs=1e-6), height
    assert len(go(0.52, known_from(met))) == 0
    assert len(go(0.6, known_from(met, shift=0.2))) == 1  # but while it pushes there


def test_what_is_pressed_in_below_a_rim_is_pushed_back_up():
    """Boxes of one size that lie on each other: the rim of the upper one is in the plane of the lower one's sides."""
    vertices, triangles = faces_of(trimesh.creation.box((1.0, 1.0, 1.0)).subdivide())
    skins = skins_from([(vertices, triangles), (vertices + [0, 0, 1.0], triangles)])
    x, end = skins.rest.copy(), skins.rest.copy()
    end[len(vertices) :, 2] -= 1e-3
    met = SkinSearch(skins, x).find(end)
    again = SkinSearch(skins, end, known_from(met)).find(end)
    np.testing.assert_array_equal(again.id, met.id)
    assert (np.abs(again.normal[:, 2]) > 0.999).all()
    np.testing.assert_allclose(gaps_at(skins, again, end, end), -1e-3, atol=1e-9)


def test_a_point_can_meet_a_skin_in_two_places():
    """A point between two plates of one skin, which close: it keeps off both."""
    low, triangles = sheet(2)
    high = low * [1, 1, 1] + [0, 0, 0.2]
    both = np.concatenate([low, high]), np.concatenate([triangles, triangles[:, ::-1] + len(low)])
    skins = skins_from([both, ([[0.1, 0.05, 0.1]], np.zeros((0, 3)))])
    start, end = skins.rest.copy(), skins.rest.copy()
    end[: len(low), 2], end[len(low) : 2 * len(low), 2] = 0.15, 0.05
    search = SkinSearch(skins, start)
    met = search.find(end)
    assert len(met) == 1
    first, known = end.copy(), known_from(met)
    first[: 2 * len(low)] = start[: 2 * len(low)]
    for _ in range(2):
        met = search.find(end)
    known = known_from(met)
    v, s = skins.vertex_count, len(skins)
    slots = np.sort(known.id // v // s)
    assert len(met) >= 1 and slots[0] == 0
    # the point is held against the lower one, and the upper one comes down on it
    x = start.copy()
    x[-1, 2] = -1e-4
    known = Known(np.array([v - 1]), np.array([0], np.int32), np.array([1], np.int8), np.zeros(1))
    down = x.copy()
    down[len(low) : 2 * len(low), 2] = -0.05
    met = SkinSearch(skins, x, known).find(down)
    assert met.id.tolist() == [v - 1, s * v + v - 1]
    assert met.normal[:, 2].tolist() == pytest.approx([1.0, -1.0])
    assert set((met.triangle >= len(triangles)).tolist()) == {False, True}
    # and both are found again
    again = SkinSearch(skins, down, known_from(met)).find(down)
    np.testing.assert_array_equal(again.id, met.id)


def test_contacts_of_which_only_the_skin_is_known_are_found():
    vertices, triangles = faces_of(trimesh.creation.icosphere(2))
    points = np.array([[0.0, 0, 0.9], [0.7, 0.1, 0.0]])
    skins = skins_from([(vertices, triangles), (points, np.zeros((0, 3)))])
    v = skins.vertex_count
    known = Known(np.arange(v - 2, v), np.full(2, -1, np.int32), np.ones(2, np.int8), np.zeros(2))
    met = SkinSearch(skins, skins.rest, known).find(skins.rest)
    assert len(met) == 2
    distance = closest_points(build_bvh(vertices, triangles), points).distance
    np.testing.assert_allclose(met.gap, -distance, rtol=1e-9)


# --- thickness ---------------------------------------------------------------------------------------------------


def test_thickness_keeps_points_at_a_distance():
    vertices, triangles = sheet(4)
    points = [[0.1, 0.2, 0.5], [0.1, -0.2, 0.5], [-0.2, 0.1, -0.5]]
    skins = skins_from([(vertices, triangles), (points, np.zeros((0, 3)))], one_sided=True, thickness=[0.05, 0.02])
    start, end = skins.rest.copy(), skins.rest.copy()
    end[-3:, 2] = [0.06, 0.08, -0.01]
    search = SkinSearch(skins, start)
    met = search.find(end)
    assert (met.point - len(vertices)).tolist() == [0]
    assert gaps_at(skins, met, start, end)[0] == pytest.approx(-0.01)
    end[-2, 2] = 0.01
    met = search.find(end)
    assert (met.point - len(vertices)).tolist() == [0, 1]
    assert gaps_at(skins, met, start, end) == pytest.approx([-0.01, -0.06])
    np.testing.assert_allclose(met.normal, [[0, 0, 1], [0, 0, 1]], atol=1e-9)


def test_thickness_of_a_skin_with_itself_is_no_more_than_it_is_apart_at_rest():
    low, triangles = sheet(4)
    vertices = np.concatenate([low, low + [0, 0, 0.03]])
    faces = np.concatenate([triangles, triangles[:, ::-1] + len(low)])
    skins = skins_from([(vertices, faces)], meets=[[True]], thickness=0.05)
    assert len(SkinSearch(skins, vertices).find(vertices)) == 0
    near = vertices.copy()
    near[len(low) :, 2] = 0.02
    met = SkinSearch(skins, vertices).find(near)
    assert len(met) == len(vertices)
    np.testing.assert_allclose(gaps_at(skins, met, vertices, near), -0.01, atol=1e-9)


# --- frames ------------------------------------------------------------------------------------------------------


def test_frames_are_rotations_and_flat_triangles_have_none():
    rng = np.random.default_rng(0)
    frame = np.empty((3, 3))
    for _ in range(20):
        positions = rng.normal(size=(3, 3))
        assert not frame_of(positions, np.array([[0, 1, 2]], np.int32), 0, frame)
        np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(frame) == pytest.approx(1.0)
        normal = np.cross(positions[1] - positions[0], positions[2] - positions[0])
        np.testing.assert_allclose(frame[2], normal / np.linalg.norm(normal), atol=1e-12)
    assert frame_of(np.zeros((3, 3)), np.array([[0, 1, 2]], np.int32), 0, frame)
    np.testing.assert_array_equal(frame, np.eye(3))


# --- edges -------------------------------------------------------------------------------------------------------


def test_what_slides_onto_a_table_meets_its_top_and_not_its_side():
    """The lower side of a slab is a little below the edge of the table that it slides onto."""
    table, triangles = faces_of(trimesh.creation.box((1.0, 1.0, 1.0)).subdivide())
    slab, faces = faces_of(trimesh.creation.box((1.0, 0.9, 0.2)).subdivide().subdivide())
    for lower, normal in ((2e-4, [0.0, 0.0, 1.0]), (0.05, [1.0, 0.0, 0.0])):
        skins = skins_from([(table, triangles), (slab + [0.77, 0.013, 0.6 - lower], faces)], sizes=0.25)
        end = skins.rest.copy()
        end[len(table) :, 0] -= 0.05
        met = SkinSearch(skins, skins.rest).find(end)
        bottom = (met.skin == 0) & (skins.rest[met.point, 2] < 0.501 - lower)
        assert bottom.sum() == 5
        np.testing.assert_allclose(met.normal[bottom], [normal] * 5, atol=1e-9)
