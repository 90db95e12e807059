# SPDX-License-Identifier: GPL-3.0-or-later
"""What a broken bake looks like in Blender: as the original until it cracks, and the same without the add-on.

python -m pytest -s tests/validate_result_meshes.py
"""

from __future__ import annotations

import subprocess
import sys
from math import ceil
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from mathutils import Vector

from fixtures.blender_scenes import fresh
from fixtures.claim_table import reach
from sinew.addon.baking import last_failure
from sinew.addon.fracture_meshes import transmissive_materials
from sinew.addon.objects import new_role_objects, roles

SECTION = "Baking a topology that changes"
PIXELS = 256
BLOCK = 8
BREAKING_STRESS = 2.0e4


def lit(scene: bpy.types.Scene) -> None:
    """Gives a scene a camera, two lamps, a sky, and settings of Cycles that make the same noise every time."""
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.rotation_euler = (0.0, -2.6, 0.9), (1.43, 0.0, 0.0)
    scene.collection.objects.link(camera)
    scene.camera = camera
    for place, watts in (((3.0, -3.0, 4.0), 400.0), ((-4.0, -2.0, 2.0), 100.0)):
        lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "AREA"))
        lamp.data.energy, lamp.location = watts, place
        lamp.rotation_euler = Vector(place).to_track_quat("Z", "Y").to_euler()
        scene.collection.objects.link(lamp)
    scene.world = bpy.data.worlds.new("Sky")
    scene.world.color = (0.2, 0.25, 0.3)
    render = scene.render
    render.engine, render.resolution_x, render.resolution_y = "CYCLES", PIXELS, PIXELS
    scene.cycles.samples, scene.cycles.use_denoising, scene.cycles.device = 32, False, "CPU"
    scene.view_settings.view_transform = "Standard"


def ball(breaking_stress: float, smooth: bool = True) -> tuple[bpy.types.Scene, bpy.types.Object]:
    """Returns a shiny, chequered rubber ball, smooth or not, that is thrown on the ground."""
    scene = fresh()
    lit(scene)
    bpy.ops.mesh.primitive_uv_sphere_add(segments=24, ring_count=16, radius=0.5, location=(0.0, 0.0, 1.0))
    obj = bpy.context.object
    obj.name = "Ball"
    if smooth:
        bpy.ops.object.shade_smooth()
    material = bpy.data.materials.new("Chequered")
    if material.node_tree is None:
        material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    shader, checker = nodes["Principled BSDF"], nodes.new("ShaderNodeTexChecker")
    shader.inputs["Roughness"].default_value = 0.15
    checker.inputs["Scale"].default_value = 12.0
    checker.inputs["Color1"].default_value, checker.inputs["Color2"].default_value = (
        (0.8, 0.3, 0.2, 1),
        (0.7, 0.6, 0.5, 1),
    )
    links.new(nodes.new("ShaderNodeTexCoord").outputs["UV"], checker.inputs["Vector"])
    links.new(checker.outputs["Color"], shader.inputs["Base Color"])
    obj.data.materials.append(material)
    roles.make_body(obj)
    own = obj.sinew
    own.youngs_modulus, own.divisions, own.initial_velocity = 3.0e4, 8, (0.0, 0.0, -3.0)
    own.use_fracture, own.breaking_stress, own.most_pieces = True, breaking_stress, 30
    new_role_objects.add_ground(bpy.context)
    scene.frame_end = 10
    return scene, obj


def picture(scene: bpy.types.Scene, path: Path, frame: int) -> np.ndarray:
    """Returns a render at a frame, in 0 … 255, (y, x, 3)."""
    scene.frame_set(frame)
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(str(path))
    values = np.empty(PIXELS * PIXELS * 4, np.float32)
    image.pixels.foreach_get(values)
    bpy.data.images.remove(image)
    return values.reshape(PIXELS, PIXELS, 4)[:, :, :3] * 255.0


@pytest.mark.parametrize("smooth", [True, False])
def test_before_its_first_crack_it_renders_like_the_original(tmp_path: Path, smooth: bool) -> None:
    scene, obj = ball(BREAKING_STRESS, smooth)
    faces = "" if smooth else ", flat faces"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"} and not last_failure.failure_text(scene)
    made = bpy.data.objects["Ball Broken"]
    first = transmissive_materials.first_crack(made)
    assert first is not None and first > 1.0
    for frame, state in ((1, "at rest"), (ceil(first) - 1, "in the last frame before")):
        made.hide_render, obj.hide_render = False, True
        result = picture(scene, tmp_path / "result.png", frame)
        made.hide_render, obj.hide_render = True, False
        original = picture(scene, tmp_path / "original.png", frame)
        again = picture(scene, tmp_path / "again.png", frame)
        assert result.std() > 20.0, "there is something to be seen"
        assert np.array_equal(again, original), "the noise is the same every time"
        off = np.abs(result - original)
        mean = float(off.mean())
        line = f"a picture before the first crack is the original's, {state}{faces}"
        reach(SECTION, line, f"{mean:.4f}/255", "1/255", mean < 1)
        if frame == 1:
            blocks = off.mean(axis=2).reshape(PIXELS // BLOCK, BLOCK, PIXELS // BLOCK, BLOCK).mean(axis=(1, 3))
            worst, line = float(blocks.max()), f"and so is its worst block of {BLOCK} × {BLOCK} pixels, at rest{faces}"
            reach(SECTION, line, f"{worst:.3f}/255", "1/255", worst < 1)


WITHOUT = """
import sys, bpy, numpy as np
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
assert "sinew" not in bpy.types.Object.bl_rna.properties
shapes = []
for frame in range(1, 11):
    bpy.context.scene.frame_set(frame)
    final = bpy.data.objects["Ball Broken"].evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    values = np.empty(len(final.vertices) * 3, np.float32)
    final.vertices.foreach_get("co", values)
    shapes.append(values)
np.save(sys.argv[2], np.stack(shapes))
"""


def test_it_plays_the_same_without_the_add_on(tmp_path: Path) -> None:
    scene, _ = ball(BREAKING_STRESS)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    shapes = []
    for frame in range(1, 11):
        scene.frame_set(frame)
        final = bpy.data.objects["Ball Broken"].evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        values = np.empty(len(final.vertices) * 3, np.float32)
        final.vertices.foreach_get("co", values)
        shapes.append(values)
    words = [sys.executable, "-c", WITHOUT, str(tmp_path / "shot.blend"), str(tmp_path / "without.npy")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    off = float(np.abs(np.load(tmp_path / "without.npy") - np.stack(shapes)).max())
    moved = float(np.ptp(np.stack(shapes), axis=0).max())
    assert moved > 0.1
    reach(SECTION, "the baked object plays with the add-on removed", f"{off:.1e} m off", "0 m", off == 0.0)
