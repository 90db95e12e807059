# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes of meshes that Sinew does not know yet a scene that plays well at once."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ...solver.runtime.errors import BadInput
from ...solver.scene.material_presets import SIZED_PRESETS
from ...solver.scene.settings.flesh_settings import JIGGLE
from ...solver.scene.settings.size_and_start_settings import SIMULATED_SIZE, USE_SIMULATED_SIZE
from ..runtime.quantity_text import quantity_text
from . import (
    coarse_mesh_subdivision,
    flesh_supports,
    initial_settings,
    new_role_objects,
    role_checks,
    roles,
    tet_estimate,
)
from .initial_settings import FLESH_BY_SIZE, JELLY_BY_SIZE
from .simulated_scale import simulated_scale

# longest sides [m] between which a body is seen to wobble and comes to rest within a shot: a smaller one swings
# faster than frames show, a larger one slower than anybody waits
MIN_PLAYED_SIZE, MAX_PLAYED_SIZE = 0.3, 3.0
WHERE_NEXT = "The panels Material and Tets have what to change next"


def make_bodies(context: bpy.types.Context, meshes: Sequence[bpy.types.Object], preset: str = JELLY_BY_SIZE) -> str:
    """Makes meshes bodies with enough vertices to bend, and adds a ground where the scene has no collider.

    Args:
        context: Where the ground is added.
        meshes: Checked; what is a body already keeps its settings, but for the material of the preset.
        preset: Of `SIZED_PRESETS`; that of the first settings only where nobody has chosen a material.

    Returns:
        What was done, and where to turn next.
    """
    size = _choose_simulated_size(context.scene, meshes)
    for obj in meshes:
        initial_settings.make_new_body(obj)
        if preset != JELLY_BY_SIZE:
            obj.sinew.preset = preset
        if coarse_mesh_subdivision.has_few_vertices(obj):
            coarse_mesh_subdivision.subdivide(obj)
    added = ""
    if not roles.colliders(context.scene):
        added = f' and "{new_role_objects.add_ground(context).name}" under it'
    return f"Made {_names(meshes)} {_count_text(context.scene, meshes)}{size}{added}. {WHERE_NEXT}"


def make_flesh_on_armature(context: bpy.types.Context, meshes: Sequence[bpy.types.Object]) -> str:
    """Makes meshes that an armature poses flesh which swings on its bones; returns what was done.

    Raises:
        BadInput: "no-armature": nothing poses one of them; nothing was changed.
    """
    for obj in meshes:
        if not any(m.type == "ARMATURE" and m.object is not None for m in obj.modifiers):
            raise BadInput("no-armature", name=obj.name)
    for obj in meshes:
        role_checks.check_object(obj)
    size = _choose_simulated_size(context.scene, meshes)
    for obj in meshes:
        initial_settings.make_new_flesh(obj)
        obj.sinew.motion, obj.sinew.preset = JIGGLE, FLESH_BY_SIZE
        obj.sinew.use_armature_bones = True
    rigs = sorted({rig.name for obj in meshes for rig in flesh_supports.armatures_of(obj)})
    held = ", ".join(f'"{name}"' for name in rigs)
    where = "The panel Bones says how far its bones reach, Material how much it swings"
    return f"Made {_names(meshes)} {_count_text(context.scene, meshes)}{size} on the bones of {held}. {where}"


def _choose_simulated_size(scene: bpy.types.Scene, meshes: Sequence[bpy.types.Object]) -> str:
    """Gives new bodies a Simulated Size at which they play well, all by one factor; returns it as words, or "".

    They take the factor of a body that is there already, since bodies of different factors meet at odd speeds. Where
    somebody has chosen a Simulated Size, it stays.
    """
    present = roles.bodies(scene)
    new = [obj for obj in meshes if obj not in present]
    chosen = (USE_SIMULATED_SIZE.name, SIMULATED_SIZE.name)
    if any(obj.sinew.is_property_set(name) for obj in new for name in chosen):
        return ""
    unit = scene.unit_settings.scale_length
    longest = max((tet_estimate.measure_object(obj, unit).longest for obj in new), default=0.0)
    if longest <= 0.0:
        return ""
    played = min(max(longest, MIN_PLAYED_SIZE), MAX_PLAYED_SIZE)
    factor = simulated_scale(present[0]) if present else played / longest
    if factor == 1.0:
        return ""
    for obj in new:
        obj.sinew.use_simulated_size = True
        obj.sinew.simulated_size = factor * tet_estimate.measure_object(obj, unit).longest / unit
    return f", simulated as if {quantity_text(factor * longest, 'm')} long"


def _names(meshes: Sequence[bpy.types.Object]) -> str:
    return f'"{meshes[0].name}"' if len(meshes) == 1 else f"{len(meshes)} meshes"


def _count_text(scene: bpy.types.Scene, meshes: Sequence[bpy.types.Object]) -> str:
    """Returns what they are made of now: "Jelly by Size of about 5,000 tets"."""
    count = sum(tet_estimate.tet_count(obj, scene.unit_settings.scale_length) for obj in meshes)
    preset = SIZED_PRESETS.get(meshes[0].sinew.preset)
    material = preset.preset.label if preset else "soft bodies"
    return f"{material} of about {round(count, -2):,} tets"
