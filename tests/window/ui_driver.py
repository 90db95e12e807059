# SPDX-License-Identifier: GPL-3.0-or-later
"""Sinew's sidebar in a real Blender with a window: finds its buttons and presses them.

Buttons are found by moving the mouse down the sidebar and asking Blender what lies under it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator

import bpy
from bl_ext.user_default.sinew.addon.baking import bake_status
from bl_ext.user_default.sinew.addon.baking.addon_session import session
from bl_ext.user_default.sinew.addon.panels import panels
from desktop import Steps, mouse, wheel

F3 = 69  # of a PC keyboard; by its name, xdotool presses Alt with it
WHEEL_CLICKS_TO_TOP, WHEEL_CLICKS_PER_PAGE, MAX_PAGES = 40, 8, 5
QUICK_STEP, SLOW_STEP = 9, 7  # of the mouse down the sidebar, whose buttons are 20 pixels high
MOST_PATIENCE = 4.0
QUICK_SECONDS, SETTLED_SECONDS = 0.04, 0.15

FoundAt = Generator[float, None, int | None]  # waits, and returns the y of what was found

gaps: list[float] = []
_last_beat = time.monotonic()

_opened = 0  # how often `open_alone` was called
_found_at: dict[str, int] = {}  # the y at which things were found last


def view() -> tuple[bpy.types.Window, bpy.types.Area, bpy.types.Region]:
    window = bpy.context.window_manager.windows[0]
    area = next(a for a in window.screen.areas if a.type == "VIEW_3D")
    return window, area, next(r for r in area.regions if r.type == "UI")


def show_sidebar() -> Steps:
    _, area, region = view()
    area.spaces.active.show_region_ui = True
    yield 1.0
    region.active_panel_category = "Sinew"


def open_alone(label: str) -> None:
    """Opens one panel in the sidebar, and closes those that are open at first or were opened so."""
    global _opened
    _opened += 1
    for panel in [p for p in panels.CLASSES if getattr(p, "bl_space_type", "") == "VIEW_3D"]:
        if panel.bl_label in {
            "Material",
            "Tets",
            "Pins",
            "Muscle",
            "Activation",
            "Fibres",
            "Collision",
            "Advanced",
            "Cache",
            "Check",
            "Attachments",
            "Layers",
            "Solver",
        }:
            bpy.utils.unregister_class(panel)
            panel.bl_options = set() if panel.bl_label == label else {"DEFAULT_CLOSED"}
            # Blender remembers by its name whether a panel is open
            panel.bl_idname = f"{panel.bl_idname.partition('_shown')[0]}_shown{_opened}"
            bpy.utils.register_class(panel)


def lowest_and_height() -> tuple[float, float]:
    """Returns the lowest point of the cube as it is shown, and its height [m]."""
    cube = bpy.data.objects["Cube"]
    shown = cube.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = shown.to_mesh()
    heights = [(shown.matrix_world @ vertex.co).z for vertex in mesh.vertices]
    shown.to_mesh_clear()
    return min(heights), max(heights) - min(heights)


def status():
    return bake_status.status(bpy.context.scene)


def beat() -> float:
    """Notes how long the window did not answer; called by a timer of its own."""
    global _last_beat
    now = time.monotonic()
    gaps.append(now - _last_beat)
    _last_beat = now
    return 0.02


def under_the_mouse(ask: Callable = bpy.ops.ui.copy_python_command_button, **options: bool) -> str:
    """Returns the Python command of the button under the mouse, or "" where there is none."""
    window, area, region = view()
    with bpy.context.temp_override(window=window, area=area, region=region):
        return _answer(ask, **options)


def command_under_the_mouse() -> str:
    """Returns the Python command of the button under the mouse in the region of the context, or ""."""
    return _answer(bpy.ops.ui.copy_python_command_button)


def _answer(ask: Callable, **options: bool) -> str:
    if not ask.poll():
        return ""
    bpy.context.window_manager.clipboard = ""
    ask(**options)
    return bpy.context.window_manager.clipboard


def press(operator: str, aside: int = -20) -> Steps:
    """Finds the button of an operator in the sidebar, so far from its middle, and presses it with the mouse."""
    yield from _press(lambda: f"{operator}(" in under_the_mouse(), operator, aside)


def choose_role(letter: str) -> Steps:
    """Opens the menu Add, which is under the Simulate button of a mesh without a role, and chooses by a letter."""
    yield from find(lambda: "bpy.ops.sinew.simulate_selected(" in under_the_mouse(), "Simulate", -20)
    while "bpy.ops.sinew.simulate_selected(" in under_the_mouse():
        mouse("mousemove_relative", 0, 4)
        yield 0.1
    mouse("mousemove_relative", 0, 6)
    yield 0.2
    mouse("click", 1)
    yield 0.5
    mouse("key", letter)
    yield 0.5


def switch(name: str, aside: int = 0, keep: bool = False) -> Steps:
    """Finds a setting in the sidebar by the end of its data path, and presses it with the mouse.

    With `keep` the mouse stays there, on the menu that has opened.
    """
    yield from _press(lambda: under_the_mouse(bpy.ops.ui.copy_data_path_button).endswith(name), name, aside, keep)


def search(words: str) -> Steps:
    """Opens the search over the 3D viewport with F3 and types; Return then runs the first that it has found."""
    window, area, _ = view()
    mouse("mousemove", area.x + 200, window.height - (area.y + 200))
    yield 0.5
    mouse("key", F3)
    yield 1.0
    mouse("type", words)
    yield 1.0


def keys(*names: str) -> Steps:
    """Presses keys over the middle of the viewport."""
    window, area, _ = view()
    x, y = area.x + area.width // 3, window.height - (area.y + area.height // 2)
    mouse("mousemove", x, y + area.height // 4)  # a message that stood under the mouse closes
    yield 0.1
    mouse("mousemove", x, y)
    yield 0.1
    for name in names:
        mouse("key", name)
        yield 0.2


def scroll(clicks: int) -> Steps:
    """Turns the mouse wheel over the sidebar: down, or up where `clicks` is negative."""
    window, _, region = view()
    mouse("mousemove", region.x + region.width // 2, window.height - (region.y + region.height // 2))
    yield 0.3
    wheel(clicks)
    yield 1.0  # it slides on


def _press(is_it: Callable[[], bool], what: str, aside: int, keep: bool = False) -> Steps:
    window, area, _ = view()
    yield from find(is_it, what, aside)
    mouse("mousedown", 1)
    mouse("mouseup", 1)
    yield 0.3
    if not keep:
        mouse("mousemove", area.x + 200, window.height - (area.y + 200))


def find(is_it: Callable[[], bool], what: str, aside: int = 0) -> Steps:
    """Moves the mouse down the sidebar until it is where something holds, beginning where that was found last.

    Where nothing that can be seen does, it goes to the top and turns the wheel, page by page, as a person would. A
    quick hand looks first, and a slow one only where that found nothing: a busy window lags behind a quick one.
    """
    found = yield from _find_where_it_was(is_it, what, aside)
    if found is None:
        found = yield from _find_anew(is_it, aside)
    if found is None:
        raise AssertionError(f"no {what} in the sidebar")
    _found_at[what] = found


def _find_anew(is_it: Callable[[], bool], aside: int) -> FoundAt:
    for on_page in (_find_quickly, _find_slowly):
        found = yield from on_page(is_it, aside)
        for clicks in (-WHEEL_CLICKS_TO_TOP, *[WHEEL_CLICKS_PER_PAGE] * MAX_PAGES):
            if found is not None:
                return found
            yield from scroll(clicks)
            found = yield from on_page(is_it, aside)
        if found is not None:
            return found
    return None


def _find_where_it_was(is_it: Callable[[], bool], what: str, aside: int) -> FoundAt:
    x, bottom, top, height = _sidebar(aside)
    y = _found_at.get(what, -1)
    if not bottom < y < top:
        return None
    mouse("mousemove", x, height - y)
    mouse("mousemove_relative", 1, 1)
    yield SETTLED_SECONDS
    return y if is_it() else None


def _find_quickly(is_it: Callable[[], bool], aside: int) -> FoundAt:
    """Goes down the page in one move a step, and waits for the window only where something seems to hold."""
    x, bottom, top, height = _sidebar(aside)
    for y in range(top, bottom, -QUICK_STEP):
        mouse("mousemove", x, height - y)
        yield QUICK_SECONDS
        if is_it():
            for late in (0, QUICK_STEP, 2 * QUICK_STEP):  # what holds may still be what was under the mouse before
                mouse("mousemove", x, height - y - late)
                mouse("mousemove_relative", 1, 1)
                yield SETTLED_SECONDS
                if is_it():
                    return y + late
    return None


def _find_slowly(is_it: Callable[[], bool], aside: int) -> FoundAt:
    x, bottom, top, height = _sidebar(aside)
    for y in range(top, bottom, -SLOW_STEP):
        mouse("mousemove", x, height - y)
        yield 0.06
        mouse("mousemove_relative", 1, 1)
        yield 0.12
        if is_it():
            return y
    return None


def _sidebar(aside: int) -> tuple[int, int, int, int]:
    """Returns the x of the sidebar's middle, moved aside, its lowest and highest y, and the height of the window."""
    window, _, region = view()
    return region.x + region.width // 2 + aside, region.y + 10, region.y + region.height - 10, window.height


def wait_for(what: str, condition: Callable[[], bool], limit: float) -> Steps:
    """Waits until something holds, or a number of seconds [s] have gone by in which no bake and no run came forward.

    A live run comes forward for ever, so after `MOST_PATIENCE` times as long it is enough in any case.
    """
    begin, before = time.monotonic(), _progress()
    end = begin + limit
    while not condition():
        now = _progress()
        if now != before:
            end, before = min(time.monotonic() + limit, begin + MOST_PATIENCE * limit), now
        assert time.monotonic() < end, f"{what} did not come in {limit} s: {status()}"
        yield 0.02


def _progress() -> tuple[object, ...]:
    found, run = status(), session.live
    live = None if run is None else (run.driver.job.phase, run.step)
    return found.phase, found.frame, found.stage, found.iteration, found.fraction, live


def bake() -> Steps:
    """Presses Simulate, and waits for the end."""
    yield from press("bpy.ops.sinew.simulate")
    yield from wait_for("the start", lambda: status().is_running, 10)
    yield from wait_for("the end", lambda: not status().is_running, 300)
