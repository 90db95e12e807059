# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's properties for all settings: `Object.sinew` for one object, `Scene.sinew` for the whole simulation.

Values in `METRE` and `METRE_PER_SECOND` are stored in Blender units, as everywhere in Blender; the exporter multiplies
them by the scene's unit scale. All others are in the SI unit that the tooltip names, and
temperatures in °C. Only what is sampled on every frame can be animated.
"""

from __future__ import annotations

import bpy
from bpy.props import PointerProperty

from .activation_properties import ROW_CLASSES
from .attachment_properties import SinewAttachment
from .heat_properties import SinewSoftening
from .muscle_shape_properties import SHAPE_ROW_CLASSES
from .object_properties import SinewObject
from .restore_data import SinewLeftCollection
from .scene_properties import SinewScene

CLASSES = (
    SinewSoftening,
    SinewAttachment,
    *ROW_CLASSES,
    *SHAPE_ROW_CLASSES,
    SinewLeftCollection,
    SinewObject,
    SinewScene,
)


def register() -> None:
    """Adds `Object.sinew` and `Scene.sinew`."""
    for each in CLASSES:
        bpy.utils.register_class(each)
    bpy.types.Object.sinew = PointerProperty(type=SinewObject, override={"LIBRARY_OVERRIDABLE"})
    bpy.types.Scene.sinew = PointerProperty(type=SinewScene, override={"LIBRARY_OVERRIDABLE"})


def unregister() -> None:
    """Takes them away; what was set stays in the .blend file."""
    del bpy.types.Scene.sinew
    del bpy.types.Object.sinew
    for each in reversed(CLASSES):
        bpy.utils.unregister_class(each)
