# SPDX-License-Identifier: GPL-3.0-or-later
"""Ctrl+Z with the keyboard: after a bake that touched the ground, and among hundreds of seeded operations.

SINEW_SEED and SINEW_OPERATIONS choose which and how many; each one is written to operations.log before it happens.
"""

from __future__ import annotations

import os
import time

import bpy
from bl_ext.user_default.sinew.addon.baking import bake_control, last_failure, undo_step
from desktop import OUT, Steps, picture, result
from random_operations import Session, look_at_everything, operations
from ui_driver import bake, choose_role, keys, press, show_sidebar, status, view, wait_for

FRAMES = 25
BREAKING_FRAMES = 12
SEED, OPERATIONS = int(os.environ.get("SINEW_SEED", "20")), int(os.environ.get("SINEW_OPERATIONS", "300"))


def undo_of_bake() -> Steps:
    """Moves a body twice between Add Ground and Simulate, bakes it, and undoes all of that."""
    yield from _body_over_ground()
    yield from bake()
    assert status().phase == "baked", status()
    ground = next(o for o in bpy.context.scene.objects if o.sinew.role == "COLLIDER")
    assert ground.animation_data is None and "sinew_force" not in ground, "curves that nobody asked for"
    bpy.context.view_layer.objects.active = ground
    yield from press("bpy.ops.sinew.create_force_curves")
    assert "sinew_force" in ground
    yield from picture("30-force-curves")
    for _ in range(4):
        yield from keys("ctrl+z")
        yield 0.7
        look_at_everything()
    cube = bpy.data.objects["Cube"]
    assert [round(x, 3) for x in cube.location] == [0.0, 0.0, 0.0], cube.location
    assert not bpy.data.actions, "the curves were left over"
    yield from picture("31-after-four-undos")
    for _ in range(4):
        yield from keys("ctrl+shift+z")
        yield 0.7
        look_at_everything()
    ground = next(o for o in bpy.context.scene.objects if o.sinew.role == "COLLIDER")
    assert "sinew_force" in ground and bpy.data.actions, "redo did not bring the curves back"


def undo_of_breaking_bake() -> Steps:
    """Undoes a bake whose mesh was cut: what stands in for the body goes, and comes back by redo, and by the button."""
    yield from _body_over_ground()
    own = bpy.data.objects["Cube"].sinew
    own.preset = "CHOCOLATE"
    own.divisions, own.breaking_stress, own.initial_velocity = 4, 2.0e4, (0.0, 0.0, -8.0)
    bpy.context.scene.frame_end = BREAKING_FRAMES
    bpy.ops.ed.undo_push(message="settings")
    yield from bake()
    yield from wait_for("the broken mesh", lambda: not undo_step.is_due(), 10)
    assert "Cube Broken" in bpy.context.scene.objects and status().is_whole
    yield from keys("ctrl+z")
    yield 1.0
    look_at_everything()
    assert "Cube Broken" not in bpy.data.objects and not status().is_whole
    yield from picture("32-undone-breaking")
    yield from keys("ctrl+shift+z")
    yield 1.0
    look_at_everything()
    assert "Cube Broken" in bpy.context.scene.objects and bpy.data.objects["Cube"].hide_viewport
    for _ in range(2):
        yield from keys("ctrl+z")
        yield 1.0
        look_at_everything()
    yield from keys("ctrl+shift+z")
    yield 1.0
    yield from press("bpy.ops.sinew.show_bake")
    assert "Cube Broken" in bpy.context.scene.objects and status().is_whole
    bpy.context.scene.frame_set(BREAKING_FRAMES)
    yield from picture("33-shown-again")


def undo_of_refused_quick_effect() -> Steps:
    """Two cubes in each other are refused by the solver: nothing is a body, and undo and redo go through it."""
    bpy.ops.wm.read_homefile()
    yield 1.5
    yield from show_sidebar()
    cube = bpy.data.objects["Cube"]
    other = bpy.data.objects.new("Other", cube.data.copy())
    other.location = (0.2, 0.1, 0.0)
    bpy.context.collection.objects.link(other)
    for obj in (cube, other):
        obj.select_set(True)
    bpy.ops.ed.undo_push(message="two cubes")
    before = _roles()
    yield from _in_viewport(_start_quick())
    assert "BODY" in _roles().values(), _roles()
    yield from wait_for("the refusal", lambda: status().frame is None and not status().is_running, 120)
    yield 1.0
    assert _roles() == before, _roles()
    assert not bpy.data.objects["Cube"].modifiers
    failure = last_failure.failure_text(bpy.context.scene)
    assert "overlap" in failure, failure
    yield from picture("35-refused-quick-effect")
    for combination in ("ctrl+z", "ctrl+z", "ctrl+z", "ctrl+shift+z", "ctrl+shift+z", "ctrl+shift+z"):
        yield from keys(combination)
        yield 0.7
        look_at_everything()
    assert _roles() == before, _roles()


def _roles() -> dict[str, str]:
    return {obj.name: obj.sinew.role for obj in bpy.context.scene.objects}


def _start_quick() -> Steps:
    yield 0.0
    bpy.ops.sinew.quick_jelly("INVOKE_DEFAULT")


def seeded_operations() -> Steps:
    """Hundreds of operations with undo and redo between, before, during and after bakes of every kind."""
    bpy.ops.wm.read_homefile()
    yield 1.5
    yield from show_sidebar()
    with open(OUT / "operations.log", "w", buffering=1) as log:
        log.write(f"seed {SEED}\n")
        session = Session(
            bake_control, _start, _undo, _redo, lambda line: print(f"{time.monotonic():8.1f} {line}", file=log)
        )
        yield from _in_viewport(operations(SEED, OPERATIONS, session))
    yield from picture("34-after-all-operations")
    result["seed"], result["operations"] = SEED, sum(session.done.values())
    result["of_each"], result["refused"], result["seen"] = session.done, len(session.refused), session.seen
    assert all(session.seen[what] for what in ("running", "broken", "baked")), session.seen
    said = (OUT / "blender.log").read_text(errors="replace")
    assert "Traceback (most recent call last)" not in said, said[said.index("Traceback") :][:2000]


def _in_viewport(steps: Steps) -> Steps:
    """Does each step as if the mouse were over the viewport."""
    while True:
        window, area, _ = view()
        region = next(r for r in area.regions if r.type == "WINDOW")
        with bpy.context.temp_override(window=window, area=area, region=region):
            seconds = next(steps, None)
        if seconds is None:
            return
        yield seconds


def _start(resume: bool) -> Steps:
    yield 0.0
    bpy.ops.sinew.simulate("INVOKE_DEFAULT", resume=resume)


def _undo() -> Steps:
    yield from keys("ctrl+z")


def _redo() -> Steps:
    yield from keys("ctrl+shift+z")


def _body_over_ground() -> Steps:
    bpy.ops.wm.read_homefile()
    yield 1.5
    yield from show_sidebar()
    yield from choose_role("m")
    yield from press("bpy.ops.sinew.add_ground")
    bpy.context.scene.frame_end = FRAMES
    yield from keys("g", "z", "1", "period", "5", "Return")
    yield from keys("g", "x", "1", "Return")
    cube = bpy.data.objects["Cube"]
    assert [round(x, 3) for x in cube.location] == [1.0, 0.0, 1.5], cube.location
