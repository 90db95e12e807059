# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiling ahead in Blender: only with a window, as the preferences say, and told in panel and preferences."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh
from fixtures.fake_layout import FakeLayout
from fixtures.operator_scenes import panel_lines
from sinew.addon.baking import solver_warm_up_timer
from sinew.addon.baking.addon_session import session
from sinew.addon.baking.solver_warm_up import WarmSolver, solver_in_waiting
from sinew.addon.panels.preferences_panel import COMPILING_LABEL, SinewPreferences
from sinew.addon.properties import preferences


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[bool, bool]]:
    """Returns with what the processes were looked after."""
    found: list[tuple[bool, bool]] = []
    monkeypatch.setattr(solver_in_waiting, "update", lambda *wanted: found.append(wanted))
    return found


def test_nothing_runs_without_a_window() -> None:
    fresh()
    assert bpy.app.background and not bpy.app.timers.is_registered(solver_warm_up_timer.poll)
    solver_warm_up_timer.register()
    assert not bpy.app.timers.is_registered(solver_warm_up_timer.poll)
    assert not solver_in_waiting.is_compiling and not solver_in_waiting.is_ready


def test_the_preferences_say_what_runs(looked: list[tuple[bool, bool]], monkeypatch: pytest.MonkeyPatch) -> None:
    fresh()
    solver_warm_up_timer.poll()
    assert looked == []  # not installed: nobody has chosen anything
    chosen = SimpleNamespace(compile_ahead=True, keep_ready=True)
    monkeypatch.setattr(preferences, "get_preferences", lambda: chosen)
    solver_warm_up_timer.poll()
    add_box()
    bpy.ops.sinew.make_body()
    solver_warm_up_timer.poll()
    chosen.compile_ahead = False
    solver_warm_up_timer.poll()
    chosen.keep_ready = False
    solver_warm_up_timer.poll()
    assert looked == [(True, False), (True, True), (False, True), (False, False)]
    monkeypatch.setattr(session, "bake", object())
    solver_warm_up_timer.poll()
    assert len(looked) == 4  # a bake has the processor for itself


def test_panel_and_preferences_say_that_it_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh()
    box = add_box()
    bpy.ops.sinew.make_body()
    assert COMPILING_LABEL not in panel_lines(box)
    layout = FakeLayout()
    shown = SimpleNamespace(layout=layout, bl_rna=SinewPreferences.bl_rna)
    SinewPreferences.draw(shown, bpy.context)
    assert "Compile Now" in layout.lines and layout.enabled_of("sinew.compile_ahead")
    monkeypatch.setattr(WarmSolver, "is_compiling", property(lambda self: True))
    assert COMPILING_LABEL in panel_lines(box)
    shown.layout = FakeLayout()
    SinewPreferences.draw(shown, bpy.context)
    assert COMPILING_LABEL in shown.layout.lines and not shown.layout.enabled_of("sinew.compile_ahead")


def test_compile_now_starts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh()
    asked = []
    monkeypatch.setattr(solver_in_waiting, "compile", lambda: asked.append(True))
    assert bpy.ops.sinew.compile_ahead() == {"FINISHED"} and asked == [True]
