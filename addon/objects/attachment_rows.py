# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the list of attachments: which count, what each is about, and which say how a bone mesh holds flesh.

A bone mesh that no row is about holds flesh by its own settings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import bpy

from ...solver.scene.settings.surface_attachment_settings import (
    ATTACHMENT_IS_ON,
    FIXED,
    SPRING,
    TO_ARMATURE,
    TO_BONE,
    TO_BONES,
    TO_OBJECT,
)
from ..blender_data.rna_serialisation import animated_paths
from ..properties.role_definitions import BODY, BONE, COLLIDER, WRAP
from . import roles
from .meshes_on_bone import has_surface, meshes_on_bone, rides_on

NO_TARGET = "No Target"


def counting_rows(
    obj: bpy.types.Object, settings: bpy.types.PropertyGroup
) -> Iterator[tuple[str, bpy.types.PropertyGroup]]:
    """Yields the rows about surfaces and bones that a bake reads, with their data paths.

    Rows that are off for ever do not count.
    """
    # evaluated rows name evaluated objects, which are in no scene
    return (each for each in _rows_ever_on(obj, settings) if not is_hook(obj.path_resolve(each[0])))


def row_number(obj: bpy.types.Object, row: bpy.types.PropertyGroup) -> int | None:
    """Returns the number that a bake gives to a row of a body; None: it is about an empty, or off for ever."""
    return next((number for number, (_, each) in enumerate(counting_rows(obj, obj.sinew)) if each == row), None)


def hook_rows(obj: bpy.types.Object) -> Iterator[tuple[str, bpy.types.PropertyGroup]]:
    """Yields the rows about empties that a bake reads, with their data paths, in the order of their numbers."""
    return (each for each in _rows_ever_on(obj, obj.sinew) if is_hook(each[1]))


def is_hook(row: bpy.types.PropertyGroup) -> bool:
    """Whether a body hangs by a row on an empty that is in a scene, and not by edges."""
    if row.target_type != TO_OBJECT or row.target is None or row.target.type != "EMPTY" or has_edges(row):
        return False
    return bool(row.target.users_scene) and row.id_data.sinew.role == BODY


def has_edges(row: bpy.types.PropertyGroup) -> bool:
    """Whether a row ties the ends of drawn edges, and no surfaces or flesh."""
    return row.edges is not None and row.target_type in (TO_OBJECT, TO_BONE)


def edge_rows(obj: bpy.types.Object) -> Iterator[tuple[int, bpy.types.PropertyGroup]]:
    """Yields the rows of a body and its Wrap that have edges, with the numbers that a bake gives to them."""
    for owner, first in attachment_owners(obj):
        for number, (_, row) in enumerate(counting_rows(owner, owner.sinew), first):
            if has_edges(row):
                yield number, row


def edge_carrier(row: bpy.types.PropertyGroup) -> tuple[bpy.types.Object, str] | None:
    """Returns the empty, or the armature and the name of its bone, that carries the ends of edges of a row.

    None where they end on a surface, or where what they are to end on is missing.
    """
    if not has_edges(row) or is_without_target(row):
        return None
    if row.target_type == TO_OBJECT:
        return (row.target, "") if row.target.type == "EMPTY" else None
    return None if row_surfaces(row) else (row.armature, row.bone)


def find_edge_objects(bodies: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Returns the meshes of edges of bodies, and the empties and armatures that carry ends of these, each once."""
    found = dict[bpy.types.Object, None]()
    for obj in bodies:
        for _, row in edge_rows(obj):
            carrier = edge_carrier(row)
            found |= dict.fromkeys([row.edges, *(carrier[:1] if carrier is not None else ())])
    return list(found)


def find_hook_objects(bodies: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Returns the empties on which bodies hang, each once."""
    return list(dict.fromkeys(row.target for obj in bodies for _, row in hook_rows(obj)))


def _rows_ever_on(
    obj: bpy.types.Object, settings: bpy.types.PropertyGroup
) -> Iterator[tuple[str, bpy.types.PropertyGroup]]:
    animated = animated_paths(obj)
    for index, row in enumerate(settings.attachments):
        path = f"sinew.attachments[{index}]"
        if row.is_on or f"{path}.{ATTACHMENT_IS_ON.name}" in animated:
            yield path, row


def row_target(row: bpy.types.PropertyGroup) -> bpy.types.Object | None:
    """Returns the object that a row names: its target, or the armature of its one bone."""
    if row.target_type == TO_BONE:
        return row.armature
    return row.target if row.target_type == TO_OBJECT else None


def row_label(row: bpy.types.PropertyGroup) -> str:
    """Returns how people call what a row is about."""
    if row.target_type == TO_BONE and row.armature is not None and row.bone:
        return f"{row.armature.name}: {row.bone}"
    if row.target_type == TO_OBJECT:
        return str(row.target.name) if row.target is not None else NO_TARGET
    return str(row.bl_rna.properties["target_type"].enum_items[row.target_type].name)


def row_surfaces(row: bpy.types.PropertyGroup) -> list[bpy.types.Object]:
    """Returns the objects whose surfaces a row is about: its target, or what rides on its bone.

    Rows about all bones, those of an armature, or the line of a bone have none.
    """
    if row.target_type == TO_OBJECT:
        return [] if row.target is None else [row.target]
    if row.target_type != TO_BONE or is_without_target(row):
        return []
    return meshes_on_bone(row.id_data, row.armature, row.bone, _roles_on_bone(row))


def _roles_on_bone(row: bpy.types.PropertyGroup) -> tuple[str, ...]:
    """Returns the roles of what a row about one bone takes for its surface: to hold flesh, bone meshes alone."""
    is_of_flesh = roles.is_flesh(row.id_data) or roles.has_role(row.id_data, WRAP)
    return (BONE,) if is_of_flesh and holds_material(row) else (BONE, COLLIDER)


def is_about(row: bpy.types.PropertyGroup, obj: bpy.types.Object) -> bool:
    """Whether an object is among the surfaces that a row is about."""
    if row.target_type == TO_OBJECT:
        return bool(row.target == obj)
    if row.target_type != TO_BONE or is_without_target(row):
        return False
    return has_surface(obj, _roles_on_bone(row)) and rides_on(obj, row.armature, row.bone)


def is_about_line(row: bpy.types.PropertyGroup) -> bool:
    """Whether a row is about the line of one bone, on which no bone mesh rides."""
    holds = row.target_type == TO_BONE and not is_without_target(row) and COLLIDER not in _roles_on_bone(row)
    return holds and not row_surfaces(row)


def bodies_at_wrap(wrap: bpy.types.Object) -> list[bpy.types.Object]:
    """Returns the bodies that end at a Wrap, by name."""
    objects = {obj for scene in wrap.users_scene for obj in scene.objects}
    found = (o for o in objects if o.type == "MESH" and o.sinew.role == BODY and o.sinew.wrap == wrap)
    return sorted(found, key=lambda o: o.name)


def attachment_owners(obj: bpy.types.Object) -> Iterator[tuple[bpy.types.Object, int]]:
    """Yields the objects with attachments of a body, itself and its Wrap, and the number of the first of each."""
    yield obj, 0
    if obj.sinew.wrap is not None:
        yield obj.sinew.wrap, sum(1 for _ in counting_rows(obj, obj.sinew))


def attachment_targets(obj: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """Yields what a body and its Wrap are attached to in a bake."""
    for owner, _ in attachment_owners(obj):
        yield from targets_of_owner(owner)


def targets_of_owner(owner: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """Yields what the rows of one object are about in a bake: of a Wrap, the bodies that end there."""
    for _, row in counting_rows(owner, owner.sinew):
        for surface in row_surfaces(row):
            yield from bodies_at_wrap(surface) if roles.has_role(surface, WRAP) else [surface]


def bodies_at_wraps_of_rows(obj: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """Yields the bodies at whose Wraps a body or its Wrap is attached."""
    for owner, _ in attachment_owners(obj):
        for _, row in counting_rows(owner, owner.sinew):
            if row.target_type == TO_OBJECT and row.target is not None and roles.has_role(row.target, WRAP):
                yield from bodies_at_wrap(row.target)


def painted_targets(bodies: Iterable[bpy.types.Object]) -> set[bpy.types.Object]:
    """Returns the targets of rows of some bodies and their Wraps that have a Target Group."""
    owners = (owner for obj in bodies for owner, _ in attachment_owners(obj))
    rows = (row for owner in owners for _, row in counting_rows(owner, owner.sinew))
    return {row.target for row in rows if row.target_type == TO_OBJECT and row.target is not None and row.target_group}


def is_attached_to_all_bones(obj: bpy.types.Object) -> bool:
    """Whether a row of a body or its Wrap is about all bone meshes."""
    owners = (owner for owner, _ in attachment_owners(obj))
    return any(row.target_type == TO_BONES for owner in owners for _, row in counting_rows(owner, owner.sinew))


def is_to_bone(row: bpy.types.PropertyGroup) -> bool:
    """Whether a row is about a bone mesh, all of them, or bones of an armature."""
    return row.target_type != TO_OBJECT or (row.target is not None and roles.has_role(row.target, BONE))


def is_between_bodies(row: bpy.types.PropertyGroup) -> bool:
    """Whether a row attaches a body to another one."""
    if row.target_type != TO_OBJECT or row.target is None:
        return False
    return roles.has_role(row.id_data, BODY) and roles.has_role(row.target, BODY)


def may_be_exact(row: bpy.types.PropertyGroup) -> bool:
    """Whether a row may bind the nodes of a body to another one: rigid bodies and sheets have no tets for that."""
    if has_edges(row) or not is_between_bodies(row):
        return False
    return not any(roles.is_rigid(obj) or roles.is_sheet(obj) for obj in (row.id_data, row.target))


def may_break(row: bpy.types.PropertyGroup) -> bool:
    """Whether a row has springs that may break: between surfaces, and not at an empty."""
    holds_flesh = roles.is_flesh(row.id_data) and is_to_bone(row) and holds_material(row)
    is_exact = row.is_exact and row.kind == FIXED and is_between_bodies(row) and not has_edges(row)
    return not (holds_flesh or is_exact or is_hook(row))


def is_without_target(row: bpy.types.PropertyGroup) -> bool:
    """Whether a row that needs a target has none, or one that was deleted, which Blender keeps in no scene."""
    if row.target_type == TO_BONE:
        return row.armature is None or not row.armature.users_scene or row.bone not in row.armature.data.bones
    return row.target_type == TO_OBJECT and (row.target is None or not row.target.users_scene)


def holds_material(row: bpy.types.PropertyGroup) -> bool:
    """Whether a bone that a row is about holds all flesh in reach, and not just its surface.

    Springs of a Wrap tie its surface: their stiffness is not asked for. Edges hold what they end on alone.
    """
    if has_edges(row):
        return False
    return row.kind == FIXED or (row.kind == SPRING and row.stiffness > 0.0 and roles.is_flesh(row.id_data))


def row_about_armature(body: bpy.types.Object) -> bpy.types.PropertyGroup | None:
    """Returns the row of a body that says how bones of its armature hold it, or None: its panel Bones does."""
    return next((row for row in _rows_about_material(body) if row.target_type == TO_ARMATURE), None)


def rows_about_lines(body: bpy.types.Object) -> list[bpy.types.PropertyGroup]:
    """Returns the rows of a body and its Wrap that are about lines of bones."""
    return [row for row in _rows_about_material(body) if is_about_line(row)]


def row_about_line(body: bpy.types.Object, name: str) -> bpy.types.PropertyGroup | None:
    """Returns the row of a body about the line of the bone that a scene calls "Armature: Bone", or None."""
    return next((row for row in rows_about_lines(body) if row_label(row) == name), None)


def row_about_bone(body: bpy.types.Object, bone: bpy.types.Object) -> bpy.types.PropertyGroup | None:
    """Returns the row of a body that says how a bone mesh holds it, or None: the bone's own settings do.

    One about this bone comes before one about all bones, and one that holds flesh before others, as
    `attachment_to_bone` of the solver has it.
    """
    rows = list(_rows_about_material(body))
    own = [row for row in rows if is_about(row, bone)]
    if not own and bone.sinew.bone_body in (None, body):
        own = [row for row in rows if row.target_type == TO_BONES]
    return min(own, key=lambda row: not holds_material(row), default=None)


def _rows_about_material(body: bpy.types.Object) -> Iterator[bpy.types.PropertyGroup]:
    """Yields the rows that may say how bones hold a body: its own, and those of its Wrap that hold material.

    Rows of edges say nothing of it.
    """
    for owner, _ in attachment_owners(body):
        if not len(owner.sinew.attachments):
            continue  # asked of every bone whenever a panel is drawn
        rows = (row for _, row in counting_rows(owner, owner.sinew) if not has_edges(row))
        yield from (row for row in rows if owner == body or holds_material(row))
