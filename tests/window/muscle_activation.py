# SPDX-License-Identifier: GPL-3.0-or-later
"""A muscle that a file activates: its panel before and after a bake, a head added and keys baked with the mouse."""

from __future__ import annotations

import bpy
from desktop import OUT, Steps, picture, result
from muscle_bake import FRAMES, SCROLLS, make_muscle
from ui_driver import bake, open_alone, press, scroll, show_sidebar, status, wait_for

TO_BUTTONS = 72  # from the middle of the sidebar to the button that adds a row [pixels]
DATA = "time,biceps\n0,0\n0.1,0\n0.1,0.8\n1,0.8\n"  # jumps between the frames 3 and 4


def muscle_activation() -> Steps:
    bpy.ops.wm.read_homefile()
    yield 1.5
    yield from show_sidebar()
    cube = make_muscle()
    cube.animation_data_clear()
    own = cube.sinew
    own.activation = 0.1
    open_alone("Activation")
    yield 1.0
    yield from press("bpy.ops.sinew.add_table_row", TO_BUTTONS)
    yield from wait_for("the head", lambda: len(own.muscle_heads) == 1, 10)
    upper = cube.vertex_groups.new(name="Upper")
    upper.add([v.index for v in cube.data.vertices if v.co.z > 0.0], 1.0, "REPLACE")
    own.muscle_heads[0].group = upper.name
    path = OUT / "emg.csv"
    path.write_text(DATA)
    own.activation_source, own.activation_file, own.activation_column = "DATA", str(path), "biceps"
    yield from scroll(SCROLLS)
    yield from picture("29-the-panel-of-activation")
    yield from scroll(-SCROLLS)
    yield from bake()
    assert status().phase == "baked" and not status().convergence.not_converged, status()
    bpy.context.scene.frame_set(FRAMES)
    yield from scroll(SCROLLS)
    yield from picture("30-source-and-keys")
    yield from scroll(-SCROLLS)
    yield from press("bpy.ops.sinew.bake_activation")
    yield from wait_for("the keys", lambda: own.activation_source == "NONE", 20)
    bpy.context.scene.frame_set(FRAMES)
    result["keyed_activation"] = round(own.activation, 3)
    assert abs(own.activation - 0.9) < 0.02, own.activation
    yield from picture("31-keys-of-a-source")
