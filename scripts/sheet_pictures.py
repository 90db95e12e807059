# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders the pictures of docs/sheets.md from the shapes that two checks leave.

SINEW_PICTURES=build .venv/bin/python -m pytest -s tests/validate_drape.py tests/validate_sheet_buckling.py
.venv/bin/python scripts/sheet_pictures.py build
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import bpy
import numpy as np

SHOWN = Path(__file__).resolve().parents[1] / "docs" / "images" / "sheets"
COLOURS = {"cloth": (0.75, 0.16, 0.12), "ball": (0.5, 0.5, 0.5), "ground": (0.85, 0.85, 0.85)}
BALL_RADIUS = 0.25  # of tests/validate_drape.py [m]
APART = 1.15  # between both cloths [m]
QUALITY, SAMPLES = 85, 48


def main() -> None:
    """Renders both pictures."""
    folder = Path(sys.argv[1])
    SHOWN.mkdir(parents=True, exist_ok=True)
    drape = np.load(folder / "drape.npz")
    _empty_scene()
    for place, name in ((-0.5 * APART, "blender"), (0.5 * APART, "sinew")):
        _add_mesh(name, drape[name] + [place, 0.0, 0.0], drape["faces"], COLOURS["cloth"], True)
        bpy.ops.mesh.primitive_uv_sphere_add(segments=64, ring_count=32, radius=BALL_RADIUS, location=(place, 0, 0))
        _paint(bpy.context.object, COLOURS["ball"])
    _render(SHOWN / "drape.webp", (0.0, 0.0, -0.06), 24.0, (960, 430), 2.25)
    buckling = np.load(folder / "buckling.npz")
    _empty_scene()
    _add_mesh("cylinder", buckling["cylinder"] * 5.0, buckling["faces"], COLOURS["cloth"], False)
    _render(SHOWN / "buckling.webp", (0.0, 0.0, 0.375), 12.0, (480, 430), 1.5)


def _empty_scene() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    world = bpy.data.worlds.new("World")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (1.0, 1.0, 1.0, 1.0)
    world.node_tree.nodes["Background"].inputs["Strength"].default_value = 0.3
    scene.world = world
    bpy.ops.object.light_add(type="SUN", rotation=(math.radians(68.0), 0.0, math.radians(-65.0)))
    bpy.context.object.data.energy, bpy.context.object.data.angle = 2.2, 0.1


def _add_mesh(name: str, points: np.ndarray, faces: np.ndarray, colour: tuple[float, ...], is_smooth: bool) -> None:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points.tolist(), [], faces.tolist())
    mesh.polygons.foreach_set("use_smooth", [is_smooth] * len(faces))
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    _paint(obj, colour)


def _paint(obj: bpy.types.Object, colour: tuple[float, ...]) -> None:
    material = bpy.data.materials.new(obj.name)
    material.use_nodes = True
    shader = material.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value, shader.inputs["Roughness"].default_value = (*colour, 1.0), 0.7
    obj.data.materials.append(material)


def _render(out: Path, target: tuple[float, ...], down: float, size: tuple[int, int], width: float) -> None:
    """Renders the scene as seen from the front and `down` degrees from above, `width` [m] of it."""
    scene, tilt, far = bpy.context.scene, math.radians(down), 6.0
    place = (target[0], target[1] - far * math.cos(tilt), target[2] + far * math.sin(tilt))
    bpy.ops.object.camera_add(location=place, rotation=(0.5 * math.pi - tilt, 0.0, 0.0))
    scene.camera = bpy.context.object
    scene.camera.data.type, scene.camera.data.ortho_scale = "ORTHO", width
    scene.render.engine, scene.cycles.device, scene.cycles.samples = "CYCLES", "CPU", SAMPLES
    scene.cycles.use_denoising, scene.cycles.max_bounces = True, 3
    scene.render.resolution_x, scene.render.resolution_y = size
    scene.view_settings.view_transform = "Standard"
    scene.render.image_settings.file_format, scene.render.image_settings.quality = "WEBP", QUALITY
    scene.render.filepath = str(out)
    bpy.ops.render.render(write_still=True)


if __name__ == "__main__":
    main()
