# SPDX-License-Identifier: GPL-3.0-or-later
"""The skin of the upper limb: fused from its muscles and bones, thicker by fat, and a fist; cut off at the shoulder."""

from __future__ import annotations

import bmesh
import bpy
import numpy as np

import fused
import stage
import upper_limb

CUT = -0.145  # along x, where the shoulder ends in an open border [m]
FAT = 0.010  # over muscles [m]
VOXEL, SMOOTHING = 0.0062, 7
SKIN, PALE, RED = np.array((0.60, 0.36, 0.26)), np.array((0.66, 0.43, 0.33)), np.array((0.58, 0.27, 0.20))
# x, height, half the width and half the height of what fills the grooves between muscles [m]
TRUNK = (
    (-0.20, 0.000, 0.066, 0.066), (-0.12, 0.000, 0.062, 0.060), (-0.05, 0.000, 0.056, 0.054),
    (0.00, 0.000, 0.055, 0.052), (0.06, 0.004, 0.052, 0.050), (0.12, 0.010, 0.046, 0.050), (0.18, 0.013, 0.045, 0.052),
    (0.25, 0.006, 0.043, 0.044), (0.30, 0.002, 0.045, 0.039), (0.36, 0.001, 0.047, 0.046), (0.44, 0.000, 0.040, 0.040),
    (0.52, 0.000, 0.032, 0.026), (0.57, 0.000, 0.030, 0.020), (0.61, 0.000, 0.036, 0.019),
)  # fmt: skip
FINGERS = (-0.033, -0.011, 0.011, 0.032)  # sideways, index finger first [m]
THUMB = ((0.600, -0.026, 0.008), (0.628, -0.046, 0.022), (0.655, -0.043, 0.044), (0.682, -0.020, 0.061))


def make_skin() -> bpy.types.Object:
    """Returns the skin, open at the shoulder, in colours."""
    skin = fused.fuse("Skin", [*_trunk(), *_muscles(), *_fist()], VOXEL, 0, SMOOTHING)
    _open(skin)
    fused.colour(skin, _tones, 0.42, "Skin")
    skin.data.uv_layers.remove(skin.data.uv_layers[0])  # nobody reads them, and they are a third of the file
    return skin


def _trunk() -> list[bpy.types.Object]:
    """Returns balls along the limb that overlap, and one that rounds the shoulder."""
    x, height, wide, high = np.array(TRUNK).T
    places = np.arange(x[0], x[-1], 0.012)
    rows = zip(places, *(np.interp(places, x, each) for each in (height, wide, high)), strict=True)
    shoulder = fused.ball((0.015, -0.010, 0.0), (0.075, 0.057, 0.058))
    return [shoulder, *(fused.ball((at, 0.0, z), (0.030, a, b)) for at, z, a, b in rows)]


def _muscles() -> list[bpy.types.Object]:
    parts = []
    for path in upper_limb.MUSCLES.values():
        points, widths, out = upper_limb.tube_of(path)
        parts.append(fused.tube(points, [width + FAT for width in widths], path.flat, out))
    return parts


def make_finger_bones(rig: bpy.types.Object) -> bpy.types.Object:
    """Returns the bones of the fist, which are only seen, on the bone of the hand."""
    parts = []
    for middle in (*map(_finger, FINGERS), THUMB):
        bone = np.array(middle) - (0.0, 0.0, 0.002)
        bone[-1] = 0.6 * bone[-1] + 0.4 * bone[-2]  # it ends before the tip
        parts.append(fused.tube(bone, [0.0044] * len(bone)))
        parts += [fused.ball(joint, (0.0058, 0.0058, 0.0058)) for joint in bone]
    bones = fused.fuse("Finger Bones", parts, 0.0022, 2_000, 3)
    stage.paint(bones, upper_limb.BONE, 0.5)
    stage.ride(bones, rig, "Hand")
    return bones


def _finger(y: float) -> list[fused.Point]:
    """Returns the joints of a finger that is bent over the palm."""
    longer = 0.006 * (1.0 - (y / 0.032) ** 2)
    return [(0.665, y, 0.000), (0.696 + longer, y, 0.008), (0.702 + longer, 0.97 * y, 0.030), (0.680, 0.94 * y, 0.046),
            (0.658, 0.92 * y, 0.040)]  # fmt: skip


def _fist() -> list[bpy.types.Object]:
    """Returns a palm, four fingers that are bent over it, and a thumb across them."""
    palm = [fused.ball((0.645, 0.0, 0.004), (0.056, 0.043, 0.023)),
            fused.ball((0.674, 0.0, 0.024), (0.027, 0.038, 0.020))]  # fmt: skip
    fingers = [fused.tube(_finger(y), [0.0110, 0.0118, 0.0110, 0.0105, 0.0095]) for y in FINGERS]
    return [*palm, *fingers, fused.tube(THUMB, [0.017, 0.0155, 0.0125, 0.0105])]


def _open(skin: bpy.types.Object) -> None:
    """Takes away what is beyond the cut, and the hollows between the parts that were fused; leaves an even border."""
    shape = bmesh.new()
    shape.from_mesh(skin.data)
    whole = [*shape.verts, *shape.edges, *shape.faces]
    bmesh.ops.bisect_plane(shape, geom=whole, plane_co=(CUT, 0.0, 0.0), plane_no=(-1.0, 0.0, 0.0), clear_outer=True)
    bmesh.ops.remove_doubles(shape, verts=shape.verts, dist=0.2 * VOXEL)
    outside = _linked(max(shape.verts, key=lambda vertex: vertex.co.x))
    bmesh.ops.delete(shape, geom=[vertex for vertex in shape.verts if vertex not in outside], context="VERTS")
    shape.to_mesh(skin.data)
    shape.free()
    stage.smooth(skin)


def _linked(first: bmesh.types.BMVert) -> set[bmesh.types.BMVert]:
    """Returns all vertices that edges connect with one."""
    found, edge = {first}, [first]
    while edge:
        near = {each.other_vert(vertex) for vertex in edge for each in vertex.link_edges}
        edge = [*(near - found)]
        found |= near
    return found


def _tones(points: np.ndarray) -> np.ndarray:
    """Returns the colour of skin: redder at knuckles and elbow, paler on the inner side, a little uneven."""
    x, y, z = points.T
    red = np.exp(-(((x - 0.30) / 0.05) ** 2) - ((z + 0.04) / 0.03) ** 2) + np.clip((x - 0.66) / 0.06, 0.0, 1.0)
    pale = np.clip((y + 0.02) / 0.08, 0.0, 1.0)
    uneven = 1.0 + 0.03 * fused.spots(points, 0.03, 5)
    mixed = SKIN + 0.6 * np.minimum(red, 1.0)[:, None] * (RED - SKIN) + 0.6 * pale[:, None] * (PALE - SKIN)
    return mixed * uneven[:, None]
