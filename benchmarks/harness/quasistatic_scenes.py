# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies with held nodes for benchmarks and tests of the quasistatic solver."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import Hyperelastic, hyperelastic
from sinew.solver.mechanics.model import Model, Part, make_model
from sinew.solver.mesh.formats.tet_files import read_tets
from sinew.solver.mesh.shapes import box_tets
from sinew.solver.quasistatic import outcome_classification
from sinew.solver.quasistatic.equilibrium import Equilibrium
from sinew.solver.quasistatic.fixed_nodes import FixedNodes
from sinew.solver.runtime.arrays import Floats
from sinew.solver.scene.scene import Material

LAWS = ("neo-hookean", "stable-neo-hookean", "mooney-rivlin", "corotated", "stvk")


def model_of(nodes: Floats, tets: np.ndarray, youngs_modulus: float = 1.0e5, poisson_ratio: float = 0.3) -> Model:
    """Returns a body of one material."""
    return make_model([Part("body", nodes, tets, np.ones(len(tets)), Material(youngs_modulus, poisson_ratio))])


def model_of_file(path: Path) -> Model:
    """Returns the tets of a file as a body."""
    read = read_tets(path)
    return model_of(read.nodes, read.tets)


def law_of(model: Model, name: str) -> Hyperelastic:
    """Returns a law as `sinew equilibrium` takes it."""
    return hyperelastic(model, name, "constant" if name in ("neo-hookean", "mooney-rivlin") else None)


def bar_model(
    cells: tuple[int, int, int] = (8, 3, 3), lengths: tuple[float, float, float] = (2.0, 0.75, 0.75)
) -> Model:
    """Returns a bar along x."""
    return model_of(*box_tets(cells, lengths))


def ends(X: Floats, share: float = 0.0, stretch: float = 0.0, turn: float = 0.0) -> FixedNodes:
    """Returns both ends along the longest side held: the far one moved out by a share of the length, and turned.

    Args:
        X: Rest positions [m], (n, 3).
        share: Of the length that belongs to each end.
        stretch: By how much of the length the far end moves out.
        turn: Angle by which the far end is turned about the long axis [rad].
    """
    axis = int(np.argmax(np.ptp(X, axis=0)))
    along, length = X[:, axis] - X[:, axis].min(), float(np.ptp(X[:, axis]))
    near, far = along <= (share + 1e-9) * length, along >= (1.0 - share - 1e-9) * length
    x, middle = X.copy(), 0.5 * (X.min(axis=0) + X.max(axis=0))
    u, v = (axis + 1) % 3, (axis + 2) % 3
    c, s = np.cos(turn), np.sin(turn)
    a, b = X[far, u] - middle[u], X[far, v] - middle[v]
    x[far, u], x[far, v] = middle[u] + c * a - s * b, middle[v] + s * a + c * b
    x[far, axis] += stretch * length
    nodes = np.flatnonzero(near | far)
    return FixedNodes(nodes.astype(np.int32), x[nodes])


def turned_about(X: Floats, turn: float) -> Floats:
    """Returns a bar along x [m], (n, 3), twisted evenly about its middle line, by an angle from end to end [rad]."""
    angle = turn * X[:, 0] / float(np.ptp(X[:, 0]))
    middle = 0.5 * (X.min(axis=0) + X.max(axis=0))
    c, s, (_, y, z) = np.cos(angle), np.sin(angle), (X - middle).T
    return np.stack([X[:, 0], middle[1] + c * y - s * z, middle[2] + s * y + c * z], axis=1)


def is_back(model: Model, found: Equilibrium) -> bool:
    """Returns whether a solve has ended in the rest shape, to 1e-4 of the longest side, with no tet inside out."""
    off = float(np.linalg.norm(found.x - model.X, axis=1).max())
    return (
        found.converged
        and found.inverted_tets == 0
        and off <= outcome_classification.SAME_POSITION_TOLERANCE * float(np.ptp(model.X, axis=0).max())
    )


def three_regions(X: Floats, share: float = 0.1) -> FixedNodes:
    """Returns the nodes within a share of the longest side of three points as distant as possible."""
    points = [int(np.argmax(np.linalg.norm(X - X.mean(axis=0), axis=1)))]
    for _ in range(2):
        points.append(int(np.argmax(np.linalg.norm(X[:, None] - X[points], axis=2).min(axis=1))))
    near = np.linalg.norm(X[:, None] - X[points], axis=2).min(axis=1) <= share * float(np.ptp(X, axis=0).max())
    nodes = np.flatnonzero(near)
    return FixedNodes(nodes.astype(np.int32), X[nodes])


def any_regions(X: Floats, count: int, seed: int, share: float = 0.1) -> FixedNodes:
    """Returns the nodes within a share of the longest side of some random nodes."""
    points = np.random.default_rng(seed).choice(len(X), count, replace=False)
    near = np.linalg.norm(X[:, None] - X[points], axis=2).min(axis=1) <= share * float(np.ptp(X, axis=0).max())
    nodes = np.flatnonzero(near)
    return FixedNodes(nodes.astype(np.int32), X[nodes])
