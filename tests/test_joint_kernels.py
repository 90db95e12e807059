# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels of joints against NumPy, with ends that are bodies and ends that are not."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.joint_references import (
    angle_axes,
    coordinate_motions,
    end_frames,
    geometric_stiffness,
    place_forces,
    place_motions,
    place_weights,
    relative_coordinates,
    rotation_vectors,
)
from fixtures.scenes import rotation
from sinew.solver.constraints.joints.geometric_stiffness import add_geometric_stiffness
from sinew.solver.constraints.joints.joint_frame_kernels import write_row_values
from sinew.solver.constraints.joints.joint_frames import JointEnd, coordinate_directions, coordinates
from sinew.solver.constraints.joints.joint_place_kernels import (
    PLACE_COUNT,
    PlaceArrays,
    write_couples,
    write_place_forces,
    write_place_weights,
    write_relative_motions,
)
from sinew.solver.mesh.geometry.point_tet import barycentric_rows
from sinew.solver.runtime.arrays import Floats

COUNT = 5
TETS = np.arange(24, dtype=np.int32).reshape(6, 4)
CLOSE = {"rtol": 1e-12, "atol": 1e-12}


def some_turns(rng: np.random.Generator) -> Floats:
    return np.stack([rotation(rng.normal(size=3), rng.uniform(0.0, 3.0)) for _ in range(COUNT)])


def some_end(rng: np.random.Generator, tet: list[int]) -> JointEnd:
    weights = rng.normal(size=(COUNT, 4))
    return JointEnd(
        np.array(tet, np.int32), np.array(tet, np.int32), weights, rng.normal(size=(COUNT, 3, 3)), some_turns(rng)
    )


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)


@pytest.fixture
def x(rng: np.random.Generator) -> Floats:
    return rng.normal(size=(24, 3))


def some_places(rng: np.random.Generator, x: Floats) -> tuple[PlaceArrays, list[JointEnd], Floats, Floats]:
    """Returns places of joints with their ends, their origins and e."""
    ends = [some_end(rng, [0, -1, 2, 1, 3]), some_end(rng, [4, 5, -1, 0, 2])]
    directions, origins = rng.normal(size=(COUNT, 6, 3)), rng.normal(size=(COUNT, 3))
    size = rng.uniform(0.5, 2.0, COUNT)
    turn_size, beside, couple = np.empty((COUNT, 3)), np.empty((COUNT, 3, 3)), np.empty((COUNT, 3, 3))
    write_couples(directions, beside, turn_size, couple)
    weights = np.stack([place_weights(end, origins, beside, size, x, TETS) for end in ends])
    tet = np.stack([end.tet for end in ends])
    return PlaceArrays(tet, weights, directions, turn_size, couple, size), ends, origins, beside


def test_frames_and_coordinates_are_those_of_numpy(rng: np.random.Generator, x: Floats) -> None:
    animated = rng.normal(size=(COUNT, 4, 4))
    end = some_end(rng, [0, -1, 2, -1, 3])
    for one, other in zip(end.frames(x, TETS, animated), end_frames(end, x, TETS, animated), strict=True):
        np.testing.assert_allclose(one, other, **CLOSE)
    first, second = ((rng.normal(size=(COUNT, 3)), some_turns(rng)) for _ in range(2))
    for one, other in zip(coordinates(first, second), relative_coordinates(first, second), strict=True):
        np.testing.assert_allclose(one, other, **CLOSE)


def test_directions_are_the_inverse_of_the_axes_of_the_angles(rng: np.random.Generator) -> None:
    axes, q = some_turns(rng), rng.uniform(-1.0, 1.0, (COUNT, 6))
    directions = coordinate_directions(axes, q)
    np.testing.assert_allclose(directions[:, :3], axes.transpose(0, 2, 1), **CLOSE)
    products = directions[:, 3:] @ angle_axes(axes, q).transpose(0, 2, 1)
    np.testing.assert_allclose(products, np.broadcast_to(np.eye(3), products.shape), **CLOSE)
    q[:, 4] = 0.5 * np.pi  # where the first and the third axis are one
    assert np.isfinite(coordinate_directions(axes, q)).all()


def test_motors_come_as_far_as_coordinates_and_rotation_vectors_along_x(rng: np.random.Generator) -> None:
    now, begun, values = some_turns(rng), some_turns(rng), np.empty((COUNT, 8))
    q, start = rng.normal(size=(2, COUNT, 6))
    now[0] = begun[0]
    write_row_values(q, now, start, begun, values)
    np.testing.assert_array_equal(values[:, :6], q)
    np.testing.assert_array_equal(values[:, 6], q[:, 0] - start[:, 0])
    np.testing.assert_allclose(values[:, 7], rotation_vectors(now @ begun.transpose(0, 2, 1))[:, 0], **CLOSE)
    assert abs(values[0, 7]) < 1e-15


def test_couples_are_across_the_axes_of_the_angles(rng: np.random.Generator, x: Floats) -> None:
    places, _, _, beside = some_places(rng, x)
    n = places.directions[:, 3:] / places.turn_size[:, :, None]
    np.testing.assert_allclose(np.linalg.norm(n, axis=2), 1.0, **CLOSE)
    np.testing.assert_allclose(np.linalg.norm(beside, axis=2), 1.0, **CLOSE)
    np.testing.assert_allclose(np.einsum("kri,kri->kr", n, beside), 0.0, **CLOSE)
    np.testing.assert_allclose(places.couple, np.cross(n, beside), **CLOSE)


def test_weights_and_motions_of_places_are_those_of_numpy(rng: np.random.Generator, x: Floats) -> None:
    places, ends, origins, beside = some_places(rng, x)
    for number, end in enumerate(ends):
        found = np.empty((PLACE_COUNT, COUNT, 4))
        rows = barycentric_rows(x, TETS[end.tet])[0]
        write_place_weights(end.tet, x, TETS, rows, origins, beside, places.size, found)
        np.testing.assert_allclose(found, places.weights[number], rtol=1e-10, atol=1e-10)
    u, along = rng.normal(size=x.shape), np.empty((COUNT, 6))
    write_relative_motions(places, u, TETS, along)
    np.testing.assert_allclose(along, coordinate_motions(places, place_motions(places, u, TETS)), rtol=1e-10)


def test_forces_at_places_are_those_of_numpy_and_do_the_work_of_coordinates(
    rng: np.random.Generator, x: Floats
) -> None:
    places = some_places(rng, x)[0]
    phi, stiffness = rng.normal(size=(2, COUNT, 6))
    phi[:, 4] = stiffness[:, 4] = 0.0
    phi[3] = stiffness[3] = 0.0
    force, matrix = np.empty((PLACE_COUNT, COUNT, 3)), np.empty((PLACE_COUNT, COUNT, 3, 3))
    acts = np.empty((PLACE_COUNT, COUNT), bool)
    write_place_forces(places, phi, stiffness, force, matrix, acts)
    for one, other in zip((force, matrix), place_forces(places, phi, stiffness), strict=True):
        np.testing.assert_allclose(one, other, **CLOSE)
    np.testing.assert_array_equal(acts, force.any(axis=2) | matrix.any(axis=(2, 3)))
    assert not acts[:, 3].any() and not acts[3:5].any() and acts[0, [0, 1, 2, 4]].all()
    moved = place_motions(places, rng.normal(size=x.shape), TETS)
    work = np.einsum("pki,pki->k", force, moved)
    np.testing.assert_allclose(work, -(phi * coordinate_motions(places, moved)).sum(axis=1), rtol=1e-9, atol=1e-12)


def test_geometric_stiffness_of_both_ends_adds_up_on_bodies(rng: np.random.Generator) -> None:
    of_end, pull = np.array([[0, -1, 1, 0, 1], [1, 0, -1, 1, 0]], np.int32), rng.normal(size=(COUNT, 3))
    arms, found, wanted = rng.normal(size=(2, COUNT, 3)), np.zeros((2, 3, 3)), np.zeros((2, 3, 3))
    add_geometric_stiffness(of_end, pull, arms, found)
    for end, sign in enumerate((-1.0, 1.0)):
        K = geometric_stiffness(sign * pull, arms[end])
        for joint in range(COUNT):
            if of_end[end, joint] >= 0:
                wanted[of_end[end, joint]] += K[joint]
    np.testing.assert_allclose(found, wanted, **CLOSE)
