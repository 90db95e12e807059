# SPDX-License-Identifier: GPL-3.0-or-later
"""The layers of a limb: bone meshes, a muscle and a Wrap by Blender's search, Quick Fat and Skin by the menu Object."""

from __future__ import annotations

import math
import time

import bmesh
import bpy
import numpy as np
from bl_ext.user_default.sinew.addon.baking import bake_status
from bl_ext.user_default.sinew.addon.cache import cache_paths
from bl_ext.user_default.sinew.addon.cache.bake_passes import passes
from bl_ext.user_default.sinew.addon.objects import roles
from desktop import Steps, click_at, mouse, picture, result
from mathutils import Matrix
from muscle_scenes import bend, two_bones
from quick_effects import OBJECT_MENU, QUICK_EFFECTS, QUICK_FAT
from ui_driver import keys, open_alone, scroll, search, show_sidebar, status, view, wait_for

FRAMES, BEND = 8, 40.0  # [degrees]
BONES, MUSCLE, SKIN = {"Upper Arm": "Bone", "Forearm": "Bone.001"}, "Biceps", "Skin"
SKIN_CUTS = 14  # along the limb
SEEN = 0.1  # motion [m]
SCROLLS = 30  # of the mouse wheel, from the top of the sidebar to its end


def layers() -> Steps:
    bpy.ops.wm.read_homefile()
    yield 1.5
    yield from show_sidebar()
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    bpy.context.scene.frame_end = FRAMES
    yield from _bones_and_muscle()
    yield from _wrap_and_undo()
    yield from _quick_fat()
    _check_motion()
    yield from _panels()


def _bones_and_muscle() -> Steps:
    """Makes two bone meshes on an armature that bends, and a muscle from one to the other that contracts."""
    rig = two_bones()
    shown = view()[1].spaces.active.region_3d
    shown.view_location, shown.view_distance = (0.0, 0.0, 1.0), 6.0
    for number, (name, bone) in enumerate(BONES.items()):
        bpy.ops.mesh.primitive_cylinder_add(vertices=16, radius=0.08, depth=0.9, location=(0.0, 0.0, 0.5 + number))
        bpy.ops.object.transform_apply()
        obj = bpy.context.object
        obj.name, obj.parent, obj.parent_type, obj.parent_bone = name, rig, "BONE", bone
        obj.matrix_world = Matrix.Identity(4)
    bpy.ops.mesh.primitive_uv_sphere_add(location=(0.2, 0.0, 1.0), scale=(0.12, 0.12, 0.65))
    bpy.ops.object.transform_apply(location=False)
    bpy.context.object.name = MUSCLE
    _select(*BONES)
    yield from _run_found("Make Bone Mesh")
    assert [obj.sinew.role for obj in _objects(*BONES)] == ["BONE", "BONE"]
    _select(MUSCLE)
    yield from _run_found("Make Muscle")
    (muscle,) = _objects(MUSCLE)
    hooks = {hook.name: hook.object.name for hook in muscle.modifiers if hook.type == "HOOK"}
    assert muscle.sinew.use_muscle and hooks == {"Origin": "Upper Arm", "Insertion": "Forearm"}, hooks
    bend(rig, FRAMES, BEND)
    for frame, activation in ((1, 0.0), (FRAMES, 1.0)):
        muscle.sinew.activation = activation
        muscle.sinew.keyframe_insert("activation", frame=frame)
    bpy.context.scene.frame_set(1)


def _wrap_and_undo() -> Steps:
    """Makes a Wrap around all of it, takes it back with Ctrl+Z, and brings it back, and takes it back again."""
    _select(*BONES, MUSCLE)
    bpy.ops.ed.undo_push(message="a limb")
    yield from _run_found("Make Wrap")
    (wrap,) = roles.wraps(bpy.context.scene)
    count, targets = len(wrap.data.vertices), {row.target.name: row.kind for row in wrap.sinew.attachments}
    result["wrap_vertices"] = count
    assert bpy.context.object == wrap and targets == {MUSCLE: "SLIDING", **dict.fromkeys(BONES, "FIXED")}, targets
    open_alone("Attachments")
    yield 1.0
    yield from picture("74-a-wrap")
    yield from keys("ctrl+z")
    yield from wait_for("undo", lambda: not roles.wraps(bpy.context.scene), 10)
    assert {obj.name for obj in bpy.context.selected_objects} == {*BONES, MUSCLE}, bpy.context.selected_objects
    yield from keys("ctrl+shift+z")
    yield from wait_for("redo", lambda: bool(roles.wraps(bpy.context.scene)), 10)
    (wrap,) = roles.wraps(bpy.context.scene)
    assert len(wrap.data.vertices) == count and len(wrap.sinew.attachments) == len(targets)
    yield from keys("ctrl+z")
    yield from wait_for("undo", lambda: not roles.wraps(bpy.context.scene), 10)


def _quick_fat() -> Steps:
    """Presses Quick Fat and Skin for a cylinder around the limb, and waits for both passes."""
    _make_skin()
    bpy.ops.ed.undo_push(message="a skin")
    start = time.monotonic()
    yield from click_at(*OBJECT_MENU)
    yield from click_at(*QUICK_EFFECTS)
    yield from picture("75-quick-fat-in-the-menu")
    yield from click_at(*QUICK_FAT)
    yield from wait_for("the start", lambda: status().is_running, 30)
    seen = set()

    def has_ended() -> bool:
        now = status()
        seen.update({now.pass_number} if now.is_running else ())
        return now.phase == "baked" and all(_pass_frames().values())

    yield from wait_for("both passes", has_ended, 120)
    result["quick_fat_seconds"] = round(time.monotonic() - start, 2)
    muscle, skin = _objects(MUSCLE, SKIN)
    assert seen == {1, 2} and (muscle.sinew.bake_pass, skin.sinew.bake_pass) == (1, 2), seen
    assert _pass_frames() == {1: FRAMES, 2: FRAMES}, _pass_frames()
    assert not status().outdated and not status().convergence.not_converged, status()


def _check_motion() -> None:
    """Checks that the forearm's end of the skin turns with it, and that its other end stays."""
    (skin,) = _objects(SKIN)
    (wrap,) = roles.wraps(bpy.context.scene)
    before, after = (_shown_at(skin, frame) for frame in (1, FRAMES))
    moved, height = np.linalg.norm(after - before, axis=1), before[:, 2]
    result["skin_moved"] = [round(float(moved[height < 0.2].max()), 3), round(float(moved[height > 1.8].mean()), 3)]
    turned = 2.0 * math.sin(math.radians(BEND / 2.0)) * 0.9  # of what is 0.9 from the elbow
    assert moved[height < 0.2].max() < 0.1 < 0.7 * turned < moved[height > 1.8].mean() < 1.3 * turned, result
    wrap_moved = np.linalg.norm(_shown_at(wrap, FRAMES) - _shown_at(wrap, 1), axis=1)
    assert wrap_moved.max() > 0.7 * turned, "the Wrap did not move with the fat"


def _panels() -> Steps:
    """Plays what was baked, looks under the skin, and shows the panels Layers and Cache."""
    (skin,) = _objects(SKIN)
    rest = _shown_at(skin, 1)
    yield from keys("space")
    yield from wait_for("the playback", lambda: bpy.context.screen.is_animation_playing, 10)
    yield from wait_for("motion of the skin", lambda: np.linalg.norm(_shown(skin) - rest, axis=1).max() > SEEN, 30)
    yield from keys("space")
    yield from wait_for("the stop", lambda: not bpy.context.screen.is_animation_playing, 10)
    bpy.context.scene.frame_set(FRAMES)
    skin.hide_set(True)
    yield from picture("76-the-wrap-under-the-skin")
    skin.hide_set(False)
    for panel, name in (("Layers", "77-the-panel-layers"), ("Cache", "78-the-passes-in-the-panel-cache")):
        open_alone(panel)
        yield 1.0
        yield from scroll(SCROLLS)
        yield from picture(name)
    yield from scroll(-SCROLLS)


def _make_skin() -> None:
    bpy.ops.mesh.primitive_cylinder_add(vertices=24, radius=0.42, depth=1.96, location=(0.06, 0.0, 1.0))
    skin = bpy.context.object
    skin.name = SKIN
    found = bmesh.new()
    found.from_mesh(skin.data)
    along = [edge for edge in found.edges if abs(edge.verts[0].co.z - edge.verts[1].co.z) > 1.0]
    bmesh.ops.subdivide_edges(found, edges=along, cuts=SKIN_CUTS)
    found.to_mesh(skin.data)
    found.free()


def _pass_frames() -> dict[int, int | None]:
    """Returns the last frame of each pass in the cache."""
    scene = bpy.context.scene
    found = passes(scene, cache_paths.cache_folder(scene))
    return {each.number: bake_status.pass_status(scene, each).frame for each in found}


def _objects(*names: str) -> list[bpy.types.Object]:
    return [bpy.data.objects[name] for name in names]


def _select(*names: str) -> None:
    bpy.ops.object.select_all(action="DESELECT")
    for obj in _objects(*names):
        obj.select_set(True)
        bpy.context.view_layer.objects.active = obj


def _shown_at(obj: bpy.types.Object, frame: int) -> np.ndarray:
    bpy.context.scene.frame_set(frame)
    return _shown(obj)


def _shown(obj: bpy.types.Object) -> np.ndarray:
    """Returns the vertices of an object as they are shown, in the world, (n, 3)."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    found = np.array([evaluated.matrix_world @ vertex.co for vertex in mesh.vertices])
    evaluated.to_mesh_clear()
    return found


def _run_found(words: str) -> Steps:
    """Runs an operator that Blender's search finds."""
    yield from search(words)
    mouse("key", "Return")
    yield 1.0
