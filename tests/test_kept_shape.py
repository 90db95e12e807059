# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep Shape: what a live run shows becomes a shape key, taken back through the pose, or is refused by name."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, add_rig, counts, fresh
from fixtures.live_in_blender import ended as ended  # a fixture
from fixtures.live_in_blender import jelly, run_steps, shown, started, until
from sinew.addon.baking.addon_session import session
from sinew.addon.evaluation.unposed_vertices import unposed_vertices
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.live import kept_shape, run_control
from sinew.solver.runtime.errors import BadInput


def stop() -> None:
    run_control.stop()
    until(lambda: session.live is None)


def posed_box(smooth: bool = True) -> tuple[bpy.types.Scene, bpy.types.Object]:
    """Returns a box that is bent by an armature at the present frame, with blended weights in the middle."""
    scene = fresh()
    box = add_box("Box", divisions=4)
    add_rig(box, turn=1.2)
    if smooth:
        for vertex in box.data.vertices:
            upper = float(np.clip(vertex.co.z + 0.5, 0.0, 1.0))
            box.vertex_groups["upper"].add([vertex.index], upper, "REPLACE")
            box.vertex_groups["lower"].add([vertex.index], 1.0 - upper, "REPLACE")
    scene.frame_set(21)
    bpy.context.view_layer.update()
    return scene, box


def plain(obj: bpy.types.Object) -> np.ndarray:
    return np.array([vertex.co for vertex in obj.data.vertices], np.float64)


def seen_with(obj: bpy.types.Object, shape: np.ndarray) -> np.ndarray:
    """Returns what is seen of an object, in its own space, when its mesh has a shape."""
    obj.data.vertices.foreach_set("co", shape.astype(np.float32).ravel())
    obj.data.update()
    bpy.context.view_layer.update()
    inverse = np.linalg.inv(np.array(obj.matrix_world))
    return shown(obj) @ inverse[:3, :3].T + inverse[:3, 3]


@pytest.mark.parametrize("keeps_volume", [False, True])
def test_a_pose_is_taken_back_by_the_blend_of_its_matrices(keeps_volume: bool) -> None:
    scene, box = posed_box()
    box.modifiers["Armature"].use_deform_preserve_volume = keeps_volume
    box.location, box.rotation_euler = (0.3, 0.1, 0.0), (0.2, 0.0, 0.4)
    bpy.context.view_layer.update()
    before, shape = counts(), plain(box)
    wanted = shape + np.random.default_rng(5).normal(scale=0.2, size=shape.shape)
    found = unposed_vertices(scene, box, 1, wanted)
    assert counts() == before and np.array_equal(plain(box), shape), "nothing is left"
    assert np.abs(found - wanted).max() > 0.3, "the pose moves them far"
    assert seen_with(box, found) == pytest.approx(wanted, abs=1e-5)


def test_the_inverse_is_that_of_the_matrices_of_the_bones() -> None:
    """By hand: a vertex of one bone alone goes back by the inverse of that bone's matrix."""
    scene, box = posed_box(smooth=False)
    rig = bpy.data.objects["Rig"]
    wanted = plain(box) + 0.1
    found = unposed_vertices(scene, box, 1, wanted)
    for name, is_upper in (("upper", True), ("lower", False)):
        bone = rig.pose.bones[name]
        inverse = np.linalg.inv(np.array(bone.matrix @ bone.bone.matrix_local.inverted()))
        own = np.flatnonzero((plain(box)[:, 2] > 0) == is_upper)
        assert found[own] == pytest.approx(wanted[own] @ inverse[:3, :3].T + inverse[:3, 3], abs=1e-5)


def test_what_is_not_unique_or_made_by_a_modifier_is_named() -> None:
    scene, box = posed_box()
    shape, before = plain(box), counts()
    bpy.data.objects["Rig"].pose.bones["lower"].scale = (1.0, 1.0, 0.0)
    bpy.context.view_layer.update()
    with pytest.raises(BadInput, match="Box.*Armature.*several places"):
        unposed_vertices(scene, box, 1, shape)
    bpy.data.objects["Rig"].pose.bones["lower"].scale = (1.0, 1.0, 1.0)
    box.modifiers.new("Finer", "SUBSURF")
    with pytest.raises(BadInput, match="Finer"):
        unposed_vertices(scene, box, 2, shape)
    box.modifiers.remove(box.modifiers["Finer"])
    cast = box.modifiers.new("Rounder", "CAST")
    cast.factor = 0.8
    with pytest.raises(BadInput, match="Rounder"):
        unposed_vertices(scene, box, 2, shape + np.random.default_rng(5).normal(scale=0.5, size=shape.shape))
    assert counts() == before


def test_a_key_that_is_off_leaves_bakes_up_to_date_until_it_acts() -> None:
    box, scene = jelly(), bpy.context.scene
    without = settings_digest(scene)
    shape = np.array([v.co for v in box.data.vertices])
    kept_shape._add_key(box, 2.0 * shape)
    basis, key = box.data.shape_keys.key_blocks
    assert settings_digest(scene) == without
    other = box.shape_key_add(name="Half", from_mix=False)
    other.relative_key, other.value = key, 0.5
    with_both = settings_digest(scene)
    key.data[0].co.x += 1.0
    assert settings_digest(scene) not in (without, with_both), "what another key is relative to acts"
    other.value = 0.0
    assert settings_digest(scene) == without
    key.value = 0.5
    assert settings_digest(scene) != without
    key.value = 0.0
    key.keyframe_insert("value", frame=3)
    assert settings_digest(scene) != without, "it has keyframes"
    key.keyframe_delete("value", frame=3)
    box.data.shape_keys.animation_data_clear()
    assert settings_digest(scene) == without
    box.sinew.flexed_shape = key.name
    named = settings_digest(scene)
    key.data[0].co.x += 1.0
    assert settings_digest(scene) != named, "a muscle may flex to it"
    box.sinew.flexed_shape = ""
    box.show_only_shape_key, box.active_shape_key_index = True, 1
    assert settings_digest(scene) != without, "it alone is shown"
    box.show_only_shape_key = False
    basis.data[0].co.x += 1.0
    assert settings_digest(scene) != without, "all vertices come from the basis"


@pytest.mark.slow
def test_the_shape_of_a_run_becomes_a_key_while_it_runs_and_afterwards() -> None:
    box = jelly()
    box.location.x, box.rotation_euler.z = 2.0, 0.5
    bpy.context.view_layer.update()
    assert not bpy.ops.sinew.keep_shape.poll()
    run = started()
    run_steps(run, 20)
    assert bpy.ops.sinew.keep_shape() == {"FINISHED"} and session.live is run
    keys = box.data.shape_keys.key_blocks
    assert [block.name for block in keys] == ["Basis", kept_shape.KEY_NAME] and keys[1].value == 0.0
    run_steps(run, run.step + 5)
    seen = shown(box)
    stop()
    start = shown(box)
    assert bpy.ops.sinew.keep_shape() == {"FINISHED"} and len(keys) == 3
    assert np.array_equal(shown(box), start), "its value is 0"
    keys[2].value = 1.0
    # samples come until the run has ended
    assert shown(box)[:, 2].mean() <= seen[:, 2].mean() + 1e-4 < start[:, 2].mean() - 0.1
    keys[1].value, keys[2].value = 1.0, 0.0
    assert start[:, 2].mean() > shown(box)[:, 2].mean() >= seen[:, 2].mean()


@pytest.mark.slow
def test_under_an_armature_the_key_shows_what_the_run_has_shown() -> None:
    scene, box = posed_box()
    bpy.context.view_layer.objects.active = box
    box.select_set(True)
    bpy.ops.sinew.make_body()
    box.sinew.divisions = 4
    assert [modifier.name for modifier in box.modifiers] == ["Armature", "Sinew"]
    run = started()
    run_steps(run, 15)
    stop()
    reader = kept_shape._open(run)
    newest = reader.positions(next(iter(run.bodies)), reader.newest())
    reader.close()
    before = shown(box)
    assert bpy.ops.sinew.keep_shape() == {"FINISHED"}
    box.data.shape_keys.key_blocks[kept_shape.KEY_NAME].value = 1.0
    assert shown(box) == pytest.approx(newest @ np.array(box.matrix_world)[:3, :3].T, abs=1e-4)
    assert np.abs(shown(box) - before).max() > 0.1
