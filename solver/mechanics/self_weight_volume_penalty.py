# SPDX-License-Identifier: GPL-3.0-or-later
"""The pressure by volume of bodies that are too soft to stand: they keep their volume under their own weight.

The corotational law says little of the volume of what is squeezed by some tenths: with ν = 0.45 a cube whose foot is
strained by a quarter loses 3 % of its volume, one of jelly two metres high, strained fourfold, 99 %, and its tets turn
inside out. So a body whose foot is strained by more than `MAX_UPRIGHT_STRAIN` resists changes of its volume itself
(`elements/added_volume_penalty.py`), with the bulk modulus of the softest body that stands upright with the same
weight ρ g H per area and Poisson's ratio ν:

    κ = ρ g H / (3 (1 − 2ν) MAX_UPRIGHT_STRAIN)

Its shear modulus stays, so it sags into a pancake of its own volume. What weight takes of the volume depends on ν
alone: at 0.45 a cube at rest loses 1.6 %, however soft it is. At the bound κ is that of the material, so nothing jumps
there, and stiffer bodies have no pressure. H is that of the first frame, along gravity.

Dynamic flesh that nothing holds and that is asked to (`Flesh.keeps_volume`) has the same κ, λ + ⅔ μ of it by its own
law and the rest by a pressure beside that (`hyperelastic/added_volume_penalty.py`): corotated flesh and that of St
Venant and Kirchhoff would give way whatever their moduli are; the latter gives way so early that it gets more. Without
being asked it is as its papers have it: S07 crushes its torus by its weight, to let it come back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..runtime.arrays import Floats
from ..scene.formulation import NEAREST, POLAR
from ..scene.scene import Body, Scene
from ..scene.self_weight_check import self_weight_strain
from .model import Model

ADDITIVE_LAW = "additive"
MAX_UPRIGHT_STRAIN = 0.25  # at the foot, up to which the corotational law keeps the volume
# times the pressure beside the law of St Venant and Kirchhoff, which leaves it alone where it is needed: with 1 a cube
# of ν = 0.45 still loses 5 to 11 % at foot strains from 0.26 to 1, with 4 it loses 1 to 3 % (tried 1, 2, 4, 6)
GIVING_WAY = 6.0


def with_pressure_modulus(bodies: Mapping[int, Body], model: Model, gravity: Floats) -> Model:
    """Returns the model in which bodies that weight would press flat resist changes of their volume itself.

    Args:
        bodies: Those that are asked about, by their numbers in the model; others keep what they have.
        model: All bodies, at rest.
        gravity: At the first frame [m/s²], (3,).
    """
    kappa = model.pressure_modulus.copy() if len(model.pressure_modulus) else np.zeros(model.tet_count)
    for number, body in bodies.items():
        tets, factor = model.bodies[number].tets, 0.0
        if has_self_weight_pressure(body, gravity):
            factor = self_weight_strain(body, gravity) / MAX_UPRIGHT_STRAIN
        kappa[tets] = (model.lam[tets] + 2.0 / 3.0 * model.mu[tets]) * factor
    if not kappa.any():
        return model if not len(model.pressure_modulus) else replace(model, pressure_modulus=np.zeros(0))
    lam = np.where(kappa > 0.0, kappa - 2.0 / 3.0 * model.mu, model.lam)
    return replace(model, lam=lam, pressure_modulus=kappa)


def has_self_weight_pressure(body: Body, gravity: Floats) -> bool:
    """Whether a body keeps its volume by a pressure, with gravity [m/s²], (3,), at the first frame.

    A core holds what hangs on it; a shape with its sag in it is borne by the stress at rest; the additive law of
    plasticity does not keep volume. Other methods are as their papers have them; flesh see `flesh_has_pressure`.
    """
    method, plasticity = body.method, body.plasticity
    if method.name != POLAR or method.rotation != NEAREST or (plasticity and plasticity.law == ADDITIVE_LAW):
        return False
    has_goal = body.goal is not None and body.goal.bears
    is_borne = body.flesh is not None or body.has_core or body.gravity_in_shape or has_goal
    return not is_borne and self_weight_strain(body, gravity) > MAX_UPRIGHT_STRAIN


def pressure_of_flesh(scene: Scene, model: Model, gravity: Floats) -> Floats:
    """Returns the modulus [Pa] of the pressure that flesh has beside its law, (m,), or (0,) where none has any.

    Args:
        scene: What is asked for.
        model: All its bodies, at rest.
        gravity: At the first frame [m/s²], (3,).
    """
    kappa = np.zeros(model.tet_count)
    for body, own in zip(scene.bodies, model.bodies, strict=True):
        if flesh_has_pressure(scene, body, gravity):
            material = model.lam[own.tets] + 2.0 / 3.0 * model.mu[own.tets]
            steep = GIVING_WAY if body.flesh is not None and body.flesh.law == "stvk" else 1.0
            kappa[own.tets] = steep * material * (self_weight_strain(body, gravity) / MAX_UPRIGHT_STRAIN - 1.0)
    return kappa if kappa.any() else np.zeros(0)


def flesh_has_pressure(scene: Scene, body: Body, gravity: Floats) -> bool:
    """Whether flesh keeps its volume by a pressure, with gravity [m/s²], (3,), at the first frame."""
    is_asked = body.flesh is not None and body.flesh.keeps_volume and not body.gravity_in_shape
    return is_asked and scene.is_loose_flesh(body) and self_weight_strain(body, gravity) > MAX_UPRIGHT_STRAIN
