# SPDX-License-Identifier: GPL-3.0-or-later
"""The timer of an operator that stays in a window until something has ended that it does not wait for."""

from __future__ import annotations

from typing import Any

import bpy


class ModalTimerOperator:
    """What operators share that Blender calls again and again, until they take their timer away with `cancel`."""

    _timer: Any = None

    def listen(self, context: bpy.types.Context, seconds: float = 0.1) -> None:
        """Lets Blender call `modal` that often, until it is told to stop."""
        manager = context.window_manager
        self._timer = manager.event_timer_add(seconds, window=context.window)
        manager.modal_handler_add(self)

    def cancel(self, context: bpy.types.Context) -> None:
        """Takes the timer away: what was waited for has ended, or the window was closed and that goes on alone."""
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            self._timer = None
