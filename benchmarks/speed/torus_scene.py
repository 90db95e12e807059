# SPDX-License-Identifier: GPL-3.0-or-later
"""A torus of Blender's primitives with a fine render mesh, made a body of jelly and exported as behind the button."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

FINE_SEGMENTS = (250, 200)  # segments; one Subdivision makes 200,000 vertices of them
COARSE_SEGMENTS = (20, 16)
TETS_100K = 38  # divisions along the longest side
HELD_HEIGHT = 0.3  # from this height on, the torus of minor radius 0.4 is held


def make_torus(segments: tuple[int, int], divisions: int, frames: int, is_held: bool) -> Any:
    """Returns the object, alone in the scene of a new file with the add-on registered.

    Args:
        segments: Along the ring and around the tube, before a Subdivision of one level is applied.
        divisions: Tets along its longest side.
        frames: Length of the timeline.
        is_held: Whether what is above `HELD_HEIGHT` is pinned; else the body falls.
    """
    import bpy

    import sinew
    from sinew.addon.objects import roles

    bpy.ops.wm.read_factory_settings(use_empty=True)
    if "sinew" not in bpy.types.Object.bl_rna.properties:
        sinew.register()
    bpy.context.scene.frame_end = frames
    bpy.ops.mesh.primitive_torus_add(
        major_segments=segments[0], minor_segments=segments[1], major_radius=1.0, minor_radius=0.4
    )
    torus = bpy.context.object
    torus.modifiers.new("Finer", "SUBSURF").levels = 1
    bpy.ops.object.modifier_apply(modifier="Finer")
    roles.make_body(torus)
    torus.sinew.divisions = divisions
    if is_held:
        group = torus.vertex_groups.new(name="held")
        group.add([v.index for v in torus.data.vertices if v.co.z > HELD_HEIGHT], 1.0, "REPLACE")
        torus.sinew.pin_group = "held"
    return torus


def add_ground() -> None:
    """Adds a plane below the torus that it can fall on."""
    import bpy

    bpy.ops.mesh.primitive_plane_add(size=20.0, location=(0.0, 0.0, -0.45))
    bpy.context.object.sinew.role = "COLLIDER"


def export_seconds(cache: Path) -> float:
    """Exports the open scene into a cache folder; returns the seconds that it took."""
    import bpy

    from sinew.addon.export.export_scene import export_scene

    began = time.perf_counter()
    for _ in export_scene(bpy.context, bpy.context.scene, cache):
        pass
    return time.perf_counter() - began


def playback_seconds(torus: Any, cache: Path, frames: int) -> tuple[float, float]:
    """Returns the seconds that Blender takes to go to a frame that is baked, playing it and not playing it: medians."""
    import statistics

    import bpy

    from sinew.addon.blender_data.object_keys import body_key
    from sinew.addon.blender_data.sinew_modifier import find_modifier
    from sinew.addon.objects import roles
    from sinew.addon.playback import mesh_cache

    mesh_cache.attach(torus, cache, body_key(torus))
    modifier = find_modifier(torus)
    assert torus in roles.bodies(bpy.context.scene) and modifier is not None
    taken: dict[bool, list[float]] = {True: [], False: []}
    for frame in [*range(1, frames + 1)] * 2:
        for plays in taken:
            modifier.show_viewport = plays
            bpy.context.scene.frame_set(0)
            began = time.perf_counter()
            bpy.context.scene.frame_set(frame)
            taken[plays].append(time.perf_counter() - began)
    return statistics.median(taken[True]), statistics.median(taken[False])
