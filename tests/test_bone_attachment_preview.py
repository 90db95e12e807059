# SPDX-License-Identifier: GPL-3.0-or-later
"""About what bones will hold, before a bake: sampled in Blender, compared with where the bones are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, add_rig, fresh
from sinew.addon.objects import roles
from sinew.addon.overlays import bone_attachment_overlay, bone_attachment_preview
from sinew.solver.bake.cache import CacheReader
from test_addon import drawn

pytestmark = pytest.mark.slow

IN_ULNA = 5 * 5 * 9 + 4 * 4 * 8  # nodes of a lattice, and middles of its cubes


def flesh() -> bpy.types.Object:
    obj = add_box("Arm", divisions=8, height=2.0)
    roles.make_flesh(obj)
    obj.sinew.divisions = 20  # tets of 0.1
    return obj


def bone(name: str, z: float, side: float = 0.42, height: float = 0.82) -> bpy.types.Object:
    """Returns a box about the axis of the arm."""
    obj = add_box(name, divisions=1, height=1.0)
    obj.scale, obj.location.z = (side, side, height), z
    roles.make_bone(obj)
    return obj


def previewed(obj: bpy.types.Object) -> dict[str, np.ndarray]:
    bpy.context.view_layer.update()
    found = bone_attachment_preview.preview(bpy.context.scene, obj, bpy.context.evaluated_depsgraph_get())
    assert found.spacing == pytest.approx(0.1)
    return dict(zip(found.names, found.points, strict=True))


def box_of(points: np.ndarray) -> np.ndarray:
    return np.array([points.min(axis=0), points.max(axis=0)])


def test_points_inside_a_bone_and_within_its_distance() -> None:
    fresh()
    obj = flesh()
    humerus, ulna = bone("Humerus", -0.5), bone("Ulna", 0.5)
    found = previewed(obj)
    assert len(found["Humerus"]) == IN_ULNA
    assert np.allclose(box_of(found["Humerus"]), [[-0.2, -0.2, -0.9], [0.2, 0.2, -0.1]])
    assert np.allclose(box_of(found["Ulna"]), [[-0.2, -0.2, 0.1], [0.2, 0.2, 0.9]])
    humerus.sinew.bone_distance = 0.15
    found = previewed(obj)
    assert np.allclose(box_of(found["Humerus"])[:, 0], [-0.35, 0.35]), "nearer than 0.15, and inside the arm"
    assert box_of(found["Humerus"])[0, 2] > -1.0
    humerus.sinew.bone_distance = 9.0
    found = previewed(obj)
    assert np.allclose(box_of(found["Humerus"])[:, 0], [-0.45, 0.45]), "only what is inside the flesh"
    assert len(found["Ulna"]) == IN_ULNA, "what is inside a bone is deeper in it than near to another"
    ulna.sinew.bone_body = add_box("Other")
    assert list(previewed(obj)) == ["Humerus"]


def test_masks_and_paint() -> None:
    fresh()
    obj = flesh()
    humerus = bone("Humerus", 0.0, height=1.5)
    obj.vertex_groups.new(name="Above").add([v.index for v in obj.data.vertices if v.co.z > 0.0], 1.0, "REPLACE")
    obj.sinew.attachment_group = "Above"
    assert box_of(previewed(obj)["Humerus"])[0, 2] > -0.2
    obj.sinew.attachment_group = ""
    humerus.sinew.bone_mask_group = "Below"
    humerus.vertex_groups.new(name="Below").add([v.index for v in humerus.data.vertices if v.co.z < 0.0], 1.0, "ADD")
    assert len(previewed(obj)["Humerus"]) < (5 * 5 * 15 + 4 * 4 * 14) / 3


def test_bones_of_armatures_hold_what_their_weights_lead() -> None:
    fresh()
    obj = flesh()
    add_rig(obj, turn=0.0)
    obj.modifiers.move(1, 0)
    obj.sinew.use_armature_bones, obj.sinew.armature_bone_radius = True, 0.25
    found = previewed(obj)
    assert set(found) == {"Rig: lower", "Rig: upper"}
    for points, sign in ((found["Rig: lower"], -1), (found["Rig: upper"], 1)):
        assert np.linalg.norm(points[:, :2], axis=1).max() <= 0.25 and (sign * points[:, 2]).min() > -0.15
        assert len(points) > 100
    obj.sinew.armature_bone_radius = 0.0
    automatic = previewed(obj)["Rig: upper"]
    assert 0.0 < np.linalg.norm(automatic[:, :2], axis=1).max() < 0.3


def test_the_preview_agrees_with_the_bake(tmp_path: Path) -> None:
    scene = fresh()
    obj = flesh()
    humerus = bone("Humerus", 0.5)
    humerus.rotation_euler = (0.3, 0.2, 0.1)
    scene.frame_end = 1
    before = previewed(obj)["Humerus"]
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "arm.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    model = CacheReader(tmp_path / "arm.sinew").read_model("Arm")
    held = model["nodes"][model["attached"] == 0]
    assert abs(len(held) - len(before)) < 0.1 * len(before), "one has a node at the border, where the other has none"
    assert np.allclose(box_of(held), box_of(before), atol=0.1)
    assert np.allclose(held.mean(axis=0), before.mean(axis=0), atol=0.03)


def test_it_is_shown_at_the_rest_frame_only() -> None:
    scene = fresh()
    obj = flesh()
    humerus = bone("Humerus", 0.5)
    assert bone_attachment_overlay.shown_bones(scene, obj) == set()
    humerus.sinew.show_attachment = True
    assert bone_attachment_overlay.shown_bones(scene, obj) == {"Humerus"}
    obj.sinew.show_attachment = True
    assert bone_attachment_overlay.shown_bones(scene, obj) is None
    scene.frame_set(scene.frame_start)
    assert any("An estimate" in line for line in drawn(obj, "draw_held_by").lines)
    scene.frame_set(7)
    assert "Shown at frame 1 until it is baked" in drawn(humerus, "draw_bone").lines
    scene.sinew.use_rest_frame, scene.sinew.rest_frame = True, 7
    assert any("An estimate" in line for line in drawn(obj, "draw_held_by").lines)


def test_it_is_made_anew_when_something_moves_or_is_set() -> None:
    scene = fresh()
    obj = flesh()
    humerus = bone("Humerus", 0.5)

    def depends() -> tuple:
        bpy.context.view_layer.update()
        return bone_attachment_preview.preview_stamp(scene, obj, bpy.context.evaluated_depsgraph_get())

    seen = [depends()]
    assert depends() == seen[0]
    for change in (
        lambda: setattr(humerus.location, "x", 0.1),
        lambda: setattr(humerus.sinew, "bone_distance", 0.1),
        lambda: setattr(obj.sinew, "divisions", 10),
        lambda: humerus.modifiers.new("Subdivision", "SUBSURF"),
        lambda: bone("Ulna", -0.5),
    ):
        change()
        seen.append(depends())
    assert len(set(seen)) == len(seen)
