# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of the shape of a drawn muscle: its settings, and what Draw Muscle stores beside them."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, FloatVectorProperty, PointerProperty

from ...solver.scene.settings.muscle_shape_settings import MUSCLE_SHAPE_SETTINGS
from .property_factory import OVERRIDABLE, settings_group


def shape_edited(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Rebuilds the mesh of a drawn muscle."""
    from ..objects.drawn_muscles import rebuild_shape

    rebuild_shape(settings.id_data)


class SinewPathPoint(bpy.types.PropertyGroup):
    """A point that a muscle is drawn through."""

    location: FloatVectorProperty(
        name="Location",
        description="Place of the point in the space of the object",
        subtype="TRANSLATION",
        options=set(),
        override=OVERRIDABLE,
    )


class SinewShapeObstacle(bpy.types.PropertyGroup):
    """A bone mesh or a muscle that the surface of a drawn muscle is kept out of."""

    object: PointerProperty(
        type=bpy.types.Object,
        name="Object",
        description="Bone mesh or muscle that the surface is kept out of",
        options=set(),
        override=OVERRIDABLE,
    )
    matrix: FloatVectorProperty(
        name="Matrix",
        description="Where it was when the muscle was drawn, in the space of the muscle, row by row",
        size=16,
        options=set(),
        override=OVERRIDABLE,
    )


def _hidden_table(row: type, name: str, description: str) -> Any:
    override = {*OVERRIDABLE, "USE_INSERTION"}
    return CollectionProperty(type=row, name=name, description=description, options={"HIDDEN"}, override=override)


SHAPE_ROW_CLASSES = (SinewPathPoint, SinewShapeObstacle)
MuscleShapeProperties: Any = settings_group(
    "MuscleShapeProperties",
    "The shape of a drawn muscle: its profile, the points it is drawn through, and what it is kept out of.",
    MUSCLE_SHAPE_SETTINGS,
    {setting.name: shape_edited for setting in MUSCLE_SHAPE_SETTINGS},
    more={
        "path_points": _hidden_table(SinewPathPoint, "Path", "Points of a drawn muscle from origin to insertion"),
        "shape_obstacles": _hidden_table(SinewShapeObstacle, "Obstacles", "What the surface is kept out of"),
        "shape_mirrored": BoolProperty(
            name="Mirrored",
            description="Whether the mesh is the mirror image, at x = 0 of the object, of what the path makes",
            options={"HIDDEN"},
            override=OVERRIDABLE,
        ),
        "shape_facing": FloatVectorProperty(
            name="Facing",
            description="Direction of the thickness in the middle of a drawn muscle, in the space of the object",
            default=(0.0, 0.0, 1.0),
            options={"HIDDEN"},
            override=OVERRIDABLE,
        ),
    },
)
