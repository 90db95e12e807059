# SPDX-License-Identifier: GPL-3.0-or-later
"""What averages at nodes do for nearly incompressible flesh, and what they cost.

python -m pytest -s tests/validate_locking_remedy.py

The beam is ten times as long as thick, eight cells thick, held at one end. Timoshenko's sag leaves out that the held
end cannot swell: near ν = 0.5 the true sag is smaller, as a finite element solution with quadratic cubes shows.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.linalg import spsolve

from fixtures import quasistatic_scenes as scenes
from fixtures.tet_meshes import bar, kuhn_bar, lattice_bar
from sinew.solver.mechanics.elastic_moduli import lame_moduli
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import hyperelastic
from sinew.solver.quasistatic.equilibrium import Equilibrium, solve
from sinew.solver.quasistatic.equilibrium_problem import EquilibriumProblem
from sinew.solver.quasistatic.fixed_nodes import FixedNodes
from sinew.solver.runtime.arrays import Floats
from sinew.solver.scene.scene import Material

SECTION = "Locking, averages at nodes"
MESHES = {"cubes of six tets": kuhn_bar, "cubes of five": bar, "body-centred": lattice_bar}
PLAIN, NEAR = 0.3, (0.49, 0.495)
YOUNG, THICK, LONG = 1.0e6, 0.1, 1.0
DENSITY = Material().density
SLOPE = 1.0e-3  # sag over length


def timoshenko(nu: float) -> float:
    """Returns the sag of the end per acceleration [s²]."""
    area, inertia, shear = THICK**2, THICK**4 / 12.0, YOUNG / (2.0 * (1.0 + nu))
    correction = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu)  # Cowper 1966, rectangle
    per_load = LONG**4 / (8.0 * YOUNG * inertia) + LONG**2 / (2.0 * correction * shear * area)
    return per_load * DENSITY * area


def sag(mesh: str, nu: float, average: bool) -> tuple[float, Equilibrium, float]:
    """Returns the mean sag of the free end over Timoshenko's, how it was found, and the seconds of a second time."""
    model = scenes.model_of(*MESHES[mesh]((80, 8, 8), (LONG, THICK, THICK)), YOUNG, nu)
    law = hyperelastic(model, "neo-hookean", average=average)
    gravity = SLOPE * LONG / timoshenko(nu)
    load = model.mass[:, None] * np.array([0.0, 0.0, -gravity])
    nodes = np.flatnonzero(model.X[:, 0] < 1e-9).astype(np.int32)
    held = FixedNodes(nodes, model.X[nodes])
    solve(EquilibriumProblem(model, law, held, load=load), model.X, 1.0e-9)
    began = time.perf_counter()
    found = solve(EquilibriumProblem(model, law, held, load=load), model.X, 1.0e-9)
    seconds = time.perf_counter() - began
    assert found.converged
    end = model.X[:, 0] > LONG - 1e-9
    return float((model.X - found.x)[end, 2].mean() / (SLOPE * LONG)), found, seconds


def by_quadratic_cubes(nu: float, cells: tuple[int, int, int] = (40, 5, 5)) -> float:
    """Returns the same for small strains, by cubes of 27 nodes."""
    mu, lam = lame_moduli(YOUNG, nu)
    size = np.array([LONG, THICK, THICK]) / cells
    counts = tuple(2 * c + 1 for c in cells)
    number = np.arange(np.prod(counts)).reshape(counts)
    along = np.arange(counts[0])[:, None, None] * np.ones(counts)
    K, share = np.zeros((27, 3, 27, 3)), np.zeros(27)
    points = list(zip((-np.sqrt(0.6), 0.0, np.sqrt(0.6)), (5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0), strict=True))
    for place in itertools.product(points, repeat=3):
        N = [np.array([x * (x - 1) / 2, 1 - x * x, x * (x + 1) / 2]) for x, _ in place]
        D = [np.array([x - 0.5, -2.0 * x, x + 0.5]) * 2.0 / h for (x, _), h in zip(place, size, strict=True)]
        volume = np.prod([w for _, w in place]) * np.prod(size) / 8.0
        parts = [(D[0], N[1], N[2]), (N[0], D[1], N[2]), (N[0], N[1], D[2])]
        g = np.stack([np.einsum("i,j,k->ijk", *part).ravel() for part in parts], axis=1)
        K += volume * mu * (np.einsum("ac,bc,ij->aibj", g, g, np.eye(3)) + np.einsum("bi,aj->aibj", g, g))
        K += volume * lam * np.einsum("ai,bj->aibj", g, g)
        share += volume * np.einsum("i,j,k->ijk", *N).ravel()
    corners = [
        number[tuple(slice(o, o + c - 2, 2) for o, c in zip(offset, counts, strict=True))].ravel()
        for offset in itertools.product(range(3), repeat=3)
    ]
    cubes = np.stack(corners, axis=1)
    unknowns = (3 * cubes[:, :, None] + np.arange(3)).reshape(len(cubes), 81)
    rows, columns = np.repeat(unknowns, 81, axis=1).ravel(), np.tile(unknowns, (1, 81)).ravel()
    n = number.size
    A = coo_array((np.tile(K.ravel(), len(cubes)), (rows, columns)), (3 * n, 3 * n)).tocsr()
    b = np.zeros((n, 3))
    np.add.at(b[:, 2], cubes.ravel(), DENSITY * np.tile(share, len(cubes)))
    free = np.repeat(along.ravel() > 0, 3)
    u = np.zeros(3 * n)
    u[free] = spsolve(A[free][:, free].tocsc(), b.ravel()[free])
    return float(u.reshape(-1, 3)[along.ravel() == counts[0] - 1, 2].mean() / timoshenko(nu))


def test_the_beam_sags_as_well_as_at_a_lower_ratio(reach: Callable[..., bool]):
    truth = {nu: by_quadratic_cubes(nu) for nu in (PLAIN, *NEAR)}
    print("\nsag over Timoshenko's by quadratic cubes:", {nu: round(value, 4) for nu, value in truth.items()})
    for mesh in MESHES:
        usual, _, _ = sag(mesh, PLAIN, False)
        print(f"{mesh}: nu {PLAIN} plain {usual:.4f}")
        for nu in NEAR:
            plain, before, seconds_before = sag(mesh, nu, False)
            with_averages, after, seconds = sag(mesh, nu, True)
            print(
                f"  nu {nu}: plain {plain:.4f}, {before.newton_iterations} Newton, {before.cg_iterations} CG, "
                f"{seconds_before:.2f} s; averaged {with_averages:.4f}, {after.newton_iterations} Newton, "
                f"{after.cg_iterations} CG, {seconds:.2f} s"
            )
            wrong, allowed = abs(with_averages - truth[nu]), abs(usual - truth[PLAIN])
            line = f"{mesh}, nu {nu}: error of the sag, no worse than at {PLAIN}"
            reach(SECTION, line, f"{wrong:.4f}", f"{allowed:.4f}", wrong <= allowed)
            if mesh == "cubes of six tets":
                line = f"{mesh}, nu {nu}: sag short of Timoshenko's, no worse than at {PLAIN}"
                reach(SECTION, line, f"{1 - with_averages:.4f}", f"{1 - usual:.4f}", 1 - with_averages <= 1 - usual)


def squeezed(mesh: str, cells: int, nu: float, average: bool) -> float:
    """Returns the stiffness of a cube squeezed between plates that hold on to it, over that of a free one."""
    model = scenes.model_of(*MESHES[mesh]((cells,) * 3, (1.0, 1.0, 1.0)), YOUNG, nu)
    nodes = np.flatnonzero(np.abs(model.X[:, 2] - 0.5) > 0.5 - 1e-9).astype(np.int32)
    amount = 1.0e-3
    held = FixedNodes(nodes, model.X[nodes] * [1.0, 1.0, 1.0 - amount])
    found = solve(EquilibriumProblem(model, hyperelastic(model, "neo-hookean", average=average), held), model.X, 1.0e-8)
    assert found.converged
    return 2.0 * found.energy / (YOUNG * amount**2)


def test_a_thin_part_between_plates_is_hardly_too_stiff(reach: Callable[..., bool]):
    """Where the body-centred tets of Sinew's own fillings lock too."""
    nu = NEAR[0]
    for mesh in MESHES:
        limit = squeezed(mesh, 12, nu, True)
        for cells, allowed in ((2, 0.2), (4, 0.1)):
            off, plain = (squeezed(mesh, cells, nu, average) / limit - 1.0 for average in (True, False))
            print(f"{mesh}, squeezed cube of {cells} cells too stiff at nu {nu}: {off:.0%}, plain {plain:.0%}")
            if mesh == "body-centred":
                line = f"{mesh}, nu {nu}, squeezed cube of {cells} cells too stiff (plain {plain:.0%})"
                reach(SECTION, line, f"{off:.0%}", f"{allowed:.0%}", off <= allowed)


def twisted(mesh: str, cells: tuple[int, int, int], law: str, average: bool) -> tuple[Floats, Floats, Equilibrium]:
    """Returns rest and shape of a bar at ν = 0.49, stretched by 20 % and twisted by 90° in one go."""
    model = scenes.model_of(*MESHES[mesh](cells, (2.0, 0.75, 0.75)), poisson_ratio=0.49)
    extension = "constant" if law in ("neo-hookean", "mooney-rivlin") else None
    held = scenes.ends(model.X, stretch=0.2, turn=0.5 * np.pi)
    return (
        model.X,
        model.tets,
        solve(EquilibriumProblem(model, hyperelastic(model, law, extension, average=average), held), model.X),
    )


@pytest.mark.parametrize("mesh", MESHES)
def test_a_bar_is_stretched_and_twisted_in_one_go(reach: Callable[..., bool], mesh: str):
    most, arrived = 0, True
    for law in scenes.LAWS:
        _, _, plain = twisted(mesh, (16, 6, 6), law, False)
        _, _, found = twisted(mesh, (16, 6, 6), law, True)
        print(
            f"{mesh}, {law}: plain {plain.newton_iterations} Newton, {plain.cg_iterations} CG, energy "
            f"{plain.energy:.0f} J; averaged {found.newton_iterations}, {found.cg_iterations}, {found.energy:.0f} J"
        )
        most, arrived = max(most, found.newton_iterations), arrived and found.converged and not found.inverted_tets
    reach(SECTION, f"{mesh}: Newton iterations to 1e-6 at nu 0.49, worst law", most, 40, arrived and most <= 40)


@pytest.mark.parametrize("mesh", MESHES)
def test_averages_show_no_checkerboard(reach: Callable[..., bool], mesh: str):
    """Nodes of a coarse bar against the same points of one twice as fine: closer than plain tets."""
    off = {}
    fine, _, there = twisted(mesh, (16, 6, 6), "neo-hookean", True)
    place = {tuple(np.round(x, 6)): number for number, x in enumerate(fine)}
    for average in (False, True):
        coarse, _, found = twisted(mesh, (8, 3, 3), "neo-hookean", average)
        both = [(a, place[key]) for a, x in enumerate(coarse) if (key := tuple(np.round(x, 6))) in place]
        own, other = np.array(both).T
        off[average] = float(np.linalg.norm(found.x[own] - there.x[other], axis=1).max() / 2.0)
    line = f"{mesh}: node farthest from the finer bar's, over the length; bound: plain tets"
    reach(SECTION, line, f"{off[True]:.4f}", f"{off[False]:.4f}", off[True] <= off[False])
