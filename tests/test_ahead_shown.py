# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiling ahead in Blender: only with a window, as the preferences say, and told in panel and preferences."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

bpy = pytest.importorskip("bpy")

from blender_scenes import add_box, fresh
from fake_layout import FakeLayout
from pressed_scenes import panel_lines
from sinew.addon import preferences
from sinew.addon.baking import ahead_timer, bakes
from sinew.addon.baking.ahead import Ahead, ahead
from sinew.addon.preferences import COMPILING, SinewPreferences


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[bool, bool]]:
    """Returns with what the processes were looked after."""
    found: list[tuple[bool, bool]] = []
    monkeypatch.setattr(ahead, "look", lambda *wanted: found.append(wanted))
    return found


def test_nothing_runs_without_a_window() -> None:
    fresh()
    assert bpy.app.background and not bpy.app.timers.is_registered(ahead_timer.look)
    ahead_timer.register()
    assert not bpy.app.timers.is_registered(ahead_timer.look)
    assert not ahead.is_compiling and not ahead.is_ready


def test_the_preferences_say_what_runs(looked: list[tuple[bool, bool]], monkeypatch: pytest.MonkeyPatch) -> None:
    fresh()
    ahead_timer.look()
    assert looked == []  # not installed: nobody has chosen anything
    chosen = SimpleNamespace(compile_ahead=True, keep_ready=True)
    monkeypatch.setattr(preferences, "chosen", lambda: chosen)
    ahead_timer.look()
    add_box()
    bpy.ops.sinew.make_body()
    ahead_timer.look()
    chosen.compile_ahead = False
    ahead_timer.look()
    chosen.keep_ready = False
    ahead_timer.look()
    assert looked == [(True, False), (True, True), (False, True), (False, False)]
    monkeypatch.setattr(bakes, "running", lambda: object())
    ahead_timer.look()
    assert len(looked) == 4  # a bake has the processor for itself


def test_panel_and_preferences_say_that_it_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh()
    box = add_box()
    bpy.ops.sinew.make_body()
    assert COMPILING not in panel_lines(box)
    layout = FakeLayout()
    shown = SimpleNamespace(layout=layout, bl_rna=SinewPreferences.bl_rna)
    SinewPreferences.draw(shown, bpy.context)
    assert "Compile Now" in layout.lines and layout.enabled_of("sinew.compile_ahead")
    monkeypatch.setattr(Ahead, "is_compiling", property(lambda self: True))
    assert COMPILING in panel_lines(box)
    shown.layout = FakeLayout()
    SinewPreferences.draw(shown, bpy.context)
    assert COMPILING in shown.layout.lines and not shown.layout.enabled_of("sinew.compile_ahead")


def test_compile_now_starts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh()
    asked = []
    monkeypatch.setattr(ahead, "compile", lambda: asked.append(True))
    assert bpy.ops.sinew.compile_ahead() == {"FINISHED"} and asked == [True]
