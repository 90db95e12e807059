# SPDX-License-Identifier: GPL-3.0-or-later
"""Searches for the worst dihedral angles that isosurface stuffing can make, one lattice tet at a time.

    python tests/validate_stuffing_bound.py [ALPHA_LONG ALPHA_SHORT]

A tet's nodes are inside, outside or warped onto the surface, along any of the 14 edges of a lattice point and by no
more than α of its length; an edge from inside to outside is cut no closer than α to its ends. All of these are drawn at
random, mostly at their limits, where the worst cases lie. It prints the extreme angles for each number of nodes
inside, on the surface and outside, and fails beyond the paper's bound of 10.7° to 164.8°.
"""

from __future__ import annotations

import sys

import numpy as np

from fixtures.claim_table import reach
from sinew.solver.mesh.tet_quality import dihedral_angles
from sinew.solver.mesh.tetrahedralize.bcc_lattice import lattice_around, lattice_tets
from sinew.solver.mesh.tetrahedralize.cut_edges import TET_EDGES
from sinew.solver.mesh.tetrahedralize.lattice_snapping import SNAP_FRACTION_LONG, SNAP_FRACTION_SHORT
from sinew.solver.mesh.tetrahedralize.stuffing_stencils import split_tets

BOUND = 10.7, 164.8
SAMPLES = 150_000
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
STEPS = np.concatenate([2 * np.eye(3), -2 * np.eye(3), CORNERS])  # the edges of a point, in half cells


def worst_angles(rng, alpha_long, alpha_short, at_limits):
    """Returns for random cases their class (inside, on, outside) and the extreme angles, (k, 3), (k,) and (k,)."""
    lattice = lattice_around(np.zeros(3), np.full(3, 4.0), 2.0)
    coordinates = lattice.coordinates()
    tets = lattice_tets(lattice, np.ones(lattice.point_count, bool))
    inner = (coordinates[tets] > 2).all(axis=(1, 2)) & (coordinates[tets] < 8).all(axis=(1, 2))
    tets = tets[inner][rng.integers(inner.sum(), size=SAMPLES)]
    sides = rng.choice([-1, 1], (SAMPLES, 4))
    is_warped = rng.random((SAMPLES, 4)) < rng.choice([0.2, 0.5, 0.8], (SAMPLES, 1))
    step = rng.integers(14, size=(SAMPLES, 4))
    possible = can_happen(coordinates[tets], sides, is_warped, step)
    tets, sides, is_warped, step = tets[possible], sides[possible], is_warped[possible], step[possible]
    count = len(tets)
    signs = np.where(is_warped, 0, sides)
    x = coordinates[tets].astype(float)
    alpha = np.where(step < 6, alpha_long, alpha_short)
    share = rng.choice([0.0, 0.5, 0.9, 1.0], step.shape) if at_limits else rng.random(step.shape)
    warped = x + np.where(is_warped[:, :, None], STEPS[step] * (alpha * share)[:, :, None], 0.0)
    cuts = np.empty((count, 6, 3))
    for k, (i, j) in enumerate(TET_EDGES):
        limit = alpha_long if k in (0, 5) else alpha_short
        at = rng.choice([limit, 0.5, 1 - limit], count) if at_limits else rng.uniform(limit, 1 - limit, count)
        cuts[:, k] = x[:, i] + at[:, None] * (x[:, j] - x[:, i])
    nodes = np.concatenate([warped, cuts], axis=1).reshape(-1, 3)
    own = 10 * np.arange(count)[:, None] + np.arange(10)
    all_signs, all_coordinates = np.zeros(10 * count, int), np.zeros((10 * count, 3), int)
    all_signs[own[:, :4]], all_coordinates[own[:, :4]] = signs, coordinates[tets]
    is_cut = (signs < 0).any(axis=1)
    split = split_tets(own[is_cut, :4], all_signs, all_coordinates, own[is_cut, 4:])
    out = np.concatenate([own[~is_cut, :4], split])
    angles = dihedral_angles(nodes, out)
    kind = np.stack([(signs > 0).sum(1), (signs == 0).sum(1), (signs < 0).sum(1)], axis=1)
    return kind[out.min(axis=1) // 10], angles.min(axis=1), angles.max(axis=1)


def can_happen(x, sides, is_warped, step):
    """Which cases warping can make: towards the other side only, and not towards each other; some node stays inside."""
    target = x + STEPS[step]
    possible = ((sides > 0) & ~is_warped).any(axis=1)
    towards = np.zeros((len(x), 4, 4), bool)
    for i in range(4):
        for j in range(4):
            towards[:, i, j] = is_warped[:, i] & (target[:, i] == x[:, j]).all(axis=1)
            possible &= ~(towards[:, i, j] & (sides[:, i] == sides[:, j]))
    return possible & ~(towards & towards.transpose(0, 2, 1)).any(axis=(1, 2))


def extreme_angles(alpha_long, alpha_short, rounds):
    """Returns the smallest and the largest angle found for each class (inside, on the surface, outside)."""
    extremes = {}
    rng = np.random.default_rng(0)
    for turn in range(rounds):
        kinds, least, most = worst_angles(rng, alpha_long, alpha_short, at_limits=turn % 4 != 0)
        for kind in np.unique(kinds, axis=0):
            here = (kinds == kind).all(axis=1)
            low, high = extremes.get(tuple(kind), (180.0, 0.0))
            extremes[tuple(kind)] = min(low, least[here].min()), max(high, most[here].max())
    return extremes


def test_no_case_is_worse_than_the_papers_bound(alphas=(SNAP_FRACTION_LONG, SNAP_FRACTION_SHORT), rounds=20):
    extremes = extreme_angles(alphas[0], alphas[1], rounds)
    print()
    for kind, (low, high) in sorted(extremes.items()):
        print(f"{kind[0]} inside, {kind[1]} on, {kind[2]} outside: {low:6.2f}° to {high:6.2f}°")
    low, high = min(e[0] for e in extremes.values()), max(e[1] for e in extremes.values())
    print(f"α {alphas[0]} and {alphas[1]}: {low:.2f}° to {high:.2f}°")
    assert reach("Filling", "smallest dihedral angle of any case", f"{low:.2f}°", f"{BOUND[0]}°", low >= BOUND[0])
    assert reach("Filling", "largest dihedral angle of any case", f"{high:.2f}°", f"{BOUND[1]}°", high <= BOUND[1])


if __name__ == "__main__":
    given = [float(number) for number in sys.argv[1:3]] or [SNAP_FRACTION_LONG, SNAP_FRACTION_SHORT]
    test_no_case_is_worse_than_the_papers_bound(given)
