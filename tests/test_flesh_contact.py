# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact of flesh at rest, part by part: which tets hold points, the way out, forces, tangents, ties."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.flesh_contact_scenes import RADIUS, arm, box, flesh, passed_through
from fixtures.scenes import block
from sinew.solver.linalg import pcg
from sinew.solver.linalg.block_system import BlockSystem, PcgWorkspace, StoppingCriteria
from sinew.solver.mesh.geometry.winding_number import winding_numbers
from sinew.solver.quasistatic.contact import contact_penalty_at_poses, exit_projection
from sinew.solver.quasistatic.contact.linearised_contacts import MAX_FORCE_DEPTH, find_linearised_contacts
from sinew.solver.quasistatic.contact_stiffness_blocks import CoupledPattern, NodeCouplings
from sinew.solver.quasistatic.line_search import SlopeBracket
from sinew.solver.runtime.threads.thread_count import limiting_threads

RNG = np.random.default_rng(5)


def two_boxes(overlap=0.0, **settings):
    """Two boxes of side 1 side by side along x, the second moved into the first by `overlap` at rest."""
    return flesh([box((0, 0, 0)), box((1.0 - overlap, 0.03, 0.02))], 0.25, method="smooth", **settings)


def moved_second(scene, by):
    """Returns the nodes with the second body moved along x."""
    x = scene.X.copy()
    x[scene.model.bodies[1].nodes, 0] += by
    return x


def numbers(scene, x):
    """Returns (point, tet) of all tets that hold points, one by one."""
    c, tets = scene.contact, scene.model.tets
    points, found = c.positions(x), set()
    for t, corners in enumerate(tets):
        edges = (x[corners[1:]] - x[corners[0]]).T
        if np.linalg.det(edges) <= c.tet_search.min_volume[t]:
            continue
        last = np.linalg.solve(edges, (points - x[corners[0]]).T).T
        weights = np.column_stack([1.0 - last.sum(axis=1), last])
        for p in np.flatnonzero((weights >= -c.tet_search.reach[t] - 1e-12).all(axis=1)):
            own = c.points.tet[p]
            if own == t:
                continue
            at = weights[p] @ scene.X[corners]
            beside = np.intersect1d(tets[own], corners).size > 0
            if not (beside and np.linalg.norm(at - c.rest[p]) <= 0.25 * c.points.tet_size[p]):
                found.add((int(p), t))
    return found


def test_the_tree_finds_the_tets_that_hold_points():
    scene = two_boxes()
    x = moved_second(scene, -0.2) + 0.02 * RNG.standard_normal(scene.X.shape)
    c = scene.contact
    held = c.tet_search.find_enclosing(scene.model, x, c.positions(x), c.rest, c.points)
    wanted = numbers(scene, x)
    found = set(zip(held.point.tolist(), held.tet.tolist(), strict=True))
    assert len(wanted) > 50
    crowded = {p for p, _ in wanted if sum(q == p for q, _ in wanted) > 6}
    assert {pair for pair in found if pair[0] not in crowded} == {pair for pair in wanted if pair[0] not in crowded}


def test_tets_that_are_inside_out_or_flat_hold_nothing():
    scene = two_boxes()
    x = moved_second(scene, -0.2)
    first = scene.model.bodies[0]
    x[first.nodes] *= [1.0, 1.0, -1.0]  # mirrored
    x[first.nodes] += [0.0, 0.0, 1.0]
    c = scene.contact
    held = c.tet_search.find_enclosing(scene.model, x, c.positions(x), c.rest, c.points)
    assert (held.tet >= first.tets.stop).all()
    x[first.nodes, 2] = 0.5  # flat
    held = c.tet_search.find_enclosing(scene.model, x, c.positions(x), c.rest, c.points)
    assert (held.tet >= first.tets.stop).all()


def test_points_go_out_the_way_they_came():
    scene = two_boxes()
    for into in (0.1, 0.4, 0.7):  # also where the far side is nearer
        planes = find_linearised_contacts(scene.contact, moved_second(scene, -into))
        second = scene.contact.points.tet[planes.penetrations.point] >= scene.model.bodies[1].tets.start
        # those on the face that went in first are pushed back along x, and all the way
        front = second & np.isclose(scene.contact.rest[planes.penetrations.point, 0], 1.0)
        inner = front & (np.abs(scene.contact.rest[planes.penetrations.point][:, 1:] - 0.5) < 0.2).all(axis=1)
        assert inner.sum() >= 4
        np.testing.assert_allclose(planes.penetrations.depth[inner], into, atol=1e-9)
        np.testing.assert_allclose(
            planes.penetrations.normal[inner], np.broadcast_to([1.0, 0.0, 0.0], (inner.sum(), 3)), atol=1e-9
        )


def test_nothing_touches_at_rest_and_a_body_that_must_not_touch_itself_does_not():
    scene = arm(tet_size=0.5 * RADIUS)
    assert find_linearised_contacts(scene.contact, scene.X) is None
    assert not scene.contact.rest_depth.any()
    alone = arm(tet_size=0.5 * RADIUS, self_contact=False)
    assert alone.contact.tet_search is None
    assert find_linearised_contacts(alone.contact, alone.X * [-1.0, 1.0, 1.0]) is None


def test_what_overlaps_at_rest_is_pushed_only_where_it_gets_deeper():
    scene = two_boxes(overlap=0.1)
    c = scene.contact
    assert (c.rest_depth > 0.0).sum() > 20
    assert find_linearised_contacts(c, scene.X) is None
    planes = find_linearised_contacts(c, moved_second(scene, -0.05))
    front = np.isclose(c.rest[planes.penetrations.point, 0], 0.9) & (
        np.abs(c.rest[planes.penetrations.point][:, 1:] - 0.5) < 0.2
    ).all(axis=1)
    assert front.sum() >= 4
    np.testing.assert_allclose((planes.penetrations.depth - planes.rest_depth)[front], 0.05, atol=1e-9)


def test_points_that_move_in_the_same_array_are_searched_anew():
    """What a search found is kept for its positions, not for the array that had them."""
    scene = two_boxes()
    x = moved_second(scene, -0.2)
    before = scene.contact.find_penetrations(x)
    x[scene.model.bodies[1].nodes, 0] -= 0.2
    after, twin = scene.contact.find_penetrations(x), two_boxes().contact.find_penetrations(x)
    assert before.depth.max() < 0.3 < after.depth.max() and np.array_equal(after.depth, twin.depth)


def test_shells_of_one_body_that_cross_at_rest_touch_nothing_inside():
    (a, s), (b, t) = box((0, 0, 0)), box((0.6, 0.2, 0.1))
    scene = flesh([(np.concatenate([a, b]), np.concatenate([s, t + np.int32(len(a))]))], 0.2, method="robust")
    assert find_linearised_contacts(scene.contact, scene.X) is None
    inside = (np.abs(scene.contact.rest - [1.1, 0.7, 0.6]) < 0.45).all(axis=1) & (scene.contact.rest[:, 0] < 0.99)
    assert inside.any()


def test_forces_are_those_of_the_energy_and_sum_to_zero():
    scene = two_boxes()
    x = moved_second(scene, -0.055) + 0.008 * RNG.standard_normal(scene.X.shape)
    planes = find_linearised_contacts(scene.contact, x)
    k = scene.contact.stiffness
    assert (planes.penetrations.depth > planes.max_force_depth).any() and (
        planes.penetrations.depth < planes.max_force_depth
    ).any()
    force = np.zeros_like(x)
    energies, ties = planes.add(k, x, force)
    assert energies.sum() > 0.0 and np.array_equal(energies, planes.energies(k, x))
    np.testing.assert_allclose(force.sum(axis=0), 0.0, atol=1e-9 * np.abs(force).max())
    d = RNG.standard_normal(x.shape)
    h = 1e-6
    slope = (planes.energies(k, x + h * d).sum() - planes.energies(k, x - h * d).sum()) / (2 * h)
    assert slope == pytest.approx(-float(np.sum(force * d)), rel=1e-6)
    after, before = np.zeros_like(x), np.zeros_like(x)
    planes.add(k, x + h * d, after)
    planes.add(k, x - h * d, before)
    product = dense(ties, len(x)) @ d.ravel()
    true = -(after - before).ravel() / (2 * h)
    shallow = planes.penetrations.depth < planes.max_force_depth
    assert float(d.ravel() @ product) >= float(d.ravel() @ true) * (1.0 - 1e-6)
    if shallow.all():
        np.testing.assert_allclose(product, true, rtol=1e-4)


def test_the_energy_agrees_with_the_distance_that_is_found_anew():
    """Of places that are nearest in space the force is the true gradient of ½ k φ², not only at a fixed place."""
    scene = two_boxes()
    x = moved_second(scene, -0.03)
    touching, d = contact_penalty_at_poses(scene.contact, []), RNG.standard_normal(scene.X.shape)
    planes = find_linearised_contacts(scene.contact, x)
    force = np.zeros_like(x)
    planes.add(scene.contact.stiffness, x, force)
    h = 1e-5

    def fresh(y):
        return find_linearised_contacts(scene.contact, y).energies(touching.contact.stiffness, y).sum()

    slope = (fresh(x + h * d) - fresh(x - h * d)) / (2 * h)
    assert slope == pytest.approx(-float(np.sum(force * d)), rel=2e-2)


def dense(ties: NodeCouplings, count: int) -> np.ndarray:
    """Returns the matrix of ties, (3n, 3n)."""
    K = np.zeros((3 * count, 3 * count))
    for tie in range(len(ties)):
        g = np.zeros((count, 3))
        for e in range(ties.start[tie], ties.start[tie + 1]):
            g[ties.nodes[e]] += ties.coefficients[e] * ties.scaled_normals[tie]
        K += np.outer(g.ravel(), g.ravel())
    return K


def test_the_wider_matrix_is_solved_as_its_dense_twin():
    body = block((2, 2, 2))
    scene = flesh([(body.vertices, body.triangles), box((1.5, 0, 0))], 0.5)
    model, n = scene.model, scene.model.node_count
    K = np.eye(3 * n) * 50.0
    values = np.zeros((model.pattern.block_count, 9))
    values[model.pattern.diagonal] = 50.0 * np.eye(3).ravel()
    ties = NodeCouplings(
        np.array([0, 3, 7]), np.array([0, n - 1, 5, 2, n - 2, 0, 7], np.int32),
        np.array([1.0, -0.4, -0.6, 0.5, -0.25, -0.5, 0.25]), 10.0 * RNG.standard_normal((2, 3)),
    )  # fmt: skip
    widening = CoupledPattern(model.pattern, PcgWorkspace())
    pattern, wide = widening.extend(values, ties)
    K += dense(ties, n)
    found = np.zeros((3 * n, 3 * n))
    for row in range(n):
        for b in range(pattern.row_start[row], pattern.row_start[row + 1]):
            column = pattern.column[b]
            found[3 * row : 3 * row + 3, 3 * column : 3 * column + 3] = wide[b].reshape(3, 3)
    np.testing.assert_allclose(found, K, atol=1e-12)
    b, d = RNG.standard_normal((n, 3)), np.zeros((n, 3))
    pcg.solve(BlockSystem(pattern, wide, b, np.ones(n, bool)), d, StoppingCriteria(1e-10, 200))
    np.testing.assert_allclose(d.ravel(), np.linalg.solve(K, b.ravel()), rtol=1e-6, atol=1e-9)
    before = wide.copy()
    wide[:] = np.nan
    again, same = widening.extend(values, ties)
    assert again is pattern  # the same nodes: not joined anew
    assert np.array_equal(same, before) and np.shares_memory(same, wide)  # in the array that it had


def test_points_are_inside_at_rest_where_the_surface_winds_around_them(monkeypatch):
    """As a sum over the whole surface says it, too."""
    scene = two_boxes()
    x = moved_second(scene, -0.15) + 0.02 * RNG.standard_normal(scene.X.shape)
    quick, asked = find_linearised_contacts(scene.contact, x).penetrations, []

    def all_around(shell, start, winding, end):
        asked.append(winding_numbers(shell, end))
        return asked[-1]

    monkeypatch.setattr(exit_projection, "propagate_winding_numbers", all_around)
    slow = find_linearised_contacts(scene.contact, x).penetrations
    inside = np.concatenate(asked) > 0.5
    assert 20 < inside.sum() < len(inside) - 20
    assert all(np.array_equal(getattr(quick, name), getattr(slow, name)) for name in vars(slow))


def test_contacts_do_not_depend_on_the_number_of_threads():
    scene = two_boxes()
    x = moved_second(scene, -0.1) + 0.01 * RNG.standard_normal(scene.X.shape)
    many = find_linearised_contacts(scene.contact, x)
    with limiting_threads(1):
        one = find_linearised_contacts(scene.contact, x)
    for name in ("point", "triangle", "place", "normal", "depth"):
        assert getattr(many.penetrations, name).tobytes() == getattr(one.penetrations, name).tobytes()


def test_a_contact_goes_on_until_its_point_is_out():
    scene = two_boxes()
    c, x = scene.contact, moved_second(scene, -0.02)
    known = find_linearised_contacts(c, x)
    again = find_linearised_contacts(c, x, known.penetrations)
    assert again.penetrations.point.tobytes() == known.penetrations.point.tobytes()
    assert find_linearised_contacts(c, moved_second(scene, 0.01), known.penetrations) is None


def test_a_step_ends_where_forces_hardly_push():
    def end(force):
        bracket = SlopeBracket(force(0.0), 1.0)
        while bracket.narrow(force(bracket.length)):
            pass
        return bracket.length

    assert end(lambda s: 1.0 - s) == 1.0
    assert abs(end(lambda s: 1.0 if s < 0.3 else -5.0 * (s - 0.2)) - 0.3) < 0.1
    assert end(lambda s: 1.0 - s / 8.0) == 4.0  # forces hardly fall: farther
    assert end(lambda s: -1.0) == 1.0


def test_the_measure_of_passing_through_sees_it():
    scene = two_boxes()
    assert passed_through(scene, moved_second(scene, 0.05), 0.002, 0.3) == 0.0
    assert passed_through(scene, moved_second(scene, -0.1), 0.002, 0.3) > 0.08
    assert MAX_FORCE_DEPTH > 0.0
