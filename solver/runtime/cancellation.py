# SPDX-License-Identifier: GPL-3.0-or-later
"""Cancels a bake at Ctrl-C, at SIGTERM, at a command on standard input, or when standard input closes."""

from __future__ import annotations

import functools
import io
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

HARD_STOP_SECONDS = 0.7  # the parent waits 0.9 s (addon/baking/state_machine.py)
INPUT_CLOSED_SECONDS = 2.0
INPUT_CLOSED_REQUESTS = 1000  # number of requests that stands for a closed input; more than are ever acknowledged


@functools.cache
def take_command_input() -> BinaryIO:
    """Reserves standard input for commands and returns it; other readers find an empty input from now on.

    Most libraries inspect standard input when they load. While a thread reads from it, that call blocks on Windows, so
    they would not load until the parent has gone.
    """
    try:
        commands = os.dup(0)
    except OSError:
        return io.BytesIO()  # closed: nobody can send anything
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    return os.fdopen(commands, "rb")


@contextmanager
def sigterm_as_interrupt(before: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Lets SIGTERM raise KeyboardInterrupt as Ctrl-C does, so that commands clean up.

    Args:
        before: What is called when either signal comes, before the interrupt.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread can handle signals
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
            # None: a handler from outside Python, which cannot be restored
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


class CancellationToken:
    """A cancellation request that the loop polls between steps."""

    def __init__(self) -> None:
        self._request_count = 0
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()

    def __call__(self) -> bool:
        """Whether to stop."""
        return self._request_count > 0

    def set(self) -> None:
        """Requests a stop."""
        with self._lock:
            self._request_count += 1

    def acknowledge(self) -> None:
        """Acknowledges the first request: later work stops at a second request, or when the input closes."""
        with self._lock:
            self._request_count = max(0, self._request_count - 1)
            if not self._request_count and self._timer is not None:
                self._timer.cancel()
                self._timer = None

    def listen_to_signals(self) -> None:
        """Lets SIGTERM and the first Ctrl-C request a stop; a second Ctrl-C interrupts at once."""

        def stop(number: int, _: object) -> None:
            if self._request_count and number == signal.SIGINT:
                raise KeyboardInterrupt
            self._request_count += 1  # not `set`: the interrupted loop may hold its lock

        for name in ("SIGINT", "SIGTERM", "SIGBREAK"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), stop)

    def listen_to_input(
        self, on_hard_stop: Callable[[], None], on_command: Callable[[dict[str, Any]], None] = lambda command: None
    ) -> None:
        """Starts a thread that reads commands from standard input. When the input closes, the parent has gone.

        A step of a huge mesh may take longer than a person waits. So the process ends `HARD_STOP_SECONDS` after the
        command, whatever it is doing; the cache stays intact, as after any crash. A loop that stops in time calls
        `acknowledge`, and the finishing work may take as long as it needs until a second request comes.

        Args:
            on_hard_stop: Called before such an end, in the reading thread.
            on_command: Called with every other command, in the same thread.
        """

        def end() -> None:
            try:
                on_hard_stop()
            finally:
                os._exit(130)

        def request_stop(seconds: float, count: int) -> None:
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
                if not isinstance(command, dict):
                    continue
                if command.get("command") == "cancel":
                    request_stop(HARD_STOP_SECONDS, 1)
                else:
                    on_command(command)
            request_stop(INPUT_CLOSED_SECONDS, INPUT_CLOSED_REQUESTS)

        threading.Thread(target=listen, name="commands", daemon=True).start()
