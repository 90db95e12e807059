# SPDX-License-Identifier: GPL-3.0-or-later
"""Which roles objects have: body, bone, collider, heat source. Gives them roles and takes them away."""

from __future__ import annotations

import bpy

from ...solver.scene.settings.flesh_settings import BRITTLE, ELASTIC, POSE
from ..blender_data import motion_track, rigid_body_world, sinew_modifier
from ..blender_data.rna_serialisation import animated_paths
from ..fracture_meshes import show_results
from ..playback import attribute_modifier, solved_frame
from ..properties.role_definitions import BODY, BONE, COLLIDER, HEAT_SOURCE, NONE, ROLE_BY_KEY, ROLES, WRAP


def roles_of(obj: bpy.types.Object) -> tuple[str, ...]:
    """Returns the keys of the roles that an object has, in the order of `ROLES`."""
    settings = obj.sinew
    if settings.role == NONE:
        return ()
    if not ROLE_BY_KEY[settings.role].is_combinable:
        return (settings.role,)
    return tuple(role.key for role in ROLES if role.key == settings.role or role.key in settings.extra_roles)


def has_role(obj: bpy.types.Object, role: str) -> bool:
    """Whether an object has a role, alone or beside others."""
    return role in roles_of(obj)


def bodies(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Returns the scene's bodies by name, so that their order does not depend on how they were made.

    Objects that are linked play what was baked in their own file.
    """
    found = (o for o in scene.objects if o.type == "MESH" and o.sinew.role == BODY and o.library is None)
    return sorted(found, key=lambda o: o.name)


def colliders(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Returns the scene's colliders by name."""
    return sorted((o for o in scene.objects if has_role(o, COLLIDER)), key=lambda o: o.name)


def is_ever_collider(obj: bpy.types.Object) -> bool:
    """Whether bodies feel a collider at some frame."""
    return bool(obj.sinew.use_collision or "sinew.use_collision" in animated_paths(obj))


def heat_sources(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Returns the scene's heat sources by name."""
    return sorted((o for o in scene.objects if has_role(o, HEAT_SOURCE)), key=lambda o: o.name)


def bones(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Returns the scene's bone meshes by name."""
    return sorted((o for o in scene.objects if o.type == "MESH" and has_role(o, BONE)), key=lambda o: o.name)


def wraps(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Returns the scene's wraps by name."""
    return sorted((o for o in scene.objects if has_role(o, WRAP)), key=lambda o: o.name)


def is_adaptive(obj: bpy.types.Object) -> bool:
    """Whether the tets of a body are of several sizes; those of one that may break are not."""
    return str(obj.sinew.method) == "ADAPTIVE" and not obj.sinew.use_fracture


def is_rigid(obj: bpy.types.Object) -> bool:
    """Whether the mesh of a body moves as one piece."""
    return str(obj.sinew.method) == "RIGID"


def is_brittle(obj: bpy.types.Object) -> bool:
    """Whether a body moves as one piece, and breaks where it is hit."""
    return bool(obj.sinew.motion == BRITTLE and not is_sheet(obj))


def is_sheet(obj: bpy.types.Object) -> bool:
    """Whether the faces of a body are its elements, as those of cloth are."""
    return str(obj.sinew.method) == "SHEET"


def is_flesh(obj: bpy.types.Object) -> bool:
    """Whether `obj` is a body of flesh: it follows the pose or jiggles."""
    return bool(obj.type == "MESH" and obj.sinew.role == BODY and obj.sinew.motion not in (ELASTIC, BRITTLE))


def _remove_modifiers(obj: bpy.types.Object) -> None:
    """Removes what plays a bake, and what shows a solved frame: only bodies have these."""
    solved_frame.remove([obj])
    motion_track.remove_motion(obj)
    if obj.sinew.drives_bone and obj.parent is not None and obj.parent.type == "ARMATURE":
        motion_track.remove_motion(obj.parent)
    sinew_modifier.remove_modifier(obj)


def _set_role(obj: bpy.types.Object, role: str) -> None:
    """Gives an object one role in place of those that it had. Blender's rigid body world moves no body."""
    obj.sinew.extra_roles = set()
    obj.sinew.role = role
    if role == BODY:
        rigid_body_world.take_out(obj)
    else:
        rigid_body_world.give_back(obj)


def make_body(obj: bpy.types.Object) -> None:
    """Makes `obj` a soft body and puts Sinew's modifier into its stack."""
    _set_role(obj, BODY)
    sinew_modifier.ensure_modifier(obj)


def make_flesh(obj: bpy.types.Object) -> None:
    """Makes `obj` flesh that follows the pose of its bones; what is flesh already keeps its settings."""
    if not is_flesh(obj):
        obj.sinew.motion = POSE
        obj.sinew.preset = "FLESH"
    make_body(obj)


def make_bone(obj: bpy.types.Object) -> None:
    """Makes `obj` a bone, on which flesh grows."""
    _remove_modifiers(obj)
    _set_role(obj, BONE)


def make_collider(obj: bpy.types.Object, shape: str = "MESH") -> None:
    """Makes `obj` a collider."""
    _remove_modifiers(obj)
    _set_role(obj, COLLIDER)
    obj.sinew.collider_shape = shape


def make_wrap(obj: bpy.types.Object) -> None:
    """Makes `obj` a wrap, to which fat holds, and which moves with it."""
    _set_role(obj, WRAP)
    sinew_modifier.ensure_modifier(obj)


def make_heat_source(obj: bpy.types.Object) -> None:
    """Makes `obj` a heat source."""
    _remove_modifiers(obj)
    _set_role(obj, HEAT_SOURCE)
    show_radius(obj)


def show_radius(obj: bpy.types.Object) -> None:
    """Makes an empty that is a heat source look as large as its radius."""
    if obj.type == "EMPTY" and has_role(obj, HEAT_SOURCE):
        obj.empty_display_type = "SPHERE"
        obj.empty_display_size = obj.sinew.source_radius


def clear_role(obj: bpy.types.Object) -> None:
    """Takes all roles from `obj`; its other settings stay, in case it gets a role again."""
    show_results.restore_body(obj)
    attribute_modifier.detach(obj)
    _remove_modifiers(obj)
    _set_role(obj, NONE)
