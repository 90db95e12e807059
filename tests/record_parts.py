# SPDX-License-Identifier: GPL-3.0-or-later
"""A bar of linear, polar or QR tets, and shapes that it may have."""

import numpy as np
import pytest

from meshes import bar
from sinew.solver.elements.record import FORCE
from sinew.solver.method import HIGHAM, Method
from sinew.solver.model import Part
from sinew.solver.scene import Material

LINEAR, POLAR, BY_HIGHAM = Method("linear"), Method("polar"), Method("polar", rotation=HIGHAM)
FRESH, STALE = Method("qr"), Method("qr", is_stale=True)
ALL = {"linear": LINEAR, "polar": POLAR, "Higham": BY_HIGHAM, "QR": FRESH, "QR, stale": STALE}
every_method = pytest.mark.parametrize("method", ALL.values(), ids=ALL)
MATERIAL = Material(3.0e4, 0.4, 900.0, stiffness_damping=0.02)


def part(method=POLAR, key="bar", cells=(2, 2, 3), at=0.0, strained=False, material=MATERIAL):
    nodes, tets = bar(cells, (0.5, 0.6, 1.0))
    fill = np.linspace(0.3, 1.0, len(tets))
    initial = 0.05 * np.random.default_rng(7).normal(size=(len(tets), 6)) if strained else None
    return Part(key, nodes + [at, 0.0, 0.0], tets, fill, material, initial_strain=initial, method=method)


def crumpled(model, amount=0.3, seed=3):
    """Positions turned, stretched and pushed about; many tets are inverted where the amount is large."""
    random = np.random.default_rng(seed)
    Q = np.linalg.qr(random.normal(size=(3, 3)))[0]
    size = model.volume.max() ** (1 / 3)
    turn = Q * np.sign(np.linalg.det(Q)) @ np.diag([1.3, 0.8, 1.1])
    return model.X @ turn.T + amount * size * random.normal(size=model.X.shape)


def dense(model, values):
    """The blocks of a matrix as one, (3n, 3n)."""
    p, n = model.pattern, model.node_count
    found = np.zeros((n, 3, n, 3))
    found[np.repeat(np.arange(n), np.diff(p.row_start)), :, p.column, :] = values.reshape(-1, 3, 3)
    return found.reshape(3 * n, 3 * n)


def forces_in(records):
    """The forces on the corners of each tet, (m, 4, 3), out of the records of tets."""
    others = records[:, FORCE : FORCE + 9].reshape(-1, 3, 3)
    return np.concatenate([-others.sum(axis=1, keepdims=True), others], axis=1)
