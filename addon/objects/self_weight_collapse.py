# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks whether a body stands under its own weight: jelly two metres high does not.

The foot of a body of height H carries the stress ρ g H, so its strain there is ρ g H / E
(`solver/scene/self_weight_check.py`). Beyond a few tenths the body collapses, as a real one would. With a larger E
it stands, and falls and wobbles slowly, as large objects do. Simulated Size s scales the strain by s: the body then
moves as a small model of it, which falls and wobbles within a few frames.

Supported flesh does not stand on its foot. It hangs from its bones, at most as far as it is thick: H is then 6 V / A,
the diameter of a ball of volume V and area A, or its height if that is less. A body with a rigid core does not
collapse either: only its skin may sag.
"""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ...solver.runtime.errors import SinewError
from ...solver.scene.self_weight_check import COLLAPSE_STRAIN, SAG_STRAIN, collapse_warning, round_to_two_digits
from ...solver.scene.settings.flesh_settings import ELASTIC
from . import flesh_supports, roles, tet_estimate

HANGING_WARNING_STRAIN = 1.0  # ρ g H / E above which supported flesh may hang so far that a pose is hard to find
HANGING_TARGET_STRAIN = 0.3  # ρ g H / E at which supported flesh sags visibly but stays on its bones

MIN_HEIGHT_SHARE = 0.1  # of the longest side, which counts as height where a body is flatter


def self_weight_strain(obj: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """Returns ρ g H / E of the body, of held flesh as it hangs, with Simulated Size; 0 without gravity or size."""
    settings, unit = obj.sinew, scene.unit_settings.scale_length
    found = tet_estimate.measure_object(obj, unit)
    if not scene.use_gravity or settings.youngs_modulus <= 0.0 or found.longest <= 0.0:
        return 0.0
    height = _height(found, _is_held_flesh(obj, scene)) * _simulated_scale(obj, found, unit)
    return float(
        settings.density * scene.gravity.length * settings.weight_gravity * unit * height / settings.youngs_modulus
    )


def stiffness_for_size(obj: bpy.types.Object, scene: bpy.types.Scene, density: float, strain: float) -> float | None:
    """Returns the Young's modulus [Pa] at which ρ g H / E of a body is `strain`, to two digits; None without gravity
    or size. Flesh hangs, also before anything holds it, and what lies flat bends.
    """
    unit = scene.unit_settings.scale_length
    found = tet_estimate.measure_object(obj, unit)
    if not scene.use_gravity or found.longest <= 0.0:
        return None
    height = _height(found, obj.sinew.motion != ELASTIC) * _simulated_scale(obj, found, unit)
    stress = density * scene.gravity.length * unit * max(height, MIN_HEIGHT_SHARE * found.longest)
    return round_to_two_digits(stress / strain) if stress > 0.0 else None


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
    """Returns the Young's modulus [Pa] at which the strain is `SAG_STRAIN`, or of held flesh `HANGING_TARGET_STRAIN`,
    to two digits.
    """
    wanted = HANGING_TARGET_STRAIN if _is_held_flesh(obj, scene) else SAG_STRAIN
    return round_to_two_digits(obj.sinew.youngs_modulus * self_weight_strain(obj, scene) / wanted)


def collapses(obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Whether the body is squeezed flat by its own weight wherever it stands; flesh hangs on its bones instead."""
    is_supported = _is_held_flesh(obj, scene) or obj.sinew.use_core or obj.sinew.use_goal
    return not is_supported and self_weight_strain(obj, scene) > COLLAPSE_STRAIN


def collapsing_bodies(bodies: Iterable[bpy.types.Object], scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Returns those of the bodies that collapse."""
    return [obj for obj in bodies if collapses(obj, scene)]


def object_collapse_warning(obj: bpy.types.Object, scene: bpy.types.Scene) -> SinewError:
    """Returns the note that a body collapses, in lengths of the scene."""
    strain, size = self_weight_strain(obj, scene), standing_size(obj, scene)
    unit = scene.unit_settings.scale_length
    scale = round_to_two_digits(size * unit / tet_estimate.measure_object(obj, unit).longest)
    return collapse_warning(obj.name, strain, standing_stiffness(obj, scene), size, scale)


def is_too_soft_to_hang(obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Whether held flesh is so soft for its thickness that it may hang far off what holds it."""
    return _is_held_flesh(obj, scene) and self_weight_strain(obj, scene) > HANGING_WARNING_STRAIN


def _is_held_flesh(obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    return roles.is_flesh(obj) and flesh_supports.is_held(scene, obj)


def _simulated_scale(obj: bpy.types.Object, found: tet_estimate.MeshMeasures, unit: float) -> float:
    return obj.sinew.simulated_size * unit / found.longest if obj.sinew.use_simulated_size else 1.0


def _height(found: tet_estimate.MeshMeasures, hangs: bool) -> float:
    """Returns H [m], from foot to top, or how far it may hang."""
    height = float(found.lengths[2])
    return min(height, 6.0 * found.volume / found.area) if hangs and found.area > 0.0 else height
