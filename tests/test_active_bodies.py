# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves move the bodies that are not at rest, while the others stay, and end where all of them are at rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.flesh_contact_scenes import RADIUS, capsule, flesh
from fixtures.scenes import Run, block
from fixtures.sliding_scenes import potential_of
from sinew.solver.mechanics.submodel import make_submodel
from sinew.solver.quasistatic import active_bodies
from sinew.solver.quasistatic.active_bodies import ActiveBodies
from sinew.solver.quasistatic.attachment_forces import AttachmentForces
from sinew.solver.quasistatic.contact import contact_penalty_at_poses
from sinew.solver.quasistatic.equilibrium import solve
from sinew.solver.quasistatic.equilibrium_problem import EquilibriumProblem
from sinew.solver.quasistatic.equilibrium_residual import force_scales, relative_residual
from sinew.solver.quasistatic.fixed_nodes import FixedNodes
from sinew.solver.quasistatic.newton_iterate import NewtonIterate
from sinew.solver.quasistatic.potential_forces import PotentialForces, PotentialForcesOnPart
from sinew.solver.runtime.threads.thread_count import limiting_threads
from sinew.solver.scene.attachment import Attachment
from sinew.solver.scene.scene import Scene, Settings

TOLERANCE = 1.0e-6
SPACING = 2.05 * RADIUS  # between the axes of neighbours in the row [m]


@pytest.fixture(scope="module")
def row():
    """Five round bars along x, side by side along y, a little apart."""
    bars = [capsule(6.0 * RADIUS, RADIUS, 20, 12, (0.0, SPACING * i, 0.0)) for i in range(5)]
    return flesh(bars, 0.5 * RADIUS, self_contact=False)


def pushed(scene, by: float = 0.1, drawn: float = 0.0) -> EquilibriumProblem:
    """Returns the bars held at their ends: the first moved into the second by some radii, the last drawn out."""
    held = np.flatnonzero(np.abs(scene.X[:, 0]) > 2.0 * RADIUS)
    positions, body = scene.X[held].copy(), np.round(scene.X[held, 1] / SPACING).astype(int)
    positions[body == 0, 1] += by * RADIUS
    positions[body == 4, 0] *= 1.0 + drawn
    fixed = FixedNodes(held.astype(np.int32), positions)
    contact = contact_penalty_at_poses(scene.contact, [])
    return EquilibriumProblem(scene.model, scene.law, fixed, forces=[contact])


def residuals_of(problem: EquilibriumProblem, x) -> list[float]:
    """Returns the residual of every body, with contacts found without any that were known."""
    whole = NewtonIterate(replace(problem, forces=[contact_penalty_at_poses(problem.forces[0].contact, [])]))
    whole.evaluate_forces(problem.law, x)
    is_free = problem.fixed.is_free(problem.model.node_count)
    scales = zip(problem.model.bodies, force_scales(problem.model), strict=True)
    return [relative_residual(whole.force[body.nodes], is_free[body.nodes], least) for body, least in scales]


def moved_parts(monkeypatch) -> list[tuple[int, ...]]:
    """Returns a list to which solves add which bodies they move alone."""
    parts = []

    def noted(self, numbers):
        parts.append(numbers)
        return make_submodel(self.problem.model, numbers)

    monkeypatch.setattr(ActiveBodies, "_part", noted)
    return parts


def test_bodies_at_rest_stay_and_the_solve_ends_where_the_whole_one_does(row, monkeypatch) -> None:
    parts = moved_parts(monkeypatch)
    found = solve(pushed(row, drawn=0.2), row.X, TOLERANCE)
    assert found.converged and parts and parts[0] == (0, 1, 4), "two touch nothing"
    monkeypatch.setattr(active_bodies, "MAX_MOVING_SHARE", -1.0)
    del parts[:]
    whole = solve(pushed(row, drawn=0.2), row.X, TOLERANCE)
    assert whole.converged and not parts
    assert found.x == pytest.approx(whole.x, abs=1.0e-6)
    assert found.energy == pytest.approx(whole.energy, rel=1.0e-6)
    assert max(residuals_of(pushed(row, drawn=0.2), found.x)) <= TOLERANCE


def test_a_body_that_is_pushed_on_moves_again(row, monkeypatch) -> None:
    """The second bar reaches the third only when it gives way: it was at rest before."""
    parts = moved_parts(monkeypatch)
    problem = pushed(row, by=0.2)
    found = solve(problem, row.X, TOLERANCE)
    assert found.converged and max(residuals_of(problem, found.x)) <= TOLERANCE
    assert (0, 1) in parts, "two bars moved alone"
    at_rest = np.abs(found.x - row.X).max(axis=1)
    assert at_rest[row.model.bodies[2].nodes].max() > 1.0e-4, "the third was pushed"
    assert at_rest[row.model.bodies[4].nodes].max() < 1.0e-6


def test_where_some_bodies_alone_have_no_way_all_go_on(row, monkeypatch) -> None:
    parts, whole_step = moved_parts(monkeypatch), NewtonIterate.step

    def step(self, law, x, before, d, is_tangled, is_last=False):
        if isinstance(self.potentials, PotentialForcesOnPart):
            return x, before, False
        return whole_step(self, law, x, before, d, is_tangled, is_last)

    monkeypatch.setattr(NewtonIterate, "step", step)
    found = solve(pushed(row, drawn=0.2), row.X, TOLERANCE)
    assert found.converged and len(parts) == 1


def test_residuals_of_bodies_that_stay_are_those_of_all_forces(row) -> None:
    problem = pushed(row, drawn=0.2)
    whole = NewtonIterate(problem)
    moving = ActiveBodies(problem, whole)
    x = whole.move_with_fixed_nodes(row.X, problem.fixed)
    whole.evaluate_forces(problem.law, x)
    left = moving.leave_resting(problem.law, x, [1.0, 1.0, 0.0, 0.0, 1.0], TOLERANCE)
    assert left is not None and moving.search is not whole
    own, _ = left
    assert moving.residuals(own) == pytest.approx(whole.residuals(), rel=1.0e-9)
    own = own + 0.02 * RADIUS * np.random.default_rng(0).normal(size=own.shape) * moving.search.is_free[:, None]
    moving.search.evaluate_forces(moving.law(problem.law), own)
    expected, (everywhere, _) = moving.residuals(own), moving.move_all(problem.law, own, TOLERANCE)
    assert expected == pytest.approx(whole.residuals(), rel=1.0e-9)
    for number in (2, 3):
        nodes = row.model.bodies[number].nodes
        assert np.array_equal(everywhere[nodes], x[nodes])
    # those that rose while they stayed move from now on, even where their residual falls again
    assert moving.leave_resting(problem.law, everywhere, [1.0, 0.0, 0.0, 0.0, 0.0], TOLERANCE) is not None


def restricted_forces(forces, model, numbers, x):
    """Returns `PotentialForces` of all bodies, the same on some of them, and the nodes of these."""
    sizes = model.node_count, model.pattern.block_count, len(model.bodies)
    whole, again = PotentialForces([forces()], *sizes), PotentialForces([forces()], *sizes)
    part = make_submodel(model, numbers)
    return whole, PotentialForcesOnPart(again, part, x), part


def check_restricted(forces, model, numbers, x) -> None:
    """Compares what forces do to some bodies with what they do to these among all."""
    rng = np.random.default_rng(1)
    whole, own, part = restricted_forces(forces, model, numbers, x)
    force, values = np.zeros_like(x), np.zeros((model.pattern.block_count, 9))
    own_force, own_values = np.zeros((len(part.nodes), 3)), np.zeros((len(part.blocks), 9))
    whole.add(x, force, values)
    own_x = np.ascontiguousarray(x[part.nodes])
    before = own.add(own_x, own_force, own_values), whole.body_energies
    assert np.abs(own_force).max() > 0.0
    assert own_force == pytest.approx(force[part.nodes], rel=1e-12, abs=1e-12 * np.abs(force).max())
    assert own_values == pytest.approx(values[part.blocks], rel=1e-12, abs=1e-12 * np.abs(values).max())
    moved = x.copy()
    moved[part.nodes] += 1.0e-4 * rng.normal(size=(len(part.nodes), 3))
    after = own.energies(np.ascontiguousarray(moved[part.nodes])), whole.energies(moved)
    assert (after[0] - before[0]).sum() == pytest.approx((after[1] - before[1]).sum(), rel=1e-9)
    ties, own_ties = whole.couplings(), own.couplings()
    assert ties is not None and own_ties is not None
    d = np.zeros_like(x)
    d[part.nodes] = rng.normal(size=(len(part.nodes), 3))
    stretched = [
        np.add.reduceat(each.coefficients * np.einsum(
            "ei,ei->e", v[each.nodes], np.repeat(each.scaled_normals, np.diff(each.start), axis=0)
        ), each.start[:-1])
        for each, v in ((ties, d), (own_ties, d[part.nodes]))
    ]  # fmt: skip
    assert np.square(stretched[1]).sum() == pytest.approx(np.square(stretched[0]).sum(), rel=1e-12)


@pytest.mark.parametrize("numbers", [(0,), (1,), (1, 2)])
def test_contacts_of_some_bodies_are_those_among_all(row, numbers) -> None:
    x = row.X.copy()
    for number in (1, 2, 3):
        x[row.model.bodies[number].nodes, 1] -= 0.15 * RADIUS * number
    check_restricted(lambda: contact_penalty_at_poses(row.contact, []), row.model, numbers, x)


@pytest.mark.parametrize("kind", ["sliding", "spring", "fixed"])
@pytest.mark.parametrize("number", [0, 1])
def test_links_of_one_body_are_those_of_both(kind, number, tmp_path) -> None:
    cube = block((2, 2, 2), at=(0.0, 0.0, 0.02), key="cube")
    slab = block((4, 3, 1), (4.0, 2.0, 0.5), at=(-0.5, -0.5, -0.5), key="slab")
    bodies = (replace(cube, attachments=(Attachment("slab", kind, 0.1),)), slab)
    run = Run(tmp_path, Scene(bodies, settings=Settings(frame_end=1, gravity=(0.0, 0.0, 0.0))))
    model, potential = run.built.model, potential_of(run)
    x = model.X + 0.01 * np.random.default_rng(0).normal(size=model.X.shape)
    check_restricted(lambda: AttachmentForces(model, potential), model, (number,), x)


def test_contacts_that_were_left_out_are_there_again(row) -> None:
    x = row.X.copy()
    for number in (1, 2, 3):
        x[row.model.bodies[number].nodes, 1] -= 0.15 * RADIUS * number
    penalty = contact_penalty_at_poses(row.contact, [])
    force, values = np.zeros((2, *x.shape)), np.zeros((row.model.pattern.block_count, 9))
    penalty.add(x, values, force[0])
    energies = penalty.energies(x)
    for is_frozen in (False, True):
        if is_frozen:
            penalty.freeze(x)
        penalty.restrict_to(np.array([True, False, False, False, False]))
        assert penalty.add(x, values, np.zeros_like(x)).sum() < 0.6 * energies.sum()
        penalty.restrict_to(None)
        force[1] = 0.0
        assert penalty.add(x, values, force[1]) == pytest.approx(energies, rel=1e-12)
        assert force[1] == pytest.approx(force[0], rel=1e-12, abs=1e-12 * np.abs(force[0]).max())


def test_threads_change_no_bit(row) -> None:
    found = []
    for count in (1, 2):
        with limiting_threads(count):
            found.append(solve(pushed(row, drawn=0.2), row.X, TOLERANCE).x)
    assert np.array_equal(*found)
