# SPDX-License-Identifier: GPL-3.0-or-later
"""Attributes of the cache on the mesh, frame by frame, with and without the add-on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, counts, evaluated, fresh, write_cache
from fixtures.planar_cut import write_broken
from sinew.addon.baking import attach_bake, bake_control
from sinew.addon.blender_data import sinew_modifier
from sinew.addon.cache import cache_paths
from sinew.addon.cache.attribute_columns import RENAMED_ATTRIBUTES, VELOCITY_ATTRIBUTE, VELOCITY_COLUMNS
from sinew.addon.objects import roles
from sinew.addon.playback import attribute_modifier
from sinew.solver.bake.attributes.point_ply import ply_bytes
from sinew.solver.bake.cache import layout

FRAMES = 6
NAMES = ("stress", "temperature", "velocity_x", "velocity_y", "velocity_z")


def value(name: str, frame: int, vertices: int) -> np.ndarray:
    """Returns made-up values of an attribute at a frame, (n,)."""
    return (1000.0 * NAMES.index(name) + 10.0 * frame + np.arange(vertices) / vertices).astype(np.float32)


def write_attributes(cache: Path, key: str, vertices: int, first: int = 1) -> None:
    for frame in range(first, first + FRAMES):
        path = layout.attribute_path(cache, key, frame)
        path.parent.mkdir(parents=True, exist_ok=True)
        columns = {name: value(name, frame, vertices) for name in NAMES}
        path.write_bytes(ply_bytes(np.zeros((vertices, 3), np.float32), columns))


def body(cache: Path, first: int = 1) -> bpy.types.Object:
    """Returns a box that plays a cache with attributes."""
    fresh()
    obj = add_box()
    roles.make_body(obj)
    points = np.array([v.co for v in obj.data.vertices], np.float32)
    write_cache(cache, {"Box": np.repeat(points[None], FRAMES, axis=0)}, first)
    write_attributes(cache, "Box", len(points), first)
    scene = bpy.context.scene
    scene.sinew.cache_path = str(cache)
    cache_paths.remember_bake(scene, cache)
    attach_bake.attach(scene)
    return obj


def read(obj: bpy.types.Object, frame: int, name: str, prop: str = "value", width: int = 1) -> np.ndarray:
    bpy.context.scene.frame_set(frame)
    data = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.attributes[name].data
    found = np.empty(len(data) * width, np.float32)
    data.foreach_get(prop, found)
    return found.reshape(-1, width) if width > 1 else found


@pytest.mark.parametrize("first", [1, -3, 1001])
def test_every_frame_has_its_values_and_the_ends_hold(tmp_path: Path, first: int) -> None:
    obj = body(tmp_path / "a {b} c.sinew", first)
    count = len(obj.data.vertices)
    for frame in (first, first + 2, first + FRAMES - 1):
        for name in ("stress", "temperature"):
            assert np.array_equal(read(obj, frame, RENAMED_ATTRIBUTES.get(name, name)), value(name, frame, count))
        wanted = np.stack([value(name, frame, count) for name in NAMES[2:]], axis=1)
        assert np.array_equal(read(obj, frame, "world_velocity", "vector", 3), wanted)
    assert np.array_equal(read(obj, first - 5, "stress"), value("stress", first, count))
    assert np.array_equal(read(obj, first + 50, "stress"), value("stress", first + FRAMES - 1, count))
    assert "velocity" not in obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.attributes


def test_cycles_reads_all_of_them(tmp_path: Path) -> None:
    obj = body(tmp_path / "c.sinew")
    scene = bpy.context.scene
    scene.render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", 1, False
    scene.render.resolution_x = scene.render.resolution_y = 4
    scene.render.image_settings.file_format = "OPEN_EXR"
    scene.render.filepath = str(tmp_path / "seen.exr")
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.type, camera.data.ortho_scale, camera.location = "ORTHO", 0.01, (0.0, 0.0, 5.0)
    scene.collection.objects.link(camera)
    scene.camera = camera
    material = bpy.data.materials.new("Shows")
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    nodes.clear()
    shown, light, end = (nodes.new(f"ShaderNode{kind}") for kind in ("Attribute", "Emission", "OutputMaterial"))
    links.new(shown.outputs["Vector"], light.inputs["Color"])
    links.new(light.outputs[0], end.inputs["Surface"])
    obj.data.materials.append(material)
    plain = [RENAMED_ATTRIBUTES.get(name, name) for name in NAMES if name not in VELOCITY_COLUMNS]
    assert set(VELOCITY_COLUMNS) <= set(NAMES)
    for name in (*plain, VELOCITY_ATTRIBUTE):
        shown.attribute_name = name
        scene.frame_set(2)
        bpy.ops.render.render(write_still=True)
        image = bpy.data.images.load(scene.render.filepath, check_existing=False)
        seen = np.array(image.pixels[:]).reshape(-1, 4)[:, :3].mean(axis=0)
        column = (
            "velocity_x" if name == "world_velocity" else {v: k for k, v in RENAMED_ATTRIBUTES.items()}.get(name, name)
        )
        assert abs(seen[0] - value(column, 2, 1)[0]) < 2.0 + 0.001 * seen[0], name


def test_remapped_time(tmp_path: Path) -> None:
    obj = body(tmp_path / "c.sinew")
    bpy.context.scene.render.frame_map_new = 200
    attach_bake.attach(bpy.context.scene)
    assert np.array_equal(read(obj, 4, "stress"), value("stress", 4, len(obj.data.vertices)))


def test_attaching_again_changes_nothing_and_deleting_takes_all_away(tmp_path: Path) -> None:
    obj = body(tmp_path / "c.sinew")
    obj.modifiers.new("Smooth", "SMOOTH")
    before = counts()
    attach_bake.attach(bpy.context.scene)
    assert counts() == before and [m.name for m in obj.modifiers] == ["Sinew", "Sinew Attributes", "Smooth"]
    bake_control.delete(bpy.context.scene)
    assert [m.name for m in obj.modifiers] == ["Sinew", "Smooth"] and not bpy.data.node_groups
    assert not (tmp_path / "c.sinew").exists()


def test_a_broken_body_has_them_on_its_result(tmp_path: Path) -> None:
    fresh()
    obj = add_box(divisions=4)
    obj.data.shade_smooth()
    roles.make_body(obj)
    cache = tmp_path / "c.sinew"
    arrays = write_broken(cache, obj, "Box", frames=FRAMES, opens=3)
    write_attributes(cache, "Box", len(arrays["rest"]))
    scene = bpy.context.scene
    scene.sinew.cache_path = str(cache)
    cache_paths.remember_bake(scene, cache)
    attach_bake.attach(scene)
    made = bpy.data.objects["Box Broken"]
    assert [m.name for m in made.modifiers] == ["Sinew", "Sinew Attributes", "Sinew Shading"]
    assert [m.name for m in obj.modifiers] == ["Sinew"]
    for frame in (2, 5):
        assert np.array_equal(read(made, frame, "stress"), value("stress", frame, len(arrays["rest"])))
        assert np.allclose(evaluated(made, frame)[0], arrays["shapes"][frame - 1], atol=1e-6)
    obj.sinew.separate_pieces = True
    for number in (0, 1):
        faces = np.repeat(arrays["piece"] == number, np.diff(arrays["face_start"]))
        vertices = np.unique(arrays["corners"][faces])
        found = read(bpy.data.objects[f"Box Piece {number + 1}"], 4, "stress")
        assert np.array_equal(found, value("stress", 4, len(arrays["rest"]))[vertices])


def test_paths_follow_the_file_and_a_copy_changes_nothing(tmp_path: Path) -> None:
    obj = body(tmp_path / "c.sinew")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "one.blend"))
    node = attribute_modifier._path_node(attribute_modifier.find_modifier(obj).node_group)
    assert node.inputs["Format"].default_value == "//c.sinew/attributes/Box/{frame:06}.ply"
    (tmp_path / "deep").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "deep" / "copy.blend"), copy=True)
    assert node.inputs["Format"].default_value == "//c.sinew/attributes/Box/{frame:06}.ply"
    assert np.array_equal(read(obj, 3, "stress"), value("stress", 3, len(obj.data.vertices)))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "deep" / "two.blend"))
    assert node.inputs["Format"].default_value == "//../c.sinew/attributes/Box/{frame:06}.ply"
    for path in ("one.blend", "deep/copy.blend", "deep/two.blend"):
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / path))
        assert np.array_equal(read(bpy.data.objects["Box"], 3, "stress"), value("stress", 3, 26))


WITHOUT = """
import sys, bpy, numpy as np
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
assert "sinew" not in bpy.types.Object.bl_rna.properties
for frame in (1, 4):
    bpy.context.scene.frame_set(frame)
    obj = bpy.data.objects["Box"].evaluated_get(bpy.context.evaluated_depsgraph_get())
    data = obj.data.attributes["stress"].data
    found = np.empty(len(data), np.float32)
    data.foreach_get("value", found)
    print("stress", frame, *found.tolist())
"""


def test_they_play_without_the_add_on(tmp_path: Path) -> None:
    obj = body(tmp_path / "c.sinew")
    count = len(obj.data.vertices)
    assert sinew_modifier.find_modifier(obj) is not None
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "one.blend"))
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, str(tmp_path / "one.blend")], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("stress")]
    assert [int(line[1]) for line in lines] == [1, 4]
    for line in lines:
        assert np.array_equal(np.array(line[2:], np.float32), value("stress", int(line[1]), count))
