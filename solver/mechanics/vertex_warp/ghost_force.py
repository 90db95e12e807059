# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes out of a solve what warped stiffness pushes and turns bodies with as a whole, the ghost force.

What is inside a body cannot move it as a whole. So after a solve each free body gets the rigid motion with which
its momentum and its angular momentum change by what acts from outside and by nothing else:

    Zᵀ (b̂ − Â v) = 0,

with the six rigid motions Z of the body about its centre at the start of the step, and  and b̂ the matrix and the
right-hand side without warped stiffness: mass, damping, springs and contacts. x × v⁺ = x⁺ × v⁺, so angular momentum is
right at the end of the step too. Bodies that touch are balanced together. One that is held is left as it is: what holds
it bears the ghost force.

Source: MDMJC02, section 3, after Desbrun et al. 1999; the condition by own derivation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...linalg.block_pattern import BlockPattern, with_coupled
from ...linalg.rigid_modes import RigidModes, coarse_correction, is_any_free, rigid_modes
from ...runtime.arrays import Bools, Floats
from ...runtime.threads.thread_pool import run_ranges
from ..finite_rotation_correction import rigid_velocities
from ..model import Model
from .warped_bodies import NODES_PER_CHUNK, WarpedSystem, warped_bodies
from .warped_rows import subtract_rows


@dataclass(frozen=True, eq=False)
class MomentumBalance:
    """How velocities are balanced in a solve: the rigid modes of  and b̂, (n, 3)."""

    pattern: BlockPattern
    modes: RigidModes
    b: Floats

    def apply(self, v: Floats) -> None:
        """Gives free bodies their momenta: moves v [m/s], (n, 3)."""
        coarse_correction(self.modes, self.pattern, self.b, v)


def momentum_balance(
    model: Model, pattern: BlockPattern, values: Floats, b: Floats, x: Floats, is_free: Bools, system: WarpedSystem
) -> MomentumBalance | None:
    """Returns how a solve of A v = b is balanced; None where no body that asks for it is free.

    Args:
        model: All bodies.
        pattern, values: A, (b, 9); it may have more blocks than the model's pattern.
        b: Right-hand side [N s], (n, 3).
        x: Where nodes are [m], (n, 3).
        is_free: Which are solved for, (n,).
        system: What warped bodies have in A.
    """
    is_sought = is_free & _asks_for_balance(model, pattern)
    if not is_any_free(pattern.island_start, is_sought):
        return None
    own = model.pattern
    outer, left = values.copy(), b.copy()
    for body, method in warped_bodies(model):
        if not method.keeps_momentum:
            continue

        def work(begin: int, end: int) -> None:
            subtract_rows(
                begin, end, own.row_start, own.column, system.blocks, pattern.row_start, pattern.column, values, outer
            )

        n = body.nodes
        run_ranges(n.start, n.stop, NODES_PER_CHUNK, work)
        left[n] -= system.push[n]
    modes = rigid_modes(pattern, outer, x, is_sought)
    return None if modes is None else MomentumBalance(pattern, modes, left)


def ghost_impulse(model: Model, x: Floats, v: Floats, is_free: Bools, system: WarpedSystem) -> Floats:
    """Returns the rigid part of Δt f − Δt² K' v of free bodies that ask for balance [N s], (n, 3), zero for all others.

    Where a step is solved by Newton's method, this is taken out of its residual: m_i (a + w × r_i), which has the
    momentum and the angular momentum that warped stiffness brings.

    Args:
        model: All bodies.
        x: Where nodes are at the start of the step [m], (n, 3).
        v: Velocities [m/s], (n, 3).
        is_free: Which nodes are solved for, (n,).
        system: What warped bodies have in the system of the step.
    """
    found, pattern = np.zeros_like(v), model.pattern
    start = pattern.island_start.astype(np.int64)
    bound = ~np.logical_and.reduceat(is_free, start[:-1])[pattern.island_of_row]
    asking = [body.nodes for body, method in warped_bodies(model) if method.keeps_momentum]
    for n in asking:
        found[n] = system.push[n] - _row_product(pattern, system.blocks, v, n)
    found[bound] = 0.0
    if not found.any():
        return found
    mass = model.mass[:, None]
    return mass * rigid_velocities(start, model.mass, x, found / mass)


def is_unsymmetric(model: Model, pattern: BlockPattern) -> Bools:
    """Returns which nodes are of warped bodies, or of others that touch such, (n,)."""
    own = np.zeros(model.node_count, bool)
    for body, _ in warped_bodies(model):
        own[body.nodes] = True
    return with_coupled(pattern, own)


def _asks_for_balance(model: Model, pattern: BlockPattern) -> Bools:
    """Returns which nodes are of bodies that ask for balance, or of others that touch such, (n,)."""
    asks, refuses = np.zeros((2, model.node_count), bool)
    for body, method in warped_bodies(model):
        (asks if method.keeps_momentum else refuses)[body.nodes] = True
    return with_coupled(pattern, asks) & ~refuses


def _row_product(pattern: BlockPattern, blocks: Floats, v: Floats, nodes: slice) -> Floats:
    """Returns the rows of some nodes of the product of blocks, (b, 9), with v, (n, 3)."""
    start = pattern.row_start[nodes.start : nodes.stop + 1].astype(np.int64)
    k = slice(start[0], start[-1])
    each = np.einsum("kij,kj->ki", blocks[k].reshape(-1, 3, 3), v[pattern.column[k]])
    return np.add.reduceat(each, start[:-1] - start[0])
