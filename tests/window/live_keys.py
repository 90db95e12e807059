# SPDX-License-Identifier: GPL-3.0-or-later
"""Live by keys: Alt J, pause, step, F and Shift F in each tool, the status bar, and the three ways of shading."""

from __future__ import annotations

import bpy
from bl_ext.user_default.sinew.addon.baking.addon_session import session
from bl_ext.user_default.sinew.addon.live import grabs
from desktop import Steps, mouse, picture, result
from live_hand import choose_tool, over_the_view, screen, vertices, view_3d
from ui_driver import show_sidebar, wait_for

MOST_SECONDS = 240
HELD_SECONDS = 1.5
SHADINGS = ("SOLID", "MATERIAL", "RENDERED")


def live_keys() -> Steps:
    bpy.ops.wm.read_homefile()
    yield 1.5
    yield from show_sidebar()
    cube = bpy.data.objects["Cube"]
    bpy.context.view_layer.objects.active = cube
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide(number_cuts=8)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.sinew.make_body()
    cube.sinew.preset = "JELLY"
    cube.sinew.sizing, cube.sinew.divisions = "DIVISIONS", 4
    bpy.ops.mesh.primitive_plane_add(size=20.0, location=(0.0, 0.0, -1.0))
    bpy.ops.sinew.make_collider()
    over_the_view()
    yield 0.5
    mouse("key", "alt+j")
    yield from wait_for("the first samples", lambda: session.live is not None and session.live.step > 20, MOST_SECONDS)
    run = session.live
    yield from _pause_and_step()
    yield from _dials()
    yield from _shadings(cube)
    over_the_view()
    mouse("key", "alt+j")
    yield from wait_for("the end", lambda: session.live is None, 20)
    assert not run.hints, "the status bar is Blender's again"
    yield from picture("89-live-has-ended")


def _pause_and_step() -> Steps:
    run = session.live
    mouse("key", "shift+j")
    yield from wait_for("the pause", lambda: run.is_paused and run.held_at == run.step, 20)
    step = run.step
    yield HELD_SECONDS
    assert run.step == step, "it holds"
    for number in (1, 2):
        mouse("key", "shift+alt+j")
        yield from wait_for("a step", lambda number=number: run.step == step + number, 20)
        yield 0.5
        assert run.step == step + number, "one step"
    mouse("mousemove_relative", 5, 5)
    yield 0.3
    result["live_hints_paused"] = next(iter(run.hints.values()))
    yield from picture("80-live-paused")
    mouse("key", "shift+j")
    yield from wait_for("it to go on", lambda: not run.is_paused and run.step > step + 10, 20)


def _dials() -> Steps:
    """Sets radius and strength of each tool on the body; Esc gives up a circle, and the run goes on."""
    run, settings = session.live, bpy.context.scene.sinew
    tools = (
        ("sinew.grab_tool", "grab_radius", "grab_strength"),
        ("sinew.heat_gun_tool", "heat_gun_radius", "heat_gun_temperature"),
        ("sinew.soften_tool", "stiffness_brush_radius", "stiffness_brush_strength"),
    )
    for tool, *names in tools:
        choose_tool(tool)
        x, y = screen(vertices().mean(axis=0))
        for key, name in zip(("f", "shift+f"), names, strict=True):
            before = getattr(settings, name)
            mouse("mousemove", x - 3, y)
            yield 0.3
            mouse("mousemove", x, y)
            yield 0.3
            mouse("key", key)
            yield 0.3
            mouse("mousemove", x + 40, y)
            yield 0.5
            changed = getattr(settings, name)
            assert changed > before, (tool, name, before, changed)
            yield from picture(f"81-{tool[6:]}-{key[-3:].replace('+', '')}")
            mouse("click", 1)
            yield 0.5
            assert getattr(settings, name) == changed and session.live is run
            mouse("key", key)
            yield 0.3
            mouse("mousemove", x + 90, y)
            yield 0.4
            assert getattr(settings, name) != changed
            mouse("key", "Escape")
            yield 0.5
            assert abs(getattr(settings, name) - changed) < 1.0e-5 and session.live is run and run.is_moving
            assert run.driver.job.phase != "cancelling", "Escape was for the circle"
            result[f"{tool} {name}"] = (before, changed)
        result[f"live_hints {tool}"] = next(iter(run.hints.values()))


def _shadings(cube: bpy.types.Object) -> Steps:
    """Pulls the body up so that it is seen to move, in each shading."""
    area = view_3d()[1]
    run = session.live
    key = next(iter(run.bodies))
    top = grabs.shown_vertices(run, key)
    place = top[(top @ (1.0, -1.0, 1.0)).argmax()]
    number = grabs.take(run, key, place, 0.5)
    grabs.move(run, number, place + (0.8, -0.8, 1.0))
    for shading in SHADINGS:
        area.spaces.active.shading.type = shading
        step = run.step
        yield from wait_for("samples", lambda step=step: run.step > step + 30, MOST_SECONDS)
        yield 4.0
        yield from picture(f"85-live-{shading.lower()}")
        assert session.live is run and run.is_moving, shading
        evaluated = cube.evaluated_get(bpy.context.evaluated_depsgraph_get())
        highest = max((evaluated.matrix_world @ v.co).z for v in evaluated.data.vertices)
        result[f"live_highest_{shading.lower()}"] = round(highest, 3)
        assert highest > place[2] + 0.5, "the pulled body is what is drawn"
    area.spaces.active.shading.type = "SOLID"
    grabs.release(run, number)
