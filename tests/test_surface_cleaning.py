# SPDX-License-Identifier: GPL-3.0-or-later
"""What counts as inside of surfaces that are not clean."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.closed_surfaces import cube, sphere, torus
from sinew.solver.mesh.geometry.orient_outward import orient_outward
from sinew.solver.mesh.geometry.triangle_bvh import build_bvh
from sinew.solver.mesh.geometry.triangle_surface import Surface, make_surface
from sinew.solver.mesh.geometry.winding_number_volume import enclosed_volume
from sinew.solver.runtime.errors import BadInput


def joined(*parts):
    """Several (vertices, triangles) as one surface."""
    starts = np.cumsum([0] + [len(vertices) for vertices, _ in parts[:-1]])
    triangles = [triangles + start for (_, triangles), start in zip(parts, starts, strict=True)]
    return Surface(np.concatenate([vertices for vertices, _ in parts]), np.concatenate(triangles).astype(np.int32))


def turned(part):
    return part[0], part[1][:, ::-1]


def signed_volume(surface):
    a, b, c = np.moveaxis(surface.corners, 1, 0)
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6


SPHERE = signed_volume(joined(sphere(12)))
SMALL = SPHERE / 8
CASES = {
    "as it is": ([sphere(12)], SPHERE),
    "inside-out": ([turned(sphere(12))], SPHERE),
    "hollow": ([sphere(12), turned(sphere(12, 0.5))], SPHERE - SMALL),
    "hollow, mirrored": ([turned(sphere(12)), sphere(12, 0.5)], SPHERE - SMALL),
    "part of the inside": ([sphere(12), sphere(12, 0.5)], SPHERE + SMALL),
    "part of the inside, mirrored": ([turned(sphere(12)), turned(sphere(12, 0.5))], SPHERE + SMALL),
    "side by side, one inside-out": ([sphere(12), turned((sphere(12)[0] + [3, 0, 0], sphere(12)[1]))], 2 * SPHERE),
    "twice": ([sphere(12), sphere(12)], SPHERE),
    "double-sided": ([sphere(12), turned(sphere(12))], SPHERE),
    "blocks that touch": ([cube(2), (cube(2)[0] + [1, 0, 0], cube(2)[1])], 2.0),
}


@pytest.mark.parametrize("case", CASES)
def test_closed_surfaces_look_outward(case):
    parts, volume = CASES[case]
    outward = orient_outward(joined(*parts))
    assert outward.is_closed
    assert signed_volume(outward.surface) == pytest.approx(volume, rel=1e-9)


@pytest.mark.parametrize("make", [lambda: torus(24, 12), lambda: sphere(8)])
def test_faces_turned_at_random_are_made_to_agree(make):
    vertices, triangles = make()
    flip = np.random.default_rng(1).random(len(triangles)) < 0.45
    mixed = triangles.copy()
    mixed[flip] = mixed[flip][:, ::-1]
    outward = orient_outward(Surface(vertices, mixed))
    assert outward.is_closed
    assert signed_volume(outward.surface) == pytest.approx(signed_volume(Surface(vertices, triangles)), rel=1e-9)


def test_open_shell_is_turned_by_its_volume():
    vertices, triangles = sphere(12)
    bowl = triangles[vertices[triangles].mean(axis=1)[:, 2] < 0.5][:, ::-1]
    outward = orient_outward(Surface(vertices, bowl))
    assert not outward.is_closed
    assert signed_volume(outward.surface) > 0


def test_faces_without_area_go_and_the_rest_keeps_its_place():
    vertices, triangles = sphere(6)
    flat = np.array([[0, 0, 1], [3, 3, 3], [2, 5, 2]])
    outward = orient_outward(Surface(vertices, np.concatenate([flat, triangles]).astype(np.int32)))
    assert outward.is_closed
    assert np.array_equal(outward.face, 3 + np.arange(len(triangles)))


def test_nothing_is_left_of_faces_without_area():
    assert len(orient_outward(Surface(np.eye(3), np.array([[0, 0, 1]], np.int32))).surface.triangles) == 0


@pytest.mark.parametrize(
    ("parts", "volume"),
    [
        ([sphere(24)], 4 / 3 * np.pi),
        ([torus(96, 48)], 2 * np.pi**2 * 0.7 * 0.3**2),
        ([cube(2), (cube(2)[0] + [0.5, 0.25, 0], cube(2)[1])], 2 - 0.5 * 0.75),
    ],
)
def test_enclosed_volume_counts_overlaps_once(parts, volume):
    surface = joined(*parts)
    assert enclosed_volume(build_bvh(surface.vertices, surface.triangles), True) == pytest.approx(volume, rel=5e-3)


def test_enclosed_volume_of_an_open_surface_closes_its_hole():
    vertices, triangles = sphere(24)
    triangles = triangles[vertices[triangles].mean(axis=1)[:, 2] < 0.95]
    assert enclosed_volume(build_bvh(vertices, triangles), False) == pytest.approx(4 / 3 * np.pi, rel=0.02)


@pytest.mark.parametrize(
    ("vertices", "triangles", "kind"),
    [
        (np.zeros((0, 3)), np.zeros((0, 3)), "mesh-empty"),
        (np.eye(3), np.zeros((0, 3)), "mesh-empty"),
        (np.eye(3) * np.nan, [[0, 1, 2]], "mesh-not-finite"),
        (np.eye(3) + [[np.inf], [0], [0]], [[0, 1, 2]], "mesh-not-finite"),
        (np.eye(3), [[0, 1, 3]], "mesh-index"),
        (np.eye(3), [[0, 1, -1]], "mesh-index"),
    ],
)
def test_what_is_no_surface_is_refused(vertices, triangles, kind):
    with pytest.raises(BadInput) as refused:
        make_surface(vertices, triangles, "Cube")
    assert refused.value.kind == kind


def test_vertices_without_a_face_may_be_anything():
    assert make_surface(np.r_[np.eye(3), [[np.nan] * 3]], [[0, 1, 2]], "Cube").area > 0
