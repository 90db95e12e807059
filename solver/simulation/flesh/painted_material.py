# SPDX-License-Identifier: GPL-3.0-or-later
"""The material that is painted on flesh: factors on its stiffness, its Poisson's ratio and its density."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...mechanics.elastic_moduli import lame_moduli
from ...mechanics.model import Model
from ...mesh.paint_extrapolation import extrapolate_to_tets
from ...mesh.tet_mesh import TetMesh
from ...runtime.arrays import Floats, floats
from ...scene.flesh import Flesh
from ...scene.scene import Body, Scene

MIN_PAINT_FACTOR = 0.01  # of what is not painted: without any stiffness or mass nothing says where nodes are
MAX_PAINTED_POISSON_RATIO = 0.49  # as far as paint above 1 raises it; what the body itself has stays


def apply_painted_material(scene: Scene, meshes: Sequence[TetMesh], model: Model) -> Model:
    """Returns the model of all bodies with the moduli and masses that are painted on flesh."""
    painted = [n for n, body in enumerate(scene.bodies) if body.flesh is not None and _is_painted(body.flesh)]
    if not painted:
        return model
    mu, lam, mass = model.mu.copy(), model.lam.copy(), model.mass.copy()
    for number in painted:
        body, place = scene.bodies[number], model.bodies[number]
        stiffness, volume, density = _paint_factors(body, meshes[number])
        nu = body.material.poisson_ratio
        E = body.material.youngs_modulus / body.simulated_scale**2 * stiffness
        mu[place.tets], lam[place.tets] = lame_moduli(E, np.minimum(nu * volume, max(nu, MAX_PAINTED_POISSON_RATIO)))
        weight = np.repeat(0.25 * body.material.density * density * model.volume[place.tets], 4)
        corners = model.tets[place.tets].ravel() - place.nodes.start
        mass[place.nodes] = np.bincount(corners, weight, minlength=place.nodes.stop - place.nodes.start)
    return replace(model, mu=floats(mu), lam=floats(lam), mass=floats(mass))


def _is_painted(flesh: Flesh) -> bool:
    return any(len(paint) for paint in (flesh.stiffness_paint, flesh.volume_paint, flesh.density_paint))


def _paint_factors(body: Body, mesh: TetMesh) -> tuple[Floats, Floats, Floats]:
    flesh = body.flesh or Flesh()
    stiffness, volume, density = extrapolate_to_tets(
        body, mesh, flesh.stiffness_paint, flesh.volume_paint, flesh.density_paint
    )
    return np.maximum(stiffness, MIN_PAINT_FACTOR), np.maximum(volume, 0.0), np.maximum(density, MIN_PAINT_FACTOR)
