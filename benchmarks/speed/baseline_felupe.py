# SPDX-License-Identifier: GPL-3.0-or-later
"""felupe with CHOLMOD: Newton's method with felupe's own assembly, threaded, and cvxopt's CHOLMOD on OpenBLAS.

The analysis is done once and kept, as are felupe's pattern of the matrix, its region and its body: a solve pays for
numbers alone.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sinew.solver.mechanics.model import Model
from sinew.solver.quasistatic.fixed_nodes import FixedNodes
from sinew.solver.runtime.arrays import Floats

ORDERINGS = ("AMD", "METIS")


def blas_of_cholmod() -> str:
    """Returns from which library CHOLMOD takes its products of matrices (Linux only; else "unknown").

    cvxopt's wheel holds two; the dynamic linker says which one it binds them to.
    """
    code = (
        "import cvxopt.cholmod as c; from cvxopt import spmatrix\n"
        "A = spmatrix([4.0, 4.0, -1.0], [0, 1, 1], [0, 1, 0]); c.numeric(A, c.symbolic(A))"
    )
    environment = os.environ | {"LD_DEBUG": "bindings"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    found = re.search(r"libcholmod\S* \[0\] to \S*/(\w+)[^/]* \[0\]: normal symbol `dgemm_'", done.stderr)
    return found.group(1) if found else "unknown"


@dataclass
class CholmodFactor:
    """The factors of the free part of a matrix whose pattern stays.

    Attributes:
        which: Entries of felupe's matrix that are in the lower triangle over the free unknowns.
        matrix, factor: cvxopt's.
    """

    which: np.ndarray
    matrix: Any
    factor: Any

    def solve(self, data: Floats, b: Floats) -> Floats:
        """Returns K⁻¹ b for the entries of felupe's matrix."""
        from cvxopt import cholmod, matrix

        self.matrix.V = matrix(data[self.which])
        cholmod.numeric(self.matrix, self.factor)
        x = matrix(b)
        cholmod.solve(self.factor, x)
        return np.array(x).ravel()


def analyse(K: Any, free: np.ndarray, ordering: str) -> CholmodFactor:
    """Returns the analysis of felupe's matrix K over the free unknowns, with the factor supernodal."""
    from cvxopt import cholmod, matrix, spmatrix

    number = np.full(K.shape[0], -1)
    number[free] = np.arange(len(free))
    # K is symmetric: its upper triangle by rows is the lower one by columns
    column, row = number[np.repeat(np.arange(K.shape[0]), np.diff(K.indptr))], number[K.indices]
    which = np.flatnonzero((column >= 0) & (row >= column))
    which = which[np.lexsort((row[which], column[which]))]
    row, column = row[which], column[which]
    lower = spmatrix(1.0, matrix(row.astype(np.int64)), matrix(column.astype(np.int64)), (len(free), len(free)))
    cholmod.options["supernodal"] = 2
    if ordering == "AMD":
        return CholmodFactor(which, lower, cholmod.symbolic(lower))
    return CholmodFactor(which, lower, cholmod.symbolic(lower, matrix(_nested_dissection(row, column, len(free)))))


def _nested_dissection(row: np.ndarray, column: np.ndarray, count: int) -> np.ndarray:
    """Returns METIS's order of unknowns, which come in threes, by the graph of their nodes."""
    import pymetis

    own = (row % 3 == 0) & (column % 3 == 0) & (row != column)
    a, b = row[own] // 3, column[own] // 3
    a, b = np.concatenate([a, b]), np.concatenate([b, a])
    order = np.lexsort((b, a))
    starts = np.searchsorted(a[order], np.arange(count // 3 + 1))
    graph = pymetis.CSRAdjacency(adj_starts=starts.tolist(), adjacent=b[order].tolist())
    found, _ = pymetis.nested_dissection(graph)
    return np.asarray((3 * np.asarray(found)[:, None] + np.arange(3)).ravel(), np.int64)


@dataclass
class FelupeBody:
    """A neo-Hookean body of felupe's, and what is kept of it from solve to solve.

    Attributes:
        model, held: Which body, and what holds it.
        ordering: One of `ORDERINGS`.
        newton_iterations: Of the last solve.
        residual: ‖f over free nodes‖ / ‖f over held nodes‖ at its end.
    """

    model: Model
    held: FixedNodes
    ordering: str
    newton_iterations: int = 0
    residual: float = np.inf
    factors: CholmodFactor | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Makes felupe's mesh, region, field and body."""
        import felupe

        mesh = felupe.Mesh(self.model.X, self.model.tets.astype(int), "tetra")
        self.field = felupe.FieldContainer([felupe.Field(felupe.RegionTetra(mesh), dim=3)])
        law = felupe.NeoHookeCompressible(mu=float(self.model.mu[0]), lmbda=float(self.model.lam[0]))
        self.body = felupe.SolidBody(law, self.field)
        self.given = (3 * self.held.nodes[:, None] + np.arange(3)).ravel()
        self.free = np.setdiff1d(np.arange(3 * len(self.model.X)), self.given)

    def solve(self, x: Floats, tolerance: float, most: int = 50) -> Floats:
        """Returns the equilibrium [m], (n, 3), from the start x [m], (n, 3), held nodes in place."""
        u = self.field[0].values
        u[:] = x - self.model.X
        u[self.held.nodes] = self.held.positions - self.model.X[self.held.nodes]
        for self.newton_iterations in range(most + 1):
            f = np.asarray(self.body.assemble.vector(self.field, parallel=True).todense()).ravel()
            self.residual = float(np.linalg.norm(f[self.free]) / np.linalg.norm(f[self.given]))
            if self.residual <= tolerance:
                break
            K = self.body.assemble.matrix(parallel=True)
            if self.factors is None:
                self.factors = analyse(K, self.free, self.ordering)
            u.ravel()[self.free] += self.factors.solve(K.data, -f[self.free])
        return np.asarray(self.model.X + u)
