# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins hold, pull, release and are drawn on their targets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import random as sparse_random

from fixtures.scenes import Run, block, rotation
from sinew.solver.constraints.pin_regions import find_regions, make_region, tells_rotation
from sinew.solver.mechanics.state import State
from sinew.solver.mesh.embedding import bind
from sinew.solver.runtime.errors import SolveFailed
from sinew.solver.runtime.sparse_product import add_sparse_product, sparse_product
from sinew.solver.scene.scene import Material, Scene, Settings

NO_GRAVITY = Settings(gravity=(0.0, 0.0, 0.0))


def pinned(body, where, weight=1.0):
    """Returns the body with its vertices `where` pinned."""
    vertices = np.flatnonzero(where(body.vertices)).astype(np.int32)
    return replace(body, pinned=vertices, pin_weights=np.full(len(vertices), float(weight)))


def region_of(body, vertices):
    """Returns the region that holds some points of a block's tets at random weights, and those points."""
    rng = np.random.default_rng(1)
    X, tets = body.tet_nodes, body.tets
    tet = np.asarray(vertices, np.int32)
    weights = rng.dirichlet(np.ones(4), size=len(tet))
    P = np.einsum("ka,kai->ki", weights, X[tets[tet]])
    return make_region(X, tets, P, np.arange(len(tet), dtype=np.int32), tet, weights, 0.3), P, X


@pytest.mark.parametrize("far", [0.0, 1000.0])
def test_rigid_and_affine_targets_are_followed_to_round_off(far):
    body = block((3, 3, 3), at=(far, 0.0, 0.0))
    region, P, X = region_of(body, np.arange(0, len(body.tets), 2))
    rng = np.random.default_rng(0)
    turn = rotation(rng.normal(size=3), 2.0)
    for F in (turn, turn @ np.diag([1.5, 0.7, 1.0]), np.eye(3) + 0.4 * rng.normal(size=(3, 3))):
        t = rng.normal(size=3)
        y = region.node_targets(P @ F.T + t)
        assert np.abs(y - (X[region.nodes] @ F.T + t)).max() < 1e-12 * (1 + far)


def test_targets_in_a_plane_turn_the_nodes_below_along():
    """Vertices of one face tell no stretch across it, but its rotation."""
    body = block((4, 4, 4))
    top = pinned(body, lambda v: v[:, 2] > 0.999)
    bound = bind(body.tet_nodes, body.tets, body.vertices[top.pinned])
    region = make_region(
        body.tet_nodes, body.tets, body.vertices[top.pinned], np.arange(len(top.pinned)), bound.tet, bound.weights, 0.3
    )
    turn = rotation([1.0, 2.0, 3.0], 1.0)
    y = region.node_targets(body.vertices[top.pinned] @ turn.T)
    assert np.abs(y - body.tet_nodes[region.nodes] @ turn.T).max() < 1e-12


def test_bending_targets_do_not_crush_tets():
    """A bar rolled up to a half circle: nodes below the skin turn along with it."""
    body = block((12, 2, 2), (6.0, 1.0, 1.0))
    everything = pinned(body, lambda v: np.ones(len(v), bool))
    P = body.vertices[everything.pinned]
    bound = bind(body.tet_nodes, body.tets, P)
    region = make_region(body.tet_nodes, body.tets, P, np.arange(len(P)), bound.tet, bound.weights, 0.6)

    def rolled(p):
        radius = 6.0 / np.pi
        angle, r = p[:, 0] / radius, radius + p[:, 2] - 0.5
        return np.c_[r * np.sin(angle), p[:, 1], r * np.cos(angle)]

    y = region.node_targets(rolled(P))
    assert np.abs(y - rolled(body.tet_nodes[region.nodes])).max() < 0.05
    whole = np.empty_like(body.tet_nodes)
    whole[region.nodes] = y
    corners = whole[body.tets]
    assert np.linalg.det(corners[:, 1:] - corners[:, :1]).min() > 0.3 * 6 * (0.5**3 / 6)


def test_regions_are_what_hangs_together():
    tets = np.array([[0, 1, 2, 3], [1, 2, 3, 4], [5, 6, 7, 8], [8, 9, 10, 11]], np.int32)
    regions = find_regions(tets, np.array([0, 2, 3, 0, 1]))
    assert sorted(sorted(region.tolist()) for region in regions) == [[0, 3, 4], [1, 2]]
    assert find_regions(tets, np.zeros(0, int)) == []
    assert not tells_rotation(np.zeros((1, 3)), 1.0)
    assert not tells_rotation(np.linspace(0, 1, 9)[:, None] * [1.0, 2.0, 3.0], 0.1)
    assert tells_rotation(np.random.default_rng(0).uniform(size=(9, 3)), 1.0)


def test_pins_follow_a_moving_and_turning_animation_exactly(tmp_path):
    body = pinned(block((2, 2, 6), (0.4, 0.4, 1.2)), lambda v: v[:, 2] > 1.19)
    times = np.arange(13) / 24.0
    rest = body.vertices[body.pinned]
    targets = [rest @ rotation([0, 0, 1], 0.15 * k).T + [0.05 * k, 0.0, 0.0] for k in range(13)]
    run = Run(tmp_path, Scene((body,)), body__block__targets=(times, targets))
    for k in range(1, 13):
        out = run.advance()
        assert np.abs(out[body.pinned] - targets[k]).max() < 1e-12
        assert run.reports[-1].converged
    free = np.setdiff1d(np.arange(len(out)), body.pinned)
    assert np.abs(out[free] - body.vertices[free]).max() > 0.1


def test_released_bodies_keep_their_velocity(tmp_path):
    body = pinned(block((2, 2, 4), (0.4, 0.4, 0.8)), lambda v: v[:, 2] > 0.79)
    times = np.arange(25) / 24.0
    rest = body.vertices[body.pinned]
    targets = [rest + [2.0 * t, 0.0, 0.0] for t in times]
    stiffness = np.where(times < 0.5 - 1e-9, 100.0, 0.0)
    material = Material(1e5, 0.3, 1000.0, stiffness_damping=0.02)
    body = replace(body, initial_velocity=(2.0, 0.0, 0.0), material=material)
    run = Run(
        tmp_path,
        Scene((body,), settings=NO_GRAVITY),
        body__block__targets=(times, targets),
        body__block__pin_stiffness=(times, stiffness, "step"),
    )
    run.advance(24)
    assert run.state.v.mean(axis=0) == pytest.approx([2.0, 0.0, 0.0], abs=1e-3)
    assert run.state.x.mean(axis=0) - run.built.model.X.mean(axis=0) == pytest.approx([2.0, 0.0, 0.0], abs=1e-3)


def test_stiffness_is_sampled_within_a_frame(tmp_path):
    """Released after half a frame, a body falls for the other half."""
    body = pinned(block((1, 1, 2), (0.4, 0.4, 0.8)), lambda v: v[:, 2] > 0.79)
    run = Run(
        tmp_path,
        Scene((body,), settings=Settings(fps=10.0, substeps=4)),
        body__block__pin_stiffness=([0.0, 0.06], [1.0, 0.0], "step"),
    )
    run.advance(1)
    held = run.built.pins[0].fixed_nodes
    dt = 1 / 40
    # two steps of implicit Euler: g Δt² (1 + 2)
    assert (run.state.x - run.built.model.X)[held, 2].mean() == pytest.approx(-9.81 * dt**2 * 3, rel=0.35)
    assert (run.state.x - run.built.model.X)[held, 2].max() < -1e-4


def test_weak_pins_are_springs_of_their_share_of_mass(tmp_path):
    """With w k m_i for all vertices the whole body hangs by g / (w k)."""
    body = pinned(block((2, 2, 2), material=Material(1e7, 0.3, 1000.0, mass_damping=20.0)), lambda v: v[:, 0] > -1, 0.5)
    run = Run(tmp_path, Scene((body,)), body__block__pin_stiffness=([0.0], [200.0]))
    run.advance(72)
    assert (run.state.x - run.built.model.X).mean(axis=0)[2] == pytest.approx(-9.81 / 100.0, rel=0.02)
    assert not run.built.pins[0].regions


def test_a_single_pinned_vertex_is_a_pivot(tmp_path):
    """The body swings about it, as a pendulum does, and the vertex stays where it is."""
    body = block((2, 2, 4), (0.2, 0.2, 0.8), turn=rotation([0, 1, 0], np.pi / 2), material=Material(1e6, 0.3))
    corner = np.array([[0.0, 0.0, 0.0]])
    body = pinned(body, lambda v: np.linalg.norm(v - corner, axis=1) < 1e-9)
    run = Run(tmp_path, Scene((body,)))
    missed, lowest = [], []
    for _ in range(24):
        out = run.advance()
        assert np.abs(out[body.pinned] - corner).max() < 1e-12
        missed.append(np.abs(run.state.fields["pins.block.missed"]).max())
        lowest.append(out[:, 2].min())
    assert max(missed) < 0.01 * run.built.bodies[0].mesh.report.tet_size
    assert min(lowest) < -0.7  # it turned down


def test_vertices_finer_than_tets_are_drawn_on_their_targets(tmp_path):
    """Targets wobble below the size of tets: pinned vertices follow, others beside them fade, far ones stay."""
    coarse, fine = block((1, 1, 3), (1.0, 1.0, 3.0)), block((6, 6, 18), (1.0, 1.0, 3.0))
    body = replace(coarse, vertices=fine.vertices, triangles=fine.triangles)
    body = pinned(body, lambda v: v[:, 2] < 0.5)
    rest = body.vertices[body.pinned]
    wobble = 0.01 * np.sin(40.0 * rest[:, [1, 2, 0]])
    times = np.array([0.0, 1.0 / 24, 2.0 / 24, 3.0 / 24])
    run = Run(
        tmp_path,
        Scene((body,), settings=NO_GRAVITY),
        body__block__targets=(times, [rest, rest + wobble, rest + wobble, rest + wobble]),
        body__block__pin_stiffness=(np.arange(6) / 24, [1.0, 1.0, 1.0, 0.0, 0.0, 0.0], "step"),
    )
    out = run.advance(2)
    assert np.abs(out[body.pinned] - rest - wobble).max() < 1e-12
    missed = run.state.fields["pins.block.missed"]
    assert np.abs(missed).max() > 1e-3
    correction = run.built.pins[0].correction
    far = body.vertices[:, 2] > 0.5 + run.built.bodies[0].mesh.report.tet_size
    assert far.any() and correction[far].nnz == 0
    assert 0.0 < np.abs(correction[(~far) & (body.vertices[:, 2] > 1.0)]).max() < 0.6
    before = np.abs(missed).max()
    run.advance(1)
    # released: not dropped at once, but fading
    after = np.abs(run.state.fields["pins.block.missed"]).max()
    assert 0.5 * before < after < before


def test_pins_of_two_bodies_do_not_mix(tmp_path):
    first = pinned(block((2, 2, 2), key="first"), lambda v: v[:, 2] > 0.99)
    second = pinned(block((2, 2, 3), at=(3.0, 0.0, 0.0), key="second"), lambda v: v[:, 2] > 0.99)
    run = Run(tmp_path, Scene((first, second)))
    run.advance(6)
    for body in (first, second):
        assert np.abs(run.render[body.key][body.pinned] - body.vertices[body.pinned]).max() < 1e-12
        assert run.render[body.key][:, 2].min() < -1e-3


def test_a_resumed_run_has_the_same_bytes(tmp_path):
    body = pinned(block((2, 2, 4), (0.4, 0.4, 0.8)), lambda v: v[:, 2] > 0.79)
    times = np.arange(13) / 24.0
    rest = body.vertices[body.pinned]
    targets = [rest @ rotation([0, 1, 0], 0.05 * k).T for k in range(13)]
    scene = Scene((body,))
    tracks = {"body__block__targets": (times, targets)}
    through, resumed = Run(tmp_path / "a", scene, **tracks), Run(tmp_path / "b", scene, **tracks)
    through.advance(5)
    resumed.simulation.state = State.from_arrays(through.state.to_arrays())
    assert through.advance(4).tobytes() == resumed.advance(4).tobytes()
    assert through.state.v.tobytes() == resumed.state.v.tobytes()


def test_targets_that_are_no_numbers_are_named(tmp_path):
    body = pinned(block((2, 2, 2)), lambda v: v[:, 2] > 0.99)
    rest = body.vertices[body.pinned]
    run = Run(tmp_path, Scene((body,)), body__block__targets=([0.0, 0.1], [rest, rest * np.nan]))
    with pytest.raises(SolveFailed) as caught:
        run.advance(1)
    assert caught.value.kind == "targets-not-finite" and '"Block"' in caught.value.sentence


def test_a_sparse_product_is_added_as_by_scipy():
    rng = np.random.default_rng(3)
    matrix = sparse_random(300, 40, density=0.05, format="csr", random_state=4)
    values, out = rng.normal(size=(40, 3)), rng.normal(size=(300, 3))
    expected = out + matrix @ values
    assert np.diff(matrix.indptr).min() == 0 < np.diff(matrix.indptr).max()
    add_sparse_product(matrix.indptr, matrix.indices, matrix.data, values, out)
    assert np.array_equal(out, expected)
    wide = rng.normal(size=(40, 9))
    assert np.array_equal(sparse_product(matrix, wide), matrix @ wide)
