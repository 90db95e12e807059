# SPDX-License-Identifier: GPL-3.0-or-later
"""Flex controls: custom properties of a rig that drive the activation of groups of muscles.

They are what animators key: one number for each group, 0 to 1, beside the bones. A muscle keeps its own source.
"""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ...solver.runtime.errors import BadInput
from ..blender_data.rna_serialisation import animated_paths
from .flesh_supports import armatures_of, bones_of, rigs_of

PREFIX = "Flex "
ACTIVATION_PATH = "sinew.activation"


def group_name(scene: bpy.types.Scene, obj: bpy.types.Object) -> str:
    """Returns the group that a muscle is in: its collection, or its own name where it is in that of the scene."""
    own = [each for each in obj.users_collection if each != scene.collection]
    return str(own[0].name if own else obj.name)


def find_rig(scene: bpy.types.Scene, muscles: Iterable[bpy.types.Object]) -> bpy.types.Object:
    """Returns the rig of some muscles: that of the first one's modifiers, or the one that carries its bones.

    Raises:
        BadInput: None of them has one.
    """
    for obj in muscles:
        carriers = [bone.parent for bone in bones_of(scene, obj)]
        carriers += [rig for bone in bones_of(scene, obj) for rig in armatures_of(bone)]
        for rig in [obj.sinew.pose_rig, *rigs_of(obj), *carriers]:
            if rig is not None and rig.type == "ARMATURE":
                return rig
    raise BadInput("flex-rig-none")


def check_flex(obj: bpy.types.Object) -> None:
    """Makes sure that a muscle may get a flex control.

    Raises:
        BadInput: Keys or a driver of the artist set its activation, which a driver would override.
    """
    if ACTIVATION_PATH in animated_paths(obj) and not _is_flexed(obj):
        raise BadInput("activation-animated", name=obj.name)


def add_flex_control(rig: bpy.types.Object, name: str, muscles: Iterable[bpy.types.Object]) -> str:
    """Lets a property of a rig drive the activation of muscles, and returns the name of the property.

    A property that is there stays as it is, and muscles leave the flex control that they had.
    """
    control = f"{PREFIX}{name}"
    ensure_control(rig, control)
    for obj in muscles:
        obj.driver_remove(ACTIVATION_PATH)
        driver = obj.driver_add(ACTIVATION_PATH).driver
        variable = driver.variables.new()
        variable.name = "flex"
        variable.targets[0].id = rig
        variable.targets[0].data_path = f'["{bpy.utils.escape_identifier(control)}"]'
        driver.expression = variable.name  # so simple that Blender computes it without Python
    return control


def ensure_control(rig: bpy.types.Object, control: str) -> None:
    """Gives a rig the property of a flex control, from 0 to 1, if it has none of this name."""
    if control in rig:
        return
    rig[control] = 0.0
    words = f"How strongly the muscles of {control.removeprefix(PREFIX)} contract: 0 is relaxed, 1 is all they can"
    limits = {"min": 0.0, "max": 1.0, "soft_min": 0.0, "soft_max": 1.0, "default": 0.0}
    rig.id_properties_ui(control).update(description=words, subtype="FACTOR", **limits)
    rig.property_overridable_library_set(f'["{bpy.utils.escape_identifier(control)}"]', True)
    rig.update_tag()  # a driver that finds no property is never tried again


def _is_flexed(obj: bpy.types.Object) -> bool:
    """Whether a flex control drives the activation of a muscle."""
    drivers = obj.animation_data.drivers if obj.animation_data is not None else ()
    paths = [
        target.data_path
        for curve in drivers
        if curve.data_path == ACTIVATION_PATH
        for variable in curve.driver.variables
        for target in variable.targets
    ]
    return any(path.startswith(f'["{PREFIX}') for path in paths)
