# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid boxes that fall in a pile, beside Blender's own rigid body world, which Bullet moves."""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from harness import demo_scenes
from harness.result import Result
from sinew.solver.runtime.arrays import Floats
from sinew.solver.scene.scene import Scene
from sinew.solver.scene.tracks import TrackReader
from sinew.solver.simulation.simulation import Simulation
from speed.benchmark import NO_TARGET, Benchmark, Row, bound_row, missing_peer_row

LINE = 16
STEPS_PER_SECOND = 30.0
BOXES, FRAMES = 200, 36
SIDE, LAYER, APART, FIRST_HEIGHT = 0.2, 5, 0.42, 0.3  # [m], boxes along each side of a layer
MAX_OFFSET = 0.03  # of a box from its place in the grid [m]
SEED = 5
FLOOR_SIZE = 20.0
CORNERS = np.array(list(itertools.product((-0.5, 0.5), repeat=3))) * SIDE


@dataclass
class Pile:
    """How a pile went.

    Attributes:
        seconds: Of each frame.
        steps: In each frame.
        depths: How deep a corner is in another box or the ground, the largest at each frame [m].
    """

    steps: int
    seconds: list[float] = field(default_factory=list)
    depths: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Steps a second, over all frames."""
        return self.steps * len(self.seconds) / sum(self.seconds)

    @property
    def depth(self) -> float:
        """The largest depth [m]."""
        return max(self.depths)


def build(count: int) -> list[str]:
    """Builds the scene with Blender's operators at their defaults; returns the names of the boxes."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.mesh.primitive_cube_add(size=FLOOR_SIZE, location=(0.0, 0.0, -0.5 * FLOOR_SIZE))
    bpy.ops.rigidbody.object_add(type="PASSIVE")
    random, names = np.random.default_rng(SEED), []
    for number in range(count):
        layer, place = divmod(number, LAYER**2)
        grid = np.array([*divmod(place, LAYER), 0.0]) - [LAYER // 2, LAYER // 2, 0.0]
        at = APART * grid + [0.0, 0.0, FIRST_HEIGHT + 1.1 * APART * layer] + random.uniform(-MAX_OFFSET, MAX_OFFSET, 3)
        bpy.ops.mesh.primitive_cube_add(size=SIDE, location=at, rotation=random.uniform(0.0, np.pi, 3))
        bpy.ops.rigidbody.object_add(type="ACTIVE")
        names.append(bpy.context.object.name)
    return names


def bullet_pile(names: list[str], frames: int) -> Pile:
    """Lets Bullet move the open scene, as playback does."""
    import bpy

    scene = bpy.context.scene
    pile, objects = Pile(scene.rigidbody_world.substeps_per_frame), [bpy.data.objects[name] for name in names]
    scene.frame_set(1)
    for frame in range(2, frames + 2):
        began = time.perf_counter()
        scene.frame_set(frame)
        pile.seconds.append(time.perf_counter() - began)
        graph = bpy.context.evaluated_depsgraph_get()
        matrices = np.array([obj.evaluated_get(graph).matrix_world for obj in objects])
        pile.depths.append(largest_depth(matrices[:, :3, 3], matrices[:, :3, :3]))
    return pile


def take_over(folder: Path, frames: int) -> tuple[Scene, TrackReader]:
    """Returns the same scene as Make Rigid takes it over."""
    import bpy

    import sinew

    sinew.register()
    bpy.ops.sinew.make_rigid(is_whole_world=True)
    bpy.context.scene.frame_end = frames + 1
    return demo_scenes.export_open_file(folder)


def sinew_pile(scene: Scene, tracks: TrackReader, frames: int) -> Pile:
    """Simulates the boxes."""
    simulation = Simulation(scene, tracks)
    pile = Pile(simulation.scene.settings.substeps)
    began = time.perf_counter()
    for frame in itertools.islice(simulation.run(), frames + 1):
        if frame.number > simulation.scene.settings.frame_start:
            pile.seconds.append(time.perf_counter() - began)
            corners = np.array(list(frame.positions.values()))
            pile.depths.append(largest_depth(corners.mean(axis=1), np.array([_sides(each) for each in corners])))
        began = time.perf_counter()
    return pile


def _sides(vertices: Floats) -> Floats:
    """Returns the directions of the sides of a box with these corners, (8, 3), as columns."""
    away = vertices - vertices[0]
    length = np.linalg.norm(away, axis=1)
    nearest = np.argsort(length)[1:4]
    return (away[nearest] / length[nearest][:, None]).T


def largest_depth(centres: Floats, turns: Floats) -> float:
    """Returns how deep a corner is in another box or below the ground, at most [m]."""
    corners = centres[:, None] + np.einsum("kij,cj->kci", turns, CORNERS)
    deepest = max(0.0, -float(corners[:, :, 2].min()))
    near = np.linalg.norm(centres[:, None] - centres, axis=2) < np.sqrt(3.0) * SIDE
    for one, other in _pairs(near):
        inside = np.abs((corners[one] - centres[other]) @ turns[other])
        deepest = max(deepest, float((0.5 * SIDE - inside).min(axis=1).max()))
    return deepest


def _pairs(near: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yields the pairs of different boxes that are near each other."""
    for one, other in np.argwhere(near):
        if one != other:
            yield int(one), int(other)


def run(quick: bool) -> Result:
    """Lets both move the same boxes; quick: a few of them, for a few frames."""
    if not demo_scenes.can_run():
        return Result([missing_peer_row("boxes in a pile", NO_TARGET, "Blender's module")])
    count, frames = (8, 3) if quick else (BOXES, FRAMES)
    names = build(count)
    theirs = bullet_pile(names, frames)
    with tempfile.TemporaryDirectory() as folder:
        scene = take_over(Path(folder), frames)
        sinew_pile(*scene, frames)  # loads the kernels, as Bullet is loaded
        ours = sinew_pile(*scene, frames)
    values = {"rigid pile.sinew": ours.rate, "rigid pile.bullet": theirs.rate}
    rows = [
        bound_row(
            f"{count} rigid boxes that fall in a pile, steps a second",
            f"≥ {STEPS_PER_SECOND:g}",
            f"{ours.rate:.2g}; Bullet {theirs.rate:.2g}",
            ours.rate >= STEPS_PER_SECOND,
            "A step takes two solves, and a search for contacts before them and after each. The searches take half of "
            "the time. Kernels take two fifths of it, an eighth in Newton's method; the rest goes to a thousand small "
            "calls from Python in every step.",
            line=LINE,
        ),
        Row(
            "deepest corner in another box or in the ground [mm]",
            NO_TARGET,
            f"{1e3 * ours.depth:.2g}; Bullet {1e3 * theirs.depth:.2g}",
        ),
    ]
    return Result(rows, values=values)


BENCHMARK = Benchmark(
    (LINE,),
    "A pile of rigid boxes",
    f"{BOXES} cubes of {SIDE:g} m, turned at random, fall in layers of {LAYER**2} on a floor. Blender's operators make "
    f"them rigid bodies with their defaults. Bullet plays {FRAMES} frames; then Make Rigid takes the scene over, and "
    "Sinew simulates the same frames twice, with the steps a frame that a new scene has; the second time counts, with "
    "kernels loaded. A corner counts as deep as it is from the nearest face of the box that it is in.",
    run,
)
