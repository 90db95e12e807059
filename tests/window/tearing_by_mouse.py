# SPDX-License-Identifier: GPL-3.0-or-later
"""Live with the mouse: a breakable bar is pulled until it tears, a piece of it is taken, and Esc puts it back."""

from __future__ import annotations

from collections.abc import Generator

import bpy
import numpy as np
from bl_ext.user_default.sinew.addon.baking import bake_status
from bl_ext.user_default.sinew.addon.baking.addon_session import session
from bl_ext.user_default.sinew.addon.fracture_meshes import torn_mesh_modifier
from bl_ext.user_default.sinew.addon.live import grabs
from desktop import OUT, Steps, mouse, picture, result
from live_hand import MOST_SECONDS, choose_tool, escape, front_view, go_live, screen, vertices, view_3d
from own_times import measuring
from ui_driver import gaps, press, show_sidebar, wait_for

LONG = 3.0
MOST_SECONDS_OF_A_CALL = 0.05
MOST_TRIES = 10
PULL_PIXELS, FURTHER_PIXELS, MOST_PIXELS = 2, 30, 200


def tearing_by_mouse() -> Steps:
    with measuring() as table:
        yield from _tear()
    result["tearing_own_times"] = table
    longest = max(row["longest_thread_ms"] for row in table.values())
    assert longest < 1e3 * MOST_SECONDS_OF_A_CALL, table


def _tear() -> Steps:
    bpy.ops.wm.read_homefile()
    yield 1.5
    yield from show_sidebar()
    bar = _bar()
    front_view((0.5, 0.0, 0.0), 9.0)
    view_3d()[1].spaces.active.shading.color_type = "MATERIAL"
    before = _state(bar)
    yield from go_live()
    run = session.live
    choose_tool("sinew.grab_tool")
    x, y = yield from _take_end()
    gaps.clear()
    yield from _pull_until_torn(x, y)
    result["longest_freeze_while_torn"] = round(max(gaps), 3)
    yield from picture("76-live-torn")
    seen = bar.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    is_broken = np.array([each.value for each in seen.attributes["broken"].data])
    assert is_broken.sum() >= 2 and len(seen.vertices) > len(bar.data.vertices)
    result["torn_vertices"] = len(seen.vertices)
    mouse("mouseup", 1)
    yield from wait_for("it to be let go", lambda: not run.grabs, 10)
    yield 0.5
    yield from _take_the_piece()
    bpy.ops.wm.save_as_mainfile(filepath=str(OUT / "torn.blend"), copy=True)
    yield from wait_for("the torn mesh after the save", lambda: torn_mesh_modifier.is_shown(bar), 10)
    view_3d()[1].spaces.active.shading.type = "MATERIAL"
    yield 20.0  # software compiles its shaders
    yield from picture("78-live-torn-material-preview")
    view_3d()[1].spaces.active.shading.type = "SOLID"
    assert session.live is run and not run.note, run.note
    yield from escape()
    assert _state(bar) == before, "it is as it was"
    yield from picture("79-live-torn-has-ended")
    yield from _undo_after_a_tear(bar)
    yield from _keep_and_run_again()
    bpy.ops.wm.open_mainfile(filepath=str(OUT / "torn.blend"))
    yield 1.5
    assert _state(bpy.data.objects["Cube"]) == before, "the saved file has no trace"


def _bar() -> bpy.types.Object:
    """Returns a bar along x whose left end is pinned."""
    bar = bpy.data.objects["Cube"]
    bpy.context.view_layer.objects.active = bar
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide(number_cuts=9)
    bpy.ops.object.mode_set(mode="OBJECT")
    for vertex in bar.data.vertices:
        vertex.co = (0.5 * LONG * vertex.co.x, 0.4 * vertex.co.y, 0.4 * vertex.co.z)
    pinned = bar.vertex_groups.new(name="Pinned")
    pinned.add([v.index for v in bar.data.vertices if v.co.x < -0.4 * LONG], 1.0, "REPLACE")
    bpy.ops.sinew.make_body()
    own = bar.sinew
    own.preset = "JELLY"
    own.youngs_modulus, own.pin_group, own.use_fracture, own.breaking_stress = 1.0e5, "Pinned", True, 2.5e4
    own.sizing, own.divisions, own.most_pieces = "DIVISIONS", 8, 2
    bar.data.materials.clear()
    for material in list(bpy.data.materials):  # what nothing uses is in no file
        bpy.data.materials.remove(material)
    for name, color in (("Skin", (0.9, 0.5, 0.2, 1.0)), ("Flesh", (0.7, 0.02, 0.02, 1.0))):
        material = bpy.data.materials.new(name)
        material.diffuse_color = color
        material.use_nodes = True
        material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = color
    bar.data.materials.append(bpy.data.materials["Skin"])
    own.broken_material = bpy.data.materials["Flesh"]
    bpy.context.scene.gravity, bpy.context.scene.sinew.grab_radius = (0.0, 0.0, -0.2), 0.5
    return bar


def _state(bar: bpy.types.Object) -> tuple[object, ...]:
    """Returns what must be the same after a run as before."""
    blocks = [len(kind) for kind in (bpy.data.objects, bpy.data.meshes, bpy.data.node_groups, bpy.data.materials)]
    return [modifier.name for modifier in bar.modifiers], bar.hide_viewport, bar.hide_get(), blocks


def _pull_until_torn(x: int, y: int) -> Steps:
    """Pulls to the right, as fast as the run goes on, until the torn mesh is seen, and a bit further."""
    run, pulled, further = session.live, 0, FURTHER_PIXELS
    while further > 0 and pulled < MOST_PIXELS:
        pulled += PULL_PIXELS
        mouse("mousemove", x + pulled, y)
        yield from wait_for("the next step", lambda step=run.step: run.step > step, 30)
        if torn_mesh_modifier.is_shown(bpy.data.objects["Cube"]):
            result.setdefault("torn_after_pixels", pulled)
            further -= PULL_PIXELS
    assert further <= 0, "it has not torn"


def _free_end() -> np.ndarray:
    """Returns a place of the end that is not pinned, where the view from the front sees it now."""
    here, scene = vertices(), bpy.context.scene
    depsgraph = bpy.context.evaluated_depsgraph_get()
    middle = here[here[:, 0] > here[:, 0].max() - 0.4].mean(axis=0)
    for x, _, z in (middle, *(here[np.argsort(here[:, 0])[::-1]] - 0.1)):
        start = (x, -10.0, z)
        is_hit, place, *_ = scene.ray_cast(depsgraph, start, (0.0, 1.0, 0.0))
        if is_hit:
            return np.array(place)
    raise AssertionError("no end is seen")


def _take_end() -> Generator[float, None, tuple[int, int]]:
    """Presses the mouse over the free end, wherever that moves, until it is grabbed; returns where."""
    run = session.live
    for _ in range(MOST_TRIES):
        for press_it in (False, True):
            x, y = screen(_free_end())
            mouse("mousemove", x, y)
            yield 0.1
            if press_it:
                mouse("mousedown", 1)
        yield 0.5
        if run.grabs:
            return x, y
        mouse("mouseup", 1)
        yield 0.2
    raise AssertionError("the end could not be taken")


def _take_the_piece() -> Steps:
    """Takes the free end of the bar again, now a piece, where it hangs or has fallen to, and pulls it up."""
    run = session.live
    x, y = yield from _take_end()
    grab = next(iter(run.grabs.values()))
    assert grab.generation > 0
    for step in range(1, 21):
        mouse("mousemove", x, y - 5 * step)
        yield 0.05
    yield from wait_for(
        "the piece to follow", lambda: np.linalg.norm(grabs.grabbed_point(run, grab) - grab.hand) < 0.3, 20
    )
    yield from picture("77-live-piece-grabbed")
    mouse("mouseup", 1)
    yield from wait_for("it to be let go", lambda: not run.grabs, 10)


def _undo_after_a_tear(bar: bpy.types.Object) -> Steps:
    """Tears it again and presses Ctrl+Z, which ends the run."""
    bpy.ops.ed.undo_push(message="before")
    bpy.data.objects["Cube"].location.z = 0.1
    bpy.ops.ed.undo_push(message="moved")
    before = _state(bar)
    yield from go_live()
    x, y = yield from _take_end()
    yield from _pull_until_torn(x, y)
    mouse("mouseup", 1)
    yield 0.5
    mouse("key", "ctrl+z")
    yield from wait_for("the end", lambda: session.live is None, 10)
    cube = bpy.data.objects["Cube"]
    assert cube.location.z == 0.0 and _state(cube) == before
    mouse("key", "ctrl+shift+z")
    yield 1.0
    assert _state(bpy.data.objects["Cube"]) == before and session.live is None
    yield from picture("79-live-torn-undone")


def _keep_and_run_again() -> Steps:
    """Keeps the run, whose pieces then stand in for the bar, and runs it live in their place."""
    scene = bpy.context.scene
    yield from press("bpy.ops.sinew.keep_live")
    yield from wait_for("the take", lambda: session.bake is None and bake_status.status(scene).frame, MOST_SECONDS)
    bar = bpy.data.objects["Cube"]
    yield from wait_for("the pieces", lambda: bar.sinew.is_replaced, 10)
    pieces = bpy.data.objects["Cube Broken"]
    scene.frame_set(bake_status.status(scene).frame)
    yield from picture("79-live-torn-kept")
    scene.frame_set(1)
    bpy.ops.object.select_all(action="DESELECT")
    pieces.select_set(True)
    bpy.context.view_layer.objects.active = pieces
    yield from go_live()
    assert bar.visible_get() and not pieces.visible_get()
    yield from picture("79-live-in-place-of-pieces")
    yield from escape()
    assert pieces.visible_get() and not bar.visible_get()
