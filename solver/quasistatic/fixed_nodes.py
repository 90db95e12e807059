# SPDX-License-Identifier: GPL-3.0-or-later
"""The nodes that are held, and where."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..mesh.geometry.connected_components import mesh_components
from ..runtime.arrays import Bools, Floats, Indices
from ..runtime.errors import BadInput
from ..runtime.npz_reader import first_line, read_arrays


@dataclass(frozen=True, eq=False)
class FixedNodes:
    """Nodes whose positions are given.

    Attributes:
        nodes: Each once, (k,).
        positions: Where they are held [m], (k, 3).
    """

    nodes: Indices
    positions: Floats

    def is_free(self, node_count: int) -> Bools:
        """Returns which of n nodes are solved for, (n,)."""
        free = np.ones(node_count, np.bool_)
        free[self.nodes] = False
        return free


def read_fixed_nodes(path: Path, number: Indices) -> FixedNodes:
    """Returns what the arrays `nodes` (k,) and `positions` (k, 3) of an .npz file hold.

    Args:
        path: The file.
        number: Number in the file of tets → node, −1 for those that no tet uses, (N,).

    Raises:
        BadInput: "file-unreadable", "pins-arrays", "pins-none", "pins-outside", "pins-twice", "pins-not-finite",
            "pins-unused".
    """
    nodes, positions = _read_arrays(path)
    if not len(nodes):
        raise BadInput("pins-none", path=str(path))
    if nodes.min() < 0 or nodes.max() >= len(number):
        wrong = int(nodes.min()) if nodes.min() < 0 else int(nodes.max())
        raise BadInput("pins-outside", path=str(path), node=wrong, last=len(number) - 1)
    values, counts = np.unique(nodes, return_counts=True)
    if counts.max() > 1:
        raise BadInput("pins-twice", path=str(path), node=int(values[np.argmax(counts)]))
    broken = int((~np.isfinite(positions).all(axis=1)).sum())
    if broken:
        raise BadInput("pins-not-finite", path=str(path), count=broken)
    used = number[nodes]
    if (used < 0).all():
        raise BadInput("pins-unused", path=str(path))
    return FixedNodes(np.ascontiguousarray(used[used >= 0], np.int32), np.ascontiguousarray(positions[used >= 0]))


def check_constrained(tets: Indices, fixed: FixedNodes, number: Indices, name: str) -> None:
    """Refuses a piece of the mesh of which no node is held: nothing would say where it is.

    Args:
        tets: Nodes of the tets, (m, 4).
        fixed: The fixed nodes.
        number: What the nodes are called outside, (n,).
        name: Of the mesh.

    Raises:
        BadInput: "pins-piece".
    """
    piece = mesh_components(tets, len(number))
    loose = np.flatnonzero(~np.isin(piece, piece[fixed.nodes]))
    if len(loose):
        nodes = np.flatnonzero(piece == piece[loose[0]])
        raise BadInput("pins-piece", path=name, count=len(nodes), node=int(number[nodes[0]]))


def _read_arrays(path: Path) -> tuple[np.ndarray, Floats]:
    try:
        found = read_arrays(path)
    except (OSError, ValueError) as problem:
        raise BadInput("file-unreadable", path=str(path), problem=_error_text(problem)) from problem
    if not {"nodes", "positions"} <= set(found):
        raise BadInput("pins-arrays", path=str(path))
    nodes, positions = found["nodes"], found["positions"]
    fits = nodes.ndim == 1 and positions.shape == (len(nodes), 3)
    if not fits or not (np.issubdtype(nodes.dtype, np.integer) or not len(nodes)) or positions.dtype.kind not in "fiu":
        raise BadInput("pins-arrays", path=str(path))
    return nodes.astype(np.int64), positions.astype(np.float64)


def _error_text(problem: Exception) -> str:
    if isinstance(problem, FileNotFoundError):
        return "there is no such file"
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror.lower()
    return first_line(problem)
