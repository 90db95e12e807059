# SPDX-License-Identifier: GPL-3.0-or-later
"""Tets that are larger or smaller at rest than they were modeled: the stretch of each, and what it makes of a model.

A tet whose shape without stress is S times the modeled one, S symmetric and positive definite, has the elastic part
F S⁻¹ of its deformation gradient F: its Dm⁻¹ becomes Dm⁻¹ S⁻¹, and its volume det S times as large. With the weight w
and the scale s it is

    S = (1 + w (s − 1)) I,   or   S = I + w (s − 1) n nᵀ   along a direction n.

Neighbours whose S do not fit each other press and pull each other; so no map of nodes at rest is needed. A
triangle of a sheet grows in its plane alone, and keeps its thickness and how hard it is to bend.

Source: multiplicative growth, RHM94.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...mechanics.model import Model, is_sheet
from ...mesh.tet_mesh import TetMesh
from ...mesh.tet_paint_values import extrapolate_to_tets
from ...runtime.arrays import Floats, floats
from ...scene.scene import Body

MIN_ALIGNMENT = 1.0e-6  # largest share of a direction in what is painted around a tet, below which it has none


@dataclass(frozen=True, eq=False)
class RestStretch:
    """Where a body is scaled, and along what, k tets.

    Attributes:
        weight: w, 0 where a direction is asked for and there is none, (k,); of a sheet at its nodes, (n,).
        direction: n, (k, 3), or (0, 3): all directions.
    """

    weight: Floats
    direction: Floats


def make_rest_stretch(body: Body, mesh: TetMesh) -> RestStretch:
    """Returns where a body with these tets is scaled.

    Directions have no sign: inside a triangle n is the principal axis of the mean of d dᵀ at its corners.
    """
    paint, direction = body.rest_scale.paint, body.rest_scale.direction
    if mesh.sheet is not None:
        weight = np.ones(len(mesh.nodes))
        if len(paint):
            weight[: len(mesh.sheet.vertices)] = paint[mesh.sheet.vertices]
        return RestStretch(weight, np.zeros((0, 3)))
    if not len(direction):
        (weight,) = extrapolate_to_tets(body, mesh, paint)
        return RestStretch(weight, np.zeros((0, 3)))
    length = np.linalg.norm(direction, axis=1)
    d = direction / np.where(length > 0.0, length, 1.0)[:, None]
    pairs = [(i, j) for i in range(3) for j in range(i, 3)]
    weight, *products = extrapolate_to_tets(body, mesh, paint, *(floats(d[:, i] * d[:, j]) for i, j in pairs))
    tensor = np.empty((len(weight), 3, 3))
    for (i, j), values in zip(pairs, products, strict=True):
        tensor[:, i, j] = tensor[:, j, i] = values
    share, axes = np.linalg.eigh(tensor)
    return RestStretch(np.where(share[:, 2] > MIN_ALIGNMENT, weight, 0.0), floats(axes[:, :, 2]))


def with_rest_scales(model: Model, scaled: dict[int, tuple[RestStretch, float]]) -> Model:
    """Returns the model in which bodies are scaled at rest: where, and by which s, by their numbers; masses stay."""
    Dm_inverse, volume, sheets = model.Dm_inverse.copy(), model.volume.copy(), model.sheets
    for number, (stretch, scale) in scaled.items():
        tets = model.bodies[number].tets
        if sheets is not None and is_sheet(model, number):
            factor = np.ones(model.node_count)
            factor[model.bodies[number].nodes] += stretch.weight * (scale - 1.0)
            sheets = sheets.scaled(factor, model.tets)
            continue
        along = 1.0 + stretch.weight * (scale - 1.0)
        if len(stretch.direction):
            n = stretch.direction
            # S⁻¹ = I + (1/along − 1) n nᵀ
            on_axis = np.einsum("mij,mj->mi", Dm_inverse[tets], n)
            Dm_inverse[tets] += np.einsum("m,mi,mj->mij", 1.0 / along - 1.0, on_axis, n)
            volume[tets] *= along
        else:
            Dm_inverse[tets] /= along[:, None, None]
            volume[tets] *= along**3
    return replace(model, Dm_inverse=Dm_inverse, volume=volume, sheets=sheets)
