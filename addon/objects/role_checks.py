# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks whether an object can have a role, before it gets one."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ...solver.runtime.errors import BadInput


def check_changeable(obj: bpy.types.Object) -> None:
    """Makes sure that settings can be changed on `obj`.

    Raises:
        BadInput: It is linked and not overridden.
    """
    if obj.library is not None or (obj.override_library and obj.override_library.is_system_override):
        raise BadInput("linked-without-override", name=obj.name)


def check_object(obj: bpy.types.Object, needs_faces: bool = False) -> None:
    """Makes sure that `obj` can be a body or a collider; edges alone are strings.

    Raises:
        BadInput: It is not a mesh, has neither faces nor edges or no faces where it needs some, or is linked and not
            overridden.
    """
    if obj.type != "MESH":
        raise BadInput("not-a-mesh", name=obj.name, type=object_kind(obj))
    check_changeable(obj)
    count = len(obj.data.polygons) or (0 if needs_faces else len(obj.data.edges))
    if count == 0 and not obj.modifiers and obj.mode != "EDIT":
        raise BadInput("mesh-empty", name=obj.name)


def check_bone(obj: bpy.types.Object) -> None:
    """Makes sure that `obj` can be a bone.

    Raises:
        BadInput: It is no mesh, has no faces, or is linked and not overridden.
    """
    if obj.type == "ARMATURE":
        raise BadInput("armature-as-bone", name=obj.name)
    check_object(obj, needs_faces=True)


def check_heat_source(obj: bpy.types.Object) -> None:
    """Makes sure that `obj` can be a heat source.

    Raises:
        BadInput: It is neither an empty nor a mesh, or is linked and not overridden.
    """
    if obj.type not in {"EMPTY", "MESH"}:
        raise BadInput("not-a-heat-source", name=obj.name, type=object_kind(obj))
    check_changeable(obj)


def object_kind(obj: bpy.types.Object) -> str:
    """Returns the type of an object in words: "light", "grease pencil"."""
    return str(obj.type.replace("_", " ").lower())


def check_unshared(objects: Iterable[bpy.types.Object]) -> None:
    """Makes sure that no two bodies use one mesh.

    Raises:
        BadInput: Two of them do; both are named.
    """
    owner: dict[bpy.types.Mesh, bpy.types.Object] = {}
    for obj in objects:
        # overrides of a linked character share its mesh, which nothing writes to and nobody could unshare
        if obj.data in owner and obj.data.library is None:
            raise BadInput("mesh-shared", name=obj.name, other=owner[obj.data].name, mesh=obj.data.name)
        owner[obj.data] = obj
