# SPDX-License-Identifier: GPL-3.0-or-later
"""Levels that the steps of a frame share: as exact, set up once, and dropped where they no longer serve."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.multigrid_problems import jittered, made
from fixtures.tet_meshes import bar
from fixtures.tiny_bakes import baked, tiny_scene, write_scene
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.solver_context import SolverContext
from sinew.solver.integrators.system import multigrid_policy
from sinew.solver.linalg.block_system import BlockSystem, StoppingCriteria
from sinew.solver.linalg.multigrid import hierarchy_reuse as kept_levels
from sinew.solver.linalg.multigrid import solve as take_over
from sinew.solver.linalg.multigrid.hierarchy_reuse import EXTRA_ITERATIONS, ReusedHierarchy
from sinew.solver.linalg.multigrid.lattice_multigrid import (
    JACOBI_ITERATIONS,
    JACOBI_ITERATIONS_IF_HARD,
    JACOBI_ITERATIONS_IF_SMALL,
    LatticeMultigrid,
)
from sinew.solver.linalg.pcg import solve
from sinew.solver.mechanics.state import State
from sinew.solver.scene.scene import Settings

TIGHT = Settings(tolerance=1e-7, max_iterations=300)


@pytest.fixture
def set_up(monkeypatch):
    """How many nodes were free whenever levels were set up."""
    counts, refresh = [], take_over.numeric_setup

    def counted(hierarchy, pattern, values, is_free, workspace):
        counts.append(int(is_free.sum()))
        return refresh(hierarchy, pattern, values, is_free, workspace)

    monkeypatch.setattr(take_over, "numeric_setup", counted)
    return counts


def swinging():
    """Returns a stiff bar, what acts on it, held at one end, and its state at rest."""
    model = made([jittered(bar, (4, 4, 24))], 0.45, 1e6)
    outside = ExternalForces(np.array([0.0, -9.8, 0.0]), is_fixed=model.X[:, 2] < 1e-9)
    return model, outside, State(model.X.copy(), np.zeros_like(model.X))


def test_steps_that_share_levels_solve_what_others_solve(set_up):
    ends, iterations = [], []
    for kept in (None, ReusedHierarchy()):
        model, outside, state = swinging()
        reports = [step(model, state, outside, 0.05, TIGHT, context=SolverContext(kept)) for _ in range(4)]
        assert all(report.converged for report in reports)
        ends.append(state.x - model.X)
        iterations.append([report.iterations for report in reports])
    assert len(set_up) == 4 + 1
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-5 * np.abs(ends[0]).max())
    assert iterations[1][0] == iterations[0][0] and max(iterations[1]) <= iterations[1][0] + EXTRA_ITERATIONS


def test_levels_that_no_longer_serve_are_set_up_anew(set_up):
    model, outside, state = swinging()
    kept = ReusedHierarchy()
    step(model, state, outside, 0.05, TIGHT, context=SolverContext(kept))
    quarter = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    state.x, state.v = state.x @ quarter.T * [1.0, 1.0, 3.0], state.v @ quarter.T
    fixed = ExternalForces(outside.gravity, is_fixed=outside.is_fixed, fixed_target=state.x)
    assert step(model, state, fixed, 0.05, TIGHT, context=SolverContext(kept)).converged
    assert len(set_up) == 2


def test_what_levels_that_were_lost_have_made_is_taken_back(set_up, monkeypatch):
    model, outside, state = swinging()
    kept, search = ReusedHierarchy(), take_over.solve_mg_pcg
    step(model, state, outside, 0.05, TIGHT, context=SolverContext(kept))

    def lost_at_first(system, x, *rest):
        monkeypatch.setattr(take_over, "solve_mg_pcg", search)
        x[system.is_free] = np.nan
        return 3, np.inf

    monkeypatch.setattr(take_over, "solve_mg_pcg", lost_at_first)
    report = step(model, state, outside, 0.05, TIGHT, context=SolverContext(kept))
    assert report.converged and len(set_up) == 2 and report.iterations < 60


def test_levels_are_of_the_nodes_that_were_free(set_up):
    model, outside, state = swinging()
    kept = ReusedHierarchy()
    let_go = ExternalForces(outside.gravity, is_fixed=model.X[:, 2] < -1.0)
    for acts in (outside, let_go, let_go, outside):
        assert step(model, state, acts, 0.05, TIGHT, context=SolverContext(kept)).converged
    held = int(outside.is_fixed.sum())
    assert set_up == [model.node_count - held, model.node_count, model.node_count - held]


def test_another_solve_with_the_same_mesh_leaves_the_levels_of_a_simulation_alone(set_up):
    model, outside, state = swinging()
    context = SolverContext(ReusedHierarchy())
    step(model, state, outside, 0.05, TIGHT, context=context)
    is_free, b = ~outside.is_fixed, np.ones_like(model.X)
    values = context.workspace(model).values
    lattices = LatticeMultigrid(model.X, mesh=model.pattern)
    assert solve(
        BlockSystem(model.pattern, values, b, is_free),
        np.zeros_like(b),
        StoppingCriteria(1e-6, 300),
        preconditioner=lattices,
    ).converged
    assert step(model, state, outside, 0.05, TIGHT, context=context).converged
    assert len(set_up) == 2


@pytest.mark.parametrize("is_stiff", [True, False])
def test_levels_that_follow_block_jacobi_serve_the_other_steps(set_up, monkeypatch, is_stiff):
    """How many iterations they take alone is counted where they first do, not where little was left for them."""
    monkeypatch.setattr(multigrid_policy, "_is_stiff", lambda *_: is_stiff)
    model, outside, state = swinging()
    kept, settings = ReusedHierarchy(), Settings()
    reports = [step(model, state, outside, 0.05, settings, context=SolverContext(kept)) for _ in range(4)]
    assert all(report.converged for report in reports) and len(set_up) == 1
    before = JACOBI_ITERATIONS_IF_HARD if is_stiff else multigrid_policy.JACOBI_ITERATIONS_IF_LOOSE
    assert reports[0].iterations > before > 0 and kept.iteration_limit(1000) == reports[1].iterations + EXTRA_ITERATIONS
    assert kept.iteration_limit(3) == 3


def test_levels_that_nobody_has_counted_are_set_up_anew_where_they_do_not_serve(set_up, monkeypatch):
    """A step that is another's, behind one that block Jacobi had begun: it does not go on with them to the end."""
    monkeypatch.setattr(kept_levels, "EXTRA_ITERATIONS_IF_UNKNOWN", 2)
    model, outside, state = swinging()
    kept, settings = ReusedHierarchy(), Settings()
    step(model, state, outside, 0.05, settings, context=SolverContext(kept))
    assert len(set_up) == 1 and kept.iteration_limit(1000) == 2
    assert step(model, state, outside, 0.05, settings, context=SolverContext(kept)).converged
    assert len(set_up) == 2


def test_levels_of_all_nodes_do_not_stand_by_for_some(set_up):
    """Islands that are done are left out of a solve: block Jacobi comes first again, for what is left."""
    model, outside, state = swinging()
    kept, is_free = ReusedHierarchy(), ~outside.is_fixed
    step(model, state, outside, 0.05, TIGHT, context=SolverContext(kept))
    assert kept.is_available(model.pattern, is_free)
    assert not kept.is_available(model.pattern, is_free & (model.X[:, 2] < 5.0))
    lattices = LatticeMultigrid(model.X, starts_immediately=False, kept=kept)
    assert lattices.iteration_limit(model.pattern, is_free, 1e-4) == (0, 0)
    assert lattices.iteration_limit(model.pattern, outside.is_fixed, 1e-4) == (
        JACOBI_ITERATIONS,
        JACOBI_ITERATIONS_IF_SMALL,
    )


@pytest.mark.parametrize("tolerance", [1e-7, Settings().tolerance])
def test_a_bake_that_is_resumed_has_the_same_bytes(set_up, tmp_path, tolerance):
    soft = tiny_scene(frame_end=5, divisions=7, tolerance=tolerance)
    stiff = [replace(body, material=replace(body.material, youngs_modulus=1e8)) for body in soft.bodies]
    scene = replace(soft, bodies=tuple(stiff), colliders=())
    for name in ("whole", "parts"):
        write_scene(tmp_path / name, scene)
    run_bake(tmp_path / "whole", lambda event: None)
    steps = 4 * scene.settings.substeps
    assert 4 <= len(set_up) < steps, "otherwise this tests nothing"
    run_bake(tmp_path / "parts", lambda event: None, options=BakeOptions(frame_end=3))
    run_bake(tmp_path / "parts", lambda event: None, options=BakeOptions(resume=True))
    assert baked(tmp_path / "parts") == baked(tmp_path / "whole")
