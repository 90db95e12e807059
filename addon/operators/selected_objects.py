# SPDX-License-Identifier: GPL-3.0-or-later
"""The selected objects, the active one, or both, on which operators act, checked."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ...solver.runtime.errors import BadInput
from ..objects import role_checks, roles


def selected_objects(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Returns the selected objects, or the active one when nothing is selected.

    Raises:
        BadInput: Nothing is selected or active.
    """
    chosen = list(context.selected_objects) or [o for o in [context.object] if o is not None]
    if not chosen:
        raise BadInput("nothing-selected")
    return chosen


def selected_or_active(context: bpy.types.Context, candidates: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Returns those of some objects that are selected, or the active one where none of them is."""
    found = list(candidates)
    return [obj for obj in found if obj.select_get()] or [obj for obj in found if obj == context.object]


def selected_and_active(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Returns the selected objects and the active one, whose panel is shown, whether it is selected or not.

    Raises:
        BadInput: Nothing is selected or active.
    """
    return list(dict.fromkeys([*selected_objects(context), *(o for o in [context.object] if o is not None)]))


def selected_meshes(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Returns the selected meshes after checking all of them, so that an operator changes all or none.

    Raises:
        BadInput: None of the selected objects is a mesh, or one of them cannot be changed.
    """
    chosen = selected_objects(context)
    meshes = [o for o in chosen if o.type == "MESH"] or chosen
    for obj in meshes:
        role_checks.check_object(obj)
    return meshes


def selected_unshared_meshes(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Returns the selected meshes, none of which shares its mesh with another body.

    Raises:
        BadInput: One cannot take part, or two would use one mesh; they are named.
    """
    meshes = selected_meshes(context)
    role_checks.check_unshared([*(o for o in roles.bodies(context.scene) if o not in meshes), *meshes])
    return meshes


def active_mesh(context: bpy.types.Context) -> bpy.types.Object:
    """Returns the active object.

    Raises:
        BadInput: There is none, it is not a mesh, or it cannot be changed.
    """
    if context.object is None:
        raise BadInput("nothing-selected")
    role_checks.check_object(context.object)
    return context.object


def active_mesh_and_selected_bodies(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Returns the active object, whose panel is shown, and the other selected bodies, after checking all of them.

    Raises:
        BadInput: The active object is no mesh, or one of them cannot be changed.
    """
    active = active_mesh(context)
    others = [o for o in context.selected_objects if o != active and o in roles.bodies(context.scene)]
    for obj in others:
        role_checks.check_object(obj)
    return [active, *others]
