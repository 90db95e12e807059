# SPDX-License-Identifier: GPL-3.0-or-later
"""The check whether a body stands under its own weight: jelly two metres high does not.

The foot of a body of height H carries the stress ρ g H, so its strain there is ρ g H / E. A body of Simulated Size s
has gravity g / s and Young's modulus E / s², so that its strain is s times that. H is along gravity.
"""

from __future__ import annotations

import math

import numpy as np

from ..runtime.arrays import Floats
from ..runtime.errors import SinewError
from ..runtime.quantity_text import quantity_text
from .scene import Body

COLLAPSE_STRAIN = 0.4  # at the foot, from which on a body sags into a pancake
SAG_STRAIN = 0.1  # at the foot, of a body that sags visibly and keeps its shape


def self_weight_strain(body: Body, gravity: Floats) -> float:
    """Returns ρ g H / E of a body as it lies at the first frame, with gravity [m/s²], (3,)."""
    drop = float(np.ptp(body.vertices @ gravity))  # g H, since gravity need not be along an axis
    pressure = body.material.density * drop * body.field_weights.gravity
    return pressure * body.simulated_scale / body.material.youngs_modulus


def self_weight_warnings(body: Body, gravity: Floats, is_borne: bool) -> list[SinewError]:
    """Returns the warning that a body collapses under its own weight, where it does, with what would let it stand.

    Args:
        body: Of the scene.
        gravity: At the first frame [m/s²], (3,).
        is_borne: Whether bones or a rigid core bear it, so that it does not stand on its foot.
    """
    strain = self_weight_strain(body, gravity)
    if is_borne or not strain > COLLAPSE_STRAIN:
        return []
    scale = round_to_two_digits(body.simulated_scale * SAG_STRAIN / strain)
    size = round_to_two_digits(float(np.ptp(body.vertices, axis=0).max()) * scale)
    stiffness = round_to_two_digits(body.material.youngs_modulus * strain / SAG_STRAIN)
    return [collapse_warning(body.name, strain, stiffness, size, scale)]


def collapse_warning(name: str, strain: float, stiffness: float, size: float, scale: float) -> SinewError:
    """Returns the warning that a body collapses.

    Args:
        name: Of the body.
        strain: At its foot.
        stiffness: Young's modulus [Pa] with which it stands.
        size, scale: Simulated Size [m, or the scene's unit] with which it stands, and over its real size.
    """
    return SinewError(
        "collapses",
        name=name,
        times=f"{strain:.2g}",
        stiffness=quantity_text(stiffness, "Pa"),
        size=f"{size:.2g}",
        pascals=f"{stiffness:.6g}",  # of the option --youngs-modulus
        scale=f"{scale:.2g}",  # of the option --simulated-scale
    )


def round_to_two_digits(value: float) -> float:
    """Returns a number above zero, rounded to two digits."""
    return round(value, 1 - math.floor(math.log10(value)))
