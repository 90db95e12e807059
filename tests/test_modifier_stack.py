# SPDX-License-Identifier: GPL-3.0-or-later
"""Sinew's place in the modifier stack: what is above is the input, what is below runs on the result."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import (
    add_box,
    add_driven_shape_key,
    add_mesh,
    add_rig,
    counts,
    evaluated,
    fresh,
    world,
    write_cache,
)
from sinew.addon.blender_data import sinew_modifier
from sinew.addon.export import export_scene
from sinew.addon.objects import roles
from sinew.addon.playback import mesh_cache
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.scene import Scene


def stack(obj: bpy.types.Object) -> list[str]:
    return [modifier.type for modifier in obj.modifiers]


def exported(scene: bpy.types.Scene, cache: Path) -> Scene:
    for _ in export_scene.export_scene(bpy.context, scene, cache):
        pass
    return Scene.load(cache / "scene")


@pytest.mark.parametrize(
    ("types", "wanted"),
    [
        ([], 0),
        (["ARMATURE"], 1),
        (["ARMATURE", "SUBSURF"], 1),
        (["SUBSURF"], 0),
        (["MIRROR", "ARMATURE", "CORRECTIVE_SMOOTH", "SUBSURF", "SUBSURF"], 3),
        (["MULTIRES"], 0),
        (["MULTIRES", "ARMATURE"], 2),  # Blender lets no Multires stand below an Armature
        (["MIRROR", "SOLIDIFY", "SUBSURF", "SMOOTH"], 2),
        (["ARRAY", "BEVEL"], 2),
        (["SUBSURF", "ARMATURE", "SUBSURF"], 2),
        (["LATTICE", "WEIGHTED_NORMAL"], 1),
        (["ARMATURE", "PARTICLE_SYSTEM", "SUBSURF"], 1),
        (["NODES", "MESH_DEFORM", "DISPLACE", "SUBSURF"], 3),
    ],
)
def test_place_for(types: list[str], wanted: int) -> None:
    fresh()
    obj = add_box()
    for kind in types:
        obj.modifiers.new(kind.title(), kind)
    roles.make_body(obj)
    assert stack(obj) == [*types[:wanted], "MESH_CACHE", *types[wanted:]]
    assert sinew_modifier.input_modifier_count(obj) == wanted


def test_modifiers_pinned_to_the_end_stay_there() -> None:
    fresh()
    obj = add_box()
    obj.modifiers.new("Smooth by Angle", "NODES").use_pin_to_last = True
    roles.make_body(obj)
    assert stack(obj) == ["MESH_CACHE", "NODES"]


def test_the_modifier_is_known_by_more_than_its_name() -> None:
    fresh()
    obj = add_box()
    other = obj.modifiers.new("Sinew", "MESH_CACHE")
    obj.modifiers.remove(other)
    roles.make_body(obj)
    own = sinew_modifier.find_modifier(obj)
    own.name = "Belly"
    obj.modifiers.new("Sinew", "MESH_CACHE")
    obj.modifiers.new("Sub", "SUBSURF")
    obj.modifiers.move(0, 2)
    assert sinew_modifier.find_modifier(obj).name == "Belly"
    assert sinew_modifier.ensure_modifier(obj).name == "Belly"
    assert stack(obj).count("MESH_CACHE") == 2
    sinew_modifier.remove_modifier(obj)
    assert [m.name for m in obj.modifiers] == ["Sinew", "Sub"]


def test_the_input_is_what_stands_above_wherever_the_artist_moves_it(tmp_path: Path) -> None:
    scene = fresh()
    obj = add_box(divisions=2)
    array = obj.modifiers.new("Mirror", "ARRAY")
    array.count = 3
    obj.modifiers.new("Subdivision", "SUBSURF")
    roles.make_body(obj)
    scene.frame_end = 1
    above = exported(scene, tmp_path / "a.sinew").bodies[0]
    assert len(above.vertices) == 3 * 26
    obj.modifiers.move(1, 0)
    assert len(exported(scene, tmp_path / "b.sinew").bodies[0].vertices) == 26


def refuse(scene: bpy.types.Scene, cache: Path) -> BadInput:
    before = counts()
    with pytest.raises(BadInput) as caught:
        exported(scene, cache)
    assert counts() == before
    return caught.value


def test_what_differs_in_a_render_is_refused_by_name(tmp_path: Path) -> None:
    scene = fresh()
    scene.frame_end = 2
    obj = add_box("Hero")
    first = obj.modifiers.new("Same", "SUBSURF")
    first.levels = first.render_levels = 1
    second = obj.modifiers.new("Finer", "SUBSURF")
    second.levels, second.render_levels = 1, 2
    roles.make_body(obj)
    obj.modifiers.move(0, 2)
    problem = refuse(scene, tmp_path / "c.sinew")
    assert problem.kind == "render-differs"
    assert problem.details == {"name": "Hero", "modifier": "Finer", "viewport": 386, "render": 1538}
    second.render_levels = 1
    exported(scene, tmp_path / "c.sinew")
    # hidden in the viewport only
    second.show_viewport = False
    assert refuse(scene, tmp_path / "d.sinew").details["modifier"] == "Finer"
    second.show_viewport = True
    # a driver has the last word
    driver = second.driver_add("levels").driver
    driver.expression = "2"
    assert refuse(scene, tmp_path / "d.sinew").details["modifier"] == "Finer"
    second.driver_remove("levels")
    second.levels = 1
    # Simplify of the viewport only
    scene.render.use_simplify = True
    scene.render.simplify_subdivision, scene.render.simplify_subdivision_render = 0, 6
    assert refuse(scene, tmp_path / "d.sinew").details["modifier"] == "Same"
    scene.render.simplify_subdivision = 6
    exported(scene, tmp_path / "e.sinew")


def test_other_settings_that_give_as_many_vertices_are_fine(tmp_path: Path) -> None:
    scene = fresh()
    scene.frame_end = 2
    obj = add_box()
    add_rig(obj)
    obj.modifiers["Armature"].show_viewport = False
    roles.make_body(obj)
    (body,) = exported(scene, tmp_path / "c.sinew").bodies
    assert len(body.vertices) == len(obj.data.vertices)


def test_node_trees_that_know_a_render_are_refused(tmp_path: Path) -> None:
    scene = fresh()
    obj = add_box()
    inner = bpy.data.node_groups.new("Inner", "GeometryNodeTree")
    inner.nodes.new("GeometryNodeIsViewport")
    tree = bpy.data.node_groups.new("Tree", "GeometryNodeTree")
    tree.nodes.new("GeometryNodeGroup").node_tree = inner
    obj.modifiers.new("Knowing", "NODES").node_group = tree
    roles.make_body(obj)
    assert refuse(scene, tmp_path / "c.sinew").kind == "modifier-asks-for-viewport"


def test_vertices_that_come_and_go_are_refused_by_name(tmp_path: Path) -> None:
    scene = fresh()
    scene.frame_end = 10
    obj = add_box("Hero")
    obj.modifiers.new("Still", "SOLIDIFY")
    array = obj.modifiers.new("Growing", "ARRAY")
    array.count = 1
    array.keyframe_insert("count", frame=1)
    array.count = 9
    array.keyframe_insert("count", frame=9)
    roles.make_body(obj)
    problem = refuse(scene, tmp_path / "c.sinew")
    assert (problem.kind, problem.details["modifier"], problem.details["name"]) == (
        "vertices-change",
        "Growing",
        "Hero",
    )


def test_a_rigged_subdivided_body_is_rendered_deformed(tmp_path: Path) -> None:
    """Armature, driven shape keys, Subdivision 1 in the viewport and 2 in the render, both below Sinew."""
    scene = fresh()
    obj = add_box(height=2.0)
    rig = add_rig(obj)
    add_driven_shape_key(obj, rig)
    subdivision = obj.modifiers.new("Subdivision", "SUBSURF")
    subdivision.levels, subdivision.render_levels = 1, 2
    roles.make_body(obj)
    assert stack(obj) == ["ARMATURE", "MESH_CACHE", "SUBSURF"]
    scene.frame_end = 21
    body = exported(scene, tmp_path / "c.sinew").bodies[0]
    assert len(body.vertices) == len(obj.data.vertices)
    before = render(scene, 11, tmp_path / "posed.png")
    # the made-up result: twice as wide, half as high, whatever the rig does
    flat = np.array([v.co for v in obj.data.vertices]) * [2.0, 2.0, 0.5]
    write_cache(tmp_path / "c.sinew", {"Box": np.tile(flat, (21, 1, 1))})
    mesh_cache.attach(obj, tmp_path / "c.sinew", "Box")
    after = render(scene, 11, tmp_path / "flat.png")
    # the same shape without rig and cache, rendered as the truth
    plain = add_mesh("Plain", flat, [list(p.vertices) for p in obj.data.polygons])
    truth = plain.modifiers.new("Subdivision", "SUBSURF")
    truth.render_levels = 2
    obj.hide_render = True
    wanted = render(scene, 11, tmp_path / "wanted.png")
    assert 0.05 < wanted.mean() < 0.5
    assert np.abs(before - wanted).mean() > 0.02
    assert np.abs(after - wanted).max() < 1e-3


def render(scene: bpy.types.Scene, frame: int, path: Path) -> np.ndarray:
    """Returns the alpha of a small picture from the side, rows × columns."""
    if scene.camera is None:
        scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
        scene.collection.objects.link(scene.camera)
        scene.camera.data.type = "ORTHO"
        scene.camera.data.ortho_scale = 4.0
        scene.camera.location = (0.0, -10.0, 0.0)
        scene.camera.rotation_euler = (np.pi / 2, 0.0, 0.0)
        scene.render.engine = "CYCLES"
        scene.cycles.samples = 4
        scene.cycles.use_denoising = False
        scene.render.film_transparent = True
        scene.render.resolution_x = scene.render.resolution_y = 64
    scene.frame_set(frame)
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(str(path))
    pixels = np.empty(64 * 64 * 4, np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    return pixels.reshape(64, 64, 4)[..., 3]


def test_pin_targets_are_the_mesh_above_not_the_result(tmp_path: Path) -> None:
    """A body that plays an old bake is exported as the animation has it, not as the bake does."""
    scene = fresh()
    obj = add_box()
    add_rig(obj)
    roles.make_body(obj)
    scene.frame_end = 21
    fresh_points, matrix = evaluated(obj, 1)
    write_cache(tmp_path / "c.sinew", {"Box": np.tile(fresh_points * 3.0, (21, 1, 1))})
    mesh_cache.attach(obj, tmp_path / "c.sinew", "Box")
    assert np.allclose(evaluated(obj, 1)[0], fresh_points * 3.0)
    body = exported(scene, tmp_path / "new.sinew").bodies[0]
    assert np.allclose(body.vertices, world(fresh_points, matrix), atol=1e-6)
