# SPDX-License-Identifier: GPL-3.0-or-later
"""How long Blender takes to show a frame of a baked character in layers: muscles, fat, and skin in it."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from harness import demo_scenes
from harness.result import Result
from speed.benchmark import NO_TARGET, Benchmark, Row, bound_row, missing_peer_row

LINE = 14
MAX_MILLISECONDS = 25.0
SUBDIVISIONS = 1  # of muscles and skin, which makes over 100,000 vertices
FRAMES, ROUNDS = 3, 5


def bake_arm(folder: Path, subdivisions: int) -> list[str]:
    """Bakes all passes of the first frames of arm_layers in Blender's module; returns the names of the bodies."""
    import bpy

    from sinew.addon.objects import roles

    arm = demo_scenes.demo_script("arm_layers")
    arm.build(subdivisions=subdivisions)
    scene = bpy.context.scene
    scene.frame_end = FRAMES
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "arm.blend"))
    bpy.ops.sinew.simulate()
    return [obj.name for obj in roles.bodies(scene)]


def time_playback(names: list[str]) -> dict[bool, list[float]]:
    """Returns the seconds that Blender takes to go to each baked frame, by whether bodies play what is baked.

    What rides on bones and deforms by them moves either way, and cloth is off, so what is left is what Sinew costs.
    """
    import bpy

    from sinew.addon.blender_data.sinew_modifier import find_modifier

    for obj in bpy.data.objects:
        for modifier in obj.modifiers:
            modifier.show_viewport = modifier.type != "CLOTH"
    modifiers = [found for name in names if (found := find_modifier(bpy.data.objects[name])) is not None]
    taken: dict[bool, list[float]] = {True: [], False: []}
    for frame in [*range(1, FRAMES + 1)] * ROUNDS:
        for plays, times in taken.items():
            for modifier in modifiers:
                modifier.show_viewport = plays
            bpy.context.scene.frame_set(0)
            began = time.perf_counter()
            bpy.context.scene.frame_set(frame)
            times.append(time.perf_counter() - began)
    return taken


def run(quick: bool) -> Result:
    """Bakes and plays."""
    if not demo_scenes.can_run():
        return Result([missing_peer_row("playing all passes", f"{MAX_MILLISECONDS:g} ms", "bpy", line=LINE)])
    import bpy

    with tempfile.TemporaryDirectory(prefix="sinew-layers-") as name:
        names = bake_arm(Path(name), 0 if quick else SUBDIVISIONS)
        vertices = sum(len(bpy.data.objects[each].data.vertices) for each in names)
        taken = {plays: 1e3 * statistics.median(times) for plays, times in time_playback(names).items()}
        bpy.ops.wm.read_factory_settings(use_empty=True)  # lets go of the files of the bake
    updates = taken[True] - taken[False]
    rows = [
        bound_row(
            f"updates of a frame, {len(names)} bodies of {vertices:,} vertices [ms]",
            f"≤ {MAX_MILLISECONDS:g}",
            f"{updates:.1f}",
            updates <= MAX_MILLISECONDS,
            "Blender reads the positions of each body and computes its normals anew.",
            line=LINE,
        ),
        Row(
            "going to a frame, with and without what is baked [ms]", NO_TARGET, f"{taken[True]:.1f}, {taken[False]:.1f}"
        ),
    ]
    return Result(rows, values={"vertices": float(vertices), "updates": updates, "bodies": float(len(names))})


BENCHMARK = Benchmark(
    lines=(LINE,),
    title="Playing a character in layers",
    what="The demo arm_layers with muscles and skin subdivided until they have over 100,000 vertices: two passes are "
    f"baked for {FRAMES} frames, and Blender's module goes to each of them {ROUNDS} times, in turns with what is baked "
    "shown and hidden. The difference of the medians is what Sinew's layers cost a frame.",
    run=run,
)
