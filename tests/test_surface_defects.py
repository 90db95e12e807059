# SPDX-License-Identifier: GPL-3.0-or-later
"""Where surfaces are open, doubled, inside out or crossing, how deep points are in them, and how thick they are."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.closed_surfaces import cube, sphere, torus
from fixtures.muscle_bodies import revolved
from sinew.solver.mesh.geometry.local_thickness import local_thicknesses
from sinew.solver.mesh.geometry.penetration_depth import penetration_depths
from sinew.solver.mesh.geometry.surface_defects import find_surface_defects
from sinew.solver.mesh.geometry.triangle_bvh import build_bvh
from sinew.solver.mesh.geometry.triangle_surface import Surface


def ball(radius: float = 1.0, center=(0.0, 0.0, 0.0), rings: int = 12) -> Surface:
    """Returns a sphere whose vertices are not doubled."""
    angle = np.linspace(0.0, np.pi, rings + 1)
    surface = revolved(radius * np.sin(angle), -radius * np.cos(angle), rings + 4)
    return Surface(surface.vertices + np.array(center), surface.triangles)


def both(one: Surface, other: Surface) -> Surface:
    vertices = np.concatenate([one.vertices, other.vertices])
    return Surface(vertices, np.concatenate([one.triangles, other.triangles + len(one.vertices)]).astype(np.int32))


def numbers(surface: Surface) -> list[int]:
    found = find_surface_defects(surface)
    return [len(found.open), len(found.doubled), len(found.crossing), len(found.inward)]


def crosses(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether a side of triangle `a` runs through triangle `b`, by solving for where; (3, 3) each."""
    for start, end in zip(a, np.roll(a, -1, axis=0), strict=True):
        system = np.stack([start - end, b[1] - b[0], b[2] - b[0]], axis=1)
        if abs(np.linalg.det(system)) < 1e-14:
            continue
        s, u, v = np.linalg.solve(system, start - b[0])
        if 0.0 <= s <= 1.0 and u >= 0.0 and v >= 0.0 and u + v <= 1.0:
            return True
    return False


def test_a_closed_surface_has_none() -> None:
    assert numbers(ball()) == [0, 0, 0, 0]
    assert numbers(Surface(*torus(12, 8))) == [0, 0, 0, 0]


def test_open_edges_are_those_of_one_face() -> None:
    whole = ball()
    missing = 40
    kept = Surface(whole.vertices, np.delete(whole.triangles, missing, axis=0))
    found = find_surface_defects(kept)
    assert found.open.tolist() == sorted(whole.triangles[missing].tolist())
    assert not len(found.doubled) and not len(found.crossing)


def test_vertices_at_one_place_are_doubled_and_leave_no_hole() -> None:
    vertices, triangles = cube(2)
    found = find_surface_defects(Surface(vertices, triangles))
    alike = (np.abs(vertices[:, None] - vertices[None]).max(axis=2) < 1e-12).sum(axis=1) > 1
    assert found.doubled.tolist() == np.flatnonzero(alike).tolist() and not len(found.open)


def test_a_face_that_lies_there_twice_is_doubled() -> None:
    whole = ball()
    twice = Surface(whole.vertices, np.concatenate([whole.triangles, whole.triangles[[7]]]))
    assert find_surface_defects(twice).doubled.tolist() == sorted(whole.triangles[7].tolist())


def test_faces_that_look_inwards_are_found_but_not_those_of_a_hollow() -> None:
    whole = ball()
    assert len(find_surface_defects(Surface(whole.vertices, whole.triangles[:, ::-1])).inward) == len(whole.triangles)
    turned = whole.triangles.copy()
    turned[[3, 50]] = turned[[3, 50]][:, ::-1]
    assert find_surface_defects(Surface(whole.vertices, turned)).inward.tolist() == [3, 50]
    inner = ball(0.5)
    hollow = both(whole, Surface(inner.vertices, inner.triangles[:, ::-1]))
    assert not len(find_surface_defects(hollow).inward)


@pytest.mark.slow
def test_crossing_faces_are_those_that_a_slow_search_finds() -> None:
    found = both(ball(rings=6), ball(0.6, (0.9, 0.0, 0.1), rings=5))
    corners, triangles = found.corners, found.triangles
    slow: set[int] = set()
    for i in range(len(corners)):
        near = np.flatnonzero((np.abs(corners.mean(axis=1) - corners[i].mean(axis=0)) < 1.0).all(axis=1))
        for j in near.tolist():
            if i != j and not set(triangles[i]) & set(triangles[j]) and crosses(corners[i], corners[j]):
                slow |= {*triangles[i].tolist(), *triangles[j].tolist()}
    assert slow and find_surface_defects(found).crossing.tolist() == sorted(slow)


@pytest.mark.parametrize("kind", (np.float64, np.float32))
def test_faces_of_flat_walls_do_not_cross_however_they_are_turned(kind: type) -> None:
    rng = np.random.default_rng(5)
    heights = np.sort(rng.uniform(0.0, 1.0, 40))
    prism = revolved(np.concatenate([[0.0], np.full(40, 0.05), [0.0]]), np.r_[heights[0], heights, heights[-1]], 4)
    for _ in range(10):
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        places = (prism.vertices @ turn + rng.uniform(-1.0, 1.0, 3)).astype(kind).astype(np.float64)
        assert not len(find_surface_defects(Surface(places, prism.triangles)).crossing)


def test_faces_that_hardly_cross_do() -> None:
    flat = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    for tilt in (1e-3, 1e-6, 1e-8):
        other = np.array([[0.2, -0.5, -tilt], [0.3, 0.9, tilt], [0.25, 0.9, tilt]])
        found = Surface(np.concatenate([flat, other]), np.arange(6, dtype=np.int32).reshape(2, 3))
        assert len(find_surface_defects(found).crossing) == 6


def test_points_are_as_deep_as_a_ball_says() -> None:
    points = np.random.default_rng(3).uniform(-1.2, 1.2, (200, 3))
    surface = Surface(*sphere(16))
    depth = penetration_depths(build_bvh(surface.vertices, surface.triangles), points)
    assert depth == pytest.approx(np.maximum(1.0 - np.linalg.norm(points, axis=1), 0.0), abs=0.02)
    turned = penetration_depths(build_bvh(surface.vertices, surface.triangles[:, ::-1]), points)
    assert turned == pytest.approx(depth), "whichever way its faces look"


def test_a_plate_is_as_thick_as_it_is_and_a_ball_twice_its_radius() -> None:
    vertices, triangles = cube(4)
    thickness, area = local_thicknesses(Surface(vertices * [1.0, 1.0, 0.1], triangles))
    is_flat = np.ptp(vertices[triangles][:, :, 2], axis=1) < 1e-9
    assert thickness[is_flat] == pytest.approx(0.1, rel=1e-4) and area[is_flat].sum() == pytest.approx(2.0)
    assert thickness[~is_flat] == pytest.approx(1.0, rel=1e-4)
    assert local_thicknesses(ball())[0] == pytest.approx(2.0, rel=0.1)


def test_nothing_is_known_below_faces_that_enclose_nothing() -> None:
    sheet = Surface(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), np.array([[0, 1, 2]], np.int32))
    assert np.isnan(local_thicknesses(sheet)[0]).all()
