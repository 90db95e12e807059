# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/first_muscle.md in the window: what is Blender's own by its operators, what is Sinew's by mouse and keyboard."""

from __future__ import annotations

import time

import bpy
from bl_ext.user_default.sinew.addon.overlays.muscle_end_overlay import is_shown, shown_ends
from desktop import Steps, mouse, picture, result
from muscle_scenes import LAST_FRAME, bend, look_from_front, spindle, two_bones, width_at
from ui_driver import bake, find, open_alone, search, show_sidebar, status, under_the_mouse, view

# to the right from the field to its dot [pixels]: steps until the field ends, and then into the dot, which is 20 wide
STEP, MOST_STEPS, DOT_INSIDE = 6, 40, 7
MAX_SECONDS = 120.0  # from a new file to a muscle that has contracted; 87 s beside three other loads


def first_muscle() -> Steps:
    bpy.ops.wm.read_homefile()
    yield 1.5
    start = time.monotonic()
    yield from show_sidebar()
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    rig, sphere = two_bones(), spindle()
    look_from_front()
    yield from search("Make Muscle")
    yield from picture("61-make-muscle-found-by-search")
    mouse("key", "Return")
    yield 1.0
    hooks = {hook.name: hook.subtarget for hook in sphere.modifiers if hook.type == "HOOK"}
    assert sphere.sinew.use_muscle and hooks == {"Origin": "Bone", "Insertion": "Bone.001"}, hooks
    yield from picture("61b-its-ends-in-color")
    faces, _ = shown_ends(sphere, bpy.context.evaluated_depsgraph_get())
    assert is_shown(bpy.context.scene, sphere) and len(faces.origin) and len(faces.insertion)
    bend(rig)
    open_alone("Muscle")
    yield 1.0
    for frame, activation in ((1, "0"), (LAST_FRAME, "1")):
        bpy.context.scene.frame_set(frame)
        yield from _key_activation(activation)
    yield from picture("61c-activation-keyed")
    assert [round(p.co[1], 3) for p in _activation_curve(sphere).keyframe_points] == [0.0, 1.0]
    bpy.context.scene.frame_end = LAST_FRAME
    yield from bake()
    assert not is_shown(bpy.context.scene, sphere), "the bake takes the place of the colors"
    seconds = round(time.monotonic() - start, 1)
    result["first_muscle_seconds"] = seconds
    assert status().phase == "baked" and not status().convergence.not_converged, status()
    relaxed, active = (width_at(sphere, frame) for frame in (1, LAST_FRAME))
    assert seconds <= MAX_SECONDS, seconds
    result["first_muscle_widths"] = [relaxed, active]
    yield from picture("62-the-first-muscle")
    assert active > 1.2 * relaxed, result


def _key_activation(value: str) -> Steps:
    """Types a value over Activation, and keys it by a press of the dot beside it."""
    yield from find(_is_over_activation, "Activation")
    mouse("key", "Return")
    yield 0.3
    mouse("type", value)
    yield 0.3
    mouse("key", "Return")
    yield 0.5
    for _ in range(MOST_STEPS):
        if not _is_over_activation():
            break
        mouse("mousemove_relative", STEP, 0)
        yield 0.1
    assert not _is_over_activation(), "Activation has no end"
    mouse("mousemove_relative", DOT_INSIDE, 0)
    yield 0.3
    mouse("click", 1)
    yield 0.5
    window, area, _ = view()
    mouse("mousemove", area.x + 200, window.height - (area.y + 200))  # so that no tooltip is in the picture
    yield 0.3


def _is_over_activation() -> bool:
    return under_the_mouse(bpy.ops.ui.copy_data_path_button).endswith("activation")


def _activation_curve(obj: bpy.types.Object) -> bpy.types.FCurve:
    data = obj.animation_data
    assert data is not None and data.action is not None, "Activation has no keyframes"
    (bag,) = (strip.channelbag(data.action_slot) for layer in data.action.layers for strip in layer.strips)
    return next(curve for curve in bag.fcurves if curve.data_path == "sinew.activation")
