# SPDX-License-Identifier: GPL-3.0-or-later
"""Surfaces of drawn muscles: closed, without self-crossings, of the volume of their profile, and outside bones."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sinew.solver.mesh.geometry.manifold_defects import find_manifold_defects
from sinew.solver.mesh.geometry.self_intersections import crossing_faces
from sinew.solver.mesh.geometry.signed_distance_derivatives import MovingSurface
from sinew.solver.mesh.geometry.triangle_bvh import build_bvh
from sinew.solver.mesh.geometry.triangle_surface import signed_volume
from sinew.solver.mesh.muscle_shape.framed_curve import framed_curve
from sinew.solver.mesh.muscle_shape.muscle_surface import DrawnMuscle, MuscleSurface, muscle_surface
from sinew.solver.mesh.muscle_shape.profile import BELLY, FAN, STRAP, MuscleProfile
from sinew.solver.mesh.shapes import sphere
from sinew.solver.scene.settings.muscle_shape_settings import MOST_HEADS

STRAIGHT = np.array([(0.0, 0.0, 0.0), (0.0, 0.0, 1.0)])
BENT = np.array([(0.0, 0.0, 0.0), (0.25, 0.05, 0.3), (0.25, -0.05, 0.7), (0.0, 0.0, 1.0)])
# what a hand may draw: a hook that bends more sharply than the muscle is thick
HOOKED = np.array([(0.0, 0.0, 0.0), (0.4, 0.0, 0.0), (0.44, 0.04, 0.02), (0.4, 0.08, 0.0), (0.0, 0.09, 0.0)])
FACING = np.array((1.0, 0.0, 0.0))


def profile(kind: str, width: float = 0.2, thickness: float = 0.15) -> MuscleProfile:
    return MuscleProfile(kind, width, thickness, origin_tendon=0.1, insertion_tendon=0.15)


def capsule_distance(start, end, radius: float):
    """Returns the signed distance from a bone of an armature that is as thick as a radius."""
    start, along = np.array(start), np.subtract(end, start)

    def distance(points):
        share = np.clip((points - start) @ along / (along @ along), 0.0, 1.0)
        away = points - start - share[:, None] * along
        length = np.linalg.norm(away, axis=1)
        return length - radius, away / np.maximum(length, 1e-12)[:, None]

    return distance


def mesh_distance(vertices, triangles):
    surface = MovingSurface(vertices, triangles).at(vertices)

    def distance(points):
        found = surface.distances(points)
        return found.distance, found.normal

    return distance


def crossings(made: MuscleSurface) -> int:
    """Returns how many faces cross."""
    triangles = made.surface.triangles
    return len(crossing_faces(build_bvh(made.surface.vertices, triangles), triangles)[0])


@pytest.mark.parametrize("kind, heads", list(itertools.product((BELLY, FAN, STRAP), range(1, MOST_HEADS + 1))))
def test_every_profile_with_every_number_of_heads_is_closed_and_does_not_cross_itself(kind: str, heads: int) -> None:
    for points in (STRAIGHT, BENT):
        made = muscle_surface(DrawnMuscle(points, FACING, profile(kind), heads=heads))
        triangles = made.surface.triangles
        assert find_manifold_defects(triangles) is None
        assert signed_volume(made.surface.vertices, triangles) > 0.0, "its normals point outwards"
        assert crossings(made) == 0
        assert set(made.surface.head) == set(range(heads))
        ends = made.surface.vertices[made.surface.along == 0.0]
        assert len(ends) and np.ptp(made.surface.along) == 1.0


@pytest.mark.parametrize("kind", (BELLY, FAN, STRAP))
def test_the_volume_is_that_of_the_profile(kind: str) -> None:
    """∫ π a h ds; the two stations per tendon-wide change of a profile leave 1 %."""
    made = muscle_surface(DrawnMuscle(BENT, FACING, profile(kind)))
    along = np.linspace(0.0, 1.0, 20_001)
    half_width, half_thickness = profile(kind).half_extents(along, made.length)
    area = np.pi * half_width * half_thickness
    wanted = made.length * (area.sum() - 0.5 * (area[0] + area[-1])) / (len(along) - 1)
    found = signed_volume(made.surface.vertices, made.surface.triangles)
    assert found == pytest.approx(wanted, rel=0.01)


def test_tendons_are_as_long_as_they_are_said_to_be() -> None:
    made = muscle_surface(DrawnMuscle(STRAIGHT, FACING, profile(BELLY)))
    vertices, along = made.surface.vertices, made.surface.along
    reach = np.abs(vertices[:, 1])
    thinnest = reach[along == 0.0].max()
    assert reach[along <= 0.1].max() == pytest.approx(thinnest, rel=1e-9)
    assert reach[along >= 0.86].max() == pytest.approx(thinnest, rel=1e-9)
    assert reach[np.abs(along - 0.47) < 0.02].max() == pytest.approx(0.1, rel=0.02), "half the width in the middle"


def test_a_muscle_is_thick_where_it_faces_and_rolls_from_there() -> None:
    for roll, wide in ((0.0, 1), (np.pi / 2, 0)):
        made = muscle_surface(DrawnMuscle(STRAIGHT, FACING, profile(STRAP, 0.2, 0.06), roll=roll))
        extents = np.ptp(made.surface.vertices, axis=0)
        assert extents[wide] == pytest.approx(0.2, rel=0.02) and extents[1 - wide] == pytest.approx(0.06, rel=0.02)


def test_frames_turn_about_the_curve_as_little_as_possible() -> None:
    """Of a plane curve, a normal out of the plane stays; frames are right-handed and orthonormal everywhere."""
    angle = np.linspace(0.0, np.pi, 9)
    arc = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    curve = framed_curve(arc, 41, np.array((0.0, 0.0, 1.0)))
    assert curve.length == pytest.approx(np.pi, rel=1e-3)
    assert np.abs(curve.normals - (0.0, 0.0, 1.0)).max() < 1e-9
    frames = np.stack([curve.across, curve.normals, curve.tangents], axis=1)
    assert np.linalg.det(frames) == pytest.approx(np.ones(41))
    assert np.median(np.linalg.norm(curve.curvature, axis=1)) == pytest.approx(1.0, rel=0.02)


def test_a_sharp_hook_makes_the_muscle_narrower_instead_of_crossing_it() -> None:
    made = muscle_surface(DrawnMuscle(HOOKED, np.array((0.0, 0.0, 1.0)), MuscleProfile(BELLY, 0.1, 0.05)))
    assert crossings(made) == 0 and find_manifold_defects(made.surface.triangles) is None


def test_points_at_one_place_make_no_muscle() -> None:
    for points in (np.zeros((0, 3)), np.zeros((1, 3)), np.zeros((4, 3))):
        assert muscle_surface(DrawnMuscle(points, FACING, profile(BELLY))) is None
    doubled = muscle_surface(DrawnMuscle(STRAIGHT[[0, 0, 1, 1]], FACING, profile(BELLY)))
    assert doubled.length == pytest.approx(1.0)


@pytest.mark.parametrize("kind", (BELLY, FAN, STRAP))
def test_it_keeps_its_distance_from_a_bone_that_was_drawn_through(kind: str) -> None:
    gap, bone = 0.01, capsule_distance((0.0, 0.03, 0.2), (0.0, 0.03, 0.8), 0.05)
    drawn = DrawnMuscle(STRAIGHT, FACING, profile(kind), gap=gap)
    made = muscle_surface(drawn, [bone])
    surface = made.surface
    middles = surface.vertices[surface.triangles].mean(axis=1)
    free = muscle_surface(drawn).surface.vertices
    assert bone(free)[0].min() < -0.005, "without it, the bone would be inside"
    assert bone(surface.vertices)[0].min() > 0.99 * gap
    assert bone(middles)[0].min() > 0.9 * gap
    inside = np.array([(0.0, 0.03, z) for z in np.linspace(0.2, 0.8, 7)])
    signs, _ = mesh_distance(surface.vertices, surface.triangles)(inside)
    assert signs.min() > 0.05, "the whole muscle is beside the bone, and not around it"
    assert crossings(made) == 0 and find_manifold_defects(surface.triangles) is None
    ends = [surface.vertices[surface.along == end].mean(axis=0) for end in (0.0, 1.0)]
    assert np.abs(ends - STRAIGHT).max() < 1e-3, "its ends stay on their bones"


def test_it_keeps_out_of_a_neighbouring_muscle_too() -> None:
    neighbour = muscle_surface(DrawnMuscle(STRAIGHT + (0.08, 0.0, 0.0), FACING, profile(BELLY))).surface
    ball = sphere(0.07, 12, (-0.1, 0.0, 0.5))
    obstacles = [mesh_distance(neighbour.vertices, neighbour.triangles), mesh_distance(*ball)]
    gap = 0.004
    made = muscle_surface(DrawnMuscle(STRAIGHT, FACING, profile(BELLY, 0.1, 0.1), gap=gap), obstacles)
    for distance in obstacles:
        assert distance(made.surface.vertices)[0].min() > 0.9 * gap
    assert crossings(made) == 0


@pytest.mark.parametrize("gap", (0.0, 0.005))
def test_an_end_on_a_bone_is_as_wide_as_it_was_drawn(gap: float) -> None:
    """The curve comes to the bone at right angles, and leaves another one along its side."""
    below, beside = sphere(0.3, 16, (0.0, 0.0, -0.3)), sphere(0.3, 16, (-0.3, 0.0, 1.0))
    obstacles = [mesh_distance(*below), mesh_distance(*beside)]
    drawn = DrawnMuscle(STRAIGHT, FACING, profile(STRAP, 0.16, 0.06), gap=gap)
    free, made = muscle_surface(drawn).surface, muscle_surface(drawn, obstacles).surface
    for end in (0.0, 1.0):
        wide, before = (np.ptp(each.vertices[each.along == end][:, 1]) for each in (made, free))
        assert wide == pytest.approx(before, rel=0.1)
    for distance in obstacles:
        assert distance(made.vertices)[0].min() > gap - 1e-6
    assert crossings(MuscleSurface(made, 1.0)) == 0
