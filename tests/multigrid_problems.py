# SPDX-License-Identifier: GPL-3.0-or-later
"""Matrices to solve by multigrid, and their dense twins."""

from __future__ import annotations

from functools import cache

import numpy as np

from meshes import bar
from sinew.solver.elements.assembly import assemble
from sinew.solver.elements.corotational import WARPED, warp_tets
from sinew.solver.model import Part, make_model
from sinew.solver.scene import Material


@cache
def jittered(mesh, cells):
    """Returns nodes of cells of one metre, inner ones moved, and tets."""
    nodes, tets = mesh(cells, tuple(map(float, cells)))
    inner = ((nodes > 1e-9) & (nodes < np.array(cells) - 1e-9)).all(axis=1)
    return nodes + np.random.default_rng(0).uniform(-0.15, 0.15, nodes.shape) * inner[:, None], tets


def stiffness(model, mass=0.0):
    """Returns the corotational stiffness of a twisted shape, and `mass` times the masses, as blocks."""
    p = model.pattern
    angle = 0.2 * model.X[:, 2] / max(1e-9, np.ptp(model.X[:, 2]))
    c, s = np.cos(angle), np.sin(angle)
    x = np.stack([c * model.X[:, 0] - s * model.X[:, 1], s * model.X[:, 0] + c * model.X[:, 1], model.X[:, 2]], 1)
    warped, values = np.empty((model.tet_count, WARPED)), np.empty((p.block_count, 9))
    warp_tets(
        x, model.tets, model.Dm_inverse, model.volume, model.mu, model.lam, model.stiffness_damping,
        model.initial_strain, warped,
    )  # fmt: skip
    assemble(1.0, 0.0, mass * model.mass, p, warped, values, np.empty((model.node_count, 3)))
    return values


RADIUS = 8.0  # of the bend [m]


def bent_bar(across, nu):
    """Returns model, matrix, right-hand side and free nodes of a 1 × 1 × 4 m bar of 20 `across`³ tets, one end held."""
    cells, lengths = (across, across, 4 * across), (1.0, 1.0, 4.0)
    X, tets = bar(cells, lengths)
    inner = ((X > 1e-9) & (X < np.array(lengths) - 1e-9)).all(axis=1)
    X = X + np.random.default_rng(1).uniform(-0.15, 0.15, X.shape) / across * inner[:, None]
    model = make_model([Part("b", X, tets, np.ones(len(tets)), Material(1.0e6, nu, 1000.0))])
    arm, angle = X[:, 0] - 0.5 + RADIUS, X[:, 2] / RADIUS
    x = np.stack([arm * np.cos(angle) - RADIUS + 0.5, X[:, 1], arm * np.sin(angle)], axis=1)
    p = model.pattern
    warped, values = np.empty((model.tet_count, WARPED)), np.empty((p.block_count, 9))
    force = np.empty((model.node_count, 3))
    warp_tets(
        x, model.tets, model.Dm_inverse, model.volume, model.mu, model.lam, model.stiffness_damping,
        model.initial_strain, warped,
    )  # fmt: skip
    assemble(1.0, 0.0, np.zeros(model.node_count), p, warped, values, force)
    return model, values, force + model.mass[:, None] * [0.3, 0.2, -9.81], X[:, 2] > 1e-9


def dense(row_start, column, values, columns=None):
    """Returns a block matrix as (3n, 3m)."""
    rows = np.repeat(np.arange(len(row_start) - 1), np.diff(row_start.astype(int)))
    out = np.zeros((len(row_start) - 1, 3, columns or len(row_start) - 1, 3))
    np.add.at(out, (rows, slice(None), column.astype(int)), values.reshape(-1, 3, 3))
    return out.reshape(3 * len(out), -1)


def unpacked(quads, unit, start, size):
    """Returns rows of quads as a dense matrix of `size` nodes, by another way than the kernels read them."""
    out = np.zeros((len(start) - 1, size, 3, 3))
    for i in range(len(start) - 1):
        for quad in quads[start[i] : start[i + 1]]:
            whole = np.zeros((4, 3, 3), np.int32)
            words = quad[4:20].reshape(4, 4).view(np.int32)
            whole[:, 0], whole[:, 1] = words[:, :3], words[:, :3] << 16
            whole[:, 2, 0], whole[:, 2, 1] = words[:, 3], words[:, 3] << 16
            whole[:, 2, 2] = quad[20:].copy().view(np.int16).astype(np.int32) << 16
            np.add.at(out[i], quad[:4] // 3, unit[i] * whole)
    return out.transpose(0, 2, 1, 3).reshape(3 * len(out), -1)


def made(parts, nu=0.3, E=1000.0):
    material = Material(youngs_modulus=E, poisson_ratio=nu, density=1.0)
    return make_model([Part(f"b{k}", X, t, np.ones(len(t)), material) for k, (X, t) in enumerate(parts)])


def bar_problem(cells=(3, 3, 9), nu=0.3, mesh=bar):
    model = made([jittered(mesh, cells)], nu)
    return model, stiffness(model), model.X[:, 2] > 1e-9
