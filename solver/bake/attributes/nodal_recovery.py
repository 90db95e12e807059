# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodal recovery: averages values of tets at nodes, and interpolates them at render vertices."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...mesh.embedding import Binding
from ...runtime.arrays import Floats, Indices
from .attribute_fields import NODE_ATTRIBUTES


def average_at_nodes(tets: Indices, volume: Floats, values: Floats, node_count: int) -> Floats:
    """Returns the average of the tets at each node, weighted by their volumes V: Σ V s / Σ V, (n,).

    Args:
        tets: Present nodes of the tets, (m, 4). Copies of a node on two sides of a crack share no tets, so the
            average does not cross it.
        volume: Their rest volumes [m³], (m,).
        values: s, (m,).
        node_count: n.
    """
    corners = tets.ravel()
    weight = np.bincount(corners, np.repeat(volume, 4), node_count)
    total = np.bincount(corners, np.repeat(volume * values, 4), node_count)
    return total / np.maximum(weight, 1e-300)


def interpolate_at_vertices(
    values: Mapping[str, Floats], tets: Indices, volume: Floats, binding: Binding, node_count: int
) -> dict[str, Floats]:
    """Returns what `body_values` gave, at bound points: columns (k,), those of velocity named velocity_x, _y, _z.

    Points outside their tet get the values of its nearest nodes, so that no value exceeds those inside.

    Args:
        values: By name, a row per node of the body or per tet.
        tets: Present nodes of the body's tets, (m, 4).
        volume: Their rest volumes [m³], (m,).
        binding: The points.
        node_count: Present nodes of the body.
    """
    found = {}
    corners = tets[binding.tet]
    weights = np.maximum(binding.weights, 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    for name, rows in values.items():
        per_node = rows if name in NODE_ATTRIBUTES else average_at_nodes(tets, volume, rows, node_count)
        for column, part in _columns(name, np.asarray(per_node, np.float64)):
            found[column] = np.einsum("ka,ka->k", weights, part[corners])
    return found


def _columns(name: str, values: Floats) -> list[tuple[str, Floats]]:
    if values.ndim == 1:
        return [(name, values)]
    return [(f"{name}_{axis}", values[:, column]) for column, axis in enumerate("xyz")]
