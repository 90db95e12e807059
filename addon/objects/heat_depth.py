# SPDX-License-Identifier: GPL-3.0-or-later
"""How deep heat gets into a body, and the Heat Speed at which it gets through."""

from __future__ import annotations

import bpy

from ...solver.scene.material import Heat, Material
from ...solver.scene.thermal_diffusion_length import diffusion_length, speed_to_diffuse, thermal_diffusivity
from ..evaluation.sample_times import frame_range, frames_per_second
from .simulated_scale import simulated_scale

# heat gets as deep in these frames as this share of the longest side of the body
THROUGH_FRAMES, THROUGH_SHARE = 60, 1.0 / 3.0


def heat_depth(obj: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """Returns the diffusion length √(4 α t) of a body [Blender units] over the frames of the bake."""
    first, last = frame_range(scene)
    time = max(last - first, 0) / frames_per_second(scene)
    return diffusion_length(_diffusivity(obj, obj.sinew.heat_speed), time) / scene.unit_settings.scale_length


def speed_through(obj: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """Returns the Heat Speed at which heat gets `THROUGH_SHARE` of a body deep in `THROUGH_FRAMES`, 1 for no heat."""
    depth = THROUGH_SHARE * max(obj.dimensions) * scene.unit_settings.scale_length
    diffusivity = _diffusivity(obj, 1.0)
    if depth <= 0.0 or diffusivity <= 0.0:
        return 1.0
    return speed_to_diffuse(depth, diffusivity, THROUGH_FRAMES / frames_per_second(scene))


def _diffusivity(obj: bpy.types.Object, speed: float) -> float:
    """Returns α [m²/s] of a body at a Heat Speed; a body that is simulated s times as large has 1 / s² of it."""
    settings, scale = obj.sinew, simulated_scale(obj)
    if scale <= 0.0:
        return 0.0
    heat = Heat(conductivity=settings.conductivity, heat_capacity=settings.heat_capacity, speed=speed)
    return thermal_diffusivity(Material(density=settings.density), heat) / scale**2
