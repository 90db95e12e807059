# SPDX-License-Identifier: GPL-3.0-or-later
"""CG coefficients and convergence tests of every island, from the dot products of a pass.

Islands that are coupled share their coefficients, and are iterated until the residual of each is small enough.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Bools, Floats
from ...runtime.jit import kernel
from ..coupled_islands import Int64s


class IslandScalars(NamedTuple):
    """What is known of every island, (k,).

    Attributes:
        cluster_start, members: Clusters of coupled islands, as `BlockPattern.clusters` has them.
        active: Whether it is still iterated.
        alpha, beta: Its coefficients.
        cycle_scale_in, cycle_scale_out: Powers of two that r and z are multiplied by before and after the cycle.
        scale: Its power of two in the matrices of the cycle.
        rr, rz, bb: ‖r‖², r·z, and what ‖b‖² counts for.
        first_sum, second_sum: Sums of the last pass.
    """

    cluster_start: Int64s
    members: Int64s
    active: Bools
    alpha: Floats
    beta: Floats
    cycle_scale_in: Floats
    cycle_scale_out: Floats
    scale: Floats
    rr: Floats
    rz: Floats
    bb: Floats
    first_sum: Floats
    second_sum: Floats


@kernel(device_only=True, no_refcount=True)
def sum_chunks(parts, sums, islands):
    """Writes the sums of islands that are still iterated, zero for others; `parts` tells the island of each part."""
    active, one, two = islands.active, islands.first_sum, islands.second_sum
    one[:], two[:] = 0.0, 0.0
    for part in range(len(parts)):
        island = parts[part]
        if active[island]:
            one[island] += sums[part, 0]
            two[island] += sums[part, 1]


@kernel(device_only=True, no_refcount=True)
def sum_clusters(islands):
    """Gives every island the sums of its cluster."""
    start, members, one, two = islands.cluster_start, islands.members, islands.first_sum, islands.second_sum
    for cluster in range(len(start) - 1):
        first, second = 0.0, 0.0
        for k in range(start[cluster], start[cluster + 1]):
            first += one[members[k]]
            second += two[members[k]]
        for k in range(start[cluster], start[cluster + 1]):
            one[members[k]], two[members[k]] = first, second


@kernel(device_only=True, no_refcount=True)
def keep_clusters_active(islands):
    """Lets islands go on that are coupled to one that does; returns whether one does."""
    start, members, active, goes_on = islands.cluster_start, islands.members, islands.active, False
    for cluster in range(len(start) - 1):
        is_active = False
        for k in range(start[cluster], start[cluster + 1]):
            is_active = is_active or active[members[k]]
        for k in range(start[cluster], start[cluster + 1]):
            active[members[k]] = is_active
        goes_on = goes_on or is_active
    return goes_on


@kernel(device_only=True, no_refcount=True)
def update_residual_norms(islands):
    """Takes over ‖r‖² of all islands."""
    for island in range(len(islands.rr)):
        islands.rr[island] = islands.first_sum[island]


@kernel(device_only=True, no_refcount=True)
def add_fixed_to_rhs_norm(islands):
    """Lets b count with what held nodes add to it, which is r so far."""
    rr, bb = islands.rr, islands.bb
    for island in range(len(bb)):
        if not rr[island] <= bb[island]:  # or it is no number
            bb[island] = rr[island]


@kernel(device_only=True, no_refcount=True)
def select_unconverged(tolerance, islands):
    """Writes which islands are still to be solved, and returns whether one is."""
    active, rr, bb = islands.active, islands.rr, islands.bb
    for island in range(len(rr)):
        active[island] = rr[island] > tolerance * tolerance * bb[island]
    return keep_clusters_active(islands)


@kernel(device_only=True, no_refcount=True)
def begin_iteration(islands):
    """Begins conjugate gradients with r: β will be zero."""
    islands.rz[:] = np.inf
    rescale(islands)


@kernel(device_only=True, no_refcount=True)
def compute_beta(islands):
    """Finds β from z·r and z·q; gives islands up where there is no way down."""
    active, alpha, beta, rz, one, two = (
        islands.active,
        islands.alpha,
        islands.beta,
        islands.rz,
        islands.first_sum,
        islands.second_sum,
    )
    for island in range(len(active)):
        # −α z·q = z·(r − r before)
        beta[island] = -alpha[island] * two[island] / rz[island] if active[island] else 0.0
        rz[island] = one[island]
        active[island] = active[island] and one[island] > 0.0


@kernel(device_only=True, no_refcount=True)
def compute_alpha(islands):
    """Finds α from p·q; gives islands up where the matrix is not positive."""
    active, alpha, rz, one = islands.active, islands.alpha, islands.rz, islands.first_sum
    for island in range(len(active)):
        active[island] = active[island] and one[island] > 0.0
        alpha[island] = rz[island] / one[island] if active[island] else 0.0


@kernel(device_only=True, no_refcount=True)
def update_convergence(tolerance, islands):
    """Takes over ‖r‖² of islands that are still iterated, until it is small; returns whether one goes on."""
    active, rr, bb, one = islands.active, islands.rr, islands.bb, islands.first_sum
    for island in range(len(active)):
        if active[island]:
            rr[island] = one[island]
            active[island] = rr[island] > tolerance * tolerance * bb[island]
    rescale(islands)
    return keep_clusters_active(islands)


@kernel(device_only=True, no_refcount=True)
def rescale(islands):
    """Writes powers of two that bring r near one for the cycle, and z back, the same for all islands of a cluster."""
    into, out_of, scale, rr = islands.cycle_scale_in, islands.cycle_scale_out, islands.scale, islands.rr
    start, members = islands.cluster_start, islands.members
    for cluster in range(len(start) - 1):
        square = 0.0
        for k in range(start[cluster], start[cluster + 1]):
            square += rr[members[k]]
        factor = 2.0 ** -np.rint(0.5 * np.log2(square)) if square > 0.0 else 1.0
        for k in range(start[cluster], start[cluster + 1]):
            into[members[k]] = factor
            out_of[members[k]] = scale[members[k]] / factor


@kernel(device_only=True, no_refcount=True)
def largest_residual(islands):
    """Returns the largest ‖r‖ / ‖b‖ of all islands."""
    largest = 0.0
    for island in range(len(islands.rr)):
        if islands.rr[island] > largest * largest * islands.bb[island]:
            largest = np.sqrt(islands.rr[island] / islands.bb[island])
    return largest
