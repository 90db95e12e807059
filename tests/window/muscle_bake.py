# SPDX-License-Identifier: GPL-3.0-or-later
"""A muscle that is pinned at its origin: its panel, and how it shortens and thickens where its Activation is keyed."""

from __future__ import annotations

import bpy
from desktop import Steps, picture, result
from ui_driver import bake, open_alone, press, scroll, show_sidebar, status, view, wait_for

FRAMES = 12
SCROLLS = 30  # of the mouse wheel, from the top of the sidebar to its end
LENGTH, WIDTH = 1.5, 0.35  # half of the cube of two metres is one [m]
VIEW_DISTANCE = 7.0  # from which single fibres are seen [m]
END = 0.95  # of the half length, where the ends begin


def muscle_bake() -> Steps:
    bpy.ops.wm.read_homefile()
    yield 1.5
    yield from show_sidebar()
    cube = make_muscle()
    open_alone("Muscle")
    yield 1.0
    yield from scroll(SCROLLS)
    yield from picture("27-the-panel-of-a-muscle")
    yield from scroll(-SCROLLS)
    yield from _build_fibres(cube)
    yield from bake()
    assert status().phase == "baked" and not status().convergence.not_converged, status()
    relaxed, active = (_size_at(cube, frame) for frame in (1, FRAMES))
    result["muscle_length_and_width"] = [relaxed, active]
    assert active[0] < 0.8 * relaxed[0] and active[1] > 1.1 * relaxed[1], "the muscle did not contract"
    yield from picture("28-a-muscle-that-contracts")
    yield from picture("28b-fibres-by-activation")
    cube.sinew.fibre_color = "STRETCH"
    yield from picture("28c-fibres-by-stretch")


def _build_fibres(cube: bpy.types.Object) -> Steps:
    """Presses Build Fibres, and waits until they are seen."""
    from bl_ext.user_default.sinew.addon.overlays import fibre_overlay

    cube.sinew.origin_tendon = 0.4
    view()[1].spaces.active.region_3d.view_distance = VIEW_DISTANCE
    open_alone("Fibres")
    yield 1.0
    yield from press("bpy.ops.sinew.build_fibres")
    scene = bpy.context.scene
    yield from wait_for("the fibres", lambda: fibre_overlay.shown_fibres(scene, cube) is not None, 120)
    assert cube.sinew.show_fibres
    yield from picture("27b-fibres-before-a-bake")


def make_muscle() -> bpy.types.Object:
    """Makes the default cube a long bar of weightless flesh that is pinned at its origin."""
    scene, cube = bpy.context.scene, bpy.data.objects["Cube"]
    cube.scale = (LENGTH, WIDTH, WIDTH)
    bpy.ops.object.transform_apply(scale=True)
    subdivision = cube.modifiers.new("Subdivision", "SUBSURF")
    subdivision.subdivision_type, subdivision.levels = "SIMPLE", 4
    bpy.ops.object.modifier_apply(modifier=subdivision.name)
    bpy.ops.sinew.make_flesh()
    for name, side in (("Origin", -1.0), ("Insertion", 1.0)):
        ends = [v.index for v in cube.data.vertices if side * v.co.x > END * LENGTH]
        cube.vertex_groups.new(name=name).add(ends, 1.0, "REPLACE")
    own = cube.sinew
    own.motion, own.use_muscle = "POSE", True
    own.pin_group, own.origin_group, own.insertion_group = "Origin", "Origin", "Insertion"
    for frame, activation in ((1, 0.0), (FRAMES, 1.0)):
        own.activation = activation
        own.keyframe_insert("activation", frame=frame)
    scene.frame_end, scene.use_gravity = FRAMES, False
    scene.frame_set(1)
    return cube


def _size_at(cube: bpy.types.Object, frame: int) -> tuple[float, float]:
    """Returns how long and how wide the muscle is as it is shown [m]."""
    bpy.context.scene.frame_set(frame)
    shown = cube.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = shown.to_mesh()
    along, across = ([vertex.co[axis] for vertex in mesh.vertices] for axis in (0, 1))
    shown.to_mesh_clear()
    return round(max(along) - min(along), 3), round(max(across) - min(across), 3)
