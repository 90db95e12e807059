# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects leave the collections of Blender's rigid body world and come back, where Blender allows it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import fresh
from fixtures.rigid_body_scenes import add_constraint, rigid_box, take_over_world
from sinew.addon.baking import bake_control
from sinew.addon.baking.live_state import LiveRun
from sinew.addon.blender_data import rigid_body_world
from sinew.addon.evaluation.scene_copy import SceneCopy
from sinew.addon.export import input_warnings
from sinew.addon.live import run_control
from sinew.addon.objects import roles


def warnings() -> set[str]:
    return {problem.kind for problem in input_warnings.input_warnings(bpy.context.scene)}


def collection_of_world() -> bpy.types.Collection:
    return bpy.context.scene.rigidbody_world.collection


def box_in_overridden_world(folder: Path) -> bpy.types.Object:
    """Returns a box in the scene, whose world has a collection of another file, overridden; the box is in both."""
    fresh()
    rigid_box("Box")
    bpy.data.libraries.write(str(folder / "props.blend"), {collection_of_world()})
    name, scene = collection_of_world().name, fresh()
    bpy.ops.rigidbody.world_add()
    with bpy.data.libraries.load(str(folder / "props.blend"), link=True) as (_, wanted):
        wanted.collections = [name]
    own = wanted.collections[0].override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=True)
    scene.rigidbody_world.collection = own
    box = own.objects[0]
    scene.collection.objects.link(box)
    return box


def test_an_object_stays_in_an_overridden_world_and_a_warning_says_so(tmp_path: Path) -> None:
    box = box_in_overridden_world(tmp_path)
    take_over_world()
    assert collection_of_world() in box.users_collection
    assert not box.sinew.is_out_of_world
    assert "rigid-in-linked-world" in warnings()


def test_an_object_does_not_come_back_into_an_overridden_world(tmp_path: Path) -> None:
    box_in_overridden_world(tmp_path)
    overridden = collection_of_world()
    bpy.context.scene.rigidbody_world.collection = bpy.data.collections.new("Local")
    own = rigid_box("Own")
    rigid_body_world.take_out(own)
    assert own.sinew.is_out_of_world
    own.sinew.left_collections[0].collection = bpy.context.scene.rigidbody_world.collection = overridden
    rigid_body_world.give_back(own)
    assert (own.sinew.is_out_of_world, own in overridden.objects.values()) == (False, False)


def test_an_object_comes_back_only_into_the_worlds_that_it_was_in() -> None:
    scene = fresh()
    box = rigid_box("Box")
    second = bpy.data.scenes.new("Second")
    second.collection.objects.link(box)
    with bpy.context.temp_override(scene=second):
        bpy.ops.rigidbody.world_add()
    second.rigidbody_world.collection = bpy.data.collections.new("Never In")
    take_over_world()
    scene.rigidbody_world.collection.name = "Renamed"
    assert rigid_body_world.moved_objects(scene) == set()
    rigid_body_world.give_back(box)
    assert box in scene.rigidbody_world.collection.objects.values()
    assert box not in second.rigidbody_world.collection.objects.values()
    assert (box.sinew.is_out_of_world, len(box.sinew.left_collections)) == (False, 0)


def test_an_object_leaves_the_collections_in_that_of_the_world_too() -> None:
    fresh()
    box, child = rigid_box("Box"), bpy.data.collections.new("Child")
    collection_of_world().children.link(child)
    collection_of_world().objects.unlink(box)
    child.objects.link(box)
    take_over_world()
    assert (child in box.users_collection, warnings()) == (False, set())
    rigid_body_world.give_back(box)
    assert child in box.users_collection
    assert collection_of_world() not in box.users_collection


def test_what_is_dynamic_at_other_frames_is_moved() -> None:
    scene = fresh()
    box, still = rigid_box("Box"), rigid_box("Still")
    box.keyframe_insert("rigid_body.enabled", frame=50)
    box.rigid_body.enabled = still.rigid_body.enabled = False
    assert rigid_body_world.moved_objects(scene) == {box}


def test_a_live_run_gives_back_what_it_took_and_no_more() -> None:
    scene = fresh()
    before, linked = rigid_box("Before"), rigid_box("Linked", (3.0, 0.0, 0.0))
    take_over_world()
    rigid_body_world.give_back(linked)  # as an artist links it again
    run = LiveRun(scene.session_uid, 1, Path(), SimpleNamespace(), {}, SimpleNamespace())
    run_control._take_out_of_world(run)
    members = collection_of_world().objects
    assert (linked.sinew.is_out_of_world, len(members)) == (True, 0)
    run_control._put_back(run)
    assert members.values() == [linked]
    assert (before.sinew.is_out_of_world, linked.sinew.is_out_of_world) == (True, False)


def test_a_bake_takes_all_bodies_out_before_it_asks_what_blender_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = fresh()
    boxes = [rigid_box("One"), rigid_box("Two", (3.0, 0.0, 0.0))]
    take_over_world()
    restored: list[str] = []
    monkeypatch.setattr(bake_control.show_results, "restore_body", lambda obj: restored.append(obj.name))
    for box in boxes:
        rigid_body_world.give_back(box)
    bake_control._prepare_objects(scene)
    assert (restored, [box.sinew.is_out_of_world for box in boxes]) == ([], [True, True])


def heights(objects: list[bpy.types.Object], frame: int) -> list[float]:
    scene = bpy.context.scene
    for each in range(1, frame + 1):
        scene.frame_set(each)
    graph = bpy.context.evaluated_depsgraph_get()
    found = [obj.evaluated_get(graph).matrix_world.translation.z for obj in objects]
    scene.frame_set(1)
    return found


def test_blenders_world_leaves_alone_what_sinew_moves_and_gets_it_back() -> None:
    fresh()
    own, other = rigid_box("Own", (0.0, 0.0, 5.0)), rigid_box("Other", (3.0, 0.0, 5.0))
    own.rigid_body.mass = 7.0
    before = heights([own, other], 20)
    assert max(before) < 2.0
    bpy.context.view_layer.objects.active = own
    other.select_set(False)
    own.select_set(True)
    assert bpy.ops.sinew.make_rigid() == {"FINISHED"}
    assert heights([own, other], 20) == pytest.approx([5.0, before[1]])
    assert (own.rigid_body.mass, own.rigid_body.type, own.rigid_body.enabled) == (7.0, "ACTIVE", True)
    assert bpy.ops.sinew.remove() == {"FINISHED"}
    assert heights([own, other], 20) == pytest.approx(before)
    assert not own.sinew.is_out_of_world


def test_a_body_stays_in_its_scene_where_the_world_has_its_only_collection() -> None:
    scene = fresh()
    own = bpy.data.collections.new("Everything")
    scene.collection.children.link(own)
    box = rigid_box("Box")
    scene.rigidbody_world.collection = own
    own.objects.link(box) if box.name not in own.objects else None
    for collection in box.users_collection:
        if collection != own:
            collection.objects.unlink(box)
    take_over_world()
    assert (box.name in scene.objects, box.sinew.is_out_of_world) == (True, False)
    assert "rigid-moved-by-blender" in {problem.kind for problem in input_warnings.input_warnings(scene)}


def test_a_passive_body_stays_an_obstacle_for_blender() -> None:
    scene = fresh()
    floor = rigid_box("Floor", (0.0, 0.0, 0.0), (9.0, 9.0, 1.0), "PASSIVE")
    take_over_world()
    assert roles.has_role(floor, "COLLIDER")
    assert floor.name in scene.rigidbody_world.collection.objects


def test_a_copy_of_a_scene_has_none_of_blenders_rigid_bodies() -> None:
    """With the copy Blender would delete what the world of the original still uses, and crash."""
    scene = fresh()
    post = rigid_box("Post", kind="PASSIVE")
    add_constraint("POINT", post, rigid_box("Box"))
    with SceneCopy(scene, {post: None}) as scene_copy:
        world = scene_copy.scene.rigidbody_world
        assert (world.enabled, world.collection, world.constraints) == (False, None, None)
    assert {obj.name for obj in scene.rigidbody_world.collection.objects} == {"Post", "Box"}
    assert len(scene.rigidbody_world.constraints.objects) == 1
