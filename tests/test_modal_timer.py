# SPDX-License-Identifier: GPL-3.0-or-later
"""The one timer of the operators that stay in a window until something has ended."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("bpy", reason="needs Blender's module")

from sinew.addon.operators.kept_start import SINEW_OT_keep_start
from sinew.addon.operators.modal_timer import ModalTimerOperator
from sinew.addon.operators.simulate import BakingOperator
from sinew.addon.operators.solve_frame import SINEW_OT_solve_frame


def test_a_timer_is_added_and_taken_away_once() -> None:
    timers: list[tuple[float, str]] = []
    handled: list[object] = []

    def added(seconds: float, window: str) -> tuple[float, str]:
        timers.append((seconds, window))
        return timers[-1]

    manager = SimpleNamespace(event_timer_add=added, event_timer_remove=timers.remove, modal_handler_add=handled.append)
    context = SimpleNamespace(window_manager=manager, window="window")
    operator = ModalTimerOperator()
    operator.cancel(context)
    operator.listen(context, 0.02)
    assert timers == [(0.02, "window")] and handled == [operator]
    operator.cancel(context)
    operator.cancel(context)
    assert not timers


@pytest.mark.parametrize("kind", [BakingOperator, SINEW_OT_keep_start, SINEW_OT_solve_frame])
def test_the_operators_that_stay_have_it(kind: type) -> None:
    assert issubclass(kind, ModalTimerOperator)
