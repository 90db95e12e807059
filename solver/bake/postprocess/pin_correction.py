# SPDX-License-Identifier: GPL-3.0-or-later
"""Applies the sub-tet correction of pins (pins.py) to the final mesh."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...constraints.pins import correction_matrix
from ...mesh.cutting.final_mesh import FinalMesh
from ...runtime.arrays import Indices
from ...scene.scene import Body

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def pin_corrections(body: Body, pins: str, tet_size: float, surface: FinalMesh, first: Indices) -> csr_matrix | None:
    """Returns the weights from offsets of exact pins to the vertices of a final mesh, sparse (k, e); None without such.

    Vertices on the surface follow their triangle of the render mesh; inner ones follow by their distance from the pins.
    Copies of one point follow like the first.

    Args:
        body: The body.
        pins: Key of the pins: the body's own, or those of attached nodes.
        tet_size: Edge length of the body's lattice [m].
        surface: The final mesh.
        first: The first copy of the same point, per vertex, (k,).
    """
    pinned, weights = (body.pinned, body.pin_weights) if pins == body.key else (body.attached, body.attached_weights)
    exact = np.asarray(pinned)[np.asarray(weights) >= 1.0]
    if not len(exact):
        return None
    from scipy.sparse import csr_matrix

    rows = correction_matrix(np.vstack([body.vertices, surface.rest]), exact, tet_size)
    mixed = csr_matrix(_render_mesh_weights(body, surface) @ rows)
    return csr_matrix(mixed[first])


def _render_mesh_weights(body: Body, surface: FinalMesh) -> csr_matrix:
    """Returns the vertices as weighted sums of render vertices (n) and of themselves (k), sparse (k, n + k)."""
    from scipy.sparse import csr_matrix

    count, own = len(body.vertices), len(surface.rest)
    columns = np.tile(count + np.arange(own, dtype=np.int64)[:, None], (1, 3))
    weights = np.tile([1.0, 0.0, 0.0], (own, 1))
    lies_on = np.flatnonzero(surface.corner_triangle >= 0)
    vertex = surface.corners[lies_on]
    columns[vertex] = body.triangles[surface.corner_triangle[lies_on]]
    weights[vertex] = surface.corner_weights[lies_on]
    is_source = surface.source_vertex >= 0
    columns[is_source, 0] = surface.source_vertex[is_source]
    weights[is_source] = [1.0, 0.0, 0.0]
    rows = np.repeat(np.arange(own, dtype=np.int64), 3)
    return csr_matrix((weights.ravel(), (rows, columns.ravel())), shape=(own, count + own))
