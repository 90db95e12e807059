# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels about collision: of bodies and of colliders."""

from __future__ import annotations

import math

import bpy

from ...solver.scene.settings.collision_settings import (
    BODY_COLLISION_SETTINGS,
    BODY_FRICTION,
    COLLIDER_FRICTION,
    COLLIDER_SETTINGS,
    COLLIDER_THICKNESS,
    COLLISION_COLLECTION,
    SELF_COLLISION,
)
from ...solver.scene.settings.flesh_settings import POSE, SELF_CONTACT
from ...solver.scene.settings.preset_settings import FRICTION_PRESET
from ..baking import attach_force_curves, bake_status, frame_report_reader
from ..blender_data import collider_force_curves
from ..objects import collision_filter, roles
from ..objects.rigid_body_settings import counting_rigid_body
from ..overlays import contact_overlay
from ..properties.role_definitions import BODY
from ..runtime.quantity_text import quantity_text
from .property_rows import draw_row, draw_settings, locked_column
from .text_rows import count_text, draw_wrapped

SURFACE_SETTINGS = (COLLIDER_FRICTION, COLLIDER_THICKNESS)
# so many of what is touched are named
MAX_NAMED_PARTNERS = 3
POSE_FRICTION_NOTE = (
    "With Follow Pose, Friction counts only against Soft Bodies and Jiggle, and Thickness only against these and "
    "colliders"
)
PIECES_COLLIDE_NOTE = "Broken pieces collide with each other also without Self Collisions. More pieces are slower"
GROUND_SIDE_NOTE = "A ground is endless, and solid below"
EMPTY_COLLECTION_NOTE = "Touches nothing: no {others} is in this collection"
EXCLUDED_NOTE = 'Touches nothing: "{other}" does not collide with it, since this object is not in "{collection}"'


def draw_collision(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws how a body meets others and itself."""
    obj, settings = context.object, context.object.sinew
    column = locked_column(layout, context)
    # of both that are called Self Collisions, the one that counts
    other_switch = SELF_COLLISION if settings.motion == POSE else SELF_CONTACT
    hidden = {other_switch.name, *_frictions_of_blender(obj)}
    shown = (FRICTION_PRESET, *BODY_COLLISION_SETTINGS, SELF_CONTACT)
    draw_settings(column, obj, (each for each in shown if each.name not in hidden))
    if settings.motion == POSE:
        draw_wrapped(column, POSE_FRICTION_NOTE, "INFO", context)
    elif settings.use_fracture and not roles.is_sheet(obj):
        draw_wrapped(column, PIECES_COLLIDE_NOTE, "INFO", context)
    _draw_filter(column, context, obj)
    draw_contacts(layout, context)


def draw_collider(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws how bodies meet a collider."""
    obj, settings = context.object, context.object.sinew
    column = locked_column(layout, context)
    draw_settings(
        column, obj, (each for each in COLLIDER_SETTINGS if each not in (COLLIDER_FRICTION, COLLIDER_THICKNESS))
    )
    if settings.collider_shape == "PLANE":
        draw_wrapped(column, GROUND_SIDE_NOTE, "INFO", context)
    hidden = _frictions_of_blender(obj)
    draw_settings(column, obj, (each for each in (FRICTION_PRESET, *SURFACE_SETTINGS) if each.name not in hidden))
    _draw_filter(column, context, obj)
    draw_contacts(layout, context)
    _draw_forces(layout, context.scene, obj)


def _frictions_of_blender(obj: bpy.types.Object) -> set[str]:
    """Returns the names of the settings that do not count where Blender's Rigid Body settings say the friction."""
    found = (FRICTION_PRESET, BODY_FRICTION, COLLIDER_FRICTION)
    return {each.name for each in found} if counting_rigid_body(obj) is not None else set()


def _draw_forces(layout: bpy.types.UILayout, scene: bpy.types.Scene, obj: bpy.types.Object) -> None:
    """Draws what presses on a collider at this frame, and what makes curves of it."""
    found = frame_report_reader.force_at(scene, obj)
    if found is not None:
        layout.label(text=f"Pressed with {quantity_text(math.hypot(*found[:3]), 'N')}", icon="FORCE_FORCE")
    has_curves = collider_force_curves.find_track(obj) is not None
    row = layout.row(align=True)
    if attach_force_curves.are_curves_missing(scene, obj):
        words = "Update Force Curves" if has_curves else "Create Force Curves"
        row.operator("sinew.create_force_curves", text=words, icon="FCURVE")
    if has_curves:
        row.operator("sinew.remove_force_curves", icon="X")


def _draw_filter(layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object) -> None:
    """Draws what an object collides with, in names where that is not everything."""
    draw_row(layout, obj, COLLISION_COLLECTION)
    if not collision_filter.has_filters(context.scene):
        return
    touched = [other.name for other in collision_filter.collision_partners(context.scene, obj)]
    if not touched:
        draw_wrapped(layout, no_partners_note(context.scene, obj), "ERROR", context)
        return
    more = len(touched) - MAX_NAMED_PARTNERS
    few = ", ".join(touched[:MAX_NAMED_PARTNERS])
    draw_wrapped(layout, f"Touches {few} and {more} more" if more > 0 else f"Touches {few}", "LINKED", context)


def no_partners_note(scene: bpy.types.Scene, obj: bpy.types.Object) -> str:
    """Returns why filters leave an object nothing to touch."""
    other = collision_filter.excluded_by(scene, obj)
    if other is None:
        return EMPTY_COLLECTION_NOTE.format(others="other body or collider" if obj.sinew.role == BODY else "body")
    return EXCLUDED_NOTE.format(other=other.name, collection=other.sinew.collision_collection.name)


def draw_contacts(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws the switch of the contacts in the viewport, and what they come to at this frame."""
    scene = context.scene
    column = layout.column(heading="Viewport Display")
    column.prop(scene.sinew, "show_contacts")
    if scene.sinew.show_contacts:
        column.label(text=_contact_text(scene), icon="INFO")


def _contact_text(scene: bpy.types.Scene) -> str:
    if bake_status.status(scene).frame is None:
        return "Press Simulate to see them"
    found = contact_overlay.contacts(scene)
    if len(found.let_in):
        return f"Colliders are let in at {count_text(len(found.let_in), 'place')}"
    if not len(found):
        return "Nothing touches at this frame"
    return f"{count_text(len(found), 'contact')}, up to {quantity_text(found.largest, 'N')} each"
