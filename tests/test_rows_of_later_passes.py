# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of bodies of later passes: about bodies of earlier ones, as they are baked, and about all kinds of bones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box, add_rig
from sinew.addon.export import export_scene
from sinew.addon.objects import roles
from sinew.addon.objects.new_attachments import add_attachment
from sinew.solver.constraints.bones import make_bones
from sinew.solver.scene.attachment import ALL_BONES, ARMATURE_BONES
from sinew.solver.scene.scene import Scene
from sinew.solver.scene.tracks import TrackReader
from sinew.solver.scene.validation import check_scene
from sinew.solver.simulation.build import build
from test_passes import bake_here, passes_at, two_layers


def test_rows_of_a_later_pass_are_about_all_that_there_is(tmp_path: Path) -> None:
    scene, lower, upper = two_layers(frames=1)
    roles.make_flesh(upper)
    upper.sinew.bake_pass = 2
    rig = add_rig(upper, turn=0.0)
    upper.modifiers.move(1, 0)
    rig.location.z = upper.location.z
    bone = add_box("Bone")
    roles.make_bone(bone)
    bone.scale, bone.location = (0.3, 0.3, 0.3), upper.location
    bone.location.x = 0.7
    upper.sinew.divisions = 4
    painted = [v.index for v in lower.data.vertices if v.co.z > 0.0]
    lower.vertex_groups.new(name="Top").add(painted, 1.0, "REPLACE")
    upper.sinew.attachments[0].target_group = "Top"
    for target, kind in ((bone, "OBJECT"), (rig, "BONE"), (None, "BONES"), (None, "ARMATURE")):
        row = add_attachment(upper, target)
        row.target_type, row.kind, row.reach = kind, "FIXED", 0.3
    upper.sinew.attachments[2].bone = "upper"
    upper.sinew.attachments[2].keyframe_insert("strength", frame=1)
    bpy.context.view_layer.update()
    first, second = passes_at(scene, tmp_path / "c.sinew")
    bake_here(scene, first)
    for _ in export_scene.export_scene(bpy.context, scene, second.folder, bake_pass=second):
        pass
    written, tracks = Scene.load(second.folder / "scene"), TrackReader(second.folder / "scene")
    check_scene(written)
    own = written.bodies[0].attachments
    assert [each.target for each in own] == ["Lower", "Bone", "Upper-upper", ALL_BONES, ARMATURE_BONES]
    assert tracks.has("body.Upper.attachment.2.strength")
    on_top = np.array([v.co.z > 0.0 for v in lower.data.vertices])
    assert (own[0].target_paint == on_top).all() and len(written.colliders[0].vertices) == len(on_top)
    built = build(written, tracks, lambda *stage: None)
    found = make_bones(written, [body.mesh for body in built.bodies], built.model, tracks, built.pins)
    assert {hold.bone.key for hold in found.constraints} == {"Bone", "Upper-upper", "Upper-lower"}
    (links,) = next(force for force in built.forces if force.kind == "attachments").links
    assert links.target.name == "Lower" and len(links.stiffness)
