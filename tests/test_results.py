# SPDX-License-Identifier: GPL-3.0-or-later
"""What a broken bake becomes: an object of the final topology that looks like the original until it cracks."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import counts, evaluated, fresh, write_cache
from fixtures.fake_layout import FakeLayout
from fixtures.fractured_ball import OPENS, ball, broken, corner_points, values
from fixtures.planar_cut import write_broken
from sinew.addon.baking import attach_bake, bake_control, bake_status, last_failure
from sinew.addon.cache import cache_paths
from sinew.addon.export import input_warnings
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.fracture_meshes import show_results, transmissive_materials
from sinew.addon.objects import roles
from sinew.addon.panels import fracture_layout, main_layout
from sinew.addon.playback import mesh_cache, shape_keys
from sinew.solver.bake.cache import layout
from test_addon import context_of


def test_it_plays_with_the_original_hidden_and_gives_everything_back(tmp_path: Path) -> None:
    fresh()
    obj = ball()
    obj.hide_render = True
    scene = bpy.context.scene
    before, digest = counts(), settings_digest(scene)
    made, arrays, cache = broken(tmp_path, obj)
    assert obj.hide_viewport and obj.hide_render and made.hide_render and not made.hide_viewport
    assert settings_digest(scene) == digest, "a result is not a change to what is baked"
    for frame in (1, OPENS - 1, OPENS, 9):
        assert np.allclose(evaluated(made, frame)[0], arrays["shapes"][frame - 1], atol=1e-6)
    attach_bake.attach(scene)
    assert [o.name for o in bpy.data.objects if o.sinew.result_of == obj] == ["Ball Broken"]
    assert bpy.data.objects["Ball Broken"] == made, "nothing is made anew where nothing changed"
    bake_control.delete(scene)
    assert counts() == before
    assert not obj.hide_viewport and obj.hide_render and obj.animation_data is None
    assert mesh_cache.attached_file(obj) is None and not cache.exists()


def test_another_bake_replaces_it(tmp_path: Path) -> None:
    fresh()
    obj = ball()
    made, first, cache = broken(tmp_path, obj)
    faces, meshes = len(made.data.polygons), len(bpy.data.meshes)
    made, second, _ = broken(tmp_path, obj, height=-0.4)
    assert len([o for o in bpy.data.objects if o.sinew.result_of == obj]) == 1
    assert len(bpy.data.meshes) == meshes and np.allclose(evaluated(made, 9)[0], second["shapes"][8], atol=1e-6)
    for path in layout.result_paths(cache, "Ball"):
        path.unlink()
    attach_bake.attach(bpy.context.scene)
    assert "Ball Broken" not in bpy.data.objects and not obj.hide_viewport and faces
    assert mesh_cache.attached_file(obj) is not None, "without a crack, the body itself plays"


def test_transform_parent_animation_and_lower_modifiers_are_those_of_the_original(tmp_path: Path) -> None:
    fresh()
    obj = ball()
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    obj.parent, parent.location = parent, (1.0, 2.0, 3.0)
    obj.scale = (1.0, -2.0, 0.5)
    obj.keyframe_insert("location", frame=1)
    obj.location.x = 4.0
    obj.keyframe_insert("location", frame=9)
    obj.modifiers.new("Smooth", "SMOOTH").factor = 0.0
    bpy.context.view_layer.update()
    made, arrays, _ = broken(tmp_path, obj)
    assert made.parent == parent and [m.name for m in made.modifiers] == ["Sinew", "Smooth", "Sinew Shading"]
    assert made.sinew.role == "NONE" and made.users_collection == obj.users_collection
    for frame, x in ((1, 1.0), (5, 3.0), (9, 5.0)):
        bpy.context.scene.frame_set(frame)
        matrix = np.array(made.matrix_world)
        assert np.allclose(matrix[:3, 3], [x, 2.0, 3.0]) and np.allclose(np.diag(matrix), [1.0, -2.0, 0.5, 1.0])
    # mirrored: the solver sees the faces turned round, the object needs them as they were
    normals = np.array([p.normal for p in made.data.polygons])
    centres = np.array([p.center for p in made.data.polygons])
    outer = arrays["source_face"] >= 0
    assert (np.einsum("ij,ij->i", normals, centres)[outer] > 0).all()
    assert np.allclose(normals[~outer, 2], np.where(arrays["piece"][~outer] == 0, -1.0, 1.0), atol=1e-6)
    on_surface = np.repeat(outer, np.diff(arrays["face_start"]))
    places = corner_points(made.data)
    assert np.allclose(values(made.data, "Second", 2, "vector")[on_surface], places[on_surface, :2] * 3, atol=1e-5)


def test_the_material_inside_is_the_one_chosen(tmp_path: Path) -> None:
    fresh()
    obj = ball()
    made, _, _ = broken(tmp_path, obj)
    assert made.data.materials[2].name == "Sinew Broken"
    obj.sinew.broken_material = bpy.data.materials.new("Dough")
    attach_bake.attach(bpy.context.scene)
    assert made.data.materials[2].name == "Dough" and "Sinew Broken" not in bpy.data.materials
    obj.sinew.broken_material = None
    attach_bake.attach(bpy.context.scene)
    assert made.data.materials[2].name == "Sinew Broken"


@pytest.mark.parametrize("remap", [50, 200])
def test_glass_is_swapped_in_remapped_time(tmp_path: Path, remap: int) -> None:
    scene = fresh()
    scene.render.frame_map_new = remap
    obj = ball()
    glass = bpy.data.materials["Red"]
    if glass.node_tree is None:
        glass.use_nodes = True
    glass.node_tree.nodes["Principled BSDF"].inputs["Transmission Weight"].default_value = 1.0
    made, arrays, _ = broken(tmp_path, obj)
    for frame in (1, OPENS - 1, OPENS, 9):
        scene.frame_set(frame)
        shown = [o.evaluated_get(bpy.context.evaluated_depsgraph_get()) for o in (obj, made)]
        assert [o.hide_render for o in shown] == [frame >= OPENS, frame < OPENS]
    assert np.allclose(evaluated(made, 9)[0], arrays["shapes"][8], atol=1e-5)


@pytest.mark.parametrize("animated", [False, True])
def test_glass_is_swapped_at_the_first_crack(tmp_path: Path, animated: bool) -> None:
    fresh()
    obj = ball()
    glass = bpy.data.materials["Red"]
    if glass.node_tree is None:
        glass.use_nodes = True
    glass.node_tree.nodes["Principled BSDF"].inputs["Transmission Weight"].default_value = 1.0
    if animated:
        for frame, value in ((1, False), (20, True)):
            obj.hide_render = value
            obj.keyframe_insert("hide_render", frame=frame)
    made, _, _ = broken(tmp_path, obj)
    for frame in (1, OPENS - 1, OPENS, 9):
        bpy.context.scene.frame_set(frame)
        shown = [o.evaluated_get(bpy.context.evaluated_depsgraph_get()) for o in (obj, made)]
        assert [o.hide_render for o in shown] == [frame >= OPENS, frame < OPENS]
        assert [o.hide_viewport for o in shown] == [frame >= OPENS, frame < OPENS]
    bake_control.delete(bpy.context.scene)
    assert (obj.animation_data is not None) == animated
    for frame in (1, 9, 20):
        bpy.context.scene.frame_set(frame)
        assert obj.hide_render == (animated and frame == 20) and not obj.hide_viewport


def test_a_subdivision_below_is_evaluated_before_the_cut(tmp_path: Path) -> None:
    fresh()
    obj = ball()
    modifier = obj.modifiers.new("Subdivision", "SUBSURF")
    modifier.levels = modifier.render_levels = 1
    obj.modifiers.new("Below", "SMOOTH")
    assert [m.name for m in obj.modifiers] == ["Sinew", "Subdivision", "Below"]
    made, arrays, _ = broken(tmp_path, obj)
    assert [m.name for m in obj.modifiers] == ["Subdivision", "Sinew", "Below"]
    assert [m.name for m in made.modifiers] == ["Sinew", "Below", "Sinew Shading"]
    assert len(made.data.polygons) == len(arrays["source_face"]) > 4 * len(obj.data.polygons)
    bake_control.delete(bpy.context.scene)
    assert [m.name for m in obj.modifiers] == ["Sinew", "Subdivision", "Below"]


def test_a_bake_from_before_the_body_could_break_plays_where_it_was_baked(tmp_path: Path) -> None:
    scene = fresh()
    obj = ball()
    obj.sinew.use_fracture = False
    modifier = obj.modifiers.new("Subdivision", "SUBSURF")
    modifier.levels = modifier.render_levels = 1
    points = np.array([v.co for v in obj.data.vertices], np.float32)
    write_cache(tmp_path / "c.sinew", {"Ball": np.stack([points, 2.0 * points])})
    scene.sinew.cache_path = str(tmp_path / "c.sinew")
    cache_paths.remember_bake(scene, tmp_path / "c.sinew")
    obj.sinew.use_fracture = True
    attach_bake.attach(scene)
    assert [m.name for m in obj.modifiers] == ["Sinew", "Subdivision"]
    modifier.show_viewport = False
    assert np.allclose(evaluated(obj, 2)[0], 2.0 * points, atol=1e-5)


def test_a_mesh_changed_since_gets_a_sentence_and_shows_itself(tmp_path: Path) -> None:
    fresh()
    obj = ball()
    made, _, cache = broken(tmp_path, obj)
    show_results.restore_body(obj)
    obj.data.polygons[0].flip()
    attach_bake.attach(bpy.context.scene)
    assert '"Ball"' in last_failure.failure_text(bpy.context.scene) and "Ball Broken" not in bpy.data.objects
    assert not obj.hide_viewport


def test_taking_the_body_out_of_sinew_shows_it_again(tmp_path: Path) -> None:
    fresh()
    obj = ball()
    broken(tmp_path, obj)
    roles.clear_role(obj)
    assert not obj.hide_viewport and "Ball Broken" not in bpy.data.objects


def test_pieces_are_objects_of_their_own_with_their_origin_in_their_middle(tmp_path: Path) -> None:
    fresh()
    obj = ball()
    obj.location = (1.0, 2.0, 3.0)
    obj.rotation_euler = (0.3, 0.0, 1.0)
    obj.scale = (2.0, 1.0, 1.0)
    obj.modifiers.new("Smooth", "SMOOTH").factor = 0.0
    bpy.context.view_layer.update()
    before = counts()
    whole, arrays, cache = broken(tmp_path, obj)
    obj.sinew.separate_pieces = True
    parent = bpy.data.objects["Ball Pieces"]
    pieces = [bpy.data.objects[f"Ball Piece {i}"] for i in (1, 2)]
    assert "Ball Broken" not in bpy.data.objects and obj.hide_viewport and obj.hide_render
    assert all(piece.parent == parent and [m.name for m in piece.modifiers] == ["Sinew", "Smooth"] for piece in pieces)
    assert (cache / "result" / "Ball-piece-1.pc2").exists()
    matrix = np.array(obj.matrix_world)
    for number, piece in enumerate(pieces):
        faces = np.repeat(arrays["piece"] == number, np.diff(arrays["face_start"]))
        vertices = np.unique(arrays["corners"][faces])
        box = np.array(piece.bound_box)
        assert np.allclose(box.min(axis=0), -box.max(axis=0), atol=1e-5)
        for frame in (1, OPENS, 9):
            points, own = evaluated(piece, frame)
            world = points @ own[:3, :3].T + own[:3, 3]
            wanted = arrays["shapes"][frame - 1][vertices] @ matrix[:3, :3].T + matrix[:3, 3]
            assert np.allclose(world, wanted, atol=1e-5)
        assert not piece.data.validate(verbose=True)
    obj.location.x += 5.0
    bpy.context.view_layer.update()
    assert np.isclose(pieces[0].matrix_world.translation.x, world_x(pieces[0], arrays, matrix, 0) + 5.0, atol=1e-5)
    obj.sinew.separate_pieces = False
    assert "Ball Broken" in bpy.data.objects and "Ball Pieces" not in bpy.data.objects
    obj.sinew.separate_pieces = True
    bake_control.delete(bpy.context.scene)
    assert counts() == before and not cache.exists() and not obj.hide_viewport


def world_x(piece: bpy.types.Object, arrays: dict, matrix: np.ndarray, number: int) -> float:
    """Returns where the middle of a piece was in the world before anything moved."""
    faces = np.repeat(arrays["piece"] == number, np.diff(arrays["face_start"]))
    points = arrays["rest"][np.unique(arrays["corners"][faces])]
    middle = (points.min(axis=0) + points.max(axis=0)) / 2.0
    return float((matrix[:3, :3] @ middle + matrix[:3, 3])[0])


def test_a_result_becomes_shape_keys(tmp_path: Path) -> None:
    fresh()
    obj = ball()
    _, arrays, _ = broken(tmp_path, obj)
    bpy.context.view_layer.objects.active = obj
    needed = shape_keys.shape_key_bytes(len(arrays["rest"]), len(arrays["shapes"]))
    assert bake_status.shape_key_bytes(bpy.context.scene, obj) == needed
    assert bpy.ops.sinew.convert_to_shape_keys() == {"FINISHED"}
    copy = bpy.context.object
    assert copy.sinew.result_of is None and not copy.hide_render
    assert [m.name for m in copy.modifiers] == ["Sinew Shading"]
    bpy.ops.sinew.delete_bake()
    assert copy.name in bpy.data.objects and "Ball Broken" not in bpy.data.objects
    assert obj.hide_viewport and obj.hide_render, "two in one place"
    for frame in (1, OPENS, 9):
        assert np.allclose(evaluated(copy, frame)[0], arrays["shapes"][frame - 1], atol=1e-5)
    assert "broken" in copy.data.attributes


def test_the_panel_leads_from_the_result_to_the_body(tmp_path: Path) -> None:
    fresh()
    obj = ball()
    made, _, _ = broken(tmp_path, obj)
    bpy.context.view_layer.objects.active = made
    layout = FakeLayout()
    main_layout.draw_main(layout, context_of(made))
    assert "Ball Broken: made of Ball" in layout.lines and "sinew.activate_body" in [name for _, name in layout.drawn]
    assert "sinew.make_body" not in [name for _, name in layout.drawn]
    assert bpy.ops.sinew.activate_body() == {"FINISHED"} and bpy.context.view_layer.objects.active == obj
    away = bpy.data.collections.new("Away")
    bpy.context.scene.collection.children.link(away)
    for collection in obj.users_collection:
        collection.objects.unlink(obj)
    away.objects.link(obj)
    bpy.context.view_layer.layer_collection.children["Away"].exclude = True
    bpy.context.view_layer.objects.active = made
    with pytest.raises(RuntimeError, match='"Ball" is not in the view layer'):
        bpy.ops.sinew.activate_body()


def test_what_would_show_cracks_early_is_said() -> None:
    fresh()
    obj = ball()
    obj.modifiers.new("Round", "BEVEL")
    obj.modifiers.new("Turn", "SIMPLE_DEFORM")
    kinds = [(note.kind, note.details.get("modifier")) for note in input_warnings.input_warnings(bpy.context.scene)]
    assert kinds == [("cracks-shown-early", "Round")]
    obj.sinew.use_fracture = False
    assert not list(input_warnings.input_warnings(bpy.context.scene))


def test_the_panel_and_the_bake_say_what_becomes_of_glass() -> None:
    fresh()
    obj = ball()
    shader = bpy.data.materials["Blue"]
    if shader.node_tree is None:
        shader.use_nodes = True
    assert not transmissive_materials.transmissive_materials(obj)
    principled = shader.node_tree.nodes["Principled BSDF"]
    principled.inputs["Subsurface Weight"].default_value = 0.2
    assert transmissive_materials.transmissive_materials(obj) == ["Blue"]
    assert [note.kind for note in input_warnings.input_warnings(bpy.context.scene)] == ["swapped-at-crack"]
    layout = FakeLayout()
    bpy.context.view_layer.objects.active = obj
    preferences = SimpleNamespace(system=SimpleNamespace(ui_scale=1.0))
    region = SimpleNamespace(width=10000)
    context = SimpleNamespace(object=obj, scene=bpy.context.scene, region=region, preferences=preferences)
    fracture_layout.draw_fracture(layout, context)
    assert any("Blue" in line for line in layout.lines)
    principled.mute = True
    assert not transmissive_materials.transmissive_materials(obj)


def test_a_result_of_glass_that_is_attached_again_before_its_crack_is_shown_after_it(tmp_path: Path) -> None:
    scene = fresh()
    obj = ball()
    shader = bpy.data.materials["Blue"]
    if shader.node_tree is None:
        shader.use_nodes = True
    shader.node_tree.nodes["Principled BSDF"].inputs["Alpha"].default_value = 0.3
    made, _, _ = broken(tmp_path, obj)
    for _ in range(2):  # its driver hides it when it is attached
        scene.frame_set(1)
        attach_bake.attach(scene)
    seen = {}
    for frame in (1, OPENS, 1):
        scene.frame_set(frame)
        seen[frame] = [(each.hide_viewport, each.hide_render) for each in (obj, made)]
    assert seen == {1: [(False, False), (True, True)], OPENS: [(True, True), (False, False)]}


def test_a_duplicate_of_a_result_is_the_artists_own(tmp_path: Path) -> None:
    fresh()
    obj = ball()
    made, _, _ = broken(tmp_path, obj)
    copy = made.copy()
    copy.data = made.data.copy()
    bpy.context.scene.collection.objects.link(copy)
    made.name = "Renamed"
    copy.name = "Ball Broken"  # the other way round: it has the name, the result has not
    attach_bake.attach(bpy.context.scene)
    assert len(bpy.data.objects) == 3
    made.name, copy.name = "Ball Broken", "My Edit"
    made.name = "Ball Broken"
    bake_control.delete(bpy.context.scene)
    assert sorted(o.name for o in bpy.data.objects) == ["Ball", "My Edit"] and copy.data.users == 1


def test_a_result_follows_the_first_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = fresh()
    obj = ball()
    monkeypatch.setattr(cache_paths, "temporary_home", lambda: tmp_path / "temporary")
    folder = cache_paths.own_folder(scene)
    folder.parent.mkdir()
    arrays = write_broken(folder, obj, "Ball", opens=OPENS)
    cache_paths.remember_bake(scene, folder)
    attach_bake.attach(scene)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    made = bpy.data.objects["Ball Broken"]
    played = made.modifiers["Sinew"].filepath.replace("\\", "/")  # Blender on Windows saves it so
    assert played == "//shot.sinew/result/Ball.pc2" and not folder.exists()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    made = bpy.data.objects["Ball Broken"]
    assert np.allclose(evaluated(made, 9)[0], arrays["shapes"][8], atol=1e-6)
    assert bpy.data.objects["Ball"].hide_render
