# SPDX-License-Identifier: GPL-3.0-or-later
"""A muscle and tendons united as level sets: closed, within half a voxel away from the seam, and smooth at it."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from sinew.solver.mesh.geometry.closest_point import closest_points
from sinew.solver.mesh.geometry.connected_components import connected_components
from sinew.solver.mesh.geometry.manifold_defects import find_manifold_defects
from sinew.solver.mesh.geometry.self_intersections import crossing_faces
from sinew.solver.mesh.geometry.triangle_bvh import build_bvh
from sinew.solver.mesh.geometry.triangle_surface import signed_volume
from sinew.solver.mesh.level_set.curvature_flow import fill_creases
from sinew.solver.mesh.level_set.distance_grid import grid_of_blocks, sample_distance
from sinew.solver.mesh.level_set.joined_surface import join_surfaces
from sinew.solver.mesh.level_set.surface_nets import surface_net, well_composed
from sinew.solver.mesh.muscle_shape.muscle_surface import DrawnMuscle, muscle_surface
from sinew.solver.mesh.muscle_shape.profile import BELLY, STRAP, MuscleProfile
from test_drawn_surfaces import mesh_distance

VOXEL, WIDTH = 0.008, 0.06
FACING = np.array((1.0, 0.0, 0.0))


def two_surfaces():
    """Returns a belly, and a rod that begins inside it and leaves it on one side."""
    belly = muscle_surface(
        DrawnMuscle(np.array([(0, 0, 0), (0, 0, 0.5)], float), FACING, MuscleProfile(BELLY, 0.2, 0.2))
    )
    path = np.array([(0.0, 0.0, 0.25), (0.12, 0.0, 0.36), (0.22, 0.0, 0.6)])
    rod = muscle_surface(DrawnMuscle(path, FACING, MuscleProfile(STRAP, 0.06, 0.06)))
    return [(each.surface.vertices, each.surface.triangles) for each in (belly, rod)]


@functools.cache
def joined(width: float = WIDTH):
    surfaces = two_surfaces()
    points = np.concatenate([vertices for vertices, _ in surfaces])
    distances = [mesh_distance(*each) for each in surfaces]
    box = (points.min(axis=0), points.max(axis=0))
    return join_surfaces(distances[0], distances[1:], box, VOXEL, width), surfaces, distances


def triangles_of(quads):
    return np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def bend_angles(vertices, quads) -> tuple[np.ndarray, np.ndarray]:
    """Returns the angle between the normals of neighbouring quads [rad], and the middles of their edges, (k, 3)."""
    a, b, c, d = (vertices[quads[:, i]] for i in range(4))
    normals = np.cross(c - a, d - b)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    sides = np.stack([quads, np.roll(quads, -1, axis=1)], axis=2).reshape(-1, 2)
    key = np.sort(sides, axis=1)
    order = np.lexsort(key.T)
    first, second = order[::2], order[1::2]
    assert (key[first] == key[second]).all(), "every edge has two quads"
    cosine = np.einsum("ki,ki->k", normals[first // 4], normals[second // 4])
    return np.arccos(np.clip(cosine, -1.0, 1.0)), vertices[sides[first]].mean(axis=1)


def test_the_union_is_closed_and_within_half_a_voxel_away_from_the_seam(capsys) -> None:
    made, surfaces, distances = joined()
    triangles = triangles_of(made.quads)
    assert find_manifold_defects(triangles) is None and made.pieces == 1 and made.has_seam
    assert signed_volume(made.vertices, triangles) > 0.0
    noise = 1e-7 * np.random.default_rng(0).normal(size=made.vertices.shape)
    assert len(crossing_faces(build_bvh(made.vertices + noise, triangles), triangles)[0]) == 0
    # from the result to what it is made of: vertices and middles of triangles
    away = made.seam == 0.0
    is_away = away[triangles].all(axis=1)
    samples = np.concatenate([made.vertices[away], made.vertices[triangles[is_away]].mean(axis=1)])
    off = np.abs(np.min([distance(samples)[0] for distance in distances], axis=0)).max()
    # and back: what lies outside the other one, away from the seam
    tree, back = build_bvh(made.vertices, triangles), []
    seam_points = made.vertices[made.seam > 0.99]
    for (vertices, faces), other in zip(surfaces, distances[::-1], strict=True):
        points = np.concatenate([vertices, vertices[faces].mean(axis=1)])
        far = np.min(np.linalg.norm(points[:, None] - seam_points[None, ::5], axis=2), axis=1) > WIDTH + 2 * VOXEL
        points = points[(other(points)[0] > 0.0) & far]
        back.append(closest_points(tree, points).distance.max())
    with capsys.disabled():
        print(f"\n  farthest from the surfaces {off / VOXEL:.3f} voxels, they from it {max(back) / VOXEL:.3f}")
    assert off < 0.5 * VOXEL and max(back) < 0.5 * VOXEL


def test_the_seam_is_smoother_than_that_of_the_plain_union(capsys) -> None:
    made, *_ = joined()
    plain, *_ = joined(0.0)
    seam_points = made.vertices[made.seam > 0.99]
    found = []
    for surface in (plain, made):
        angles, places = bend_angles(surface.vertices, surface.quads)
        near = np.min(np.linalg.norm(places[:, None] - seam_points[None, ::3], axis=2), axis=1) < 3 * VOXEL
        found.append((angles[near].max(), np.sqrt((angles[near] ** 2).mean())))
    (sharpest, mean), (sharpest_joined, mean_joined) = found
    with capsys.disabled():
        print(
            f"\n  bend at the seam: largest {np.degrees(sharpest):.0f}° → {np.degrees(sharpest_joined):.0f}°, "
            f"mean {np.degrees(mean):.1f}° → {np.degrees(mean_joined):.1f}°"
        )
    assert sharpest_joined < 0.6 * sharpest and mean_joined < 0.7 * mean


def test_tendon_is_where_the_rod_is() -> None:
    made, *_ = joined()
    z = made.vertices[:, 2]
    assert made.is_tendon[z > 0.56].all() and not made.is_tendon[z < 0.25].any()


def test_surfaces_apart_stay_two_pieces() -> None:
    surfaces = two_surfaces()
    rod = surfaces[1][0] + (0.0, 0.0, 0.6)
    distances = [mesh_distance(*surfaces[0]), mesh_distance(rod, surfaces[1][1])]
    points = np.concatenate([surfaces[0][0], rod])
    made = join_surfaces(distances[0], distances[1:], (points.min(axis=0), points.max(axis=0)), VOXEL, WIDTH)
    assert made.pieces == 2 and not made.has_seam


def test_distances_of_the_grid_are_exact_near_the_surface_and_have_the_right_sign_everywhere() -> None:
    def ball(points):
        length = np.linalg.norm(points, axis=1)
        return length - 0.3, points / np.maximum(length, 1e-12)[:, None]

    grid = grid_of_blocks(np.full(3, -0.3), np.full(3, 0.3), 0.02)
    values = sample_distance(grid, ball)
    nodes = np.indices(grid.shape).reshape(3, -1).T
    exact = ball(grid.positions(nodes))[0].reshape(grid.shape)
    near = np.abs(exact) <= 3 * grid.voxel
    assert np.abs(values - exact)[near].max() < 1e-12 and (np.sign(values) == np.sign(exact)).all()


def test_motion_by_mean_curvature_fills_a_crease_and_leaves_a_ball_alone() -> None:
    """A groove of circular section of radius R: φ = R − r has κ = −1/r, so R² shrinks by twice the time."""
    grid = grid_of_blocks(np.full(3, -1.0), np.full(3, 1.0), 0.08)
    x, y, _ = grid.positions(np.indices(grid.shape).reshape(3, -1).T).T.reshape(3, *grid.shape)
    weight = np.zeros(grid.shape)
    weight[2:-2, 2:-2, 2:-2] = 1.0
    r = np.hypot(x, y)
    moved = fill_creases(0.6 - r, weight, grid.voxel, 0.04)
    row = moved[:, grid.shape[1] // 2, grid.shape[2] // 2]
    place = np.hypot(x, y)[:, grid.shape[1] // 2, grid.shape[2] // 2]
    out = (x[:, 0, 0] > 0.1) & (x[:, 0, 0] < 0.8)
    radius = np.interp(0.0, -row[out], place[out])
    assert radius == pytest.approx(np.sqrt(0.6**2 - 2 * 0.04), rel=0.01)
    assert np.abs(fill_creases(r - 0.6, weight, grid.voxel, 0.04) - (r - 0.6))[r > 0.2].max() < 1e-3, "a rod stays"


@pytest.mark.parametrize("seed", range(6))
def test_surface_nets_of_any_signs_are_closed_manifolds(seed: int) -> None:
    """Random signs have every ambiguous case."""
    rng = np.random.default_rng(seed)
    phi = np.full((12, 12, 12), 1.0)
    phi[2:-2, 2:-2, 2:-2] = rng.normal(size=(8, 8, 8)) + 0.3 * (seed - 2)
    grid = grid_of_blocks(np.zeros(3), np.ones(3), 0.1)
    repaired = well_composed(phi, 0.1)
    assert ((phi < 0.0) <= (repaired < 0.0)).all(), "what is inside stays inside"
    net = surface_net(phi, grid)
    vertices, triangles = net.vertices, triangles_of(net.quads)
    assert find_manifold_defects(triangles) is None
    # the triangles around each vertex are one fan: its neighbours are connected by the sides opposite to it
    count = len(vertices)
    one, two = (
        np.concatenate([triangles[:, k].astype(np.int64) * count + triangles[:, (k + j) % 3] for k in range(3)])
        for j in (1, 2)
    )
    _, number = np.unique(np.concatenate([one, two]), return_inverse=True)
    number = number.ravel()
    fans = connected_components(number[: len(one)], number[len(one) :], int(number.max()) + 1)
    assert int(fans.max()) + 1 == count
