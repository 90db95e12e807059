# SPDX-License-Identifier: GPL-3.0-or-later
"""Every formulation with its switches, on the same bar, and what the papers claim of each."""

from __future__ import annotations

import numpy as np

import formulation_twins_levels as by_levels
import formulation_twins_newton as by_newton
import formulation_twins_vertices as by_vertices
from formulation_twins_records import forces_and_stiffness
from meshes import bar
from sinew.solver.formulations import formulation
from sinew.solver.levels import nodes_of, refined
from sinew.solver.materials.elastic import lame
from sinew.solver.method import EDGES, HIERARCHICAL, HIGHAM, SPRINGS, VERTEX_WARP, Method
from sinew.solver.model import Part, make_model
from sinew.solver.scene import Material
from sinew.solver.vertex_warp.rest import rest_of

LINEAR, POLAR, BY_HIGHAM = Method("linear"), Method("polar"), Method("polar", rotation=HIGHAM)
FRESH, STALE = Method("qr"), Method("qr", is_stale=True)
GREEN, HYBRID, LEVELS = Method("green"), Method("hybrid"), Method("hierarchical")
VERTICES, FRAMES = Method("vertex-warp"), Method("vertex-warp", rotation_field=EDGES)
NETWORK = Method("vertex-warp", network=SPRINGS)
CASES = {
    "linear": LINEAR,
    "vertices": VERTICES,
    "vertices, edges": FRAMES,
    "vertices, springs": NETWORK,
    "polar": POLAR,
    "polar, Higham": BY_HIGHAM,
    "QR": FRESH,
    "QR, stale": STALE,
    "green": GREEN,
    "hybrid": HYBRID,
    "hierarchical": LEVELS,
}
# no torque by their forces; the others have a wrong one
WITHOUT_TORQUE = (POLAR, BY_HIGHAM, FRESH, GREEN, HYBRID)
WITH_GHOST_FORCE = (VERTICES, FRAMES, NETWORK)
E, NU = 1.0e5, 0.3


def bar_of(method, cells=(3, 1, 1), nu=NU, levels=1):
    """A bar of 1 m a cell: coarse tets, refined; all methods have the finest ones, and one of them knows the others."""
    nodes, coarse = bar(cells, tuple(float(c) for c in cells))
    tets, nested = refined(coarse, len(nodes), levels)
    own = {"levels": nested} if method.name == HIERARCHICAL else {}
    material = Material(E, nu, stiffness_damping=0.0)
    return make_model([Part("bar", nodes_of(nested, nodes), tets, np.ones(len(tets)), material, method=method, **own)])


def shaken(model, size=0.06, seed=3):
    """Positions that are crumpled and turned."""
    random = np.random.default_rng(seed)
    turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    return (model.X + size * random.normal(size=model.X.shape)) @ turn.T


def asked(method, model, x=None):
    """The formulation; frames that it hands down are those of x."""
    found = formulation(model, method)
    if method.name == HIERARCHICAL and x is not None:
        found.frames = [body.rotations(x) for body in found.bodies]
    return found


def stiffness(found, model, x):
    """K as one matrix, (3n, 3n)."""
    p, n = getattr(found, "pattern", model.pattern), model.node_count
    K = np.zeros((n, 3, n, 3))
    rows = np.repeat(np.arange(n), np.diff(p.row_start.astype(np.int64)))
    np.add.at(K, (rows, slice(None), p.column), found.stiffness(x).reshape(-1, 3, 3))
    return K.reshape(3 * n, 3 * n)


def slow_forces(method, model, x):
    """Forces on the nodes [N], (n, 3), by the slow twin of a method."""
    mu, lam = lame(E, NU)
    if method.name == HIERARCHICAL:
        return by_levels.energy_and_forces(model.X, model.tets, x, 8, mu, lam)[1]
    if method.name in ("green", "hybrid"):
        return by_newton.forces(method.name, model, x)
    if method.name != VERTEX_WARP:
        return forces_and_stiffness(model, method, x)[0]
    if method.network == SPRINGS:
        K = by_vertices.spring_stiffness(model.X, model.tets, np.full(model.tet_count, E))
    else:
        K = by_vertices.linear_stiffness(model.X, model.tets, model.mu, model.lam)
    if method.rotation_field == EDGES:
        chosen = model.pattern.column[rest_of(model, [(model.bodies[0], method)]).chosen]
        return by_vertices.warped_forces(K, model.X, by_vertices.edge_rotations(model.X, x, chosen), x)
    return by_vertices.warped_forces(K, model.X, by_vertices.least_squares_rotations(model.X, model.tets, x), x)


def deflected(method, model, load, passes=200):
    """Where the nodes are at rest, held at one end, with a force [N] on those of the other, and how far off that is."""
    found = formulation(model, method)
    free = np.repeat(model.X[:, 0] > 0.0, 3)
    push = np.zeros_like(model.X)
    tip = model.X[:, 0] == model.X[:, 0].max()
    push[tip] = np.array(load) / np.count_nonzero(tip)
    x, left = model.X.copy(), np.inf
    for _ in range(passes):
        off = (push + found.forces(x)).ravel()[free]
        left = np.abs(off).max() / np.abs(push).max()
        if left < 1e-8:
            break
        K = stiffness(found, model, x)[np.ix_(free, free)]
        x.ravel()[free] += np.linalg.solve(K, off)
    return x, left


def lacks(method, model, load):
    """How far a bar that bends under a force [N] is from where its stiffness at rest would let it go, over that way."""
    free, tip = np.repeat(model.X[:, 0] > 0.0, 3), model.X[:, 0] == model.X[:, 0].max()
    push, u = np.zeros_like(model.X), np.zeros_like(model.X)
    push[tip, 2] = -load / np.count_nonzero(tip)
    K = stiffness(formulation(model, method), model, model.X)
    u.ravel()[free] = np.linalg.solve(K[np.ix_(free, free)], push.ravel()[free])
    x, left = deflected(method, model, (0.0, 0.0, -load))
    assert left < 1e-8
    return np.linalg.norm(x - model.X - u) / np.linalg.norm(u)
