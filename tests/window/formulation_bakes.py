# SPDX-License-Identifier: GPL-3.0-or-later
"""Every method chosen with the mouse in the menu under Advanced, and baked: a cube that bends over a bar."""

from __future__ import annotations

import bpy
import numpy as np
from bl_ext.user_default.sinew.solver.scene.settings.formulation_settings import FORMULATION
from desktop import Steps, mouse, picture, result
from ui_driver import bake, choose_role, open_alone, press, scroll, show_sidebar, status, switch, view, wait_for

FRAMES = 12
STIFFNESS = 2.0e4
NAMES = [choice.identifier for choice in FORMULATION.choices]
LETTERS = "lwpqghi"  # which Blender underlines in the menu: Linear, Warped Vertices, Polar, QR, …


def methods_bake() -> Steps:
    yield from _make()
    cube = bpy.data.objects["Cube"]
    shapes = {}
    for number, name in enumerate(NAMES):
        yield from _choose(cube, number)
        if number:
            yield from wait_for("Out of Date", lambda: status().frame is None or status().outdated, 10)
        yield from picture(f"24-method-{number}-{name.lower()}")
        yield from bake()
        assert status().phase == "baked" and not status().convergence.not_converged, (name, status())
        bpy.context.scene.frame_set(FRAMES)
        yield from picture(f"25-baked-{number}-{name.lower()}")
        shapes[name] = _points(cube)
        yield from _delete_bake(cube)
    away = {name: float(np.abs(shape - shapes["POLAR"]).max()) for name, shape in shapes.items()}
    result["away_from_polar"] = {name: round(value, 4) for name, value in away.items()}
    assert all(np.isfinite(shape).all() for shape in shapes.values())
    assert all((value > 1e-5) == (name != "POLAR") for name, value in away.items()), away
    cube.sinew.formulation, cube.sinew.use_plasticity = "GREEN", True
    yield from picture("26-what-it-is-not-made-for")
    cube.sinew.use_plasticity = False


def _make() -> Steps:
    """Hangs a long block by one end, and opens the panel Advanced alone."""
    bpy.ops.wm.read_homefile()
    yield 1.5
    bpy.context.preferences.addons["bl_ext.user_default.sinew"].preferences.research_formulations = True
    yield from show_sidebar()
    cube = bpy.data.objects["Cube"]
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.subdivide(number_cuts=7)
    bpy.ops.object.mode_set(mode="OBJECT")
    cube.scale = (0.6, 0.15, 0.15)
    bpy.ops.object.transform_apply(scale=True)
    yield from choose_role("m")
    held = [v.index for v in cube.data.vertices if v.co.x < -0.59]
    cube.vertex_groups.new(name="Held").add(held, 1.0, "REPLACE")
    cube.sinew.pin_group, cube.sinew.preset, cube.sinew.youngs_modulus = "Held", "JELLY", STIFFNESS
    bpy.context.scene.frame_end = FRAMES
    view()[1].spaces.active.region_3d.view_distance = 4.0
    open_alone("Advanced")
    yield 2.0


def _choose(cube: bpy.types.Object, number: int) -> Steps:
    """Opens the menu with the mouse and chooses one of its items by its letter, wherever there is room for the menu."""
    yield from scroll(10)  # the panel is below the bottom of the window
    yield from switch("formulation", 40, keep=True)
    yield 0.5
    if number == 0:
        yield from picture("23-menu-of-methods")
    mouse("key", LETTERS[number])
    yield 0.5
    assert cube.sinew.formulation == NAMES[number], (cube.sinew.formulation, NAMES[number])
    yield from scroll(-10)


def _delete_bake(cube: bpy.types.Object) -> Steps:
    """Deletes the bake with the mouse."""
    yield from press("bpy.ops.sinew.delete_bake", -60)  # New Take is beside it
    yield 0.5
    if status().frame is not None:  # asked whether really
        mouse("key", "Return")
    yield from wait_for("no bake", lambda: status().frame is None, 10)


def _points(obj: bpy.types.Object) -> np.ndarray:
    shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    points = np.empty(len(shown.data.vertices) * 3, np.float32)
    shown.data.vertices.foreach_get("co", points)
    return points
