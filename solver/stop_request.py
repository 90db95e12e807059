# SPDX-License-Identifier: GPL-3.0-or-later
"""How a person's wish to stop reaches the loop: Ctrl-C, SIGTERM, a line on standard input, or its end."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable

HARD_SECONDS = 0.7  # the parent waits 0.9 s, addon/bake_job.py
ORPHAN_SECONDS = 2.0


class StopRequest:
    """A wish to stop that the loop asks for between steps."""

    def __init__(self) -> None:
        self._wish = threading.Event()

    def __call__(self) -> bool:
        """Whether to stop."""
        return self._wish.is_set()

    def set(self) -> None:
        """Wishes to stop."""
        self._wish.set()

    def listen_to_signals(self) -> None:
        """Lets SIGTERM and the first Ctrl-C be a wish to stop; a second Ctrl-C interrupts at once."""

        def stop(number: int, _: object) -> None:
            if self._wish.is_set() and number == signal.SIGINT:
                raise KeyboardInterrupt
            self._wish.set()

        for name in ("SIGINT", "SIGTERM", "SIGBREAK"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), stop)

    def listen_to_input(self, on_hard_stop: Callable[[], None]) -> None:
        """Reads commands from standard input in a thread; its end means that the parent is gone.

        A step of a huge mesh may take longer than a person waits. So the process ends itself `HARD_SECONDS`
        after the command, wherever it is: the cache stays whole, as after any crash.

        Args:
            on_hard_stop: Called before such an end, in another thread than the loop.
        """

        def end() -> None:
            try:
                on_hard_stop()
            finally:
                os._exit(130)

        def listen() -> None:
            seconds = ORPHAN_SECONDS
            for line in sys.stdin.buffer:
                try:
                    command = json.loads(line)
                except ValueError:
                    continue
                if isinstance(command, dict) and command.get("command") == "cancel":
                    seconds = HARD_SECONDS
                    break
            self._wish.set()
            timer = threading.Timer(seconds, end)
            timer.daemon = True
            timer.start()

        threading.Thread(target=listen, name="commands", daemon=True).start()
