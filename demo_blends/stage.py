# SPDX-License-Identifier: GPL-3.0-or-later
"""What the demo scenes share: an empty file, a camera, light, and objects in colour that Sinew knows."""

from __future__ import annotations

import math
from collections.abc import Callable

import bmesh
import bpy
import numpy as np
from mathutils import Matrix, Vector

Colour = tuple[float, float, float]

FPS = 24
FLOOR_COLOUR = (0.30, 0.32, 0.36)


def empty_scene(frame_end: int, fps: int = FPS) -> bpy.types.Scene:
    """Returns the scene of a new, empty file of `frame_end` frames."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    ensure_sinew()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, frame_end
    scene.render.fps, scene.render.fps_base = fps, 1.0
    return scene


def ensure_sinew() -> None:
    """Registers Sinew where that has not been done."""
    if "sinew" not in bpy.types.Object.bl_rna.properties:
        import sinew

        sinew.register()


def select(obj: bpy.types.Object) -> None:
    """Makes `obj` the one selected and active object, as operators want it."""
    for other in bpy.context.selected_objects:
        other.select_set(False)
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj


def make_body(obj: bpy.types.Object, preset: str, divisions: int = 0, tet_size: float = 0.0) -> None:
    """Makes `obj` a soft body, as the button does, of so many divisions or of a tet size [m]."""
    select(obj)
    bpy.ops.sinew.make_body()
    obj.sinew.use_stretch_limit = False  # the demos are those of before there was one
    obj.sinew.crack_advances = 1  # the same
    obj.sinew.preset = preset
    if divisions:
        obj.sinew.divisions = divisions
    else:
        obj.sinew.sizing, obj.sinew.tet_size = "SIZE", tet_size


def make_rigid(obj: bpy.types.Object, density: float) -> None:
    """Makes `obj` a body of a density [kg/m³] that moves as one piece, as the button does."""
    select(obj)
    bpy.ops.sinew.make_rigid()
    obj.sinew.density = density


def make_flesh(obj: bpy.types.Object, motion: str, preset: str = "FLESH", tet_size: float = 0.0) -> None:
    """Makes `obj` flesh, as the button does: "POSE" follows its bones, "JIGGLE" has inertia; of a tet size [m]."""
    select(obj)
    bpy.ops.sinew.make_flesh()
    obj.sinew.use_stretch_limit = False  # the demos are those of before there was one
    obj.sinew.motion, obj.sinew.preset = motion, preset
    obj.sinew.gravity_in_shape = False
    obj.sinew.sizing, obj.sinew.tet_size = "SIZE", tet_size


def preview(obj: bpy.types.Object, tets: int) -> None:
    """Lets a body have about so many tets live, where those of its bakes are slower than the clock."""
    obj.sinew.use_preview_tets, obj.sinew.preview_tets = True, tets


def make_bone(obj: bpy.types.Object, distance: float) -> None:
    """Makes `obj` a bone, as the button does, that holds what is within a distance [m]."""
    select(obj)
    bpy.ops.sinew.make_bone()
    obj.sinew.bone_distance = distance


def ride(obj: bpy.types.Object, rig: bpy.types.Object, bone: str) -> None:
    """Makes `obj` follow a bone of an armature from where it is now."""
    obj.parent, obj.parent_type, obj.parent_bone = rig, "BONE", bone
    bpy.context.view_layer.update()
    # what hangs on a bone is placed from its tail
    at = rig.matrix_world @ rig.pose.bones[bone].matrix @ Matrix.Translation((0.0, rig.pose.bones[bone].length, 0.0))
    obj.matrix_parent_inverse = at.inverted()


def of_table_1(obj: bpy.types.Object, youngs_modulus: float) -> None:
    """Gives a body what all bodies of Müller and Gross 2004, table 1, share, and its Young's modulus [Pa]."""
    obj.sinew.youngs_modulus, obj.sinew.poisson_ratio, obj.sinew.density = youngs_modulus, 0.33, 1000.0
    # the table has no damping: steps of 10 ms damp by themselves
    obj.sinew.stiffness_damping, obj.sinew.mass_damping = 0.0, 0.0


def add_object(made: bmesh.types.BMesh, name: str) -> bpy.types.Object:
    """Returns a new object with the mesh that `made` has, which is freed."""
    mesh = bpy.data.meshes.new(name)
    made.to_mesh(mesh)
    made.free()
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def hold(obj: bpy.types.Object, **ends: Callable[[np.ndarray], np.ndarray]) -> bpy.types.Object:
    """Pins parts of `obj` to bones of their own, and returns the armature to be animated.

    Each of `ends` is a bone's name and what says which vertices it holds, positions [m], (n, 3) → (n,) bools.
    """
    points = np.empty((len(obj.data.vertices), 3), np.float32)
    obj.data.vertices.foreach_get("co", points.ravel())
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    pins = obj.vertex_groups.new(name="Hold")
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    for name, holds in ends.items():
        held = np.flatnonzero(holds(points)).tolist()
        bone = rig.data.edit_bones.new(name)
        bone.head = obj.matrix_world @ Vector(points[held].mean(axis=0))
        bone.tail = bone.head + Vector((0.0, 0.0, 0.1))
        obj.vertex_groups.new(name=name).add(held, 1.0, "REPLACE")
        pins.add(held, 1.0, "REPLACE")
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.hide_render = True
    follow = obj.modifiers.new("Armature", "ARMATURE")
    follow.object = rig
    return rig


def key_bone(
    rig: bpy.types.Object, name: str, *keys: tuple[int, tuple[float, float, float], tuple[float, float, float]]
) -> None:
    """Keys by how much a bone is moved [m] and turned [rad], in world axes, at frames."""
    bone = rig.pose.bones[name]
    bone.rotation_mode = "XYZ"
    # bones point upwards: what is up for the world is y for them
    for frame, (x, y, z), (a, b, c) in keys:
        bone.location, bone.rotation_euler = (x, z, -y), (a, c, -b)
        bone.keyframe_insert("location", frame=frame)
        bone.keyframe_insert("rotation_euler", frame=frame)


def make_heat_source(obj: bpy.types.Object, temperature: float, radius: float, exchange: float) -> None:
    """Makes `obj` hot [°C], heating what is within `radius` [m] by `exchange` [W/(m² K)]."""
    select(obj)
    bpy.ops.sinew.make_heat_source()
    settings = obj.sinew
    settings.source_temperature, settings.source_radius, settings.source_exchange = temperature, radius, exchange


def soften(obj: bpy.types.Object, *rows: tuple[float, float, float, float]) -> None:
    """Gives a body rows of temperature [°C] and factors of stiffness, yield and flow."""
    obj.sinew.softening.clear()
    for row in rows:
        added = obj.sinew.softening.add()
        added.temperature, added.stiffness, added.yield_strain, added.flow = row


def glow(obj: bpy.types.Object, colour: Colour, strength: float) -> None:
    """Makes the first material of `obj` shine."""
    shader = obj.data.materials[0].node_tree.nodes["Principled BSDF"]
    shader.inputs["Emission Color"].default_value = (*colour, 1.0)
    shader.inputs["Emission Strength"].default_value = strength


def key_places(obj: bpy.types.Object, *keys: tuple[int, tuple[float, float, float]]) -> None:
    """Keys where `obj` is [m] at frames."""
    for frame, place in keys:
        obj.location = place
        obj.keyframe_insert("location", frame=frame)


def make_collider(obj: bpy.types.Object) -> None:
    """Makes `obj` something that bodies bump into, as the button does."""
    select(obj)
    bpy.ops.sinew.make_collider()


def add_ground() -> bpy.types.Object:
    """Adds the ground, as the button does, at height 0, and returns it."""
    bpy.ops.sinew.add_ground()
    ground = next(o for o in bpy.context.scene.objects if o.name.startswith("Ground"))
    ground.location.z = 0.0
    paint(ground, FLOOR_COLOUR)
    return ground


def paint(obj: bpy.types.Object, colour: Colour, roughness: float = 0.5) -> None:
    """Gives `obj` a plain material, and no other."""
    obj.data.materials.clear()
    add_material(obj, obj.name, colour, roughness)


def add_material(obj: bpy.types.Object, name: str, colour: Colour, roughness: float = 0.5) -> bpy.types.Material:
    """Gives `obj` a further slot with a plain material and returns that."""
    material = loose_material(name, colour, roughness)
    obj.data.materials.append(material)
    return material


def loose_material(name: str, colour: Colour, roughness: float = 0.5) -> bpy.types.Material:
    """Returns a plain material that no object has yet."""
    material = bpy.data.materials.new(name)
    material.diffuse_color = (*colour, 1.0)
    material.use_nodes = True
    shader = material.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*colour, 1.0)
    shader.inputs["Roughness"].default_value = roughness
    return material


def smooth(obj: bpy.types.Object) -> None:
    """Shades `obj` smooth."""
    obj.data.polygons.foreach_set("use_smooth", [True] * len(obj.data.polygons))


def look_at(camera: bpy.types.Object, target: tuple[float, float, float]) -> None:
    """Turns a camera or lamp, which look along −z, towards `target`."""
    camera.rotation_euler = (Vector(target) - camera.location).to_track_quat("-Z", "Y").to_euler()


def key_views(
    camera: bpy.types.Object, *keys: tuple[int, tuple[float, float, float], tuple[float, float, float]]
) -> None:
    """Keys where a camera is and what it looks at [m] at frames."""
    for frame, place, target in keys:
        key_places(camera, (frame, place))
        look_at(camera, target)
        camera.keyframe_insert("rotation_euler", frame=frame)


def prepare_views() -> None:
    """Lets the 3D views of the file open with their sidebar, where Sinew is, on what the camera sees.

    At first they show ten metres around the origin, and no sidebar.
    """
    for screen in bpy.data.screens:
        for area in screen.areas:
            if area.type == "VIEW_3D":
                area.spaces.active.region_3d.view_perspective = "CAMERA"
                area.spaces.active.show_region_ui = True


def light_and_camera(place: tuple[float, float, float], target: tuple[float, float, float], lens: float = 50.0) -> None:
    """Adds a camera at `place` [m] that looks at `target`, through which the file opens, a sun and a bright sky."""
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.lens = lens
    camera.location = place
    look_at(camera, target)
    scene.collection.objects.link(camera)
    scene.camera = camera
    prepare_views()
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    sun.data.energy, sun.data.angle = 2.2, math.radians(8)
    sun.rotation_euler = (math.radians(48), math.radians(8), math.radians(35))
    scene.collection.objects.link(sun)
    world = bpy.data.worlds.new("Sky")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.55, 0.65, 0.8, 1.0)
    world.node_tree.nodes["Background"].inputs["Strength"].default_value = 0.5
    scene.world = world
