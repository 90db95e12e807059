# SPDX-License-Identifier: GPL-3.0-or-later
"""How a person's wish to stop reaches the loop: Ctrl-C, SIGTERM, a line on standard input, or its end."""

from __future__ import annotations

import functools
import io
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

HARD_STOP_SECONDS = 0.7  # the parent waits 0.9 s, addon/bake_job.py
ORPHAN_SECONDS = 2.0
ORPHAN_REQUESTS = 1000  # wishes of somebody who does not listen any more: never all fulfilled


@functools.cache
def take_command_input() -> BinaryIO:
    """Takes standard input for commands and returns it; whoever else reads there finds it empty from now on.

    Most libraries ask what standard input is when they are loaded. While a thread reads from it, Windows does not
    answer, so they would be loaded when the parent is gone.
    """
    try:
        taken = os.dup(0)
    except OSError:
        return io.BytesIO()  # closed: nobody is there to send anything
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    return os.fdopen(taken, "rb")


@contextmanager
def sigterm_as_interrupt(before: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Lets SIGTERM raise KeyboardInterrupt as Ctrl-C does, so that what a command has made goes with it.

    Args:
        before: Called first, after either.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are not for other threads
        return

    def interrupt(*_: object) -> None:
        before()
        raise KeyboardInterrupt

    numbers = (signal.SIGINT, signal.SIGTERM)
    earlier = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in earlier.items():
            # None: not Python's own, which cannot be asked for
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


class CancellationToken:
    """A wish to stop that the loop asks for between steps."""

    def __init__(self) -> None:
        self._request_count = 0
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()

    def __call__(self) -> bool:
        """Whether to stop."""
        return self._request_count > 0

    def set(self) -> None:
        """Wishes to stop."""
        with self._lock:
            self._request_count += 1

    def acknowledge(self) -> None:
        """Takes the first wish as fulfilled: what is done from now on stops at another one, or where nobody listens."""
        with self._lock:
            self._request_count = max(0, self._request_count - 1)
            if not self._request_count and self._timer is not None:
                self._timer.cancel()
                self._timer = None

    def listen_to_signals(self) -> None:
        """Lets SIGTERM and the first Ctrl-C be a wish to stop; a second Ctrl-C interrupts at once."""

        def stop(number: int, _: object) -> None:
            if self._request_count and number == signal.SIGINT:
                raise KeyboardInterrupt
            self._request_count += 1  # not by `set`: the loop that is interrupted here may hold its lock

        for name in ("SIGINT", "SIGTERM", "SIGBREAK"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), stop)

    def listen_to_input(self, on_hard_stop: Callable[[], None]) -> None:
        """Reads commands from standard input in a thread; its end means that the parent is gone.

        A step of a huge mesh may take longer than a person waits. So the process ends itself `HARD_STOP_SECONDS`
        after the command, wherever it is: the cache stays whole, as after any crash. When it has stopped in time,
        what it does then has as long as it needs (`acknowledge`), until it is asked again.

        Args:
            on_hard_stop: Called before such an end, in another thread than the loop.
        """

        def end() -> None:
            try:
                on_hard_stop()
            finally:
                os._exit(130)

        def wish(seconds: float, count: int) -> None:
            with self._lock:
                self._request_count += count
                if self._timer is None:
                    self._timer = threading.Timer(seconds, end)
                    self._timer.daemon = True
                    self._timer.start()

        commands = take_command_input()

        def listen() -> None:
            for line in commands:
                try:
                    command = json.loads(line)
                except ValueError:
                    continue
                if isinstance(command, dict) and command.get("command") == "cancel":
                    wish(HARD_STOP_SECONDS, 1)
            wish(ORPHAN_SECONDS, ORPHAN_REQUESTS)

        threading.Thread(target=listen, name="commands", daemon=True).start()
