# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of skins that last: points are kept out, on their side, at a distance, until they have left."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import trimesh

from fixtures.collision_surfaces import gaps_at, known_from, previous_contacts, skins_from
from fixtures.triangle_patches import faces_of, sheet, winding, wobble
from sinew.solver.contact.detection.persistent_contacts import PersistentContacts
from sinew.solver.contact.surfaces.contact_tracking import track_contacts
from sinew.solver.contact.surfaces.point_triangle_search import PointTriangleSearch
from sinew.solver.mesh.geometry.closest_point import closest_points
from sinew.solver.mesh.geometry.triangle_bvh import build_bvh


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


# --- contacts that last ------------------------------------------------------------------------------------------


def keep_out(skins, start, wish, known, rounds=8):
    """Moves the points of the last skin where they want to go, as far as contacts let them; returns ends and met."""
    end, search = wish.copy(), PointTriangleSearch(skins, start, known)
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


@pytest.mark.slow
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
    count, x, known = len(vertices), skins.rest.copy(), PersistentContacts.empty()
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
    count, x, known = len(vertices), skins.rest.copy(), PersistentContacts.empty()
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
        met = PointTriangleSearch(skins, x, known).find(end)
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
    met = PointTriangleSearch(skins, x).find(end)
    again = PointTriangleSearch(skins, end, known_from(met)).find(end)
    np.testing.assert_array_equal(again.id, met.id)
    assert (np.abs(again.normal[:, 2]) > 0.999).all()
    np.testing.assert_allclose(gaps_at(skins, again, end, end), -1e-3, atol=1e-9)


def test_a_point_can_meet_a_skin_in_two_places():
    """A point between two plates of one skin, which close: it keeps off both."""
    low, triangles = faces_of(trimesh.creation.box((1.0, 1.0, 0.4)).subdivide())
    low = low - [0.0, 0.0, 0.2]
    high = low + [0.0, 0.0, 0.6]
    both = np.concatenate([low, high]), np.concatenate([triangles, triangles + len(low)])
    skins = skins_from([both, ([[0.1, 0.05, 0.1]], np.zeros((0, 3)))])
    start, end = skins.rest.copy(), skins.rest.copy()
    end[: len(low), 2] += 0.15
    end[len(low) : 2 * len(low), 2] -= 0.15
    search = PointTriangleSearch(skins, start)
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
    known = previous_contacts(np.array([v - 1]), np.array([0], np.int32), np.array([1], np.int8), np.zeros(1))
    down = x.copy()
    down[len(low) : 2 * len(low), 2] -= 0.25
    met = PointTriangleSearch(skins, x, known).find(down)
    assert met.id.tolist() == [v - 1, s * v + v - 1]
    assert met.normal[:, 2].tolist() == pytest.approx([1.0, -1.0])
    assert set((met.triangle >= len(triangles)).tolist()) == {False, True}
    # and both are found again
    again = PointTriangleSearch(skins, down, known_from(met)).find(down)
    np.testing.assert_array_equal(again.id, met.id)


def test_a_point_in_something_thin_is_pushed_out_of_it_on_one_side():
    """A point that was held against both sides of a plate, and is in it by now: one of them lets go of it."""
    plate, triangles = faces_of(trimesh.creation.box((1.0, 1.0, 0.02)).subdivide())
    skins = skins_from([(plate, triangles), ([[0.1, 0.05, 0.004]], np.zeros((0, 3)))])
    v, s, corners = skins.vertex_count, len(skins), plate[triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2]
    near = np.linalg.norm((corners.mean(axis=1) - [0.1, 0.05, 0.0])[:, :2], axis=1)
    above, below = (int(np.argmin(np.where(way * normal > 0.0, near, np.inf))) for way in (1.0, -1.0))
    known = previous_contacts(
        np.array([v - 1, s * v + v - 1]), np.array([above, below], np.int32), np.ones(2, np.int8), np.zeros(2)
    )
    met = PointTriangleSearch(skins, skins.rest, known).find(skins.rest)
    assert met.normal[:, 2].tolist() == pytest.approx([1.0]) and met.gap[0] == pytest.approx(-0.006)


def test_a_body_s_own_point_in_something_thin_is_pushed_out_on_one_side():
    """The corner of a box in a plate of the same skin; it is half a quarter inside its own skin as well."""
    plate, triangles = faces_of(trimesh.creation.box((1.0, 1.0, 0.02)).subdivide())
    box, faces = faces_of(trimesh.creation.box((0.2, 0.2, 0.2)))
    box = box - box[box.sum(axis=1).argmin()] + [0.1, 0.05, 0.004]
    skins = skins_from(
        [(np.concatenate([plate, box]), np.concatenate([triangles, faces + len(plate)]))], may_touch=[[True]]
    )
    v, corners = skins.vertex_count, plate[triangles]
    corner = len(plate) + int(box.sum(axis=1).argmin())
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2]
    near = np.linalg.norm((corners.mean(axis=1) - [0.1, 0.05, 0.0])[:, :2], axis=1)
    above, below = (int(np.argmin(np.where(way * normal > 0.0, near, np.inf))) for way in (1.0, -1.0))
    known = previous_contacts(
        np.array([corner, v + corner]), np.array([above, below], np.int32), np.ones(2, np.int8), np.zeros(2)
    )
    met = PointTriangleSearch(skins, skins.rest, known).find(skins.rest)
    is_corner = met.id % v == corner
    assert met.normal[is_corner, 2].tolist() == pytest.approx([1.0])


def test_what_is_not_inside_a_skin_is_not_behind_it():
    """A point beside a body that was held against its far face is held against the near one."""
    body, triangles = faces_of(trimesh.creation.box((1.0, 1.0, 0.03)).subdivide())
    skins = skins_from([(body, triangles), ([[0.1, 0.05, 0.0155]], np.zeros((0, 3)))])
    corners = body[triangles]
    below = int(np.argmin(np.linalg.norm(corners.mean(axis=1) - [0.1, 0.05, -0.015], axis=1)))
    known = previous_contacts(
        np.array([skins.vertex_count - 1]), np.array([below], np.int32), np.ones(1, np.int8), np.zeros(1)
    )
    met = PointTriangleSearch(skins, skins.rest, known).find(skins.rest)
    assert met.normal[:, 2].tolist() == pytest.approx([1.0]) and met.gap[0] == pytest.approx(0.0005)


@pytest.mark.slow
def test_what_is_let_out_of_a_collider_keeps_its_way():
    """A point over the middle of a ball that leaves it downwards, and slides aside meanwhile; then it is outside."""
    vertices, triangles = faces_of(trimesh.creation.icosphere(subdivisions=2))
    skins = skins_from([(vertices, triangles), ([[0.05, 0.02, 0.3]], np.zeros((0, 3)))])
    skins = replace(skins, body=np.array([-1, 0], np.int32))
    lowest = np.int32(vertices[triangles].mean(axis=1)[:, 2].argmin())
    n = trimesh.Trimesh(vertices, triangles).face_normals[lowest]
    known, x = (
        previous_contacts(np.array([skins.vertex_count - 1]), np.array([lowest]), np.ones(1, np.int8), -np.ones(1)),
        skins.rest,
    )
    for _ in range(4):
        held = track_contacts(skins, known, x, skins.may_touch)
        assert held.triangle.tolist() == [lowest] and held.local.tolist() == [[0.0, 0.0, 1.0]]
        assert held.place.min() >= 0.0 and held.place.sum() == pytest.approx(1.0)
        assert PointTriangleSearch(skins, x, known).find(x).normal == pytest.approx(n[None])
        known, x = replace(known, triangle=held.triangle, normal=n[None]), x.copy()
        x[-1] += [0.15, 0.0, -0.1]
    shallow = replace(known, shift=np.full(1, -0.003))
    assert track_contacts(skins, shallow, x, skins.may_touch).triangle[0] != lowest
    x[-1] = [0.8, 0.0, -1.1]
    outside = track_contacts(skins, known, x, skins.may_touch)
    assert outside.triangle[0] != lowest
    assert closest_points(build_bvh(vertices, triangles), x[-1:]).triangle[0] == outside.triangle[0]
    x[-1] = [1.5, 0.0, -0.5]  # behind the plane of the lowest one, beside the ball
    assert track_contacts(skins, known, x, skins.may_touch).triangle[0] != lowest
    assert not len(PointTriangleSearch(skins, x, known).find(x))


def test_contacts_of_which_only_the_skin_is_known_are_found():
    vertices, triangles = faces_of(trimesh.creation.icosphere(2))
    points = np.array([[0.0, 0, 0.9], [0.7, 0.1, 0.0]])
    skins = skins_from([(vertices, triangles), (points, np.zeros((0, 3)))])
    v = skins.vertex_count
    known = previous_contacts(np.arange(v - 2, v), np.full(2, -1, np.int32), np.ones(2, np.int8), np.zeros(2))
    met = PointTriangleSearch(skins, skins.rest, known).find(skins.rest)
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
    search = PointTriangleSearch(skins, start)
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
    skins = skins_from([(vertices, faces)], may_touch=[[True]], thickness=0.05)
    assert len(PointTriangleSearch(skins, vertices).find(vertices)) == 0
    near = vertices.copy()
    near[len(low) :, 2] = 0.02
    met = PointTriangleSearch(skins, vertices).find(near)
    assert len(met) == len(vertices)
    np.testing.assert_allclose(gaps_at(skins, met, vertices, near), -0.01, atol=1e-9)


# --- edges -------------------------------------------------------------------------------------------------------


def test_what_slides_onto_a_table_meets_its_top_and_not_its_side():
    """The lower side of a slab is a little below the edge of the table that it slides onto."""
    table, triangles = faces_of(trimesh.creation.box((1.0, 1.0, 1.0)).subdivide())
    slab, faces = faces_of(trimesh.creation.box((1.0, 0.9, 0.2)).subdivide().subdivide())
    for lower, normal in ((2e-4, [0.0, 0.0, 1.0]), (0.05, [1.0, 0.0, 0.0])):
        skins = skins_from([(table, triangles), (slab + [0.77, 0.013, 0.6 - lower], faces)], sizes=0.25)
        end = skins.rest.copy()
        end[len(table) :, 0] -= 0.05
        met = PointTriangleSearch(skins, skins.rest).find(end)
        bottom = (met.surface == 0) & (skins.rest[met.point, 2] < 0.501 - lower)
        assert bottom.sum() == 5
        np.testing.assert_allclose(met.normal[bottom], [normal] * 5, atol=1e-9)
