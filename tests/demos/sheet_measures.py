# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured of demos with sheets: how deep wrinkles are, how many there are, what is in the flesh; how far
T-junctions gape; how sharply ribbons are twisted."""

from __future__ import annotations

import numpy as np

import ribbon_in_points
import skin_wrinkles
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.cache.layout import SCENE_FOLDER
from sinew.solver.bake.cache.pc2 import read_samples
from sinew.solver.mesh.geometry.triangle_bvh import build_bvh
from sinew.solver.mesh.geometry.winding_number import winding_numbers
from sinew.solver.mesh.sheet_t_junctions import sheet_t_junctions
from sinew.solver.scene.scene import Scene

DEGREE = 4  # of the polynomial that a smooth forehead follows upwards


def wrinkles(cache: CacheReader) -> dict[str, dict[str, float]]:
    """Returns for the last frame and a line up the middle of the skin the root mean square of how far it is from a
    smooth one [m], and how often it crosses that; and how many vertices and faces of the skin are in the flesh."""
    last = cache.last_frame()
    assert last is not None
    scene = Scene.load(cache.folder / SCENE_FOLDER)
    faces = {body.name: body.triangles for body in scene.bodies}
    x, flesh = (read_samples(cache.play_path(n), last - cache.metadata.frame_start, 1)[0] for n in ("Skin", "Flesh"))
    across, up = (round(size / skin_wrinkles.SKIN_CELL) for size in (skin_wrinkles.WIDTH, skin_wrinkles.HEIGHT))
    line = x[(across // 2) * (up + 1) : (across // 2 + 1) * (up + 1)].astype(np.float64)
    height = line[:, 2] - line[:, 2].mean()
    off = line[:, 1] - np.polyval(np.polyfit(height, line[:, 1], DEGREE), height)
    points = np.concatenate([x, x[faces["Skin"]].mean(axis=1)])
    is_inside = winding_numbers(build_bvh(flesh, faces["Flesh"]), points) > 0.5
    found = {
        "wrinkle_depth": float(off.std()),
        "wrinkle_crossings": float((np.diff(np.sign(off)) != 0).sum()),
        "points_in_flesh": float(is_inside.sum()),
    }
    return {"Skin": found}


def t_junction_gaps(cache: CacheReader) -> dict[str, dict[str, float]]:
    """Returns by body how far a vertex is from the edge that it lies on at rest, at most over all frames [m]."""
    found = {}
    for body in Scene.load(cache.folder / SCENE_FOLDER).bodies:
        junctions = sheet_t_junctions(body.vertices, body.triangles)
        samples = (cache.last_frame() or 0) - cache.metadata.frame_start + 1
        gap = 0.0
        for x in read_samples(cache.play_path(body.key), 0, samples).astype(np.float64):
            sums = np.add.reduceat(junctions.weights[:, None] * x[junctions.parents], junctions.start[:-1])
            gap = max(gap, float(np.linalg.norm(x[junctions.nodes] - sums, axis=1).max()))
        found[body.name] = {"t_junction_gap": gap}
    return found


def sharpest_twists(cache: CacheReader) -> dict[str, dict[str, float]]:
    """Returns by ribbon the largest angle between neighbouring rows of vertices, over all frames [rad]."""
    rows, across = ribbon_in_points.CELLS[0] + 1, ribbon_in_points.CELLS[1] + 1
    found = {}
    for body in Scene.load(cache.folder / SCENE_FOLDER).bodies:
        samples = (cache.last_frame() or 0) - cache.metadata.frame_start + 1
        x = read_samples(cache.play_path(body.key), 0, samples).astype(np.float64).reshape(-1, rows, across, 3)
        side = x[:, :, -1] - x[:, :, 0]
        side /= np.linalg.norm(side, axis=2, keepdims=True)
        turn = np.arctan2(
            np.linalg.norm(np.cross(side[:, 1:], side[:, :-1]), axis=2), (side[:, 1:] * side[:, :-1]).sum(axis=2)
        )
        found[body.name] = {"sharpest_twist": float(turn.max())}
    return found


MEASURES = {
    "skin_wrinkles": wrinkles,
    "stretched_sheet": t_junction_gaps,
    "ribbon_in_points": sharpest_twists,
}
