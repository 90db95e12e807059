# SPDX-License-Identifier: GPL-3.0-or-later
"""The check whether a body stands under its own weight: jelly two metres high does not.

The foot of a body of height H carries the stress ρ g H, so its strain there is ρ g H / E
(`solver/scene/self_weight.py`). Beyond some tenths the body sags into a pancake, as the real thing would. A larger E
lets it stand and fall as large things do, with slow wobbles. Simulated Size s scales the strain by s: the body then
moves as its small likeness does, whose fall and wobbles are over within a few frames.

Flesh that something holds does not stand on its foot. It hangs from what is inside it, at most as far as it is thick:
for H stands 6 V / A, the diameter of a ball of the same volume V and area A, where that is less than its height. Nor
does a body with a rigid core collapse: its skin alone may sag.
"""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ...solver.runtime.errors import SinewError
from ...solver.scene.self_weight import COLLAPSE_STRAIN, SAG_STRAIN, collapse_warning, round_to_two_digits
from . import attachment, roles, tet_estimate

MAX_HANGING_STRAIN = 1.0  # ρ g H / E of held flesh from which on it may hang so far that a pose is hardly found
SAGGING_HANGING_STRAIN = 0.3  # of held flesh that sags visibly and stays on its bones


def self_weight_strain(obj: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """Returns ρ g H / E of the body, of held flesh as it hangs, with Simulated Size; 0 without gravity or size."""
    settings, unit = obj.sinew, scene.unit_settings.scale_length
    found = tet_estimate.measure_object(obj, unit)
    if not scene.use_gravity or settings.youngs_modulus <= 0.0 or found.longest <= 0.0:
        return 0.0
    scale = settings.simulated_size * unit / found.longest if settings.use_simulated_size else 1.0
    gravity = scene.gravity.length * unit * settings.weight_gravity
    return float(settings.density * gravity * _height(obj, scene, found) * scale / settings.youngs_modulus)


def standing_size(obj: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """Returns the Simulated Size [Blender units] at which the strain at the foot is `SAG_STRAIN`, to two digits."""
    unit = scene.unit_settings.scale_length
    now = (
        obj.sinew.simulated_size
        if obj.sinew.use_simulated_size
        else tet_estimate.measure_object(obj, unit).longest / unit
    )
    size = now * SAG_STRAIN / self_weight_strain(obj, scene)
    return round_to_two_digits(size)


def standing_stiffness(obj: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """Returns the Young's modulus [Pa] at which the strain is `SAG_STRAIN`, or of held flesh `SAGGING_HANGING_STRAIN`,
    to two digits.
    """
    wanted = SAGGING_HANGING_STRAIN if _is_held_flesh(obj, scene) else SAG_STRAIN
    return round_to_two_digits(obj.sinew.youngs_modulus * self_weight_strain(obj, scene) / wanted)


def collapses(obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Whether the body is squeezed flat by its own weight wherever it stands; flesh hangs on its bones instead."""
    has_bones = _is_held_flesh(obj, scene) or obj.sinew.use_core or obj.sinew.use_goal
    return not has_bones and self_weight_strain(obj, scene) > COLLAPSE_STRAIN


def collapsing_bodies(bodies: Iterable[bpy.types.Object], scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Returns those of the bodies that collapse."""
    return [obj for obj in bodies if collapses(obj, scene)]


def collapse_note(obj: bpy.types.Object, scene: bpy.types.Scene) -> SinewError:
    """Returns the note that a body collapses, in lengths of the scene."""
    strain, size = self_weight_strain(obj, scene), standing_size(obj, scene)
    unit = scene.unit_settings.scale_length
    scale = round_to_two_digits(size * unit / tet_estimate.measure_object(obj, unit).longest)
    return collapse_warning(obj.name, strain, standing_stiffness(obj, scene), size, scale)


def is_too_soft_to_hang(obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Whether held flesh is so soft for its thickness that it may hang far off what holds it."""
    return _is_held_flesh(obj, scene) and self_weight_strain(obj, scene) > MAX_HANGING_STRAIN


def _is_held_flesh(obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    return roles.is_flesh(obj) and attachment.is_held(scene, obj)


def _height(obj: bpy.types.Object, scene: bpy.types.Scene, found: tet_estimate.MeshMeasures) -> float:
    """Returns H [m], from foot to top, or of held flesh how far it may hang."""
    height = float(found.lengths[2])
    if not _is_held_flesh(obj, scene) or found.area <= 0.0:
        return height
    return min(height, 6.0 * found.volume / found.area)
