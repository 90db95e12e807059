# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of Exact contact: no surfaces intersect, energy is not gained, colliders arrive or are let wait."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.exact_contact_scenes import ExactRun, plate, slab
from fixtures.scenes import rotation
from fixtures.sheets import CLOTH, grid
from fixtures.tet_meshes import bar
from sinew.solver.contact.exact.barriers import CUBIC, LOGARITHMIC, TWO_STAGE
from sinew.solver.integrators.exact_contact.bound_surfaces import PrescribedMotion
from sinew.solver.integrators.exact_contact.incremental_potential import (
    AppliedForces,
    IncrementalPotential,
    OtherBodies,
)
from sinew.solver.integrators.newton.newton_body_selection import nonlinear_bodies
from sinew.solver.integrators.solver_context import SolverContext
from sinew.solver.linalg.pair_stiffness_assembly import PairPatterns
from sinew.solver.linalg.stencil_stiffness_assembly import (
    add_stencil_gradients,
    add_stencil_hessians,
    stencil_blocks,
)
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mechanics.sheets.sheet_part import sheet_part
from sinew.solver.mechanics.state import State
from sinew.solver.mechanics.stretch_limit.limit_potential import make_limit_potential
from sinew.solver.mesh.geometry.triangle_intersections import intersecting_triangles
from sinew.solver.scene.scene import Material

NO_GRAVITY = np.zeros(3)


def cube(cells=3, size=0.2, at=(0.0, 0.0, 0.0), turn=None):
    """Returns nodes and tets of a cube around a place."""
    nodes, tets = bar((cells,) * 3, (size,) * 3)
    nodes = nodes - size / 2
    return (nodes if turn is None else nodes @ turn.T) + at, tets


def dense(pattern, values):
    out = np.zeros((pattern.node_count, pattern.node_count, 3, 3))
    rows = np.repeat(np.arange(pattern.node_count), np.diff(pattern.row_start.astype(int)))
    out[rows, pattern.column] = values.reshape(-1, 3, 3)
    return out.transpose(0, 2, 1, 3).reshape(3 * pattern.node_count, -1)


def test_stencils_are_added_as_by_a_dense_matrix() -> None:
    rng = np.random.default_rng(2)
    run = ExactRun([cube(1), cube(1, at=(0.0, 0.0, 0.3))], [])
    model, count = run.model, 12
    values = rng.normal(size=(model.pattern.block_count, 9))
    tets = rng.integers(-1, model.tet_count, (count, 4)).astype(np.int32)
    tets[0], tets[1] = -1, tets[1, 0]  # all prescribed; all in one tet
    weights = rng.normal(size=(count, 4, 4))
    hessian, gradient = rng.normal(size=(count, 12, 12)), rng.normal(size=(count, 12))
    hessian += hessian.transpose(0, 2, 1)
    wanted, slope = dense(model.pattern, values), np.zeros(3 * model.node_count)
    for k in range(count):
        W = np.zeros((12, 3 * model.node_count))
        for i, t in enumerate(tets[k]):
            for a in range(4):
                if t >= 0:
                    W[3 * i : 3 * i + 3, 3 * model.tets[t, a] : 3 * model.tets[t, a] + 3] += weights[k, i, a] * np.eye(
                        3
                    )
        wanted += 0.3 * W.T @ hessian[k] @ W
        slope += 0.3 * W.T @ gradient[k]
    blocks = stencil_blocks(model.pattern, values, model.tets, tets, PairPatterns())
    corner_block = blocks.pattern.corner_block
    add_stencil_hessians(
        0.3, tets, weights, hessian, blocks.place, model.tets, corner_block, blocks.added, blocks.values
    )
    np.testing.assert_allclose(dense(blocks.pattern, blocks.values), wanted, atol=1e-12)
    assert blocks.pattern.coupling is not None  # bodies that touch
    out = np.zeros((model.node_count, 3))
    add_stencil_gradients(0.3, tets, weights, gradient, model.tets, out)
    np.testing.assert_allclose(out.ravel(), slope, atol=1e-12)


@pytest.mark.parametrize("stretch", [np.inf, 1.05])
def test_the_incremental_potential_has_the_gradient_that_it_says(stretch) -> None:
    rng, run = np.random.default_rng(1), ExactRun([cube(2)], [])
    model = run.model
    x0 = model.X @ rotation((1.0, 2.0, 0.0), 0.4).T + 0.01 * rng.normal(size=model.X.shape)
    state = State(x0, rng.normal(size=model.X.shape), 0.0, {})
    limit = make_limit_potential(model, np.full(model.tet_count, stretch))
    potential = IncrementalPotential(model, state, 0.01, run.workspace, AppliedForces(run.gravity, limits=(limit,)))
    x = x0 + 0.005 * rng.normal(size=x0.shape)
    limited = float(limit.forces_at(x)[0].sum())
    without = IncrementalPotential(model, state, 0.01, run.workspace, AppliedForces(run.gravity)).value(x)
    assert (limited > 0.0) == np.isfinite(stretch)
    assert potential.value(x) == pytest.approx(without + 0.01**2 * limited, rel=1e-12)
    gradient, values = potential.derivatives(x)
    gradient, matrix = gradient.copy(), dense(model.pattern, values)
    for _ in range(5):
        d = rng.normal(size=x.shape)
        step = 1e-6
        slope = (potential.value(x + step * d) - potential.value(x - step * d)) / (2.0 * step)
        assert slope == pytest.approx((gradient * d).sum(), rel=1e-5, abs=1e-9)
    assert np.abs(matrix - matrix.T).max() < 1e-12 * np.abs(matrix).max()
    assert np.linalg.eigvalsh(matrix).min() > 0.0


def test_sheets_and_tets_have_the_gradient_that_the_potential_says() -> None:
    rng, (nodes, triangles) = np.random.default_rng(3), grid((3, 3), (0.3, 0.3))
    solid, tets = cube(2)
    material = Material(youngs_modulus=1.0e5, poisson_ratio=0.3, density=1000.0, stiffness_damping=0.01)
    parts = [
        Part("cube", solid, tets, np.ones(len(tets)), material),
        sheet_part("cloth", nodes + [0.0, 0.0, 0.5], triangles, CLOTH, (0.1, 0.01)),
    ]
    model = make_model(parts)
    workspace = SolverContext().workspace(model)
    x0 = model.X + 0.01 * rng.normal(size=model.X.shape)
    state = State(x0, rng.normal(size=model.X.shape), 0.0, {})
    group = nonlinear_bodies(model, workspace).euler
    potential = IncrementalPotential(model, state, 0.01, workspace, AppliedForces(NO_GRAVITY), OtherBodies((group,)))
    alone = IncrementalPotential(model, state, 0.01, workspace, AppliedForces(NO_GRAVITY))
    x = x0 + 0.01 * rng.normal(size=x0.shape)
    assert potential.value(x) > alone.value(x)  # which sees no sheet
    gradient, values = potential.derivatives(x)
    gradient, matrix = gradient.copy(), dense(model.pattern, values)
    for own in model.bodies:
        d = np.zeros_like(x)
        d[own.nodes] = rng.normal(size=d[own.nodes].shape)
        slope = (potential.value(x + 1e-7 * d) - potential.value(x - 1e-7 * d)) / 2e-7
        assert slope == pytest.approx((gradient * d).sum(), rel=1e-5, abs=1e-9)
    assert np.abs(matrix - matrix.T).max() < 1e-12 * np.abs(matrix).max()
    assert np.linalg.eigvalsh(matrix).min() > 0.0


def test_a_potential_keeps_what_it_has_computed_of_nodes_and_of_no_others() -> None:
    rng, run = np.random.default_rng(5), ExactRun([cube(2)], [])
    model, state = run.model, State(run.model.X, np.zeros_like(run.model.X), 0.0, {})
    forces = AppliedForces(run.gravity)
    make = lambda: IncrementalPotential(model, state, 0.01, run.workspace, forces)  # noqa: E731
    places = [model.X + 0.02 * rng.normal(size=model.X.shape) for _ in range(2)]
    fresh = [(make().value(x), *(each.copy() for each in make().derivatives(x))) for x in places]
    kept, other = make(), make()
    for number in (0, 1, 1, 0):
        x = places[number].copy()
        other.derivatives(places[1 - number])  # with the same workspace
        gradient, blocks = kept.derivatives(x)
        assert np.array_equal(gradient, fresh[number][1]) and np.array_equal(blocks, fresh[number][2])
        assert kept.value(x) == fresh[number][0] == kept.value(x.copy())
        x += 0.01  # what was asked for changes in place
        assert kept.value(x) == make().value(x)


@pytest.mark.parametrize("kind", [LOGARITHMIC, CUBIC, TWO_STAGE])
def test_two_jellies_fall_on_each_other_and_on_the_floor(kind) -> None:
    bodies = [cube(at=(0.0, 0.0, 0.12)), cube(at=(0.06, 0.03, 0.4), turn=rotation((1.0, 0.5, 0.2), 0.3))]
    run = ExactRun(bodies, [plate()], kind=kind)
    touched = set()
    for _ in range(40):
        report = run.step()
        assert report.converged and not report.let_in
        touched.add(report.pairs > 0)
    assert run.intersections == 0 and touched == {False, True}
    assert np.diff(run.energies).max() < 1e-9 * abs(run.energies[0])  # implicit Euler loses some
    assert run.state.x[:, 2].min() > 0.0


def test_a_stretch_limit_stops_what_is_flung_out_and_gains_no_energy() -> None:
    longest = {}
    for stretch in (np.inf, 1.5):
        nodes, tets = cube()
        run = ExactRun([(nodes, tets)], [plate(-0.11)], velocities=nodes * [600.0, 0.0, 0.0], stretch=stretch)
        lengths = []
        for _ in range(30):
            report = run.step(0.004)
            assert report.converged
            lengths.append(np.ptp(run.state.x[:, 0]) / 0.2)
        longest[stretch] = max(lengths)
        assert run.intersections == 0 and max(report.pairs for report in run.reports) > 0
        assert np.diff(run.energies).max() < 1e-9 * abs(run.energies[0])
    assert longest[np.inf] > 1.8 and 1.5 < longest[1.5] < 1.6


@pytest.mark.slow
@pytest.mark.parametrize("speed", [2.0, 10.0])
def test_fast_bodies_do_not_pass_through_each_other(speed) -> None:
    bodies = [cube(), cube(at=(0.4, 0.02, 0.03), turn=rotation((1.0, 1.0, 0.3), 0.5))]
    count = len(bodies[0][0])
    velocities = np.zeros((2 * count, 3))
    velocities[:count, 0], velocities[count:, 0] = speed, -speed
    run = ExactRun(bodies, [], self_contact=True, gravity=NO_GRAVITY, velocities=velocities)
    momentum = (run.model.mass[:, None] * velocities).sum(axis=0)
    for _ in range(round(0.6 / speed / 0.002)):
        run.step(0.002)
    assert run.intersections == 0
    after = run.model.mass[:, None] * run.state.v
    assert np.abs(after.sum(axis=0) - momentum).max() < 1e-4 * np.abs(run.model.mass[:count].sum() * speed)
    assert np.diff(run.energies).max() < 1e-9 * run.energies[0]
    assert run.state.x[:count, 0].mean() < run.state.x[count:, 0].mean()  # as before


def squeeze(run, share, steps, start=None):
    """Lowers the upper of two plates around a body by a share of their distance at first.

    Returns the reports, the vertices of the plates at the end, and the height of the upper one.
    """
    start, reports = (run.at_rest.start if start is None else start).copy(), []
    upper = np.flatnonzero(run.surfaces.mesh.surface == 2)
    down = share * run.at_rest.start[upper, 2].min() / steps
    for _ in range(steps):
        end = start.copy()
        end[upper, 2] -= down
        reports.append(run.step(0.02, PrescribedMotion(start, end, run.at_rest.is_fixed, run.at_rest.target)))
        start = end
    return reports, start, float(start[upper, 2].min())


def test_a_plate_presses_a_body_and_arrives() -> None:
    run = ExactRun([cube(at=(0.0, 0.0, 0.102))], [plate(), slab(0.204, 0.4)])
    reports, _, height = squeeze(run, 0.4, 10)
    assert not any(report.let_in for report in reports) and run.intersections == 0
    assert 0.0 < run.state.x[:, 2].min() and run.state.x[:, 2].max() < height < 0.61 * 0.204


def test_a_body_that_falls_on_what_stands_still_lets_nothing_in() -> None:
    bodies = [cube(2, at=(0.0, 0.0, 0.1005))]
    velocities = np.full_like(bodies[0][0], -20.0)
    run = ExactRun(bodies, [plate()], velocities=velocities, max_iterations=1)
    report = run.step()
    assert not report.converged and not report.let_in and run.intersections == 0


def test_what_two_plates_press_to_nothing_lets_them_in_and_keeps_them_apart_again() -> None:
    run = ExactRun([cube(2, at=(0.0, 0.0, 0.102))], [slab(-0.4, 0.0), slab(0.204, 0.6)], max_iterations=60)
    reports, plates, height = squeeze(run, 1.02, 12)
    assert reports[5].let_in == 0 < len(reports[-1].excluded) and np.isfinite(run.state.x).all()
    assert height == pytest.approx(-0.02 * 0.204), "it is where its animation wants it"
    _, plates, _ = squeeze(run, -1.02, 12, plates)
    for _ in range(40):
        report = run.step(0.02, PrescribedMotion(plates, plates, run.at_rest.is_fixed, run.at_rest.target))
    assert not len(report.excluded) and not report.let_in
    surfaces = run.surfaces.mesh.surface
    y = run.surfaces.positions(run.state.x, plates)
    assert not len(intersecting_triangles(y, run.surfaces.mesh.triangles))
    assert 0.0 < y[surfaces == 0, 2].min() and y[surfaces == 0, 2].max() > 0.15  # as tall as before, on the floor


def test_a_beam_folds_onto_itself() -> None:
    nodes, tets = bar((12, 1, 1), (1.0, 0.06, 0.06))
    velocities = np.zeros_like(nodes)
    velocities[:, 2] = 12.0 * np.abs(nodes[:, 0] - 0.5)  # both ends go up, and meet
    velocities[:, 0] = -8.0 * (nodes[:, 0] - 0.5)
    run = ExactRun([(nodes, tets)], [], self_contact=True, gravity=NO_GRAVITY, velocities=velocities)
    touched = False
    for _ in range(40):
        touched = touched or run.step(0.01).pairs > 0
    y = run.surfaces.positions(run.state.x, run.at_rest.end)
    assert run.intersections == 0 == len(intersecting_triangles(y, run.surfaces.mesh.triangles)) and touched
