# SPDX-License-Identifier: GPL-3.0-or-later
"""Live with the mouse: the heat gun melts a candle of wax, with Ctrl it cools one, and Esc puts it back."""

from __future__ import annotations

import bpy
import numpy as np
from bl_ext.user_default.sinew.addon.baking.addon_session import session
from desktop import Steps, mouse, picture, result
from live_hand import MOST_SECONDS, choose_tool, escape, front_view, go_live, hold_at, screen, vertices
from ui_driver import show_sidebar, wait_for

HEIGHT = 0.2
MELTED = 0.85  # of its height


def melting_by_mouse() -> Steps:
    bpy.ops.wm.read_homefile()
    yield 1.5
    yield from show_sidebar()
    candle = _candle()
    front_view((0.05, 0.0, 0.08), 0.6)
    before = [tuple(vertex.co) for vertex in candle.data.vertices], [m.name for m in candle.modifiers]
    yield from go_live()
    run = session.live
    choose_tool("sinew.heat_gun_tool")
    x, y = screen((0.0, 0.0, 0.6 * HEIGHT))
    yield from hold_at(x, y)
    yield from wait_for("the heat gun", lambda: run.brush is not None, 10)
    assert run.brush.kind == "HEAT" and np.abs(run.brush.place[2] - 0.6 * HEIGHT) < 0.03
    yield 0.5
    yield from picture("80-live-heat-gun")
    yield from wait_for("it to melt", lambda: vertices()[:, 2].max() < MELTED * HEIGHT, MOST_SECONDS)
    result["wax_melted_after_seconds"] = round(run.seconds, 2)
    result["wax_height"], result["wax_width"] = (
        round(float(vertices()[:, 2].max()), 3),
        round(float(np.ptp(vertices()[:, 0])), 3),
    )
    yield from picture("81-live-wax-melts")
    mouse("mouseup", 1)
    yield from wait_for("it to be put down", lambda: run.brush is None, 10)
    mouse("keydown", "ctrl")
    yield from hold_at(*screen(vertices().mean(axis=0)))
    yield from wait_for("the cold", lambda: run.brush is not None, 10)
    assert run.brush.kind == "COOL"
    mouse("mouseup", 1)
    mouse("keyup", "ctrl")
    yield from wait_for("it to be put down", lambda: run.brush is None, 10)
    assert session.live is run and not run.note, run.note
    yield from escape()
    assert ([tuple(vertex.co) for vertex in candle.data.vertices], [m.name for m in candle.modifiers]) == before
    yield from picture("82-live-wax-as-it-was")


def _candle() -> bpy.types.Object:
    """Returns a candle on a ground."""
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    bpy.ops.mesh.primitive_plane_add(size=2.0)
    bpy.ops.sinew.make_collider()
    bpy.ops.mesh.primitive_cylinder_add(vertices=24, radius=0.03, depth=HEIGHT, location=(0.0, 0.0, 0.5 * HEIGHT))
    candle = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide(number_cuts=5)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.sinew.make_body()
    own = candle.sinew
    own.preset, own.sizing, own.divisions = "WAX", "DIVISIONS", 10
    return candle
