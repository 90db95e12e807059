# SPDX-License-Identifier: GPL-3.0-or-later
"""Small Blender scenes for tests, caches made up for them, and what Blender evaluates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import sinew
from sinew.solver.cache import CachedBody, CacheHead, CacheWriter, Frame


def fresh() -> bpy.types.Scene:
    """Returns the scene of an empty file, with the add-on registered."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    # not by a mark of our own: in `make validate` the demo scenes may have done it before
    if "sinew" not in bpy.types.Object.bl_rna.properties:
        sinew.register()
    return bpy.context.scene


def counts() -> dict[str, int]:
    """Returns how many data-blocks of each kind the file has."""
    found = {name: getattr(bpy.data, name) for name in dir(bpy.data)}
    return {name: len(items) for name, items in found.items() if isinstance(items, bpy.types.bpy_prop_collection)}


def add_mesh(name: str, points: np.ndarray, faces: list | np.ndarray) -> bpy.types.Object:
    """Returns a new object in the scene."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.asarray(points).tolist(), [], np.asarray(faces).tolist())
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def add_box(name: str = "Box", divisions: int = 2, height: float = 2.0) -> bpy.types.Object:
    """Returns a closed box of quads with `divisions` along each side, from z = -height/2 to height/2."""
    bpy.ops.mesh.primitive_cube_add(size=1.0)
    obj = bpy.context.object
    obj.name = obj.data.name = name
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    if divisions > 1:
        bpy.ops.mesh.subdivide(number_cuts=divisions - 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    for vertex in obj.data.vertices:
        vertex.co.z *= height
    return obj


def add_rig(obj: bpy.types.Object, turn: float = 1.0, frames: tuple[int, int] = (1, 21)) -> bpy.types.Object:
    """Returns an armature that bends the upper half of `obj` about x by `turn` [rad] from one frame to another."""
    armature = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", armature)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    lower = armature.edit_bones.new("lower")
    lower.head, lower.tail = (0, 0, -1), (0, 0, 0)
    upper = armature.edit_bones.new("upper")
    upper.head, upper.tail, upper.parent = (0, 0, 0), (0, 0, 1), lower
    bpy.ops.object.mode_set(mode="OBJECT")
    bone = rig.pose.bones["upper"]
    bone.rotation_mode = "XYZ"
    for frame, angle in zip(frames, (0.0, turn), strict=True):
        bone.rotation_euler.x = angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    for name in ("lower", "upper"):
        group = obj.vertex_groups.new(name=name)
        group.add([v.index for v in obj.data.vertices if (v.co.z > 0) == (name == "upper")], 1.0, "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    return rig


def link_object(blend: Path, name: str) -> bpy.types.Object:
    """Returns an object of another file, linked into the scene."""
    with bpy.data.libraries.load(str(blend), link=True) as (_, wanted):
        wanted.objects = [name]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    return wanted.objects[0]


def overridden_box(folder: Path) -> bpy.types.Object:
    """Returns the editable override, in a new scene, of a box "Character" of another file."""
    fresh()
    add_box("Character")
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "library.blend"))
    fresh()
    own = link_object(folder / "library.blend", "Character").override_create(remap_local_usages=True)
    own.override_library.is_system_override = False
    return own


def add_driven_shape_key(obj: bpy.types.Object, rig: bpy.types.Object) -> None:
    """Adds a shape key that widens `obj`, driven by the bend of the upper bone."""
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Wide")
    for point in key.data:
        point.co.x *= 1.5
    driver = key.driver_add("value").driver
    variable = driver.variables.new()
    variable.name = "bend"
    variable.targets[0].id = rig
    variable.targets[0].data_path = 'pose.bones["upper"].rotation_euler[0]'
    driver.expression = "bend"


def evaluated(obj: bpy.types.Object, frame: int, subframe: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Returns object-space vertices (n, 3) and the world matrix (4, 4) that the artist would see at a frame."""
    bpy.context.scene.frame_set(frame, subframe=subframe)
    final = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = final.to_mesh()
    points = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", points)
    final.to_mesh_clear()
    return points.reshape(-1, 3).astype(float), np.array(final.matrix_world)


def world(points: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Returns points (n, 3) moved by a matrix (4, 4)."""
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def write_cache(folder: Path, shapes: dict[str, np.ndarray], frame_start: int = 1, samples_per_frame: int = 1) -> None:
    """Writes a cache that plays given shapes: key → object-space positions of all samples, (k, n, 3)."""
    bodies = tuple(CachedBody(key, key, points.shape[1]) for key, points in shapes.items())
    count = len(next(iter(shapes.values())))
    frames = (count - 1) // samples_per_frame + 1
    head = CacheHead("0" * 64, "", bodies, frame_start, frame_start + frames - 1, 24.0, samples_per_frame)
    with CacheWriter(folder) as writer:
        writer.start_over(head)
        for i in range(frames):
            rows = slice(0, 1) if i == 0 else slice((i - 1) * samples_per_frame + 1, i * samples_per_frame + 1)
            samples = {key: points[rows] for key, points in shapes.items()}
            writer.write_frame(Frame(frame_start + i, np.zeros((4, 3))), samples, {"frame": frame_start + i})
