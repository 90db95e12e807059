# SPDX-License-Identifier: GPL-3.0-or-later
"""How bodies meet a collider, each other and themselves."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, PointerProperty

from . import friction_presets as friction
from .enum_items import COLLIDER_SHAPES, COLLIDER_SIDES
from .property_options import ANIMATED_OPTIONS, FIXED_OPTIONS


def _preset_chosen(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Fills in the friction of the preset."""
    friction.apply_preset(settings)


def _friction_edited(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Turns the menu of presets to Custom where the friction no longer is the preset's."""
    friction.mark_custom(settings)


# of whatever was never told otherwise
DEFAULT_FRICTION = 0.5


class ColliderSettings:
    """Shape, sides, friction and thickness, and whether it is there."""

    collider_shape: EnumProperty(
        name="Shape", items=COLLIDER_SHAPES, default="MESH", description="What bodies bump into", **FIXED_OPTIONS
    )
    collider_sides: EnumProperty(
        name="Sides",
        items=COLLIDER_SIDES,
        default="AUTO",
        description="On which side of the faces bodies are kept",
        **FIXED_OPTIONS,
    )
    use_collision: BoolProperty(
        name="Enabled",
        description=(
            "Bodies bump into this collider; off: they pass through it. Can be keyframed: "
            "a body that is inside when it is switched on is let out gently"
        ),
        default=True,
        **ANIMATED_OPTIONS,
    )
    friction: FloatProperty(
        name="Friction",
        description=(
            "Coulomb's coefficient of friction μ of all bodies on this collider: 0 slides, 0.5 holds on a slope of "
            "27°, 1 on one of 45°"
        ),
        default=DEFAULT_FRICTION,
        min=0.0,
        soft_max=1.0,
        max=100.0,
        precision=2,
        step=1,
        update=_friction_edited,
        **FIXED_OPTIONS,
    )
    thickness: FloatProperty(
        name="Thickness",
        description=(
            "Bodies keep this distance from the collider's surface [m]; "
            "a body's own Thickness is added. 0: they touch what is seen"
        ),
        default=0.0,
        min=0.0,
        soft_max=0.1,
        precision=4,
        step=1,
        subtype="DISTANCE",
        unit="LENGTH",
        **FIXED_OPTIONS,
    )


class CollisionSettings:
    """How a body meets others and itself, and what bodies and colliders have in common."""

    body_friction: FloatProperty(
        name="Friction",
        description=(
            "Coulomb's coefficient of friction μ of this body on other bodies and itself: 0 slides, 0.5 holds on a "
            "slope of 27°, 1 on one of 45°. Between two bodies √(μ₁ μ₂) holds, the same where both have the same; "
            "on a collider the collider's Friction does"
        ),
        default=DEFAULT_FRICTION,
        min=0.0,
        soft_max=1.0,
        max=100.0,
        precision=2,
        step=1,
        update=_friction_edited,
        **FIXED_OPTIONS,
    )
    body_thickness: FloatProperty(
        name="Thickness",
        description=(
            "Others keep this distance from the body's surface [m]; between two, both are added. "
            "0: they touch what is seen"
        ),
        default=0.0,
        min=0.0,
        soft_max=0.1,
        precision=4,
        step=1,
        subtype="DISTANCE",
        unit="LENGTH",
        **FIXED_OPTIONS,
    )
    self_collision: BoolProperty(
        name="Self Collision",
        description=(
            "The body does not go through itself where it folds, coils or lies down on itself; slower. "
            "Parts that touch or overlap at rest, such as lips, are not pushed apart. "
            "Pieces of what breaks touch each other without this"
        ),
        default=False,
        **FIXED_OPTIONS,
    )
    friction_preset: EnumProperty(
        name="Surfaces",
        items=friction.PRESET_ITEMS,
        default=friction.CUSTOM_PRESET,
        update=_preset_chosen,
        description="Fills in the Friction of two materials on each other",
        **FIXED_OPTIONS,
    )
    collision_collection: PointerProperty(
        type=bpy.types.Collection,
        name="Collides With",
        description=(
            "Only what is in this collection, or in one inside it, is touched; everything else passes through. "
            "Two touch where each may touch the other. Empty: everything"
        ),
        options=set(),
        override={"LIBRARY_OVERRIDABLE"},
    )
