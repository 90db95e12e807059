# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects leave the collections of Blender's rigid body world and come back, where Blender allows it."""

from __future__ import annotations

from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import fresh
from fixtures.rigid_body_scenes import rigid_box, take_over_world
from sinew.addon.blender_data import rigid_body_world
from sinew.addon.export import input_warnings


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
    assert "rigid-moved-by-blender" in warnings()


def test_an_object_does_not_come_back_into_an_overridden_world(tmp_path: Path) -> None:
    box_in_overridden_world(tmp_path)
    overridden = collection_of_world()
    bpy.context.scene.rigidbody_world.collection = bpy.data.collections.new("Local")
    own = rigid_box("Own")
    rigid_body_world.take_out(own)
    assert own.sinew.is_out_of_world
    bpy.context.scene.rigidbody_world.collection = overridden
    rigid_body_world.give_back(own)
    assert (own.sinew.is_out_of_world, own in overridden.objects.values()) == (False, False)
