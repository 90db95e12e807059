# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of flesh as rows of its attachments, by mouse: listed, coloured, removed, baked, and one of an armature."""

from __future__ import annotations

from collections.abc import Callable

import bpy
from bl_ext.user_default.sinew.addon.objects.attachment_rows import row_about_bone
from desktop import Steps, picture, result
from ui_driver import bake, keys, open_alone, press, scroll, status, wait_for

BUTTONS = 92  # pixels from the middle of the sidebar to those beside a list
SCROLLS = 12  # clicks of the wheel to the settings of a row


def bone_rows(make_limb: Callable[[], Steps]) -> Steps:
    yield from make_limb()
    flesh = bpy.data.objects["Cube"]
    bones = [obj.name for obj in bpy.context.scene.objects if obj.sinew.role == "BONE"]  # undo makes objects anew
    bpy.ops.object.select_all(action="DESELECT")
    flesh.select_set(True)
    bpy.context.view_layer.objects.active = flesh
    bpy.context.scene.frame_set(1)
    own = flesh.sinew.attachments
    while len(own) > 1:  # the rows of both bones, whose Distance make_limb has set
        own.remove(len(own) - 1)
    assert own[0].target_type == "BONES"
    own[0].reach = 0.03
    bpy.ops.ed.undo_push(message="flesh on two bones")
    open_alone("Attachments")
    yield 1.0
    yield from picture("85-all-bones-in-one-row")
    yield from press("bpy.ops.sinew.list_bone_attachments", BUTTONS)
    yield from wait_for("the rows", lambda: len(_flesh().sinew.attachments) == 3, 10)
    rows = _flesh().sinew.attachments[1:]
    assert {row.target.name for row in rows} == set(bones)
    assert all(row.kind == "FIXED" and abs(row.reach - 0.03) < 1e-6 for row in rows)
    assert tuple(rows[0].color) != tuple(rows[1].color)
    yield 1.0
    yield from picture("86-a-row-for-each-bone")
    yield from keys("ctrl+z")
    yield from wait_for("undo", lambda: len(_flesh().sinew.attachments) == 1, 10)
    yield from keys("ctrl+shift+z")
    yield from wait_for("redo", lambda: len(_flesh().sinew.attachments) == 3, 10)
    yield from bake()
    assert status().phase == "baked" and not status().convergence.poses_not_converged, status()
    bpy.context.scene.frame_set(bpy.context.scene.frame_end)
    yield 1.0
    yield from picture("87-what-rows-hold-in-a-bake")
    yield from press("bpy.ops.sinew.remove_attachment", BUTTONS)
    yield from wait_for("two rows", lambda: len(_flesh().sinew.attachments) == 2, 10)
    of_bones = {name: row_about_bone(_flesh(), bpy.data.objects[name]).target_type for name in bones}
    without = [name for name in bones if of_bones[name] == "BONES"]
    result["bones_without_a_row"] = without
    assert len(without) == 1
    assert not status().outdated, "the row of all bones holds it as its own row did"
    _flesh().sinew.attachments[0].reach = 0.02
    yield from wait_for("Out of Date", lambda: status().outdated, 10)
    yield 1.0
    yield from picture("88-one-bone-by-its-row")
    yield from _one_bone_of_an_armature()


def _one_bone_of_an_armature() -> Steps:
    """Adds a row with an armature selected beside the flesh: it is about its bone, whose line holds."""
    bpy.ops.sinew.delete_bake()
    bpy.ops.object.armature_add(location=(0.0, 0.0, -0.2))
    rig, flesh = bpy.context.object, _flesh()
    flesh.select_set(True)
    bpy.context.view_layer.objects.active = flesh
    bpy.context.scene.frame_set(1)
    bpy.ops.ed.undo_push(message="an armature beside the flesh")
    yield 1.0
    yield from press("bpy.ops.sinew.add_attachment", BUTTONS)
    yield from wait_for("the row of the bone", lambda: len(_flesh().sinew.attachments) == 3, 10)
    row = _flesh().sinew.attachments[2]
    assert (row.target_type, row.armature.name, row.bone, row.kind) == ("BONE", rig.name, "Bone", "FIXED")
    row.reach = 0.0
    yield from scroll(SCROLLS)
    yield from picture("89-one-bone-of-an-armature")
    _flesh().sinew.attachments[2].kind = "SLIDING"
    yield 1.0
    yield from picture("90-a-line-has-no-surface")


def _flesh() -> bpy.types.Object:
    """Returns the flesh, which undo makes anew."""
    return bpy.data.objects["Cube"]
