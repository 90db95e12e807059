# SPDX-License-Identifier: GPL-3.0-or-later
"""The quick effects on eleven meshes that nobody prepared, at the size of a thumb, a table and a house.

Every frame converges within a minute for all, nothing sinks into the ground by more than 1 % of its size, and every
body keeps a shape. Flesh bends with a rig of two bones.

python -m pytest -s tests/validate_quick.py
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")


from fixtures.blender_scenes import evaluated, fresh
from fixtures.claim_table import reach
from sinew.addon.objects import roles
from sinew.solver.bake.cache import CacheReader

SECTION = "Quick effects on meshes that nobody prepared"
PRIMITIVES = ("cube", "uv_sphere", "ico_sphere", "cylinder", "cone", "torus", "monkey")
SURFACES = ("spot_low", "goathead", "penguin", "skull_low")  # the last lands on tips that have no tets
SIZES = (0.02, 1.0, 20.0)  # [m], the longest side
MAX_SUNK_SHARE, MIN_HEIGHT_SHARE = 0.01, 0.25
MAX_SECONDS, MAX_FIRST_FRAME_SECONDS = 60.0, 3.0
FRAMES, FIRST_FRAMES = 100, 3
LOWER, UPPER = "lower", "upper"  # bones
UPPER_ANGLES = ((1, 0.0), (24, 0.8), (48, 0.0))  # frame, angle
EFFECTS = ("quick_jelly", "quick_clay", "quick_flesh")


def selected_mesh(name: str, size: float, shared: Path) -> bpy.types.Object:
    """Returns a mesh of Blender's or of a file, whose longest side is `size` [m]."""
    if name in PRIMITIVES:
        getattr(bpy.ops.mesh, f"primitive_{name}_add")()
    else:
        bpy.ops.wm.obj_import(filepath=str(shared / "testdata" / "surface" / f"{name}.obj"))
    obj = bpy.context.object
    bpy.context.view_layer.update()
    obj.scale = [factor * size / max(obj.dimensions) for factor in obj.scale]
    bpy.context.view_layer.update()
    bpy.ops.object.transform_apply(rotation=True, scale=True)
    return obj


def bone_ends(obj: bpy.types.Object) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Returns head and tail of two bones: one above the other, or of a torus in both halves of its ring, since no flesh
    is in its middle."""
    lengths, lowest = np.array(obj.dimensions), np.array(obj.bound_box).min(axis=0)
    if obj.name.startswith("Torus"):
        shares = {LOWER: ((0.1, 0.4, 0.5), (0.1, 0.6, 0.5)), UPPER: ((0.9, 0.4, 0.5), (0.9, 0.6, 0.5))}
    else:
        shares = {LOWER: ((0.5, 0.5, 0.05), (0.5, 0.5, 0.5)), UPPER: ((0.5, 0.5, 0.5), (0.5, 0.5, 0.95))}
    return {name: (lowest + head * lengths, lowest + tail * lengths) for name, (head, tail) in shares.items()}


def pose_by_two_bones(obj: bpy.types.Object) -> None:
    """Gives a mesh an armature of a lower and an upper bone, of which the upper one bends; selects the mesh."""
    ends = bone_ends(obj)
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, (head, tail) in ends.items():
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
    rig.data.edit_bones[UPPER].parent = rig.data.edit_bones[LOWER]
    bpy.ops.object.mode_set(mode="OBJECT")
    groups = {name: obj.vertex_groups.new(name=name) for name in ends}
    # from the middle of one bone to that of the other
    first, last = (np.mean(ends[name], axis=0) for name in (LOWER, UPPER))
    for vertex in obj.data.vertices:
        along = (np.array(vertex.co) - first) @ (last - first) / np.sum((last - first) ** 2)
        share = float(np.clip(along, 0.0, 1.0))
        groups[UPPER].add([vertex.index], share, "REPLACE")
        groups[LOWER].add([vertex.index], 1.0 - share, "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    rig.location = obj.location
    posed = rig.pose.bones[UPPER]
    posed.rotation_mode = "XYZ"
    for frame, angle in UPPER_ANGLES:
        posed.rotation_euler.x = angle
        posed.keyframe_insert("rotation_euler", frame=frame)
    bpy.ops.object.select_all(action="DESELECT")
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj


def ready(tmp_path: Path, effect: str, name: str, size: float, shared: Path, frames: int) -> bpy.types.Object:
    """Returns a mesh, selected, in a scene of its own."""
    scene = fresh()
    scene.frame_end = frames
    scene.sinew.cache_path = str(tmp_path / f"{name}.sinew")
    obj = selected_mesh(name, size, shared)
    if effect == "quick_flesh":
        pose_by_two_bones(obj)
    return obj


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("effect", EFFECTS)
def test_a_quick_effect_on_eleven_meshes(tmp_path: Path, shared: Path, effect: str, size: float) -> None:
    unsolved, sunk, heights, seconds = 0, [], [], []
    for name in (*PRIMITIVES, *SURFACES):
        obj = ready(tmp_path, effect, name, size, shared, FRAMES)
        begin = time.monotonic()
        getattr(bpy.ops.sinew, effect)()
        seconds.append(time.monotonic() - begin)
        unsolved += CacheReader(tmp_path / f"{name}.sinew").convergence().not_converged
        shapes = [evaluated(obj, frame)[0] for frame in range(1, FRAMES + 1)]
        z = [points[:, 2] + obj.location.z for points in shapes]
        for ground in roles.colliders(bpy.context.scene):
            sunk.append((ground.location.z - min(each.min() for each in z)) / size)
        heights.append(min(np.ptp(each) for each in z) / np.ptp(z[0]))
    words = f"{effect.replace('_', ' ')}, {size:g} m: "
    reach(SECTION, f"{words}steps that did not converge", unsolved, 0, unsolved == 0)
    if sunk:
        reach(SECTION, f"{words}sunk into the ground", f"{max(sunk):.2%}", "1 %", max(sunk) <= MAX_SUNK_SHARE)
    lowest = f"{min(heights):.0%}"
    reach(SECTION, f"{words}least height", lowest, "25 %", min(heights) >= MIN_HEIGHT_SHARE)
    longest = f"{max(seconds):.1f} s"
    reach(SECTION, f"{words}longest bake", longest, "60 s", max(seconds) <= MAX_SECONDS)


@pytest.mark.timed
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("effect", EFFECTS)
def test_the_first_frame_comes_soon(tmp_path: Path, shared: Path, effect: str, size: float) -> None:
    """From the click to the end of a bake of three frames: more than the first frame takes, which comes beside it."""
    seconds = []
    for name in ("cube", "monkey", "goathead"):
        ready(tmp_path, effect, name, size, shared, FIRST_FRAMES)
        begin = time.monotonic()
        getattr(bpy.ops.sinew, effect)()
        seconds.append(time.monotonic() - begin)
    # the first may load or compile kernels
    words = f"{effect.replace('_', ' ')}, {size:g} m: seconds to the third frame, median of three meshes"
    middle = float(np.median(seconds))
    reach(SECTION, words, round(middle, 2), MAX_FIRST_FRAME_SECONDS, middle <= MAX_FIRST_FRAME_SECONDS)
