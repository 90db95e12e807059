# SPDX-License-Identifier: GPL-3.0-or-later
"""Where linear tets get too stiff near incompressible, and what a high Poisson's ratio costs.

python -m pytest -s tests/validate_locking.py

Bent, the body-centred tets of Sinew's own fillings hardly lock (cubes of six tets would sag 0.43 of the analytic
value at ν = 0.495). Squeezed between plates that hold on to it, a thin part does: the slider stops at 0.45.
"""

import numpy as np
import pytest

from fixtures.claim_table import reach
from fixtures.tet_meshes import bar, lattice_bar
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.scene.scene import JACOBI, Material, Settings
from test_step_forces import energy
from test_step_motion import at_rest, sag_of_cantilever

RATIOS = (0.0, 0.3, 0.4, 0.45, 0.47, 0.49, 0.495)
FINE = Settings(tolerance=1e-8, max_iterations=20000)
MESHES = {"five tets per cube": bar, "body-centred": lattice_bar}


def material(nu, damping=0.0):
    return Material(1.0e6, nu, 1000.0, 0.0, damping)


def model_of(nodes, tets, stuff):
    return make_model([Part("bar", nodes, tets, np.ones(len(tets)), stuff)])


def table(title, columns, row_of):
    """Prints a row per Poisson's ratio and returns them."""
    print(f"\n{title}\nnu      " + "".join(f"{column:>8}" for column in columns))
    rows = {nu: np.array([row_of(nu, column) for column in columns]) for nu in RATIOS}
    for nu, row in rows.items():
        print(f"{nu:<8}" + "".join(f"{value:8.3f}" for value in row))
    return rows


@pytest.mark.parametrize("mesh", MESHES)
def test_bending(mesh):
    def sag(nu, n):
        return sag_of_cantilever((10 * n, n, n), (1.0, 0.1, 0.1), material(nu), mesh=MESHES[mesh])

    rows = table(f"sag over Timoshenko's, ten times as long as thick, by cells of {mesh}", (2, 4, 8), sag)
    assert all((np.diff(row) > 0.0).all() and row[-1] < 1.0 for row in rows.values())
    if mesh == "body-centred":
        reach("Locking", "nu 0.45, sag over Timoshenko's, 4 cells", float(rows[0.45][1]), "> 0.9", rows[0.45][1] > 0.9)
        reach("Locking", "nu 0.45, the same, 8 cells", float(rows[0.45][2]), "> 0.95", rows[0.45][2] > 0.95)


def squeezed(mesh, nu, n):
    """Stiffness of a cube squeezed between plates that hold on to it, over that of a free one."""
    nodes, tets = mesh((n, n, n), (1.0, 1.0, 1.0))
    model = model_of(nodes, tets, material(nu))
    held = (nodes[:, 2] == 0.0) | (nodes[:, 2] == 1.0)
    amount, state = 1e-4, at_rest(model)
    target = nodes * [1.0, 1.0, 1.0 - amount]
    assert step(model, state, ExternalForces(is_fixed=held, fixed_target=target), 1e5, FINE).converged
    return 2.0 * energy(model, state.x) / (1.0e6 * amount**2)


def test_squeezing():
    rows = table(
        "stiffness of a squeezed cube over a free one, by cells of body-centred",
        (2, 4, 8, 12),
        lambda nu, n: squeezed(lattice_bar, nu, n),
    )
    too_stiff = {nu: row[:2] / row[-1] - 1.0 for nu, row in rows.items()}
    for nu, (two, four) in too_stiff.items():
        print(f"nu {nu}: two cells {two:.0%} stiffer than twelve, four {four:.0%}")
    two, four = too_stiff[0.45]
    reach("Locking", "nu 0.45, squeezed cube too stiff, 2 cells", f"{two:.0%}", "20 %", two < 0.2)
    reach("Locking", "nu 0.45, the same, 4 cells", f"{four:.0%}", "10 %", four < 0.1)
    assert too_stiff[0.49][0] > 0.35 and too_stiff[0.495][0] > 0.6


def test_cost():
    nodes, tets = lattice_bar((6, 6, 18), (1.0, 1.0, 3.0))
    print(f"\niterations of the first ten steps to 1e-4, beam of {len(tets)} tets, 96 steps per second")
    means, settings = {}, Settings(max_iterations=5000, linear_solver=JACOBI)  # multigrid takes fewer at 0.49
    for nu in RATIOS:
        model = model_of(nodes, tets, material(nu, 0.01))
        outside = ExternalForces(np.array([0.0, -9.81, 0.0]), nodes[:, 2] == 0.0, nodes)
        state = at_rest(model)
        means[nu] = np.mean([step(model, state, outside, 1 / 96, settings).iterations for _ in range(10)])
        print(f"nu {nu}: {means[nu]:.0f}")
    more = float(means[0.45] / means[0.3])
    reach("Locking", "iterations at nu 0.45 over those at 0.3", more, "< 2", more < 2.0)
    assert means[0.49] > 1.8 * means[0.45]


def test_slope_of_convergence_without_locking():
    rows = [sag_of_cantilever((5 * n, n, n), (1.0, 0.2, 0.2), material(0.0)) for n in (4, 8, 16)]
    errors = 1.0 - np.array(rows)
    slopes = np.log2(errors[:-1] / errors[1:])
    print("\nnu 0, five times as long as thick, 4, 8, 16 cells:", np.round(rows, 4), "slopes", slopes.round(3))
    reach("Locking", "order of bending in space", float(slopes[-1]), "1.8 to 2.2", 1.8 < slopes[-1] < 2.2)
