# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies fall on, rest on, slide on and are pushed by colliders; kernels against slow twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import cKDTree

from fixtures import closed_surfaces as shapes
from fixtures.scenes import Run, block, pose, rotation
from sinew.solver.contact.colliders.collider_narrow_phase import SOLID, PlanarContacts, collide_mesh, collide_plane
from sinew.solver.contact.colliders.first_segment_crossing import first_crossing
from sinew.solver.contact.detection.contact_sample_points import sample_surface
from sinew.solver.mechanics.state import State
from sinew.solver.mesh.embedding import interpolate_points
from sinew.solver.mesh.geometry.closedness import has_inside
from sinew.solver.mesh.geometry.triangle_bvh import STACK_SIZE, build_bvh
from sinew.solver.runtime.errors import BadInput
from sinew.solver.runtime.threads.thread_count import set_thread_count
from sinew.solver.scene.scene import Collider, Material, Scene, Settings
from test_pins import pinned

GROUND = Collider("ground", "Ground", friction=0.5)


def slab(size=(8.0, 8.0, 1.0), top=0.0, **settings):
    """Returns a closed box collider whose upper side is at z = `top`."""
    vertices, triangles = shapes.cube(1)
    return Collider("slab", "Slab", "mesh", vertices * size + [0, 0, top - 0.5 * size[2]], triangles, **settings)


def sheet(size=8.0, cells=4, **settings):
    """Returns an open, flat sheet at z = 0, facing up."""
    u, v = (g.ravel() for g in np.meshgrid(*[np.linspace(-0.5, 0.5, cells + 1)] * 2, indexing="ij"))
    i, j = (g.ravel() for g in np.meshgrid(np.arange(cells), np.arange(cells), indexing="ij"))
    a = i * (cells + 1) + j
    triangles = np.r_[np.c_[a, a + cells + 1, a + cells + 2], np.c_[a, a + cells + 2, a + 1]].astype(np.int32)
    return Collider("sheet", "Sheet", "mesh", np.c_[size * u, size * v, 0.0 * u], triangles, **settings)


@pytest.mark.parametrize("E", [1e4, 1e5, 1e8])
def test_a_body_rests_on_the_ground(tmp_path, E):
    material = Material(E, 0.3, 1000.0, stiffness_damping=0.05)
    run = Run(tmp_path, Scene((block((4, 4, 4), at=(0, 0, 0.02), material=material),), (GROUND,)))
    tet = run.built.bodies[0].mesh.report.tet_size
    lowest = [run.advance()[:, 2].min() for _ in range(48)]
    assert min(lowest) > -0.02 * tet
    assert abs(lowest[-1]) < 0.005 * tet
    assert all(report.converged for report in run.reports)
    if E == 1e8:  # nothing moves any more
        assert np.abs(run.state.v).max() < 1e-3


def test_a_tip_without_tets_stays_above_the_ground(tmp_path):
    """A needle under a cube of 1 m, whose end is seven tets away from the tets that it moves with."""
    cube, reach = block((2, 2, 2), at=(0, 0, 3.51), initial_velocity=(0.0, 0.0, -3.0)), 3.5
    below = np.flatnonzero(cube.vertices[:, 2] < reach + 0.1)
    place = cube.vertices[below, :2] - 0.5
    by_distance = np.argsort(np.linalg.norm(place, axis=1))[1:5]  # the middles of the lower edges
    ring = below[by_distance[np.argsort(np.arctan2(*place[by_distance].T[::-1]))]]
    needle = np.c_[np.roll(ring, -1), ring, np.full(4, len(cube.vertices))].astype(np.int32)
    body = replace(
        cube,
        vertices=np.r_[cube.vertices, [[0.5, 0.5, 0.01]]],
        triangles=np.r_[cube.triangles, needle],
    )
    run = Run(tmp_path, Scene((body,), (GROUND,), settings=Settings(substeps=2)))
    assert np.abs(run.built.contact_points.weights).max() > 3.0
    assert (
        min(run.advance()[:, 2].min() for _ in range(12)) > -0.004
    )  # 0.0076 with contacts as soft as the lever is long
    assert all(report.converged for report in run.reports)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "E"), [(1e-3, 1e3), (0.01, 1e6), (100.0, 1e8)])
def test_any_size_rests_far_from_the_origin(tmp_path, size, E):
    at = (1e4, -0.5 * size, 0.02 * size)
    body = block((3, 3, 3), (size,) * 3, at=at, material=Material(E, 0.3, 1000.0, stiffness_damping=0.02))
    vertices, triangles = shapes.cube(1)
    floor = Collider("floor", "Floor", "mesh", 8 * size * vertices + [1e4, 0.0, -4 * size], triangles)
    run = Run(tmp_path, Scene((body,), (floor,)))
    tet = run.built.bodies[0].mesh.report.tet_size
    lowest = [run.advance()[:, 2].min() for _ in range(36)]
    assert min(lowest) > -0.01 * tet
    assert max(np.abs(run.state.x[:, :2] - run.built.model.X[:, :2]).max(axis=0)) < 0.1 * size
    assert sum(report.contacts for report in run.reports[-12:]) > 0


@pytest.mark.parametrize("collider", [GROUND, slab(), sheet()], ids=["plane", "box", "sheet"])
def test_a_fast_fall_does_not_go_through(tmp_path, collider):
    body = block((3, 3, 3), at=(-0.5, -0.5, 1.0), initial_velocity=(0.0, 0.0, -19.8))  # as after 20 m
    run = Run(tmp_path, Scene((body,), (collider,)))
    tet = run.built.bodies[0].mesh.report.tet_size
    lowest = [run.advance()[:, 2].min() for _ in range(24)]
    assert min(lowest) > -0.05 * tet
    assert max(lowest) > 0.1  # it was thrown back


def test_a_thin_slab_stops_a_fast_fall(tmp_path):
    body = block((2, 2, 2), (0.5, 0.5, 0.5), at=(-0.25, -0.25, 0.3), initial_velocity=(0.0, 0.0, -20.0))
    run = Run(tmp_path, Scene((body,), (slab((4.0, 4.0, 0.02)),)))
    assert min(run.advance()[:, 2].min() for _ in range(12)) > -0.02


def slope(tmp_path, mu, share):
    """Returns a flat block that lies on a slope of tan θ = share · μ, the way down it, and its angle."""
    angle = np.arctan(share * mu)
    turn = rotation([0, 1, 0], angle)
    material = Material(1e6, 0.3, 1000.0, stiffness_damping=0.02)
    body = block((4, 4, 1), (1.0, 1.0, 0.2), turn=turn, material=material)
    ground = Collider("ground", "Ground", friction=mu)
    run = Run(tmp_path, Scene((body,), (ground,)), collider__ground__matrix=([0.0], [pose(turn)], "rigid"))
    return run, turn @ [1.0, 0.0, 0.0], angle


@pytest.mark.parametrize("mu", [0.2, 0.5, 1.0])
def test_friction_holds_up_to_its_angle(tmp_path, mu):
    run, along, _ = slope(tmp_path / "below", mu, 0.95)
    run.advance(24)
    place = run.state.x.mean(axis=0)
    run.advance(24)
    assert abs((run.state.x.mean(axis=0) - place) @ along) < 1e-4
    run, along, _ = slope(tmp_path / "above", mu, 1.05)
    run.advance(24)
    speed = run.state.v.mean(axis=0) @ along
    run.advance(24)
    assert run.state.v.mean(axis=0) @ along > speed + 0.02 > 0.02


@pytest.mark.parametrize("mu", [0.2, 0.5])
def test_sliding_friction_is_mu_times_normal_force(tmp_path, mu):
    run, along, angle = slope(tmp_path, mu, 2.0)
    run.advance(12)
    speed = run.state.v.mean(axis=0) @ along
    run.advance(24)
    a = run.state.v.mean(axis=0) @ along - speed
    assert 9.81 * np.sin(angle) - a == pytest.approx(mu * 9.81 * np.cos(angle), rel=0.05)


@pytest.mark.parametrize("collider", [GROUND, slab(friction=0.5)], ids=["plane", "box"])
def test_sliding_stops_where_it_should(tmp_path, collider):
    """v² / 2 μ g, here 0.408 m from 2 m/s."""
    material = Material(1e6, 0.3, 1000.0, stiffness_damping=0.02)
    body = block((4, 4, 1), (1.0, 1.0, 0.2), at=(-0.5, -0.5, 0.0), material=material, initial_velocity=(2.0, 0, 0))
    run = Run(tmp_path, Scene((body,), (collider,), Settings(substeps=8)))
    start = run.state.x.mean(axis=0)
    run.advance(20)
    moved = run.state.x.mean(axis=0) - start
    assert moved[0] == pytest.approx(2.0**2 / (2 * 0.5 * 9.81), rel=0.05)
    run.advance(8)
    assert np.linalg.norm(run.state.x.mean(axis=0) - start - moved) < 1e-3


def test_a_moving_collider_takes_along_and_pushes(tmp_path):
    """A belt carries by friction; a wall pushes at its own speed."""
    times = [0.0, 10.0]
    body = block((3, 3, 1), (0.6, 0.6, 0.2), at=(-0.3, -0.3, 0.0), material=Material(1e6, 0.3, stiffness_damping=0.02))
    belt = Run(
        tmp_path / "belt",
        Scene((body,), (slab((40.0, 4.0, 1.0), friction=0.8),)),
        collider__slab__matrix=(times, [pose(), pose(move=(5.0, 0.0, 0.0))], "rigid"),
    )
    belt.advance(30)
    assert belt.state.v.mean(axis=0)[0] == pytest.approx(0.5, rel=0.01)
    wall = Collider("wall", "Wall")  # its free side is local +z
    facing = rotation([0, 1, 0], np.pi / 2)
    push = Run(
        tmp_path / "push",
        Scene((body,), (Collider("ground", "Ground", friction=0.0), wall)),
        collider__wall__matrix=(times, [pose(facing, (-0.31, 0, 0)), pose(facing, (9.69, 0, 0))], "rigid"),
    )
    out = push.advance(30)
    assert 0.99 < push.state.v.mean(axis=0)[0] < 1.2  # it may bounce off
    assert out[:, 0].min() > -0.31 + 30 / 24 - 0.005


def test_a_turning_table_takes_along(tmp_path):
    """A point on a table with sticking friction goes round with it."""
    body = block((2, 2, 1), (0.4, 0.4, 0.1), at=(-0.2, -0.2, 0.0), material=Material(1e6, 0.3, stiffness_damping=0.02))
    turns = [pose(rotation([0, 0, 1], 0.5 * k)) for k in range(5)]
    run = Run(
        tmp_path,
        Scene((body,), (slab(friction=1.0),)),
        collider__slab__matrix=(np.arange(5.0), turns, "rigid"),
    )
    run.advance(48)
    expected = run.built.model.X @ rotation([0, 0, 1], 1.0).T
    assert np.abs(run.state.x - expected)[:, :2].max() < 0.02


def test_thickness_is_kept(tmp_path):
    for collider in (Collider("g", "Ground", thickness=0.05), slab(thickness=0.05)):
        run = Run(tmp_path / collider.key, Scene((block((2, 2, 2), at=(-0.5, -0.5, 0.1)),), (collider,)))
        lowest = run.advance(36)[:, 2].min()
        assert lowest == pytest.approx(0.05, abs=0.005)


def test_a_sheet_has_two_sides(tmp_path):
    """Thrown at a sheet from below, a body stays below, and its points in contact do not change sides."""
    body = block((2, 2, 2), (0.5, 0.5, 0.5), at=(-0.25, -0.25, -0.8), initial_velocity=(0.0, 0.0, 6.0))
    run = Run(tmp_path, Scene((body,), (sheet(),), Settings(gravity=(0.0, 0.0, 2.0))))
    assert max(run.advance()[:, 2].max() for _ in range(36)) < 0.02


def test_a_bowl_holds_what_falls_into_it(tmp_path):
    """An open, hollow sheet of facets: points slide from face to face and none changes sides."""
    vertices, triangles = shapes.sphere(16)
    lower = vertices[triangles].mean(axis=1)[:, 2] < 0
    bowl = Collider("bowl", "Bowl", "mesh", vertices, triangles[lower], friction=0.3)
    body = block((4, 4, 4), (0.6, 0.6, 0.6), at=(-0.5, -0.2, 0.2), material=Material(3e4, 0.4, stiffness_damping=0.01))
    run = Run(tmp_path, Scene((body,), (bowl,)))
    tet = run.built.bodies[0].mesh.report.tet_size
    for _ in range(36):
        out = run.advance()
        assert np.linalg.norm(out[out[:, 2] < 0], axis=1).max(initial=0.0) < 1.0 + 0.05 * tet


def test_between_two_colliders_a_body_goes_into_neither(tmp_path):
    vertices, triangles = shapes.sphere(16)
    balls = [Collider(key, key, "mesh", vertices + [x, 0, 0], triangles) for key, x in (("a", 0.0), ("b", 1.5))]
    body = block((3, 3, 3), (0.4, 0.4, 0.4), at=(0.2, -0.2, 1.2), initial_velocity=(0.0, 0.0, -3.0))
    run = Run(tmp_path, Scene((body,), tuple(balls)))
    for _ in range(36):
        out = run.advance()
        for x in (0.0, 1.5):
            # the balls' facets lie up to 1 % inside the sphere
            assert np.linalg.norm(out - [x, 0, 0], axis=1).min() > 0.98
    assert out[:, 2].min() > 0.5


def test_falling_beside_a_collider_touches_nothing(tmp_path):
    body = block((2, 2, 2), (0.5, 0.5, 0.5), at=(0.6, 0.0, 0.5), initial_velocity=(0.0, 0.0, -5.0))
    run = Run(tmp_path, Scene((body,), (slab((1.0, 1.0, 1.0)),)))
    run.advance(12)
    assert sum(report.contacts for report in run.reports) == 0
    t = 0.5
    assert run.state.x[:, 2].mean() == pytest.approx(0.75 - 5 * t - 0.5 * 9.81 * t * (t + 1 / 96))


def test_contacts_do_not_pull(tmp_path):
    """A body thrown up from the ground leaves it with its own speed."""
    body = block((3, 3, 3), initial_velocity=(0.0, 0.0, 1.0))
    run = Run(tmp_path, Scene((body,), (GROUND,)))
    run.advance(2)
    assert run.state.v[:, 2].mean() == pytest.approx(1.0 - 9.81 * 2 / 24, rel=1e-6)


def test_a_resumed_run_has_the_same_bytes(tmp_path):
    body = block((3, 3, 2), at=(0.0, 0.0, 0.05), initial_velocity=(0.7, 0.0, 0.0))
    scene = Scene((body,), (GROUND, slab(top=-0.0)))
    through = Run(tmp_path / "through", scene)
    through.advance(6)
    stored = through.state.to_arrays()
    resumed = Run(tmp_path / "resumed", scene)
    resumed.simulation.state = State.from_arrays(stored)
    first, second = through.advance(5), resumed.advance(5)
    assert first.tobytes() == second.tobytes()
    for name, values in through.state.to_arrays().items():
        assert values.tobytes() == resumed.state.to_arrays()[name].tobytes(), name


def test_the_number_of_threads_changes_no_byte(tmp_path):
    body = pinned(block((8, 8, 8), at=(-0.5, -0.5, 0.02), material=Material(3e4, 0.3)), lambda v: v[:, 0] > 0.49, 0.5)
    scene = Scene((body,), (slab(friction=0.7),))
    results = []
    try:
        for threads in (1, 2):
            set_thread_count(threads)
            run = Run(tmp_path / str(threads), scene)
            run.advance(4)
            results.append({name: values.tobytes() for name, values in run.state.to_arrays().items()})
    finally:
        set_thread_count(None)
    assert results[0] == results[1]


# ---- kernels against twins


def still(start, end):
    identity = np.vstack([np.eye(3), np.zeros(3)])
    return np.vstack([identity, identity])


def moving(seed):
    """Returns a pose of rows R0 | t0 | R1 | t1, and the maps of points from both spaces."""
    rng = np.random.default_rng(seed)
    R0, R1 = rotation(rng.normal(size=3), 0.7), rotation(rng.normal(size=3), 1.1)
    t0, t1 = rng.normal(size=(2, 3)) * 0.1
    return np.vstack([R0, t0, R1, t1]), (R0, t0), (R1, t1)


def test_plane_contacts_are_those_of_the_twin():
    rng = np.random.default_rng(2)
    start, end = rng.normal(size=(2, 300, 3))
    pose_rows, (R0, t0), (R1, t1) = moving(3)
    n = np.array([0.0, 0.6, 0.8])
    out = PlanarContacts.allocate(300)
    index, normal, gap, carried, _ = out
    count = collide_plane(n, pose_rows, 0.1, start, end, out)
    below = np.flatnonzero((end - t1) @ (R1 @ n) < 0.1)
    assert np.array_equal(index[:count], below)
    assert np.allclose(gap[:count], (start[below] - t0) @ (R0 @ n) - 0.1)
    assert np.allclose(normal[:count], R1 @ n)
    assert np.allclose(carried[:count], (start[below] - t0) @ R0 @ R1.T + t1)
    # the gap at the end, through the formula
    at_end = gap[:count] + np.einsum("ki,ki->k", normal[:count], end[below] - carried[:count])
    assert np.allclose(at_end, (end[below] - t1) @ (R1 @ n) - 0.1)


def test_mesh_contacts_of_a_sphere_are_as_on_a_sphere():
    rng = np.random.default_rng(4)
    vertices, triangles = shapes.sphere(24)
    bvh = build_bvh(vertices, triangles)
    directions = rng.normal(size=(400, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    radii = rng.uniform(0.7, 1.5, size=400)
    local_start = directions * radii[:, None]
    local_end = local_start - directions * 0.2
    rows, (R0, t0), (R1, t1) = moving(5)
    start, end = local_start @ R0.T + t0, local_end @ R1.T + t1
    out = PlanarContacts.allocate(400)
    index, normal, gap, carried, _ = out
    side = np.zeros(400, np.int8)
    count = collide_mesh(bvh.arrays, SOLID, rows, 0.0, start, end, np.full(400, 0.5), side, out)
    expected = np.flatnonzero(radii < 1.2)
    found = index[:count]
    # the faces lie up to 0.4 % inside the sphere
    assert set(found) <= set(np.flatnonzero(radii < 1.2 + 1e-9)) and set(np.flatnonzero(radii < 1.19)) <= set(found)
    assert len(expected) > 200
    outward = directions[found] @ R1.T
    assert np.einsum("ki,ki->k", normal[:count], outward).min() > 0.99
    assert np.allclose(gap[:count], radii[found] - 1.0, atol=6e-3)
    assert np.allclose(carried[:count], local_start[found] @ R1.T + t1)


def test_first_crossings_are_those_of_all_triangles():
    rng = np.random.default_rng(6)
    vertices, triangles = shapes.torus(16, 8)
    bvh = build_bvh(vertices, triangles)
    stack = np.empty(STACK_SIZE, np.int64)
    hits = 0
    for a, b in rng.uniform(-1.2, 1.2, size=(300, 2, 3)):
        s, t = first_crossing(bvh.boxes, bvh.tree, bvh.corners, a, b, stack)
        corner = vertices[triangles]
        e, f, w = corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0], b - a
        with np.errstate(all="ignore"):
            solved = np.linalg.solve(
                np.stack([e, f, np.broadcast_to(-w, e.shape)], axis=2), (a - corner[:, 0])[..., None]
            )
        u, v, r = solved[..., 0].T
        ok = (u >= 0) & (v >= 0) & (u + v <= 1) & (r >= 0) & (r <= 1)
        assert (t >= 0) == ok.any()
        if ok.any():
            hits += 1
            assert s == pytest.approx(r[ok].min(), abs=1e-9)
    assert hits > 50


def test_points_are_placed_as_by_numpy():
    rng = np.random.default_rng(7)
    x, tets = rng.normal(size=(20, 3)), rng.integers(0, 20, size=(30, 4)).astype(np.int32)
    tet, weights = rng.integers(0, 30, size=50).astype(np.int32), rng.normal(size=(50, 4))
    out = np.empty((50, 3))
    interpolate_points(x, tets, tet, weights, out)
    assert np.allclose(out, np.einsum("ka,kai->ki", weights, x[tets[tet]]))


def test_large_faces_get_points_and_all_area_is_shared():
    vertices, triangles = shapes.cube(1)
    used, extra, area = sample_surface(vertices, triangles, 0.15)
    assert area.sum() == pytest.approx(6.0)
    assert (area > 0).all() and len(area) == len(used) + len(extra)
    assert np.allclose(np.abs(extra).max(axis=1), 0.5)
    probe = np.random.default_rng(0).uniform(-0.5, 0.5, size=(500, 3))
    probe[:, 0] = 0.5
    assert cKDTree(np.concatenate([vertices, extra])).query(probe)[0].max() < 0.15
    used, extra, area = sample_surface(vertices, triangles, 2.0)
    assert len(extra) == 0 and area.sum() == pytest.approx(6.0)


def test_an_edge_that_would_take_all_memory_is_named():
    vertices, triangles = shapes.cube(1)
    vertices[0] = -1.0e8
    with pytest.raises(BadInput, match='An edge of "Cube" is 1.73205e\\+08 m long') as problem:
        sample_surface(vertices, triangles, 0.1, "Cube")
    assert problem.value.kind == "edge-too-long"


def test_what_has_an_inside():
    vertices, triangles = shapes.sphere(8)
    assert has_inside(vertices, triangles)  # though its sides do not share vertices
    assert has_inside(vertices, triangles[1:])  # a small hole
    lower = vertices[triangles].mean(axis=1)[:, 2] < 0
    assert not has_inside(vertices, triangles[lower])  # a bowl
    mixed = triangles.copy()
    mixed[::2] = mixed[::2, ::-1]
    assert has_inside(vertices, mixed)
    assert not has_inside(sheet().vertices, sheet().triangles)
