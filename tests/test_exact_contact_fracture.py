# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that break with Exact contact: both sides of a crack are drawn back, and no pieces intersect."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.scenes import Run, block, rotation
from sinew.solver.contact.exact.contact_mesh import make_contact_mesh
from sinew.solver.contact.exact.excluded_features import ExcludedFeatures, edge_keys, point_keys
from sinew.solver.contact.exact.friction import RememberedShear
from sinew.solver.mechanics.state import State
from sinew.solver.mesh.geometry.triangle_intersections import intersecting_triangles
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.material import Fracture
from sinew.solver.scene.scene import Collider, Material, Scene, Settings
from sinew.solver.simulation.exact_contact.breakable_surface import MOST_RETREAT, inward, kept_within
from sinew.solver.simulation.fracture_topology import apply_topology
from sinew.solver.simulation.simulation import Simulation

EXACT = Settings(contact="exact", fps=24.0, substeps=4, frame_end=40)
FLOOR = Collider("floor", "Floor", friction=0.5)
BRITTLE = {
    "material": Material(youngs_modulus=1.0e6, poisson_ratio=0.3, density=1000.0, stiffness_damping=0.001),
    "fracture": Fracture(breaking_stress=1.0e4),
    "collision": Collision(0.5),
}


def falling_block(speed: float = 3.0) -> Scene:
    body = block((3, 3, 3), (0.2, 0.2, 0.2), at=(-0.1, -0.1, -0.1), turn=rotation((1.0, 0.7, 0.2), 0.6), **BRITTLE)
    up = np.array([0.0, 0.0, 0.001 - body.vertices[:, 2].min()])
    moved = {"vertices": body.vertices + up, "tet_nodes": body.tet_nodes + up, "initial_velocity": (0.0, 0.0, -speed)}
    return Scene((replace(body, **moved),), (FLOOR,), EXACT)


def intersections(run: Run) -> int:
    """Returns how many triangles of the surfaces that contact knows intersect now."""
    surfaces, state = run.simulation.built.exact_contact, run.simulation.state
    bound, motion = surfaces.motion(run.tracks, state.time, state.time, (None, state.x))
    return len(intersecting_triangles(bound.positions(state.x, motion.start), bound.mesh.triangles))


def test_vertices_go_back_from_all_faces_of_cracks() -> None:
    rng, count = np.random.default_rng(0), 40
    axis = rng.normal(size=(count, 3))
    axis /= np.linalg.norm(axis, axis=1)[:, None]
    vertex = np.repeat(np.arange(count, dtype=np.int32), 5)
    normal = 0.5 * rng.normal(size=(len(vertex), 3)) + 2.0 * axis[vertex]
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    mixed = rng.permutation(len(vertex))
    way = inward(np.zeros((count + 3, 3)), vertex[mixed], normal[mixed])
    assert (way[count:] == 0.0).all()  # those without a crack
    back = -(normal * way[vertex]).sum(axis=1)
    is_short = np.linalg.norm(way, axis=1)[vertex] < MOST_RETREAT - 1e-6
    assert is_short.sum() > 150 and back[is_short].min() > 0.98 and back.min() > 0.0
    opposite = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    assert np.abs(inward(np.zeros((1, 3)), np.zeros(2, np.int32), opposite)).max() < 1e-9  # thin between both


def test_what_is_remembered_gets_the_numbers_of_now() -> None:
    rest = np.random.default_rng(1).normal(size=(6, 3))
    triangles, touch = np.array([[0, 1, 2], [3, 4, 5]], np.int32), np.ones((2, 2), bool)
    before = make_contact_mesh(rest, triangles, np.array([0, 0, 0, 1, 1, 1], np.int32), touch)
    now = make_contact_mesh(rest[[0, 1, 2, 2, 3, 4, 5]], triangles, np.array([0, 0, 0, 0, 1, 1, 1], np.int32), touch)
    number = np.array([0, -1, 2, 4, 5, 6], np.int32)
    points, others = np.array([1, 2, 4], np.int32), np.array([1, 1, 0], np.int32)
    ends = np.array([[0, 1], [3, 5]], np.int32)
    features = ExcludedFeatures(point_keys(before, points, others), edge_keys(before, ends, others[1:]))
    found = features.renumbered(before, now, number)
    np.testing.assert_array_equal(found.points, point_keys(now, np.array([2, 5], np.int32), others[1:]))
    np.testing.assert_array_equal(found.edges, edge_keys(now, np.array([[4, 6]], np.int32), others[2:]))
    pairs = np.array([[2, 3, 4, 5], [1, 3, 4, 5], [0, 2, 3, 4]], np.int64)
    key = np.array([(a << 32 | b, c << 32 | d) for a, b, c, d in pairs.tolist()], RememberedShear().key.dtype)
    order = np.argsort(key, order=("first", "second"))
    shear = np.arange(9.0).reshape(3, 3)
    kept = RememberedShear(key[order], shear[order]).renumbered(number)
    assert len(kept.key) == 2
    np.testing.assert_array_equal(kept.of(np.array([[2, 4, 5, 6], [0, 2, 4, 5]], np.int32)), shear[[0, 2]])


@pytest.mark.slow
def test_a_block_breaks_on_the_floor_and_no_piece_is_in_another(tmp_path) -> None:
    run, found, pieces = Run(tmp_path, falling_block()), 0, []

    def look() -> None:
        nonlocal found
        found += intersections(run)

    for _ in range(5):
        run.advance(before_step=look)
        pieces.append(run.reports[-1].bodies["block"]["pieces"])
    look()
    assert found == 0 and pieces[-1] >= 2 and run.reports[-1].bodies["block"]["splits"] > 10
    assert all(report.unsettled == 0 and report.converged for report in run.reports)
    surfaces = run.simulation.built.exact_contact
    assert surfaces.bound.mesh.may_touch[0, 0]  # pieces meet each other
    assert surfaces.bound.positions(run.state.x, surfaces.local)[: surfaces.vertex_start[1], 2].min() > 0.0


@pytest.mark.slow
def test_a_broken_body_goes_on_after_a_restart_with_the_same_bytes(tmp_path) -> None:
    run = Run(tmp_path, falling_block())
    run.advance(2)
    assert run.reports[-1].bodies["block"]["splits"] > 0
    state = State.from_arrays({name: values.copy() for name, values in run.state.to_arrays().items()})
    again = Simulation(run.scene, run.tracks, apply_topology(run.built, state), state)
    run.advance()
    again.advance()
    assert run.state.x.tobytes() == again.state.x.tobytes() and run.state.v.tobytes() == again.state.v.tobytes()


def test_what_goes_back_from_a_crack_does_not_come_out_of_outer_faces() -> None:
    rng = np.random.default_rng(4)
    shift, vertex = rng.normal(size=(30, 3)), np.repeat(np.arange(30), 2)
    normal = [0.0, 0.0, 1.0] + 0.5 * rng.normal(size=(60, 3))  # edges of a body are seldom sharper
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    kept = kept_within(shift, vertex, normal)
    assert (kept[vertex] * normal).sum(axis=1).max() < 0.05 < (shift[vertex] * normal).sum(axis=1).max()
    inside = np.flatnonzero(((shift[vertex] * normal).sum(axis=1) <= 0.0).reshape(30, 2).all(axis=1))
    assert len(inside) > 3
    np.testing.assert_array_equal(kept[inside], shift[inside])
