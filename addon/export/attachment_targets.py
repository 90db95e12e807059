# SPDX-License-Identifier: GPL-3.0-or-later
"""What rows of attachments are about: keys of the scene, and what the digest of a bake has of them."""

from __future__ import annotations

from collections.abc import Mapping

import bpy

from ...solver.runtime.errors import BadInput
from ...solver.scene.attachment import ALL_BONES, ARMATURE_BONES, FRAME, NOTHING, WRAP_SUFFIX
from ...solver.scene.settings.surface_attachment_settings import (
    ATTACHMENT_BREAKING_FORCE,
    ATTACHMENT_COLLIDES,
    ATTACHMENT_DAMPING,
    ATTACHMENT_SPRING_CONSTANT,
    ATTACHMENT_TARGET,
    FIXED,
    LATER_ROW_SETTINGS,
    SLIDING,
    SPRING,
    TO_ARMATURE,
    TO_BONE,
    TO_BONES,
    TO_OBJECT,
)
from ..blender_data.names_at_first_bake import name_at_first_bake
from ..blender_data.rna_serialisation import Parts, animated_paths, rna_parts
from ..evaluation.vertex_weights import WEIGHT_TYPES, raw_weights
from ..objects import roles
from ..objects.attachment_rows import (
    bodies_at_wrap,
    counting_rows,
    edge_carrier,
    has_edges,
    holds_material,
    is_about_line,
    is_between_bodies,
    may_break,
    row_surfaces,
    row_target,
)
from ..objects.bone_rows import drops_own_settings, says_own_settings
from ..objects.driven_bones import drives, driving_bodies
from ..properties.role_definitions import WRAP
from .attachment_edges import edge_parts
from .hooks import hook_parts
from .participants import Participants

EVERY_BONE = {TO_BONES: ALL_BONES, TO_ARMATURE: ARMATURE_BONES}


def target_keys(inputs: Participants, body: bpy.types.Object, row: bpy.types.PropertyGroup) -> tuple[str, ...]:
    """Returns the keys of what a row of a body or its Wrap is about, at least one.

    Raises:
        BadInput: It names nothing, or what takes no part or cannot be attached to.
    """
    owner = row.id_data
    if row.target_type == TO_ARMATURE and not roles.is_flesh(body):
        raise BadInput("bones-hold-flesh-only", name=owner.name)
    if row.target_type == TO_ARMATURE and not any(b.body == body and b.modifier for b in inputs.armature_bones):
        return (NOTHING,)  # bodies drive all bones that have weights, and hold the flesh
    if row.target_type in EVERY_BONE:
        return (EVERY_BONE[row.target_type],)
    if row_target(row) is None:
        raise BadInput("attachment-without-target", name=owner.name)
    surfaces = row_surfaces(row)
    if row.target_type == TO_BONE:
        _check_bone(body, row, bool(surfaces))
    carrier = edge_carrier(row)
    if carrier is not None:
        if carrier[0].name not in inputs.scene.objects or carrier[0] not in inputs.followed_objects:
            raise BadInput("attachment-target-missing", name=owner.name, target=carrier[0].name)
        return (FRAME,)
    if not surfaces:
        lines = (each for each in inputs.armature_bones if each.body == body and each.is_named)
        return tuple(each.key for each in lines if (each.rig, each.name) == (row.armature, row.bone))
    keys = tuple(key for surface in surfaces for key in _surface_keys(inputs, row, surface))
    if not keys:
        raise BadInput("attachment-target-missing", name=owner.name, target=surfaces[0].name)
    return keys


def _check_bone(body: bpy.types.Object, row: bpy.types.PropertyGroup, has_surface: bool) -> None:
    """Raises BadInput where the bone of a row is not there, or can neither hold the body nor has a surface."""
    name, rig = row.id_data.name, row.armature
    if row.bone not in rig.data.bones:
        raise BadInput("attachment-without-bone", name=name, bone=row.bone, target=rig.name)
    if has_surface:
        return
    driver = next(
        (obj for scene in body.users_scene for obj in driving_bodies(scene) if drives(obj, rig, row.bone)), None
    )
    if driver is not None:
        raise BadInput("attachment-to-driven-bone", name=name, bone=f"{rig.name}: {row.bone}", driver=driver.name)
    if has_edges(row):
        return  # the bone carries their ends
    if row.kind != SLIDING and not roles.is_flesh(body):
        raise BadInput("bones-hold-flesh-only", name=name)
    if not is_about_line(row):
        raise BadInput("attachment-line-slides", name=name, target=f"{rig.name}: {row.bone}")


def _surface_keys(inputs: Participants, row: bpy.types.PropertyGroup, surface: bpy.types.Object) -> list[str]:
    """Returns the keys of a surface that a row is about: none where it takes no part, several of some Wraps."""
    if roles.has_role(surface, WRAP):
        return _wrap_keys(inputs, row, surface)
    targets = [inputs.bodies, inputs.grounds, inputs.colliders, inputs.bones]
    if roles.is_flesh(row.id_data) and holds_material(row):
        targets.insert(0, inputs.bones)  # what is a bone and a collider, too, holds it as a bone
    return [own[surface] for own in targets if surface in own][:1]


def _wrap_keys(inputs: Participants, row: bpy.types.PropertyGroup, wrap: bpy.types.Object) -> list[str]:
    """Returns the keys of a Wrap inside of the bodies that end there."""
    bodies = bodies_at_wrap(wrap)
    if not bodies:
        raise BadInput("attachment-to-free-wrap", name=row.id_data.name, target=wrap.name)
    of_grounds = inputs.ground_wraps
    keys = [inputs.bodies[each] + WRAP_SUFFIX for each in bodies if each in inputs.bodies]
    return keys + [of_grounds[each] for each in bodies if each in of_grounds]


def attachment_parts(obj: bpy.types.Object, keys: Mapping[bpy.types.Object, str], waiting: list[bpy.types.ID]) -> Parts:
    """Returns what the digest has of the attachments of a body: of bodies the keys.

    An armature goes into `waiting`.
    """
    parts: Parts = []
    later = {setting.name for setting in LATER_ROW_SETTINGS}
    animated = animated_paths(obj)
    rows = [
        (path, row) for path, row in counting_rows(obj, obj.sinew) if not says_own_settings(obj, path, row, animated)
    ]
    parts += [f"no row about {name}" for name in drops_own_settings(obj)]
    for number, (path, row) in enumerate(rows):
        keyed = [each.removeprefix(f"{path}.") for each in animated if each.startswith(f"{path}.")]
        parts += rna_parts(row, {ATTACHMENT_TARGET.name, *later, *keyed}, (), f"attachments.{number}.")
        if row.is_exact and row.kind == FIXED and not has_edges(row):
            parts.append("exact")
        parts += edge_parts(row, waiting)
        for name in (ATTACHMENT_SPRING_CONSTANT.name, ATTACHMENT_DAMPING.name):
            if row.kind == SPRING and getattr(row, name) > 0.0:
                parts.append(f"{name} {getattr(row, name)!r}")
        if row.collides and is_between_bodies(row) and not has_edges(row):
            parts.append(ATTACHMENT_COLLIDES.name)
        if row.breaking_force > 0.0 and may_break(row):
            parts.append(f"{ATTACHMENT_BREAKING_FORCE.name} {row.breaking_force!r}")
        target = row_target(row)
        parts.append(_identity(target, keys) if target is not None else "")
        if row.target_type == TO_BONE and target is not None:
            parts += [row.bone, *(_identity(each, keys) for each in row_surfaces(row))]
            waiting.append(target)
        if row.target_type == TO_OBJECT and row.target_group and target is not None:
            parts += [row.target_group, *_painted_attribute(target, row.target_group)]
    return [*parts, *hook_parts(obj, keys, waiting)]


def _identity(obj: bpy.types.Object, keys: Mapping[bpy.types.Object, str]) -> str:
    """Returns what says which object is meant, and stays when it is renamed after a bake."""
    return keys.get(obj) or name_at_first_bake(obj, obj.name_full)


def _painted_attribute(obj: bpy.types.Object, name: str) -> Parts:
    """Returns the values of an attribute of a mesh; of a vertex group none, since the digest has all weights."""
    attribute = obj.data.attributes.get(name) if name not in obj.vertex_groups else None
    if attribute is None or attribute.domain != "POINT" or attribute.data_type not in WEIGHT_TYPES:
        return []
    return [raw_weights(attribute, len(obj.data.vertices))]
