# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender shows is what the scene folder says, in metres, and the file stays as it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from mathutils import Matrix

from fixtures.blender_scenes import add_box, add_mesh, counts, evaluated, fresh, world
from fixtures.export_scenes import exported, full_rig, refused, set_input, stored_weights
from sinew.addon.blender_data import object_keys, sinew_modifier
from sinew.addon.evaluation import evaluated_mesh, scene_copy
from sinew.addon.export import export_scene, input_digest, input_warnings
from sinew.addon.objects import new_role_objects, roles, tet_estimate
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.tracks import TrackReader


def test_weights_of_groups_attributes_and_modifiers(tmp_path: Path) -> None:
    scene = fresh()
    obj = add_box()
    roles.make_body(obj)
    count = len(obj.data.vertices)
    wanted = np.linspace(0.0, 1.0, count)
    attribute = obj.data.attributes.new("soft", "FLOAT", "POINT")
    attribute.data.foreach_set("value", wanted.astype(np.float32))
    obj.sinew.pin_group = "soft"
    body = exported(scene, tmp_path / "a.sinew")[0].bodies[0]
    assert body.pinned.tolist() == list(range(1, count))
    assert np.allclose(body.pin_weights, wanted[1:])
    tree = stored_weights("made", 0.75)
    obj.modifiers.new("Nodes", "NODES").node_group = tree
    obj.modifiers.move(1, 0)
    obj.sinew.pin_group = "made"
    body = exported(scene, tmp_path / "b.sinew")[0].bodies[0]
    assert len(body.pinned) == count
    assert np.allclose(body.pin_weights, 0.75)


def test_vertices_are_read_in_edit_mode_and_where_there_are_none() -> None:
    fresh()
    obj = add_box()
    wanted = np.array([v.co for v in obj.data.vertices])
    assert np.array_equal(evaluated_mesh.positions(obj.data), wanted)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        assert np.array_equal(evaluated_mesh.positions(obj.data), wanted)
        assert tet_estimate.tet_count(obj, 1.0) > 0
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")
    assert evaluated_mesh.positions(bpy.data.meshes.new("None")).shape == (0, 3)


def test_affect_holds_the_rest_to_the_animation(tmp_path: Path) -> None:
    scene = fresh()
    obj = add_box()
    roles.make_body(obj)
    group = obj.vertex_groups.new(name="Belly")
    wanted = np.array([1.0 if v.co.z > 0.5 else 0.25 if v.co.z > -0.5 else 0.0 for v in obj.data.vertices])
    for i, weight in enumerate(wanted):
        group.add([i], weight, "REPLACE")
    obj.sinew.affect_group = "Belly"
    body = exported(scene, tmp_path / "c.sinew")[0].bodies[0]
    assert len(body.pinned) == 0
    assert body.attached.tolist() == np.flatnonzero(wanted < 1).tolist()
    assert np.allclose(body.attached_weights, (1.0 - wanted)[wanted < 1])
    # a stronger pin takes a vertex over, and can let it go
    obj.vertex_groups.new(name="Pin").add(list(range(len(wanted))), 0.8, "REPLACE")
    obj.sinew.pin_group = "Pin"
    body = exported(scene, tmp_path / "d.sinew")[0].bodies[0]
    assert body.attached.tolist() == np.flatnonzero(wanted == 0).tolist()
    assert body.pinned.tolist() == np.flatnonzero(wanted > 0).tolist()
    assert np.allclose(body.pin_weights, 0.8)
    tracks = TrackReader(tmp_path / "d.sinew" / "scene")
    assert tracks.sample("body.Box.attached.targets", 0.0).shape == (len(body.attached), 3)


def test_tets_are_as_large_however_the_object_is_turned(tmp_path: Path) -> None:
    scene = fresh()
    obj = add_box()
    roles.make_body(obj)
    obj.scale = (0.5, 1.0, 0.25)
    obj.rotation_euler = (0.5, 0.4, 0.3)
    obj.sinew.divisions = 10
    (body,) = exported(scene, tmp_path / "c.sinew")[0].bodies
    assert body.meshing.tet_size == pytest.approx(max(obj.dimensions) / 10)
    lying = tet_estimate.tet_count(obj, 1.0)
    obj.rotation_euler = (0.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    assert tet_estimate.tet_count(obj, 1.0) == pytest.approx(lying, rel=0.02)


def test_units_frames_and_settings(tmp_path: Path) -> None:
    scene = fresh()
    obj = add_box(height=1.0)
    roles.make_body(obj)
    obj.matrix_world = Matrix.Rotation(0.5, 4, "X") @ Matrix.Diagonal((2.0, -3.0, 1.0, 1.0))
    own = obj.sinew
    own.sizing, own.tet_size, own.use_simulated_size, own.simulated_size = "SIZE", 0.5, True, 1.0
    own.initial_velocity = (1.0, 0.0, 0.0)
    ground = new_role_objects.add_ground(bpy.context)
    ground.sinew.thickness = 0.1
    ground.location = (0.0, 0.0, -4.0)
    bpy.ops.mesh.primitive_cube_add(location=(9, 0, 0), scale=(2.0, 2.0, 2.0))
    wall = bpy.context.object
    roles.make_collider(wall)
    scene.unit_settings.scale_length = 0.1
    scene.render.fps, scene.render.fps_base = 30, 1.001
    own = scene.sinew
    own.use_scene_range, own.frame_start, own.frame_end, own.substeps, own.samples_per_frame = False, -5, 10, 6, 3
    written, tracks = exported(scene, tmp_path / "c.sinew")
    body, settings = written.bodies[0], written.settings
    points, matrix = evaluated(obj, -5)
    assert np.allclose(body.vertices, 0.1 * world(points, matrix), atol=1e-7)
    a, b, c = (body.vertices[body.triangles[:, i]] for i in range(3))
    assert np.einsum("ij,ij", a, np.cross(b, c)) > 0  # outwards, though the object is mirrored
    assert body.meshing.tet_size == pytest.approx(0.05)
    assert body.initial_velocity == pytest.approx((0.1, 0.0, 0.0))
    assert max(obj.dimensions) == pytest.approx(3.0)
    assert body.simulated_scale == pytest.approx(1.0 / 3.0)
    assert (settings.frame_start, settings.frame_end, settings.substeps, settings.samples_per_frame) == (-5, 10, 6, 3)
    assert settings.fps == pytest.approx(30 / 1.001)
    assert settings.gravity == pytest.approx((0.0, 0.0, -0.981))
    cube, plane = written.colliders
    assert (plane.shape, cube.shape) == ("plane", "mesh")
    assert plane.thickness == pytest.approx(0.01)
    assert tracks.sample("collider.Ground.matrix", 0)[:3, 3] == pytest.approx((0, 0, -0.4))
    points, matrix = evaluated(wall, -5)
    at = world(cube.vertices, tracks.sample("collider.Cube.matrix", 0))
    assert np.allclose(at, 0.1 * world(points, matrix), atol=1e-7)


def test_an_object_deleted_between_slices_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene, obj = full_rig()
    monkeypatch.setattr(export_scene, "slice_end", lambda begun: 0.0)
    steps = export_scene.export_scene(bpy.context, scene, tmp_path / "c.sinew")
    next(steps)
    bpy.data.objects.remove(obj)
    with pytest.raises(BadInput) as caught:
        next(steps)
    assert caught.value.kind == "object-gone"
    assert not (tmp_path / "c.sinew").exists()


def test_a_failed_export_leaves_the_scene_of_the_last_one(tmp_path: Path) -> None:
    scene, obj = full_rig()
    exported(scene, tmp_path / "c.sinew")
    before = sorted(p.relative_to(tmp_path) for p in tmp_path.rglob("*"))
    obj.sinew.pin_group = "nobody"
    with pytest.raises(BadInput):
        exported(scene, tmp_path / "c.sinew")
    assert sorted(p.relative_to(tmp_path) for p in tmp_path.rglob("*")) == before


def test_bad_bodies_are_refused_by_name(tmp_path: Path) -> None:
    scene = fresh()
    cache = tmp_path / "c.sinew"
    assert refused(scene, cache).kind == "no-bodies"
    obj = add_box("Blob")
    roles.make_body(obj)
    obj.sinew.pin_group = "gone"
    problem = refused(scene, cache)
    assert problem.kind == "group-gone" and '"Blob"' in problem.sentence and '"gone"' in problem.sentence
    obj.sinew.pin_group = ""
    obj.data.vertices[3].co.x = float("nan")
    assert refused(scene, cache).kind == "mesh-not-finite"
    obj.data.vertices[3].co.x = 0.0
    obj.scale.z = 0.0
    assert refused(scene, cache).kind == "object-flat"
    obj.scale.z = 1.0
    obj.sinew.density = 0.0
    assert refused(scene, cache).details["setting"] == "Density"
    obj.sinew.density = 1000.0
    scene.sinew.samples_per_frame = 3
    assert refused(scene, cache).details["setting"] == "Samples Per Frame"
    scene.sinew.samples_per_frame = 1
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    assert refused(scene, cache).kind == "in-edit-mode"
    bpy.ops.object.mode_set(mode="OBJECT")
    other = obj.copy()
    scene.collection.objects.link(other)
    problem = refused(scene, cache)
    assert problem.kind == "mesh-shared" and "Blob" in problem.sentence


def test_a_mesh_without_faces_is_refused(tmp_path: Path) -> None:
    scene = fresh()
    obj = add_mesh("Points", np.eye(3), [])
    obj.sinew.role = "BODY"
    assert refused(scene, tmp_path / "c.sinew").kind == "mesh-empty"


def test_an_attribute_that_is_no_weight_is_refused(tmp_path: Path) -> None:
    scene = fresh()
    obj = add_box()
    roles.make_body(obj)
    obj.data.attributes.new("faces", "FLOAT", "FACE")
    obj.sinew.pin_group = "faces"
    assert refused(scene, tmp_path / "c.sinew").kind == "attribute-not-weights"


def test_keys_stay_with_a_renamed_object_and_duplicates_get_their_own() -> None:
    scene = fresh()
    obj = add_box("Käse.001")
    roles.make_body(obj)
    key = object_keys.body_key(obj)
    assert key.isascii() and key.startswith("K_se_001")
    obj.sinew.key = key
    obj.name = "Cheese"
    assert object_keys.body_key(obj) == key
    other = obj.copy()
    other.data = obj.data.copy()
    scene.collection.objects.link(other)
    assert {object_keys.body_key(obj), object_keys.body_key(other)} == {key, "Cheese_001"}
    assert object_keys.body_key(obj) == key


def test_the_stage_is_removed_after_an_exception() -> None:
    scene, obj = full_rig()
    before = counts()
    with pytest.raises(ZeroDivisionError), scene_copy.SceneCopy(scene, {obj: 1}) as stage:
        stage.set_frame(3)
        raise ZeroDivisionError
    assert counts() == before


def test_the_digest_follows_what_is_read_and_nothing_else() -> None:
    scene, obj = full_rig()
    obj.sinew.pin_group = "upper"
    rig = bpy.data.objects["Rig"]
    subdivision = obj.modifiers.new("Subdivision", "SUBSURF")
    first = input_digest.settings_digest(scene)
    scene.frame_set(13)
    bpy.context.view_layer.update()
    subdivision.levels = 2
    scene.sinew.take = "B"
    obj.show_name = True
    obj.sinew.key, obj.name = object_keys.body_key(obj), "Renamed"
    assert input_digest.settings_digest(scene) == first
    curve = rig.animation_data.nla_tracks[0].strips[0].action.layers[0].strips[0].channelbags[0].fcurves[0]
    found = {first}

    def changed() -> bool:
        digest = input_digest.settings_digest(scene)
        is_new = digest not in found
        found.add(digest)
        return is_new

    curve.keyframe_points[1].co.y += 0.1
    assert changed(), "an F-curve of the rig"
    obj.data.vertices[0].co.x += 0.1
    assert changed(), "a vertex"
    obj.vertex_groups["lower"].add([0], 0.5, "REPLACE")
    bpy.context.view_layer.update()
    assert changed(), "a weight"
    obj.sinew.density = 500.0
    assert changed(), "a setting"
    obj.modifiers["Armature"].use_deform_preserve_volume = True
    assert changed(), "a modifier above"
    bpy.data.objects["Parent"].scale.x = 1.5
    assert changed(), "a parent's transform"
    bpy.data.objects["Followed"].animation_data.action.layers[0].strips[0].channelbags[0].fcurves[2].mute = True
    assert changed(), "a constraint's target"
    obj.data.shape_keys.key_blocks[1].data[0].co.x += 1.0
    assert changed(), "a shape key"
    obj.data.shape_keys.animation_data.drivers[0].driver.expression = "bend * 2"
    assert changed(), "a driver"
    scene.gravity.z = -1.0
    assert changed(), "gravity"
    scene.render.fps = 25
    assert changed(), "the frame rate"
    nodes = obj.modifiers.new("Nodes", "NODES")
    nodes.node_group = stored_weights("made", 0.75)
    obj.modifiers.move(len(obj.modifiers) - 1, 0)
    assert changed(), "a modifier more"
    set_input(nodes, nodes.node_group.interface.items_tree["Weight"].identifier, 0.5)
    assert changed(), "an input of a node tree"
    next(n for n in nodes.node_group.nodes if n.type == "STORE_NAMED_ATTRIBUTE").inputs["Name"].default_value = "other"
    assert changed(), "a value in a node tree"
    sinew_modifier.remove_modifier(obj)
    roles.clear_role(obj)
    assert changed(), "no body any more"


def test_what_will_hardly_look_right_is_said() -> None:
    scene = fresh()
    obj = add_box("Blob")
    roles.make_body(obj)
    assert list(input_warnings.input_warnings(scene)) == []
    scene.unit_settings.scale_length = 0.01
    obj.data.attributes.new("custom_normal", "FLOAT_VECTOR", "CORNER")
    obj.modifiers.new("Late", "LATTICE")
    obj.sinew.affect_group = "soft"
    found = list(input_warnings.input_warnings(scene))
    assert [note.kind for note in found] == ["gravity-scaled", "normals-free", "posed-twice", "affect-not-faded"]
    assert all('"Blob"' in note.sentence for note in found[1:])
    assert "0.0981 m/s²" in found[0].sentence
    scene.gravity.z = -981.0
    obj.data.attributes.remove(obj.data.attributes["custom_normal"])
    obj.modifiers.move(0, 1)
    obj.vertex_groups.new(name="soft")
    assert list(input_warnings.input_warnings(scene)) == []
