# SPDX-License-Identifier: GPL-3.0-or-later
"""The pressure by volume of bodies that are too soft to stand: they keep their volume under their own weight.

The corotational law says little of the volume of what is squeezed by some tenths: with ν = 0.45 a cube whose foot is
strained by a quarter loses 3 % of its volume, one of jelly two metres high, strained fourfold, 99 %, and its tets turn
inside out. So a body whose foot is strained by more than `UPRIGHT_STRAIN` resists changes of its volume itself
(`elements/volume_pressure.py`), with the bulk modulus of the softest body that stands upright with the same weight
ρ g H per area and Poisson's ratio ν:

    κ = ρ g H / (3 (1 − 2ν) UPRIGHT_STRAIN)

Its shear modulus stays, so it sags into a pancake of its own volume. What weight takes of the volume depends on ν
alone: at 0.45 a cube at rest loses 1.6 %, however soft it is. At the bound κ is that of the material, so nothing jumps
there, and stiffer bodies have no pressure. H is that of the first frame, along gravity.

Dynamic flesh that nothing holds gets this bulk modulus too, for the volume term of its own law. St Venant and
Kirchhoff's law gives way under pressure whatever its moduli are, and stays so.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .anatomy import DYNAMIC
from .arrays import Floats
from .method import NEAREST, POLAR
from .model import Model
from .own_weight import foot_strain
from .scene import Body, Scene

ADDITIVE = "additive"
UPRIGHT_STRAIN = 0.25  # at the foot, up to which the corotational law keeps the volume


def with_volume_kept(scene: Scene, model: Model, gravity: Floats) -> Model:
    """Returns the model in which bodies that weight would press flat keep their volume.

    Args:
        scene: With the bodies as asked for, in the model's order.
        model: All bodies, at rest.
        gravity: At the first frame [m/s²], (3,).
    """
    bulk, is_pressed = np.zeros(model.tet_count), np.zeros(model.tet_count, bool)
    for body, own in zip(scene.bodies, model.bodies, strict=True):
        times = foot_strain(body, gravity) / UPRIGHT_STRAIN
        is_pressed[own.tets] = has_pressure = has_weight_pressure(body, gravity)
        if times > 1.0 and (has_pressure or is_loose_flesh(body, scene)):
            bulk[own.tets] = times * (model.lam[own.tets] + 2.0 / 3.0 * model.mu[own.tets])
    if not bulk.any():
        return model
    lam = np.where(bulk > 0.0, bulk - 2.0 / 3.0 * model.mu, model.lam)
    by_volume = np.where(is_pressed, bulk, 0.0) if is_pressed.any() else model.pressure_modulus
    return replace(model, lam=lam, pressure_modulus=by_volume)


def is_loose_flesh(body: Body, scene: Scene) -> bool:
    """Whether a body is flesh that moves and that nothing holds, so that it falls and lies as any other body does."""
    return body.flesh is not None and body.flesh.motion == DYNAMIC and not len(body.pinned) and not scene.bones


def has_weight_pressure(body: Body, gravity: Floats) -> bool:
    """Whether a body keeps its volume by a pressure, with gravity [m/s²], (3,), at the first frame.

    Flesh has laws with a volume of their own; a core holds what hangs on it; a shape with its sag in it is borne by the
    stress at rest; the additive law of plasticity does not keep volume; other methods are as their papers have them.
    """
    method, plasticity = body.method, body.plasticity
    if method.name != POLAR or method.rotation != NEAREST or (plasticity and plasticity.law == ADDITIVE):
        return False
    is_borne = body.flesh is not None or body.core is not None or body.gravity_in_shape
    return not is_borne and foot_strain(body, gravity) > UPRIGHT_STRAIN
