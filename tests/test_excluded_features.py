# SPDX-License-Identifier: GPL-3.0-or-later
"""Points and edges that are not kept out of some surface, beside slow references."""

from __future__ import annotations

import numpy as np

from fixtures.closed_surfaces import cube, sphere
from fixtures.slow_winding_numbers import slow_winding_numbers
from sinew.solver.bake.contact_convergence_warnings import bake_warnings
from sinew.solver.contact.exact.contact_mesh import (
    CLOSED,
    HALF_SPACE,
    OPEN,
    ContactMesh,
    close_pairs,
    make_contact_mesh,
)
from sinew.solver.contact.exact.contact_potential import pair_stencils
from sinew.solver.contact.exact.excluded_features import ExcludedFeatures, edges_at_points, features_of_pairs
from sinew.solver.contact.exact.friction import PairForces
from sinew.solver.contact.exact.tangled_features import intersecting_owners, tangled_features
from sinew.solver.mechanics.state import State
from sinew.solver.scene.scene import Settings
from sinew.solver.simulation.exact_contact.exact_loads import exact_collider_loads, exact_contact_loads, excluded_places

EXACT = Settings(contact="exact", substeps=2)
PLANE = np.array([[-9.0, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0]]), np.array([[0, 1, 2], [0, 2, 3]], np.int32)


def welded(vertices, triangles):
    _, first, number = np.unique(np.round(vertices, 9), axis=0, return_index=True, return_inverse=True)
    faces = number.ravel()[triangles].astype(np.int32)
    return vertices[first], faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]


def joined(surfaces, is_half_space=None, self_contact=False) -> tuple[ContactMesh, np.ndarray]:
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in surfaces)])
    vertices = np.concatenate([vertices for vertices, _ in surfaces])
    triangles = np.concatenate([faces + first for (_, faces), first in zip(surfaces, starts, strict=False)])
    surface = np.repeat(np.arange(len(surfaces)), np.diff(starts)).astype(np.int32)
    may_touch = np.ones((len(surfaces),) * 2, bool)
    may_touch[np.arange(len(surfaces)), np.arange(len(surfaces))] = self_contact
    mesh = make_contact_mesh(vertices, triangles.astype(np.int32), surface, may_touch, None, None, is_half_space)
    return mesh, vertices


def ball_and_cube():
    vertices, triangles = welded(*sphere(4))
    return (vertices + [0.9, 0.1, 0.2], triangles), welded(*cube(3, 1.6))


def test_surfaces_know_what_is_behind_them() -> None:
    mesh, _ = joined([*ball_and_cube(), PLANE, PLANE], np.array([False, False, True, False]))
    assert mesh.side.tolist() == [CLOSED, CLOSED, HALF_SPACE, OPEN]


def test_pairs_are_excluded_by_their_point_or_by_either_edge() -> None:
    rng, (mesh, y) = np.random.default_rng(3), joined(ball_and_cube())
    groups = pair_stencils(mesh, close_pairs(mesh, y, y, 0.3))
    points, others = mesh.points[::3], 1 - mesh.surface[mesh.points[::3]]
    edges = mesh.edges[rng.permutation(len(mesh.edges))[:40]]
    chosen = {(int(p), int(s)) for p, s in zip(points, others, strict=True)}
    chosen_edges = {(int(a), int(b), int(1 - mesh.surface[a])) for a, b in edges}
    count, wide = 2, len(y)
    excluded = ExcludedFeatures(
        np.sort([p * count + s for p, s in chosen]), np.sort([(a * wide + b) * count + s for a, b, s in chosen_edges])
    )
    for group in groups:
        found = excluded.excludes(mesh, group)
        of = mesh.surface[group.vertices]
        for row, (a, b, c, d) in enumerate(group.vertices.tolist()):
            if group.kind == groups[0].kind:
                wanted = (a, of[row, 1]) in chosen
            else:
                wanted = (a, b, of[row, 2]) in chosen_edges or (c, d, of[row, 0]) in chosen_edges
            assert found[row] == wanted
        assert 0 < found.sum() < len(found)
        assert np.array_equal(excluded.kept(mesh, group).vertices, group.vertices[~found])
    assert {tuple(row) for row in np.stack(excluded.excluded_points(mesh), axis=1).tolist()} == chosen
    ends, surfaces = excluded.excluded_edges(mesh)
    assert {(*end, surface) for end, surface in zip(ends.tolist(), surfaces.tolist(), strict=True)} == chosen_edges
    assert excluded.owner_pairs(mesh).tolist() == [[False, True], [True, False]]


def test_excluded_pairs_are_those_of_their_features_and_of_the_edges_at_points() -> None:
    mesh, y = joined(ball_and_cube())
    points, edges = pair_stencils(mesh, close_pairs(mesh, y, y, 0.3))
    features = features_of_pairs(mesh, points, np.array([5]))
    point, surface = points.vertices[5, 0], mesh.surface[points.vertices[5, 1]]
    assert features.excludes(mesh, points)[5]
    ends, surfaces = features.excluded_edges(mesh)
    wanted = mesh.edges[(mesh.edges == point).any(axis=1)]
    assert sorted(map(tuple, ends)) == sorted(map(tuple, wanted)) and set(surfaces) == {surface}
    assert features_of_pairs(mesh, edges, np.array([7, 9])).excludes(mesh, edges)[[7, 9]].all()
    assert len(edges_at_points(mesh, np.zeros(0, np.int32), np.zeros(0, np.int32))) == 0


def test_features_are_stored_in_a_state_and_leave_nothing_behind() -> None:
    state = State(np.zeros((1, 3)), np.zeros((1, 3)), 0.0, {})
    one = ExcludedFeatures(np.array([3, 8]), np.array([2, 2**40]))
    one.to_state(state)
    again = ExcludedFeatures.from_state(State.from_arrays(state.to_arrays()))
    assert again.points.tolist() == [3, 8] and again.edges.tolist() == [2, 2**40]
    both = one.united(ExcludedFeatures(np.array([1, 8]), np.array([5])))
    assert both.points.tolist() == [1, 3, 8] and both.edges.tolist() == [2, 5, 2**40]
    assert both.common(one).points.tolist() == [3, 8] and len(both.common(one)) == 4
    ExcludedFeatures().to_state(state)
    assert not state.fields and not len(ExcludedFeatures.from_state(state))


def segment_crosses(p, q, corners):
    """Whether a segment crosses a triangle, by signed volumes in floating point."""
    volume = lambda a, b, c, d: np.linalg.det([b - a, c - a, d - a])  # noqa: E731
    a, b, c = corners
    if volume(a, b, c, p) * volume(a, b, c, q) > 0:
        return False
    signs = [np.sign(volume(p, q, u, v)) for u, v in ((a, b), (b, c), (c, a))]
    return abs(sum(signs)) == 3


def test_what_is_inside_or_crosses_is_tangled() -> None:
    mesh, y = joined(ball_and_cube())
    owners = intersecting_owners(mesh, y)
    assert owners.tolist() == [[False, True], [True, False]]
    found = tangled_features(mesh, y, owners)
    points, of = found.excluded_points(mesh)
    for surface in (0, 1):
        corners = y[mesh.triangles[mesh.surface[mesh.triangles[:, 0]] == surface]]
        other = np.flatnonzero(mesh.surface == 1 - surface)
        inside = other[np.abs(slow_winding_numbers(corners, y[other])) > 0.5]
        assert set(points[of == surface]) == set(inside) and len(inside)
        ends, at = found.excluded_edges(mesh)
        marked = {tuple(end) for end in ends[at == surface]}
        for a, b in mesh.edges[mesh.surface[mesh.edges[:, 0]] == 1 - surface]:
            crosses = any(segment_crosses(y[a], y[b], corner) for corner in corners)
            assert ((a, b) in marked) == (crosses or a in inside or b in inside)
    assert not len(tangled_features(mesh, y, np.zeros((2, 2), bool)))
    y[mesh.surface == 0] += [3.0, 0.0, 0.0]
    assert not intersecting_owners(mesh, y).any() and not len(tangled_features(mesh, y, owners))


def test_below_a_plane_is_inside_and_behind_a_sheet_nothing_is() -> None:
    ball = ball_and_cube()[0]
    for is_half_space in (True, False):
        mesh, y = joined([ball, PLANE], np.array([False, is_half_space]))
        points, of = tangled_features(mesh, y, intersecting_owners(mesh, y)).excluded_points(mesh)
        below = np.flatnonzero((mesh.surface == 0) & (y[:, 2] < 0.0))
        assert set(of) == {1} and len(below)
        if is_half_space:
            assert set(points) == set(below)
        else:  # both ends of what crosses it
            crossing = mesh.edges[np.sign(y[mesh.edges, 2]).prod(axis=1) < 0.0]
            assert set(points) == set(crossing.ravel()) != set(below)


def test_a_surface_that_crosses_itself_is_tangled_where_it_is_in_itself() -> None:
    ball, block = ball_and_cube()
    vertices = np.concatenate([ball[0], block[0]])
    mesh, y = joined([(vertices, np.concatenate([ball[1], block[1] + len(ball[0])]))], self_contact=True)
    two, _ = joined([ball, block])
    found = tangled_features(mesh, y, intersecting_owners(mesh, y)).excluded_points(mesh)[0]
    wanted = tangled_features(two, y, intersecting_owners(two, y)).excluded_points(two)[0]
    assert set(found) == set(wanted)


def test_forces_of_pairs_are_told_of_bodies_and_load_colliders() -> None:
    mesh, y = joined([*ball_and_cube(), PLANE], np.array([False, False, True]))
    ball, plane = np.flatnonzero(mesh.surface == 0), np.flatnonzero(mesh.surface == 2)
    vertices = np.array([[ball[0], *plane[:3]], [plane[0], *ball[:3]], [ball[0], ball[1], plane[0], plane[1]]])
    weights = np.array([[1.0, -0.5, -0.25, -0.25], [1.0, -0.2, -0.3, -0.5], [0.5, 0.5, -0.4, -0.6]])
    normal, force = np.tile([0.0, 0.0, 1.0], (3, 1)), np.array([[1.0, 0, 5], [0, 2, -7], [0, 0, 3]])
    pairs = PairForces(np.array([0, 0, 1]), vertices.astype(np.int32), weights, normal, force)
    loads = exact_contact_loads(pairs, y, mesh, ("ball", "cube", "plane"))
    assert np.array(loads.names)[loads.other].tolist() == ["plane"] * 3
    wanted = np.array([y[ball[0]], [0.2, 0.3, 0.5] @ y[ball[:3]], [0.5, 0.5] @ y[ball[:2]]])
    np.testing.assert_allclose(loads.positions, wanted)
    np.testing.assert_allclose(loads.forces, force * [[1], [-1], [1]])
    np.testing.assert_allclose(loads.normals[:, 2], [1.0, -1.0, 1.0])
    origin = np.array([[0.3, -0.2, 0.1]])
    (total,) = exact_collider_loads(loads, 2, origin)
    np.testing.assert_allclose(total[:3], -loads.forces.sum(axis=0))
    np.testing.assert_allclose(total[3:], -np.cross(loads.positions - origin, loads.forces).sum(axis=0))
    between = PairForces(np.zeros(1, int), np.r_[ball[0], np.flatnonzero(mesh.surface == 1)[:3]][None], *pairs[2:])
    between = between._replace(weights=weights[:1], normal=normal[:1], force=force[:1])
    assert not exact_collider_loads(exact_contact_loads(between, y, mesh, ("b", "c", "p")), 2, origin).any()


def test_places_are_those_of_points_and_of_the_middles_of_edges() -> None:
    mesh, y = joined(ball_and_cube())
    a, b = mesh.edges[0]
    features = ExcludedFeatures(np.array([2 * 7 + 1]), np.array([(a * len(y) + b) * 2 + 1]))
    places = excluded_places(features, y, mesh)
    assert {tuple(place) for place in places.round(9)} == {tuple(y[7].round(9)), tuple(y[[a, b]].mean(axis=0).round(9))}
    assert excluded_places(ExcludedFeatures(), y, mesh).shape == (0, 3)


def test_a_bake_tells_in_how_many_frames_colliders_were_let_in() -> None:
    lines = [{"frame": 1}, {"frame": 2, "let_in": 4}, {"frame": 3, "let_in": 1}]
    (told,) = bake_warnings(lines, EXACT)
    assert told.kind == "exact-contact-let-in" and told.details["count"] == 2 and told.details["frame"] == 2
    assert bake_warnings(lines[:1], EXACT) == []


def test_a_bake_tells_every_step_with_exact_contact_that_did_not_converge() -> None:
    lines = [{"frame": 1, "contacts": 9}] * 40 + [{"frame": 41, "contacts": 9, "unsettled": 1}]
    (told,) = bake_warnings(lines, EXACT)
    assert told.kind == "exact-contact-unsettled" and told.details == {"count": 1, "frame": 41}
    assert bake_warnings(lines[:40], EXACT) == []
    assert bake_warnings(lines, Settings(substeps=2)) == []  # by Fast, one in 82 steps is not seen
