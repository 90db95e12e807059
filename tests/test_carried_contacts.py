# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts with rigid colliders of the equilibrium before: carried along, and expected by the first linear solve."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from fixtures.closed_surfaces import sphere
from fixtures.flesh_contact_scenes import NoTracks, box, flesh
from sinew.solver.contact.colliders.rigid_colliders import build_collider
from sinew.solver.quasistatic.contact import contact_penalty_at_poses, solve_in_contact
from sinew.solver.quasistatic.contact.carried_contacts import MAX_GAP, CarriedContacts, carried_contacts
from sinew.solver.quasistatic.equilibrium_problem import EquilibriumProblem
from sinew.solver.quasistatic.fixed_nodes import FixedNodes
from sinew.solver.quasistatic.newton_iterate import NewtonIterate
from sinew.solver.scene.scene import Collider
from sinew.solver.simulation.flesh.pose_contact import PoseContact

RNG = np.random.default_rng(23)
LOAD = 10000.0  # [N]
HERE = np.vstack([np.eye(3), np.zeros(3)])
BEFORE = np.vstack([Rotation.from_rotvec([0.3, -0.2, 0.5]).as_matrix(), [0.1, 0.2, -0.1]])
NOW = np.vstack([Rotation.from_rotvec([-0.4, 0.1, 0.2]).as_matrix(), [0.3, -0.1, 0.2]])


def ball():
    vertices, triangles = sphere(6, 0.6)
    return build_collider(Collider("ball", "Ball", "mesh", vertices, triangles, 0.0, 0.0), NoTracks())


def touching_box(at=0.57):
    """Returns a box above a ball whose highest point is at 0.6, and its penalty."""
    scene = flesh([box((-0.5, -0.5, at))], 0.25, colliders=(ball(),), self_contact=False)
    return scene, contact_penalty_at_poses(scene.contact, [HERE], [np.ones(len(scene.contact.points), np.int8)])


def contacts_at(touching, x):
    """Returns the contacts at x, with a collider that stays."""
    places = touching.contact.positions(x)
    return CarriedContacts.concatenate(
        [
            carried_contacts(each.point, places[each.point], each.normal, each.depth, HERE, HERE)
            for each in touching.collider_penetrations(x)
        ]
    )


def test_contacts_go_along_with_their_collider():
    own, out = RNG.standard_normal((2, 5, 3))
    out /= np.linalg.norm(out, axis=1)[:, None]
    at = {key: own @ pose[:3].T + pose[3] for key, pose in (("before", BEFORE), ("now", NOW))}
    depth = RNG.uniform(size=5)
    found = carried_contacts(np.arange(5), at["before"], out @ BEFORE[:3].T, depth, BEFORE, NOW)
    np.testing.assert_allclose(found.place, at["now"], atol=1e-14)
    np.testing.assert_allclose(found.normal, out @ NOW[:3].T, atol=1e-14)
    assert np.array_equal(found.depth, depth) and CarriedContacts.concatenate([]) is None


def test_what_is_pressed_or_far_off_is_not_lifted():
    n = np.tile([0.0, 0.0, 1.0], (4, 1))
    contacts = CarriedContacts(np.array([0, 2, 3, 4]), np.zeros((4, 3)), n, np.full(4, 0.1))
    heights = np.array([0.3, 9.0, 0.05, 0.3, 0.1 + 0.99 * MAX_GAP])
    positions = np.column_stack([np.zeros((5, 2)), heights])
    is_pressed = np.array([False, False, False, True, False])
    rows, gap = contacts.lifted(positions, is_pressed, np.ones(5))
    assert rows.tolist() == [0, 3]  # point 2 is still in its plane, 3 is pressed
    np.testing.assert_allclose(gap, [0.2, 0.99 * MAX_GAP])
    far = contacts.lifted(positions + [0.0, 0.0, 0.02 * MAX_GAP], is_pressed, np.ones(5))[0]
    assert far.tolist() == [0]


def test_stiffness_and_forces_are_those_of_springs_between_points_and_planes():
    scene, touching = touching_box()
    x = scene.X - [0.0, 0.0, 0.06]
    contacts = contacts_at(touching, x)
    assert len(contacts.point) > 3
    lifted = scene.X + [0.0, 0.0, 0.05] + 0.001 * RNG.standard_normal(x.shape)
    blocks = scene.model.pattern.block_count
    plain, values = np.zeros((2, blocks, 9))
    without, force = np.zeros((2, *x.shape))
    touching.add(lifted, plain, without)
    assert touching.expected_forces() is None
    touching.carried = contacts
    energies = touching.add(lifted, values, force)
    assert np.array_equal(force, without) and np.array_equal(energies, touching.energies(lifted))
    expected, points = touching.expected_forces(), scene.contact.points
    K, f = np.zeros((len(x), 3, len(x), 3)), np.zeros_like(x)
    for point, place, n, depth in zip(contacts.point, contacts.place, contacts.normal, contacts.depth, strict=True):
        nodes, weights = scene.model.tets[points.tet[point]], points.weights[point]
        gap = (weights @ lifted[nodes] - place) @ n - depth
        assert gap > 0.0
        k = touching.contact.stiffness[point]
        K[nodes[:, None], :, nodes[None, :], :] += k * np.einsum("a,b,i,j->abij", weights, weights, n, n)
        f[nodes] -= k * gap * weights[:, None] * n
    np.testing.assert_allclose(expected, f, atol=1e-12 * np.abs(f).max())
    pattern = scene.model.pattern
    row = np.repeat(np.arange(len(x)), np.diff(pattern.row_start.astype(int)))
    np.testing.assert_allclose(
        (values - plain).reshape(-1, 3, 3), K[row, :, pattern.column, :], atol=1e-12 * np.abs(K).max()
    )
    touching.begin_step()
    assert np.array_equal(touching.expected_forces(), expected), "until other positions are asked for"
    touching.add(lifted.copy(), np.zeros_like(values), np.zeros_like(x))
    assert touching.expected_forces() is None


def test_the_first_linear_solve_ends_on_the_collider_that_the_start_is_off():
    """A box that is held at one side and weighed down on a ball begins with its other side lifted off it."""
    scene, touching = touching_box(at=0.6)
    along = scene.X[:, 0] - scene.X[:, 0].min()
    side = np.flatnonzero(along < 1e-9).astype(np.int32)
    load = np.zeros_like(scene.X)
    load[:, 2] = -LOAD / len(load)
    held = FixedNodes(side, scene.X[side])
    rest = solve_in_contact(EquilibriumProblem(scene.model, scene.law, held, load), scene.X, touching, 1e-3)
    contacts, x, off = contacts_at(touching, rest.equilibrium.x), rest.equilibrium.x, []
    assert rest.equilibrium.converged and len(contacts.point) > 3
    start = x + np.outer(along, [0.0, 0.0, 0.02])
    for carried in (None, contacts):
        touching.carried = carried
        iterate = NewtonIterate(EquilibriumProblem(scene.model, scene.law, held, load, [touching]))
        iterate.evaluate_tangent(scene.law, start)
        off.append(float(np.abs(start + iterate.direction(scene.law, start, 1e-8) - x).max()))
    assert off[1] < 0.1 * off[0] and off[1] < 0.02


def test_expectations_that_lead_uphill_are_dropped():
    """A body that a load pulls off a ball: contacts that are expected to close pull it back, harder than the load."""
    scene, touching = touching_box(at=0.62)
    top = np.flatnonzero(scene.X[:, 2] > scene.X[:, 2].max() - 1e-9).astype(np.int32)
    held, load = FixedNodes(top, scene.X[top]), np.zeros_like(scene.X)
    load[:, 2] = 1e-3
    contacts, directions = contacts_at(touching, scene.X - [0.0, 0.0, 0.06]), []
    for carried in (None, contacts):
        touching.carried = carried
        iterate = NewtonIterate(EquilibriumProblem(scene.model, scene.law, held, load, [touching]))
        iterate.evaluate_tangent(scene.law, scene.X)
        assert (iterate.potentials.expected_forces() is None) == (carried is None)
        directions.append(iterate.direction(scene.law, scene.X, 1e-10))
        assert np.sum(iterate.force * directions[-1]) > 0.0 and iterate.potentials.expected_forces() is None
    np.testing.assert_allclose(*directions, atol=1e-9 * np.abs(directions[0]).max())


class Turning:
    """Tracks of a ball that is turned and moved from time 0 to 1."""

    def has(self, name):
        return name.endswith(".matrix")

    def sample(self, name, time):
        pose, matrix = NOW if time > 0.5 else HERE, np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = pose[:3], pose[3]
        return matrix


def test_a_pose_has_the_contacts_of_the_one_before_where_their_collider_is_now():
    scene, touching = touching_box()
    x = scene.X - [0.0, 0.0, 0.06]
    known = contacts_at(touching, x)
    for time, pose in ((0.0, HERE), (1.0, NOW)):  # it stays, and it moves
        contact = replace(scene.contact, colliders=())
        found = PoseContact(contact, [ball()], [], Turning(), 0.0, time).at(x).carried
        assert np.array_equal(found.point, known.point) and np.allclose(found.depth, known.depth)
        np.testing.assert_allclose(found.place, known.place @ pose[:3].T + pose[3], atol=1e-12)
        np.testing.assert_allclose(found.normal, known.normal @ pose[:3].T, atol=1e-12)
    assert PoseContact(scene.contact, [], [], Turning(), 0.0, 1.0).at(x).carried is None
