# SPDX-License-Identifier: GPL-3.0-or-later
"""An upper limb in layers: twelve muscles on bones, a Wrap, fat and skin in a second pass, and a sleeve of Blender's
own Cloth over the simulated skin. It curls, and it punches."""

from __future__ import annotations

import bpy
import numpy as np

import rigged
import stage
import swept
import upper_limb
import upper_limb_skin

FRAMES = 72
TET_SIZE = 0.014  # of all muscles [m]: 10,600 tets
BEST_LENGTH = 0.95  # fibres are taut at rest, so that none goes slack as joints bend
STRENGTH = 0.4  # nobody lifts anything here
FAT_TET_SIZE = 0.02  # [m]
WRAP_VOXEL = 0.009  # [m]
HELD = (-0.135, 0.50)  # along x: the skin beyond these follows the rig [m]
UPPER, LOWER = "Humerus", "Ulna"
# muscles by the flex control that keys them; those of the first group also contract by themselves as they shorten
GROUPS = {
    "Elbow Flexors": ("Biceps Long Head", "Biceps Short Head", "Brachialis", "Brachioradialis"),
    "Deltoid": ("Deltoid Front", "Deltoid Middle", "Deltoid Back"),
    "Triceps": ("Triceps Long Head", "Triceps Lateral Head", "Triceps Medial Head"),
    "Forearm": ("Forearm Flexors", "Forearm Extensors"),
}
# frame → upper arm and forearm raised [degrees]: a curl, held; drawn back, a punch, held; rest. Drawn back by 28° in 11
# frames, forearm flexors were pressed 7 mm into the triceps, and fat around them turned inside out
MOVES = (
    (1, 0.0, 0.0), (20, 8.0, 84.0), (27, 8.0, 84.0), (40, -19.0, 82.0), (42, -20.0, 84.0),
    (57, 6.0, 6.0), (63, 5.0, 7.0), (72, 0.0, 0.0),
)  # fmt: skip
# flex control → frame and value
FLEX = {
    "Elbow Flexors": (
        (1, 0.0), (8, 0.15), (20, 0.5), (27, 0.5), (35, 0.25), (42, 0.25), (57, 0.1), (63, 0.1), (72, 0.0),
    ),
    "Deltoid": ((1, 0.0), (20, 0.25), (27, 0.25), (40, 0.1), (43, 0.2), (57, 0.9), (63, 0.7), (72, 0.0)),
    "Triceps": ((1, 0.0), (40, 0.0), (43, 0.2), (55, 1.0), (63, 0.7), (72, 0.0)),
    "Forearm": ((1, 0.0), (20, 0.6), (27, 0.6), (40, 0.3), (43, 0.5), (57, 0.6), (63, 0.5), (72, 0.0)),
}  # fmt: skip
CLOTH, WOOD = (0.035, 0.075, 0.16), (0.09, 0.045, 0.025)
SLEEVE_END, SLEEVE_SIDES, SEAM_END = 0.115, 56, -0.137  # along x [m], vertices around, along x
# along x, half the width and half the height of the sleeve [m]
SLEEVE = np.array(
    [(-0.145, 0.068, 0.070), (-0.06, 0.070, 0.072), (0.02, 0.078, 0.076), (0.07, 0.078, 0.076), (0.115, 0.074, 0.078)]
)


def build(tet_size: float = TET_SIZE, subdivisions: int = 0) -> None:
    """Builds the scene in a new file, with muscles of a tet size [m], and skin and muscles subdivided so many times."""
    stage.empty_scene(FRAMES)
    rig, bones = upper_limb.make_bones()
    muscles, skin = upper_limb.make_muscle_meshes(), upper_limb_skin.make_skin()
    for obj in [*muscles, skin]:
        _subdivide(obj, subdivisions)
    _collect("Bones", [*bones, upper_limb_skin.make_finger_bones(rig)])
    for group, names in GROUPS.items():
        _collect(group, [obj for obj in muscles if obj.name in names])
    make_muscles(rig, muscles, tet_size)
    make_fat(rig, skin, [*muscles, *bones])
    sleeve = make_sleeve(skin)
    _collect("Skin", [skin, sleeve])
    _show_without_skin()
    move(rig)
    flex(rig, muscles)
    _stand()
    stage.light_and_camera((0.66, -1.62, 0.58), (0.26, 0.0, 0.12), lens=50.0)


def make_muscles(rig: bpy.types.Object, meshes: list[bpy.types.Object], tet_size: float) -> None:
    """Makes the meshes muscles, all at once, with a flex control for each group."""
    _select(meshes)
    bpy.ops.sinew.make_muscle()
    for obj in meshes:
        obj.sinew.tet_size, obj.sinew.method = tet_size, "ROBUST"  # their tendons are thinner than a tet
        obj.sinew.optimal_stretch, obj.sinew.muscle_strength = BEST_LENGTH, STRENGTH
    bpy.ops.sinew.add_fascia()  # without it muscles leave their bones as the elbow bends
    _select([*meshes, rig])
    bpy.ops.sinew.add_flex_controls()


def make_fat(rig: bpy.types.Object, skin: bpy.types.Object, anatomy: list[bpy.types.Object]) -> None:
    """Makes the skin fat around a Wrap of the anatomy, in a second pass."""
    _select(anatomy)
    bpy.ops.sinew.make_wrap(voxel_size=WRAP_VOXEL)
    wrap = bpy.context.object
    rigged.follow(skin, rig, upper_limb.BONES)
    stage.make_flesh(skin, "POSE", "FAT", FAT_TET_SIZE)
    skin.sinew.method = "ROBUST"  # the fat is thinner than its tets, so these cover it
    skin.sinew.wrap, skin.sinew.bake_pass = wrap, 2
    skin.sinew.self_contact = False  # as Quick Fat has it
    held = skin.vertex_groups.new(name="Held")
    held.add([v.index for v in skin.data.vertices if not HELD[0] < v.co.x < HELD[1]], 1.0, "REPLACE")
    skin.sinew.pin_group = "Held"  # the border, the wrist and the fist follow the rig


def make_sleeve(skin: bpy.types.Object) -> bpy.types.Object:
    """Returns a short sleeve of Blender's Cloth, sewn on at the shoulder, that falls on the simulated skin."""
    x = np.linspace(upper_limb_skin.CUT, SLEEVE_END, 40)
    angle = np.linspace(0.0, 2.0 * np.pi, SLEEVE_SIDES, endpoint=False)
    wide, high = np.interp(x, SLEEVE[:, 0], SLEEVE[:, 1]), np.interp(x, SLEEVE[:, 0], SLEEVE[:, 2])
    rings = [np.outer(each, turn) for each, turn in ((wide, np.cos(angle)), (high, np.sin(angle)))]
    points = np.stack([np.repeat(x, SLEEVE_SIDES), rings[0].ravel() - 0.004, rings[1].ravel() + 0.006], axis=1)
    first = np.arange(len(points) - SLEEVE_SIDES)
    second = first - first % SLEEVE_SIDES + (first + 1) % SLEEVE_SIDES
    quads = np.stack([first, second, second + SLEEVE_SIDES, first + SLEEVE_SIDES], axis=1)
    sleeve = swept.mesh_object("Sleeve", points, quads)
    stage.paint(sleeve, CLOTH, 0.85)
    seam = sleeve.vertex_groups.new(name="Seam")
    seam.add(np.flatnonzero(points[:, 0] < SEAM_END).tolist(), 1.0, "REPLACE")
    cloth = sleeve.modifiers.new("Cloth", "CLOTH")
    settings, touching = cloth.settings, cloth.collision_settings
    settings.vertex_group_mass, settings.mass, settings.quality = "Seam", 0.15, 8
    settings.tension_stiffness = settings.compression_stiffness = 30.0
    settings.bending_stiffness, settings.shear_stiffness = 0.4, 8.0
    touching.distance_min, touching.collision_quality = 0.003, 4
    cloth.point_cache.frame_end = FRAMES
    skin.modifiers.new("Collision", "COLLISION")  # below Sinew's: what the sleeve meets is the simulated skin
    skin.collision.thickness_outer, skin.collision.cloth_friction = 0.002, 8.0
    thick = sleeve.modifiers.new("Solidify", "SOLIDIFY")
    thick.thickness, thick.offset = 0.0025, 1.0
    sleeve.modifiers.new("Subdivision", "SUBSURF").levels = 1
    return sleeve


def move(rig: bpy.types.Object) -> None:
    """Keys the curl and the punch."""
    for bone, place in ((UPPER, 1), (LOWER, 2)):
        rigged.turn(rig, bone, (0.0, -1.0, 0.0), *((row[0], row[place]) for row in MOVES))


def flex(rig: bpy.types.Object, muscles: list[bpy.types.Object]) -> None:
    """Keys the flex controls; the flexors of the elbow contract as they get shorter, too."""
    for group, keys in FLEX.items():
        for frame, value in keys:
            rig[f"Flex {group}"] = value
            rig.keyframe_insert(f'["Flex {group}"]', frame=frame)
    for obj in muscles:
        if obj.name in GROUPS["Elbow Flexors"]:
            stage.select(obj)
            obj.sinew.activation_source = "LENGTH"
            bpy.ops.sinew.fit_length_range()


def _subdivide(obj: bpy.types.Object, times: int) -> None:
    """Gives an object a finer mesh of the same shape."""
    if times:
        stage.select(obj)
        obj.modifiers.new("Finer", "SUBSURF").levels = times
        bpy.ops.object.modifier_apply(modifier="Finer")


def _show_without_skin() -> None:
    """Adds a view layer in which muscles are seen."""
    bare = bpy.context.scene.view_layers.new("Without Skin")
    bare.layer_collection.children["Skin"].exclude = True


def _stand() -> None:
    """Adds the board on which the arm is mounted."""
    bpy.ops.mesh.primitive_cube_add(location=(upper_limb_skin.CUT - 0.012, 0.0, 0.0))
    board = bpy.context.object
    board.name, board.scale = "Board", (0.012, 0.13, 0.15)
    stage.paint(board, WOOD, 0.35)


def _select(objects: list[bpy.types.Object]) -> None:
    """Selects these objects and no other; the first is active."""
    stage.select(objects[0])
    for obj in objects:
        obj.select_set(True)


def _collect(name: str, objects: list[bpy.types.Object]) -> None:
    """Moves objects into a new collection."""
    collection = bpy.data.collections.new(name)
    bpy.context.scene.collection.children.link(collection)
    for obj in objects:
        for other in obj.users_collection:
            other.objects.unlink(obj)
        collection.objects.link(obj)
