# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes new objects with a role: a heat source, a bone, a ground."""

from __future__ import annotations

import bpy
from mathutils import Vector

from . import flesh_supports, roles, tet_estimate
from .heat_depth import speed_through
from .heat_transfer_coefficient import heat_transfer_coefficient

HEAT_SOURCE_NAME = "Heat Source"
# of the longest side of the body that it is made for: reach of the heat, and how far above the body it is;
# far enough for a body that falls half its height to a new ground
HEAT_REACH, HEAT_DISTANCE = 2.5, 0.1
# at least so many times as far above the temperature of the body as its melting point is
MELTING_MARGIN = 3.0
AIR_LOSS_MARGIN = 15.0  # least heat transfer of a source over that to the air
BONE_NAME = "Bone"
# of the sides of the body that it is made for: along the longest, and across it
BONE_LENGTH, BONE_WIDTH = 0.8, 0.3
GROUND_NAME = "Ground"
GROUND_SIZE = 10.0
FALL_SHARE = 0.5  # of a body's height, which it falls before it meets a new ground
FLAT_FALL_SHARE = 0.1  # and at least of its longest side: a sheet has no height, and would lie in the ground
SHEET_GAP_SHARE = 0.005  # of the longest side of a sheet: as high above a new ground it is seen; in it, it flickers


def add_heat_source(context: bpy.types.Context) -> bpy.types.Object:
    """Returns a new heat source whose place, reach and temperature melt the active body, if that has heat.

    The body's Heat Speed becomes such that heat gets through it within the shot, unless somebody has set it already.
    Without such a body it is at the 3D cursor, and as large as suits the largest body.
    """
    source = bpy.data.objects.new(HEAT_SOURCE_NAME, None)
    source.location = context.scene.cursor.location
    body = context.object
    if is_heated(body, context.scene) and max(body.dimensions) > 0.0:
        if body.sinew.heat_speed == 1.0:
            body.sinew.heat_speed = speed_through(body, context.scene)
        _suit_heat_source(source, body, context.scene.unit_settings.scale_length)
    else:
        longest = max((max(o.dimensions) for o in roles.bodies(context.scene)), default=0.0)
        if longest > 0.0:
            source.sinew.source_radius = HEAT_REACH * longest
    (context.collection or context.scene.collection).objects.link(source)
    roles.make_heat_source(source)
    return source


def is_heated(obj: bpy.types.Object | None, scene: bpy.types.Scene) -> bool:
    """Whether an object is a body of the scene with heat."""
    return obj is not None and obj in roles.bodies(scene) and obj.sinew.use_heat and not roles.is_flesh(obj)


def _suit_heat_source(source: bpy.types.Object, body: bpy.types.Object, unit: float) -> None:
    """Puts a source above a body and makes it as hot, as strong and as far-reaching as melts it within seconds."""
    settings, longest = body.sinew, max(body.dimensions)
    corners = [body.matrix_world @ Vector(corner) for corner in body.bound_box]
    source.location = sum(corners, Vector()) / len(corners)
    source.location.z = max(corner.z for corner in corners) + HEAT_DISTANCE * longest
    radius = source.sinew.source_radius = HEAT_REACH * longest
    # a large body loses more to the air than it conducts
    least = AIR_LOSS_MARGIN * settings.heat_exchange
    source.sinew.source_exchange = max(heat_transfer_coefficient(body, radius * unit), least)
    above = MELTING_MARGIN * (settings.melting_point - settings.temperature)
    source.sinew.source_temperature = max(source.sinew.source_temperature, settings.temperature + above)


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
    roles.make_bone(bone)
    return bone


def add_ground(context: bpy.types.Context) -> bpy.types.Object:
    """Returns a new plane, made a collider, at height 0 or so far below the lowest body that this one has half its
    height to fall, and a flat one a tenth of its longest side; right under bodies that something holds."""
    found = roles.bodies(context.scene)
    corners = {o: [o.matrix_world @ Vector(corner) for corner in o.bound_box] for o in found}
    reach = max((max(abs(c.x), abs(c.y)) for own in corners.values() for c in own), default=1.0)
    half = GROUND_SIZE * max(reach, 1.0e-6) / 2.0
    mesh = bpy.data.meshes.new(GROUND_NAME)
    mesh.from_pydata([(-half, -half, 0), (half, -half, 0), (half, half, 0), (-half, half, 0)], [], [(0, 1, 2, 3)])
    ground = bpy.data.objects.new(GROUND_NAME, mesh)
    ground.location.z = min((_height_below(context.scene, o, own) for o, own in corners.items()), default=0.0)
    ground.location.z = min(ground.location.z, 0.0)
    (context.collection or context.scene.collection).objects.link(ground)
    roles.make_collider(ground, "PLANE")
    sheets = [o for o in found if flesh_supports.falls(context.scene, o) and tet_estimate.has_no_volume(o)]
    ground.sinew.thickness = SHEET_GAP_SHARE * min((max(o.dimensions) for o in sheets), default=0.0)
    return ground


def _height_below(scene: bpy.types.Scene, body: bpy.types.Object, corners: list[Vector]) -> float:
    """Returns the height of a ground that suits a body with these corners of its box."""
    low, high = (Vector(map(pick, zip(*corners, strict=True))) for pick in (min, max))
    sides = high - low
    fall = max(FALL_SHARE * sides.z, FLAT_FALL_SHARE * max(sides)) if flesh_supports.falls(scene, body) else 0.0
    return low.z - fall
