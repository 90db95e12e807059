# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes to export, and what came of them."""

from __future__ import annotations

from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

from blender_scenes import add_box, add_driven_shape_key, add_rig, counts, fresh
from sinew.addon import export, roles
from sinew.solver.errors import BadInput
from sinew.solver.scene import Scene
from sinew.solver.tracks import TrackReader


def exported(scene: bpy.types.Scene, cache: Path) -> tuple[Scene, TrackReader]:
    for _ in export.export_scene(bpy.context, scene, cache):
        pass
    return Scene.load(cache / "scene"), TrackReader(cache / "scene")


def full_rig() -> tuple[bpy.types.Scene, bpy.types.Object]:
    """Returns a body moved by an armature on NLA, a driven shape key, a parent and a constraint."""
    scene = fresh()
    obj = add_box()
    rig = add_rig(obj)
    add_driven_shape_key(obj, rig)
    data = rig.animation_data
    strip = data.nla_tracks.new().strips.new("Bend", 1, data.action)
    strip.action_slot = data.action.slots[0]
    data.action = None
    parent = bpy.data.objects.new("Parent", None)
    scene.collection.objects.link(parent)
    obj.parent = parent
    obj.rotation_euler = (0.4, 0.0, 0.5)  # sheared by the scale of the parent
    parent.scale = (1.0, 2.0, -1.0)
    parent.rotation_euler = (0.3, 0.2, 0.1)
    parent.keyframe_insert("rotation_euler", frame=1)
    parent.rotation_euler = (0.3, 1.2, 0.1)
    parent.keyframe_insert("rotation_euler", frame=21)
    followed = bpy.data.objects.new("Followed", None)
    scene.collection.objects.link(followed)
    followed.keyframe_insert("location", frame=1)
    followed.location = (1.0, 2.0, 3.0)
    followed.keyframe_insert("location", frame=21)
    obj.constraints.new("COPY_LOCATION").target = followed
    roles.make_body(obj)
    scene.frame_end = 21
    return scene, obj


def refused(scene: bpy.types.Scene, cache: Path) -> BadInput:
    """Returns why a scene is not exported; checks that nothing was left in the file or on disk."""
    before = counts()
    with pytest.raises(BadInput) as caught:
        exported(scene, cache)
    assert counts() == before
    assert not cache.exists()
    return caught.value


def stored_weights(name: str, weight: float) -> bpy.types.NodeTree:
    """Returns a node tree with an input "Weight" that stores it as an attribute."""
    tree = bpy.data.node_groups.new("Pins", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Weight", in_out="INPUT", socket_type="NodeSocketFloat").default_value = weight
    first, last = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    store = tree.nodes.new("GeometryNodeStoreNamedAttribute")
    store.inputs["Name"].default_value = name
    tree.links.new(first.outputs["Geometry"], store.inputs["Geometry"])
    tree.links.new(first.outputs["Weight"], next(i for i in store.inputs if i.name == "Value" and i.enabled))
    tree.links.new(store.outputs["Geometry"], last.inputs["Geometry"])
    return tree


def set_input(modifier: bpy.types.Modifier, socket: str, value: float) -> None:
    """Sets an input of a Geometry Nodes modifier."""
    if hasattr(modifier, "properties"):  # since Blender 5.2
        getattr(modifier.properties.inputs, socket).value = value
    else:
        modifier[socket] = value
