# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives objects their roles and takes them away: body, bone, collider, heat source."""

from __future__ import annotations

from collections.abc import Iterable

import bpy
from mathutils import Vector

from ...solver.runtime.errors import BadInput
from ..blender_data import modifier_stack
from ..fracture_meshes import show_results
from ..playback import attribute_playback
from ..properties.object_roles import BODY, BONE, COLLIDER, HEAT_SOURCE, NONE, ROLE_BY_KEY, ROLES

FEW_VERTICES_LIMIT = 64
TARGET_VERTICES = 300
MAX_SUBDIVISION_LEVEL = 6
BONE_NAME = "Bone"
# of the sides of the body that it is made for: along the longest, and across it
BONE_LENGTH, BONE_WIDTH = 0.8, 0.3
GROUND_NAME = "Ground"
GROUND_SIZE = 10.0
HEAT_SOURCE_NAME = "Heat Source"
# of the longest side of the body that it is made for
HEAT_RADIUS = 0.25
# that a heat source gives at its middle per kelvin [W/(m³ K)]: melts wax within a second or two
HEAT_PER_KELVIN = 1.0e6


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


def heat_sources(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Returns the scene's heat sources by name."""
    return sorted((o for o in scene.objects if has_role(o, HEAT_SOURCE)), key=lambda o: o.name)


def bones(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Returns the scene's bone meshes by name."""
    return sorted((o for o in scene.objects if o.type == "MESH" and has_role(o, BONE)), key=lambda o: o.name)


def is_flesh(obj: bpy.types.Object) -> bool:
    """Whether `obj` is a body of flesh: it follows the pose or jiggles."""
    return bool(obj.type == "MESH" and obj.sinew.role == BODY and obj.sinew.motion != "ELASTIC")


def check_changeable(obj: bpy.types.Object) -> None:
    """Makes sure that settings can be changed on `obj`.

    Raises:
        BadInput: It is linked and not overridden.
    """
    if obj.library is not None or (obj.override_library and obj.override_library.is_system_override):
        raise BadInput("linked-without-override", name=obj.name)


def check_object(obj: bpy.types.Object) -> None:
    """Makes sure that `obj` can be a body or a collider.

    Raises:
        BadInput: It is not a mesh, has no faces, or is linked and not overridden.
    """
    if obj.type != "MESH":
        raise BadInput("not-a-mesh", name=obj.name, type=object_kind(obj))
    check_changeable(obj)
    if len(obj.data.polygons) == 0 and not obj.modifiers and obj.mode != "EDIT":
        raise BadInput("mesh-empty", name=obj.name)


def check_bone(obj: bpy.types.Object) -> None:
    """Makes sure that `obj` can be a bone.

    Raises:
        BadInput: It is no mesh, has no faces, or is linked and not overridden.
    """
    if obj.type == "ARMATURE":
        raise BadInput("armature-as-bone", name=obj.name)
    check_object(obj)


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


def _set_role(obj: bpy.types.Object, role: str) -> None:
    """Gives an object one role in place of those that it had."""
    obj.sinew.extra_roles = set()
    obj.sinew.role = role


def make_body(obj: bpy.types.Object) -> None:
    """Makes `obj` a soft body and puts Sinew's modifier into its stack."""
    _set_role(obj, BODY)
    modifier_stack.ensure_modifier(obj)


def make_flesh(obj: bpy.types.Object) -> None:
    """Makes `obj` flesh that follows the pose of its bones; what is flesh already keeps its settings."""
    if not is_flesh(obj):
        obj.sinew.motion = "POSE"
        obj.sinew.preset = "FLESH"
    make_body(obj)


def make_bone(obj: bpy.types.Object) -> None:
    """Makes `obj` a bone, on which flesh grows."""
    modifier_stack.remove_modifier(obj)
    _set_role(obj, BONE)


def make_collider(obj: bpy.types.Object, shape: str = "MESH") -> None:
    """Makes `obj` a collider."""
    modifier_stack.remove_modifier(obj)
    _set_role(obj, COLLIDER)
    obj.sinew.collider_shape = shape


def make_heat_source(obj: bpy.types.Object) -> None:
    """Makes `obj` a heat source."""
    modifier_stack.remove_modifier(obj)
    _set_role(obj, HEAT_SOURCE)
    show_radius(obj)


def show_radius(obj: bpy.types.Object) -> None:
    """Makes an empty that is a heat source look as large as its radius."""
    if obj.type == "EMPTY" and has_role(obj, HEAT_SOURCE):
        obj.empty_display_type = "SPHERE"
        obj.empty_display_size = obj.sinew.source_radius


def add_heat_source(context: bpy.types.Context) -> bpy.types.Object:
    """Returns a new empty at the 3D cursor, made a heat source whose radius and heat suit the bodies."""
    source = bpy.data.objects.new(HEAT_SOURCE_NAME, None)
    source.location = context.scene.cursor.location
    longest = [max(o.dimensions) for o in bodies(context.scene) if max(o.dimensions) > 0.0]
    if longest:
        source.sinew.source_radius = HEAT_RADIUS * max(longest)
        # large and small bodies melt within the same seconds
        metres = source.sinew.source_radius * context.scene.unit_settings.scale_length
        source.sinew.source_exchange = HEAT_PER_KELVIN * metres
    (context.collection or context.scene.collection).objects.link(source)
    make_heat_source(source)
    return source


def add_bone(context: bpy.types.Context, flesh: bpy.types.Object) -> bpy.types.Object:
    """Returns a new box along the middle of `flesh`, drawn as wires through it, made a bone."""
    corners = [Vector(corner) for corner in flesh.bound_box]
    low, high = (Vector(map(pick, zip(*corners, strict=True))) for pick in (min, max))
    sides = high - low
    longest = max(range(3), key=lambda axis: sides[axis] * flesh.matrix_world.to_scale()[axis])
    half = [(BONE_LENGTH if axis == longest else BONE_WIDTH) * sides[axis] / 2.0 for axis in range(3)]
    middle = (low + high) / 2.0
    mesh = bpy.data.meshes.new(BONE_NAME)
    points = [[middle[axis] + (half[axis] if i >> axis & 1 else -half[axis]) for axis in range(3)] for i in range(8)]
    faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    mesh.from_pydata(points, [], faces)
    bone = bpy.data.objects.new(BONE_NAME, mesh)
    bone.matrix_world = flesh.matrix_world
    bone.display_type, bone.show_in_front, bone.hide_render = "WIRE", True, True
    (context.collection or context.scene.collection).objects.link(bone)
    make_bone(bone)
    return bone


def clear_role(obj: bpy.types.Object) -> None:
    """Takes all roles from `obj`; its other settings stay, in case it gets a role again."""
    show_results.restore_body(obj)
    attribute_playback.detach(obj)
    modifier_stack.remove_modifier(obj)
    _set_role(obj, NONE)


def add_ground(context: bpy.types.Context) -> bpy.types.Object:
    """Returns a new plane under all bodies, or at height 0 where they all are above that, made a collider."""
    corners = [o.matrix_world @ Vector(corner) for o in bodies(context.scene) for corner in o.bound_box]
    lowest = min((corner.z for corner in corners), default=0.0)
    reach = max((max(abs(corner.x), abs(corner.y)) for corner in corners), default=1.0)
    half = GROUND_SIZE * max(reach, 1.0e-6) / 2.0
    mesh = bpy.data.meshes.new(GROUND_NAME)
    mesh.from_pydata([(-half, -half, 0), (half, -half, 0), (half, half, 0), (-half, half, 0)], [], [(0, 1, 2, 3)])
    ground = bpy.data.objects.new(GROUND_NAME, mesh)
    ground.location.z = min(lowest, 0.0)
    (context.collection or context.scene.collection).objects.link(ground)
    make_collider(ground, "PLANE")
    return ground


def has_few_vertices(obj: bpy.types.Object) -> bool:
    """Whether `obj` has too few vertices to bend, and nothing above Sinew's modifier that makes more."""
    if obj.mode == "EDIT" or len(obj.data.vertices) >= FEW_VERTICES_LIMIT:
        return False
    sinew_modifier = modifier_stack.find_modifier(obj)
    above = list(obj.modifiers)[: list(obj.modifiers).index(sinew_modifier)] if sinew_modifier else list(obj.modifiers)
    return not any(m.type in {"SUBSURF", "MULTIRES", "REMESH", "NODES", "SKIN", "BEVEL"} for m in above)


def subdivision_level(vertices: int, faces: int) -> int:
    """Returns the simple subdivision level that gives enough vertices; each one makes four faces of one."""
    level = 1
    while level < MAX_SUBDIVISION_LEVEL and max(vertices, faces * 4**level) < TARGET_VERTICES:
        level += 1
    return level


def subdivide(obj: bpy.types.Object) -> None:
    """Puts a Simple Subdivision above Sinew's modifier, with the same level in the viewport and the render."""
    modifier = obj.modifiers.new("Sinew Subdivision", "SUBSURF")
    modifier.subdivision_type = "SIMPLE"
    modifier.levels = modifier.render_levels = subdivision_level(len(obj.data.vertices), len(obj.data.polygons))
    sinew_modifier = modifier_stack.find_modifier(obj)
    if sinew_modifier is not None:
        obj.modifiers.move(len(obj.modifiers) - 1, list(obj.modifiers).index(sinew_modifier))
