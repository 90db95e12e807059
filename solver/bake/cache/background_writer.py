# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes in a thread of their own, so that nothing waits for a disk to sync while the next frame is computed.

The disk is asked for the same things in the same order as without the thread. What follows from a write, as telling
of a frame, follows when it is done: so what has been told of counts, and a write that failed is the last one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

MAX_PENDING_WRITES = (
    2  # writes that may be under way: what they hold lies in memory, and is lost where the process is killed
)


class BackgroundWriter:
    """Writes that are under way. One thread asks for them, and what follows is called by that thread."""

    def __init__(self, room: int = MAX_PENDING_WRITES) -> None:
        """Makes ready for at most `room` writes that are not done."""
        self._room = room
        self._thread = ThreadPoolExecutor(1, "writes")
        self._pending: deque[tuple[Future[None], Callable[[], None]]] = deque()
        self._has_failed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Waits until no write is under way. Of those that nobody asked after with `finish`, nothing is told."""
        self._thread.shutdown()

    def submit(self, write: Callable[[], None], then: Callable[[], None]) -> None:
        """Begins a write, when there is room for it, and goes on as `run_callbacks`.

        Args:
            write: What writes; called once all writes before it are done, and never after one that failed.
            then: Called once it is done, by `submit`, `run_callbacks` or `finish`.

        Raises:
            What an earlier write, or what followed from one, raises.
        """
        while len(self._pending) >= self._room:
            self._run_next_callback()
        self._pending.append((self._thread.submit(self._run, write), then))
        self.run_callbacks()

    def run_callbacks(self) -> None:
        """Calls what follows from the writes that are done by now, in their order; raises as `submit`."""
        while self._pending and self._pending[0][0].done():
            self._run_next_callback()

    def finish(self) -> None:
        """Waits until all writes are done, and calls what follows from them; raises as `submit`."""
        while self._pending:
            self._run_next_callback()

    def _run_next_callback(self) -> None:
        written, then = self._pending[0]
        written.result()
        self._pending.popleft()
        then()

    def _run(self, write: Callable[[], None]) -> None:
        if self._has_failed:
            return
        try:
            write()
        except BaseException:
            self._has_failed = True
            raise
