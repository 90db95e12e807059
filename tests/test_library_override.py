# SPDX-License-Identifier: GPL-3.0-or-later
"""Linked characters: an override is a body that bakes, plays, and does so after a reload."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, add_rig, counts, evaluated, fresh, overridden_box, world, write_cache
from sinew.addon.blender_data import object_keys, sinew_modifier
from sinew.addon.export import export_scene, input_digest
from sinew.addon.objects import role_checks, roles
from sinew.addon.playback import mesh_cache, shape_keys
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.scene import Scene
from sinew.solver.scene.tracks import TrackReader


def linked(folder: Path, override: bool = True) -> bpy.types.Object:
    """Returns a rigged, subdivided mesh of another file, linked into a new shot and overridden."""
    scene = fresh()
    obj = add_box("Hero")
    rig = add_rig(obj)
    obj.modifiers.new("Subdivision", "SUBSURF")
    character = bpy.data.collections.new("Character")
    for each in (obj, rig):
        scene.collection.objects.unlink(each)
        character.objects.link(each)
    scene.collection.children.link(character)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "character.blend"))
    scene = fresh()
    with bpy.data.libraries.load(str(folder / "character.blend"), link=True) as (_, wanted):
        wanted.collections = ["Character"]
    scene.collection.children.link(wanted.collections[0])
    if override:
        wanted.collections[0].override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=True)
        scene.collection.children.unlink(wanted.collections[0])
    return hero()


def hero() -> bpy.types.Object:
    return next(o for o in bpy.context.scene.objects if o.type == "MESH")


def test_an_override_is_exported_plays_and_survives_a_reload(tmp_path: Path) -> None:
    obj = linked(tmp_path)
    assert obj.override_library is not None and obj.data.library is not None
    roles.make_body(obj)
    assert [m.type for m in obj.modifiers] == ["ARMATURE", "MESH_CACHE", "SUBSURF"]
    obj.sinew.pin_group = "lower"
    obj.sinew.density = 321.0
    scene = bpy.context.scene
    scene.frame_end = 21
    before = counts()
    cache = tmp_path / "shot.sinew"
    for _ in export_scene.export_scene(bpy.context, scene, cache):
        pass
    assert counts() == before
    body = Scene.load(cache / "scene").bodies[0]
    assert len(body.vertices) == len(obj.data.vertices) and 0 < len(body.pinned) < len(body.vertices)
    shapes = np.tile(body.vertices * 2.0, (21, 1, 1))
    write_cache(cache, {body.key: shapes})
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    mesh_cache.attach(obj, cache, body.key)
    digest = input_digest.settings_digest(scene)
    bpy.ops.wm.save_mainfile()

    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    obj = hero()
    assert [m.type for m in obj.modifiers] == ["ARMATURE", "MESH_CACHE", "SUBSURF"]
    assert (obj.sinew.role, obj.sinew.pin_group, obj.sinew.density) == ("BODY", "lower", 321.0)
    modifier = sinew_modifier.find_modifier(obj)
    assert modifier.filepath == f"//shot.sinew/play/{body.key}.pc2"
    assert modifier.frame_start == 1.0
    assert input_digest.settings_digest(bpy.context.scene) == digest
    mesh_cache.attach(obj, cache, body.key)
    assert len(obj.modifiers) == 3
    obj.modifiers["Subdivision"].show_viewport = False
    assert np.allclose(evaluated(obj, 9)[0], shapes[8], atol=1e-5)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    obj = hero()
    assert (obj.sinew.role, obj.sinew.pin_group, obj.sinew.density) == ("BODY", "lower", 321.0)
    # and it can be baked again, following its rig
    for _ in export_scene.export_scene(bpy.context, bpy.context.scene, cache):
        pass
    targets = TrackReader(cache / "scene").sample(f"body.{body.key}.targets", 20 / 24)
    mesh_cache.detach(obj)
    points, matrix = evaluated(obj, 21)
    assert np.allclose(targets, world(points, matrix)[body.pinned], atol=1e-5)


def test_an_override_as_shape_keys(tmp_path: Path) -> None:
    obj = linked(tmp_path)
    roles.make_body(obj)
    points = np.array([v.co for v in obj.data.vertices])
    shapes = np.stack([points * (1.0 + 0.1 * i) for i in range(5)])
    key = object_keys.body_key(obj)
    write_cache(tmp_path / "shot.sinew", {key: shapes})
    mesh_cache.attach(obj, tmp_path / "shot.sinew", key)
    copy = shape_keys.convert_to_shape_keys(bpy.context, bpy.context.scene, obj, tmp_path / "shot.sinew")
    assert copy.override_library is None and copy.data.library is None
    assert [m.type for m in copy.modifiers] == ["SUBSURF"]
    copy.modifiers.clear()
    assert np.allclose(evaluated(copy, 4)[0], shapes[3], atol=1e-5)


def test_two_overrides_of_one_character_are_two_bodies(tmp_path: Path) -> None:
    linked(tmp_path)
    character = next(c for c in bpy.data.collections if c.library is not None)
    character.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    heroes = [o for o in bpy.context.scene.objects if o.type == "MESH" and o.library is None]
    assert len(heroes) == 2 and heroes[0].data == heroes[1].data
    for obj in heroes:
        roles.make_body(obj)
    for _ in export_scene.export_scene(bpy.context, bpy.context.scene, tmp_path / "shot.sinew"):
        pass
    assert len({body.key for body in Scene.load(tmp_path / "shot.sinew" / "scene").bodies}) == 2


def test_a_linked_object_without_an_override_is_refused(tmp_path: Path) -> None:
    obj = linked(tmp_path, override=False)
    assert obj.library is not None
    with pytest.raises(BadInput) as caught:
        role_checks.check_object(obj)
    assert caught.value.kind == "linked-without-override"
    assert '"Hero"' in caught.value.sentence


def test_settings_of_an_override_that_nothing_else_has_looked_at_survive_a_reload(tmp_path: Path) -> None:
    """Set by a script alone: Blender 5.0 forgets them unless the linked object has settings to compare with."""
    own = overridden_box(tmp_path)
    own.sinew.role, own.sinew.divisions, own.sinew.pin_stiffness = "BODY", 3, 77.0
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    own = next(o for o in bpy.context.scene.objects if o.override_library)
    assert (own.sinew.role, own.sinew.divisions, own.sinew.pin_stiffness) == ("BODY", 3, 77.0)
