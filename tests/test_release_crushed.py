# SPDX-License-Identifier: GPL-3.0-or-later
"""Points of colliders do not push from within: on which faces they lie, and whether one looks where they push."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import trimesh

from fixtures.scenes import Run, block
from sinew.solver.contact.detection.release_crushed import faces_at_points, pushes_from_inside
from sinew.solver.scene.contact import SIDES_BOTH
from sinew.solver.scene.scene import Scene
from test_collider_sides_and_teleports import FRAME
from test_collision_surfaces import collider


@pytest.fixture(scope="module")
def skins(tmp_path_factory):
    """A block between colliders that deform, with points on their faces: a leaning box, an egg, a box of two sides."""
    box, egg = trimesh.creation.box((3.0, 2.0, 0.3)), trimesh.creation.icosphere(subdivisions=1)
    box.apply_transform(trimesh.transformations.rotation_matrix(0.7, [1.0, 2.0, 3.0]))
    colliders = (
        collider("box", box, (0.0, 0.0, -2.0)),
        collider("egg", egg, (0.0, 4.0, 0.0)),
        collider("open", box, (5.0, 0.0, 0.0), sides=SIDES_BOTH),
    )
    times = FRAME * np.arange(2)
    tracks = {f"collider__{each.key}__vertices": (times, np.array([each.vertices] * 2)) for each in colliders}
    return Run(
        tmp_path_factory.mktemp("skins"), Scene((block(),), colliders), **tracks
    ).built.contact_materials.surfaces


def told(skins):
    return np.flatnonzero(skins.tet < 0)


def normals(skins):
    a, b, c = np.moveaxis(skins.rest[skins.triangles], 1, 0)
    n = np.cross(b - a, c - a)
    return n / np.linalg.norm(n, axis=1)[:, None]


def slow_faces(skins, point):
    """All faces of its own skin that a point is on."""
    faces = range(*skins.triangles_of(int(skins.surface_of[point])).indices(len(skins.triangles)))
    corners = skins.rest[skins.triangles[list(faces)]]
    nearest = trimesh.triangles.closest_point(corners, np.tile(skins.rest[point], (len(corners), 1)))
    return [face for face, q in zip(faces, nearest, strict=True) if np.linalg.norm(q - skins.rest[point]) < 1e-9]


def test_points_lie_on_faces(skins):
    points = told(skins)
    number, face = faces_at_points(skins, points)
    assert (np.diff(number) >= 0).all()
    counts = set()
    for k, point in enumerate(points):
        found = face[number == k].tolist()
        assert sorted(found) == sorted(slow_faces(skins, point))
        counts.add(len(found))
    assert {1, 2} < counts  # in a face, on an edge, at a corner


def test_points_of_bodies_and_of_no_faces_have_none(skins):
    assert not len(faces_at_points(skins, np.flatnonzero(skins.tet >= 0))[0])
    bare = replace(skins, triangles=skins.triangles[:0], triangle_start=0 * skins.triangle_start)
    assert not len(faces_at_points(bare, told(skins))[0])
    assert not pushes_from_inside(bare, told(skins), np.tile([0.0, 0.0, 1.0], (len(told(skins)), 1)), skins.rest).any()


def test_what_no_face_looks_at_is_let_go(skins):
    points, n = told(skins), normals(skins)
    directions = np.random.default_rng(3).normal(size=(len(points), 3))
    away = pushes_from_inside(skins, points, directions, skins.rest)
    solid = skins.is_one_sided[skins.surface_of[points]]
    expected = [(n[slow_faces(skins, p)] @ d < 0.0).all() for p, d in zip(points, directions, strict=True)]
    assert (away == (np.array(expected) & solid)).all() and 0.2 < away[solid].mean() < 0.8 and not solid.all()


def test_what_can_be_pushed_from_without_is_never_let_go(skins):
    """Whatever is pushed by a convex solid is, by each of its points, along a mean of the normals there."""
    points, n = told(skins), normals(skins)
    number, face = faces_at_points(skins, points)
    weights = np.random.default_rng(4).uniform(size=len(face))
    directions = np.zeros((len(points), 3))
    np.add.at(directions, number, weights[:, None] * n[face])
    assert not pushes_from_inside(skins, points, directions, skins.rest).any()
    in_face = np.bincount(number) == 1
    solid = skins.is_one_sided[skins.surface_of[points]]
    assert (pushes_from_inside(skins, points, -directions, skins.rest)[in_face] == solid[in_face]).all()
