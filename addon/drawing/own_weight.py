# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a body stands up under its own weight: jelly two metres high does not.

The foot of a body of height H carries the stress ρ g H, so its strain there is ρ g H / E. Linear tets keep their
shape up to some tenths; beyond that they are squeezed flat, as the real thing would be. A larger E lets the body
stand and fall as large things do, with slow wobbles. Simulated Size s scales the strain by s: the body then moves as
its small likeness does, whose fall and wobbles are over within a few frames.
"""

from __future__ import annotations

import math

import bpy

from .. import holding, roles
from . import tet_estimate

COLLAPSES = 0.4  # strain at the foot from which on a body is squeezed flat
STANDS = 0.1  # strain at the foot of a body that sags visibly and keeps its shape


def strain_at_foot(obj: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """Returns ρ g H / E of the body, with its Simulated Size; 0 without gravity, stiffness or size."""
    own, unit = obj.sinew, scene.unit_settings.scale_length
    found = tet_estimate.measures(obj, unit)
    if not scene.use_gravity or own.youngs_modulus <= 0.0 or found.longest <= 0.0:
        return 0.0
    scale = own.simulated_size * unit / found.longest if own.use_simulated_size else 1.0
    gravity = scene.gravity.length * unit
    return float(own.density * gravity * found.lengths[2] * scale / own.youngs_modulus)


def size_that_stands(obj: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """Returns the Simulated Size [Blender units] at which the strain at the foot is `STANDS`, to two digits."""
    unit = scene.unit_settings.scale_length
    now = obj.sinew.simulated_size if obj.sinew.use_simulated_size else tet_estimate.measures(obj, unit).longest / unit
    size = now * STANDS / strain_at_foot(obj, scene)
    return _two_digits(size)


def stiffness_that_stands(obj: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """Returns the Young's modulus [Pa] at which the strain at the foot is `STANDS`, to two digits."""
    return _two_digits(obj.sinew.youngs_modulus * strain_at_foot(obj, scene) / STANDS)


def collapses(obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Whether the body is squeezed flat by its own weight wherever it stands; flesh hangs on its bones instead."""
    hangs = roles.is_flesh(obj) and holding.is_held(scene, obj)
    return not hangs and strain_at_foot(obj, scene) > COLLAPSES


def _two_digits(value: float) -> float:
    return round(value, 1 - math.floor(math.log10(value)))
