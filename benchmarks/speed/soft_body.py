# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own soft body, springs along edges, beside a solid of Sinew's tets in the same surface."""

from __future__ import annotations

import importlib.util

import numpy as np

from harness.result import Result
from sinew.solver.runtime.arrays import Bools, Floats, Indices
from sinew.solver.scene.scene import Body, Material, Meshing, Scene, Settings
from sinew.solver.simulation.simulation import Simulation
from speed.benchmark import NO_TARGET, Benchmark, Row
from speed.timing import interleaved_times, medians

FPS = 24
SUBSTEPS = 4
FRAMES = 20
HELD_HEIGHT_SHARE = 0.75  # the body is held above this share of its height
MATERIAL = Material(1.0e4, 0.45, 1000.0)


class BlenderSoftBody:
    """Suzanne with Blender's soft body modifier, at its default settings.

    Attributes:
        vertices: At rest [m], (n, 3).
        triangles: (t, 3).
        is_held: Whether a vertex is held, (n,).
    """

    def __init__(self, subdivisions: int) -> None:
        import bpy

        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.context.scene.render.fps = FPS
        bpy.ops.mesh.primitive_monkey_add()
        self.object = bpy.context.object
        if subdivisions:
            self.object.modifiers.new("Finer", "SUBSURF").levels = subdivisions
            bpy.ops.object.modifier_apply(modifier="Finer")
        self.vertices = self.positions()
        mesh = self.object.data
        mesh.calc_loop_triangles()
        self.triangles: Indices = np.array([t.vertices[:] for t in mesh.loop_triangles], np.int32)
        self.is_held = is_held_point(self.vertices)
        self.object.vertex_groups.new(name="held").add(np.flatnonzero(self.is_held).tolist(), 1.0, "REPLACE")
        self.object.modifiers.new("Softbody", "SOFT_BODY")
        self.object.soft_body.vertex_group_goal = "held"
        self.object.modifiers["Softbody"].point_cache.frame_end = 10 * FRAMES
        bpy.context.scene.frame_end = 10 * FRAMES
        bpy.context.scene.frame_set(1)  # the simulation starts only at this frame

    def positions(self) -> Floats:
        """Returns the current vertices [m], (n, 3)."""
        import bpy

        evaluated = self.object.evaluated_get(bpy.context.evaluated_depsgraph_get())
        mesh = evaluated.to_mesh()
        found = np.empty(3 * len(mesh.vertices))
        mesh.vertices.foreach_get("co", found)
        evaluated.to_mesh_clear()
        return found.reshape(-1, 3)

    def next_frame(self) -> None:
        """Advances by a frame, as playback does."""
        import bpy

        bpy.context.scene.frame_set(bpy.context.scene.frame_current + 1)


class SinewBody:
    """A body of Sinew in the same surface, held at the same place."""

    def __init__(self, vertices: Floats, triangles: Indices, divisions: int) -> None:
        held = np.flatnonzero(is_held_point(vertices)).astype(np.int32)
        body = Body(
            vertices, triangles, MATERIAL, Meshing("robust", divisions=divisions), "suzanne", "Suzanne", pinned=held,
        )  # fmt: skip
        self.simulation = Simulation(Scene((body,), (), Settings(fps=float(FPS), substeps=SUBSTEPS)))
        self.tet_count = self.simulation.built.model.tet_count
        self.positions = vertices

    def next_frame(self) -> None:
        """Advances by a frame and interpolates the vertices of the surface."""
        self.positions = self.simulation.advance().positions["suzanne"]


def is_held_point(points: Floats) -> Bools:
    """Returns whether points are held, (n,)."""
    low, high = points[:, 2].min(), points[:, 2].max()
    return points[:, 2] > low + HELD_HEIGHT_SHARE * (high - low)


def compare(subdivisions: int, divisions: int, frames: int, values: dict[str, float]) -> Row:
    """Compares the times of frames."""
    theirs = BlenderSoftBody(subdivisions)
    ours = SinewBody(theirs.vertices, theirs.triangles, divisions)
    count, rest = len(theirs.vertices), theirs.vertices
    taken = medians(interleaved_times({"Blender": theirs.next_frame, "Sinew": ours.next_frame}, frames, first=2))
    moved = [float(np.abs(x - X).max()) for x, X in ((theirs.positions(), rest), (ours.positions, rest))]
    key = f"soft body.{count}"
    values |= {f"{key}.blender": 1e3 * taken["Blender"], f"{key}.sinew": 1e3 * taken["Sinew"]}
    values |= {f"{key}.blender moved": moved[0], f"{key}.sinew moved": moved[1]}
    return Row(
        f"Suzanne of {count} vertices, ms per frame of 1/{FPS} s", NO_TARGET,
        f"{1e3 * taken['Sinew']:.3g} with {ours.tet_count} tets; Blender's soft body {1e3 * taken['Blender']:.3g}",
    )  # fmt: skip


def run(quick: bool) -> Result:
    """Compares both; quick: the coarse surface alone, for few frames."""
    if importlib.util.find_spec("bpy") is None:
        return Result([Row("Suzanne, ms per frame", NO_TARGET, "Blender's module is not installed")])
    values: dict[str, float] = {}
    cases = ((0, 8),) if quick else ((0, 12), (1, 16), (2, 24))
    return Result([compare(*case, 2 if quick else FRAMES, values) for case in cases], values=values, notes=[NOTE])


NOTE = (
    "Blender's soft body is a network of springs along the edges of the surface, without an inside. It neither keeps "
    "volume nor has a Young's modulus, so the two cannot be compared at equal error."
)


BENCHMARK = Benchmark(
    lines=(),
    title="Blender's own soft body on the same surface",
    what="Suzanne, unsubdivided and subdivided once and twice, is held at its upper quarter and sags under gravity. "
    "Blender runs the soft body modifier at its default settings, with the held vertices in its goal group, and plays "
    "frame after frame. Sinew fills the surface by the robust method with 12, 16 and 24 tets along the longest side, "
    f"E = 1e4 Pa, ν = 0.45, takes {SUBSTEPS} steps a frame at the default tolerance, and interpolates the vertices of "
    f"the surface. The two take turns frame by frame; times are medians of {FRAMES} frames.",
    run=run,
)
