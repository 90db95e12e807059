# SPDX-License-Identifier: GPL-3.0-or-later
"""Hierarchical bodies over levels, materials and times: their error against Green's strain, and what solves them."""

import time

import numpy as np
import pytest

from fixtures.claim_table import reach
from fixtures.tet_meshes import bar, lattice_bar
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mechanics.state import State
from sinew.solver.mesh.red_refinement import interpolate_from_coarse, red_refinement
from sinew.solver.scene.formulation import LU, FormulationSettings
from sinew.solver.scene.scene import JACOBI, Material, Settings

SECTION = "Hierarchical basis (HS04)"
GRAVITY = np.array([0.0, 0.0, -9.81])
TIGHT = Settings(tolerance=1e-6, max_iterations=2000)
BY_JACOBI = Settings(tolerance=1e-6, max_iterations=2000, linear_solver=JACOBI)


def beams(mesh, levels, youngs, nu, **settings):
    """Returns a beam by levels, by Green's strain on all of its tets, and by that on the coarse ones; coarse nodes."""
    coarse_nodes, coarse = mesh((6, 2, 2), (3.0, 1.0, 1.0))
    tets, how = red_refinement(coarse, len(coarse_nodes), levels)
    nodes, material = interpolate_from_coarse(how, coarse_nodes), Material(youngs, nu, stiffness_damping=0.01)
    own = FormulationSettings("hierarchical", levels=levels, **settings)
    parts = (
        Part("beam", nodes, tets, np.ones(len(tets)), material, method=own, levels=how),
        Part("beam", nodes, tets, np.ones(len(tets)), material, method=FormulationSettings("green")),
        Part("beam", coarse_nodes, coarse, np.ones(len(coarse)), material, method=FormulationSettings("green")),
    )
    return [make_model([part]) for part in parts], len(coarse_nodes)


def sagged(model, dt, steps, settings=TIGHT):
    """Returns where a beam is that is held at one end and sags, its reports, and the seconds of CPU time per step."""
    state, reports, taken = State(model.X.copy(), np.zeros_like(model.X)), [], []
    outside = ExternalForces(GRAVITY, model.X[:, 0] < 1e-9)
    for _ in range(steps):
        began = time.process_time()
        reports.append(step(model, state, outside, dt, settings))
        taken.append(time.process_time() - began)
    return state.x - model.X, reports, float(np.median(taken))


@pytest.mark.parametrize("nu", [0.0, 0.3, 0.45])
@pytest.mark.parametrize(("mesh", "levels"), [(bar, 1), (bar, 2), (lattice_bar, 1)])
def test_error_at_rest(mesh, levels, nu):
    # of this lattice refined twice nothing is to be compared: Green's strain on all of its 25,600 tets gives way at the
    # held end, and turns 2198 of them inside out; hierarchical it turns none, and sags by 1.25 m, coarse by 1.10
    models, count = beams(mesh, levels, 1.0e6, nu)
    own, fine, coarse = (sagged(model, 0.2, 25) for model in models)
    size = np.linalg.norm(fine[0][:count])
    error, without = (np.linalg.norm(found[0][:count] - fine[0][:count]) / size for found in (own, coarse))
    line = f"{mesh.__name__}, ν = {nu}, {models[0].tet_count} tets: error at rest, over that of the coarse tets alone"
    reach(SECTION, line, f"{error:.2%}, {error / without:.2f}", "1 %, 0.1", error < min(0.01, 0.1 * without))
    assert all(report.converged for report in own[1])


def test_what_the_preconditioner_spares():
    """Beside Green's strain by block Jacobi alone: multigrid, which else stands by for it, is another such help."""
    for youngs, dt in ((2.0e5, 0.01), (1.0e7, 0.04)):
        by_blocks, _ = beams(bar, 2, youngs, 0.33)
        by_factors, _ = beams(bar, 2, youngs, 0.33, coarse_solver=LU)
        found = {"blocks": by_blocks[0], "factors": by_factors[0], "Green": by_blocks[1]}
        ways = {name: sagged(model, dt, 30, BY_JACOBI) for name, model in found.items()}
        each = {
            name: sum(r.iterations for r in reports) / sum(r.newton_iterations for r in reports)
            for name, (_, reports, _) in ways.items()
        }
        told = ", ".join(f"{name} {count:.0f}" for name, count in each.items())
        line = f"E = {youngs:g}, Δt = {1e3 * dt:g} ms: iterations per linear solve, of 7680 tets"
        reach(SECTION, line, told, "fewer than Green", each["factors"] <= each["blocks"] < each["Green"])
        times = ways["blocks"][2] / ways["Green"][2]
        reach(SECTION, "    CPU time of a step over that of Green", f"{times:.2f}", "2", times < 2.0)


@pytest.mark.parametrize("every", [1, 4, 8])
def test_old_frames_are_borne(every):
    models, _ = beams(bar, 1, 1.0e5, 0.3, rotations_every=every)
    way, reports, _ = sagged(models[0], 0.02, 200)
    lost = sum(not report.converged for report in reports)
    reach(SECTION, f"steps of 200 that do not converge, rotations every {every}", lost, 0, lost == 0)
    assert np.abs(way).max() < 3.2
