# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes in a background thread, so that the next frame is computed while the disk syncs.

Writes have the same order as without the thread. The callback of a write, such as the event of a frame, runs after the
write: so every reported frame is on disk, and a failed write is the last one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

MAX_PENDING_WRITES = 2  # pending writes: their data is in memory, and lost if the process is killed


class BackgroundWriter:
    """Pending writes. One thread submits them, and their callbacks run in that thread."""

    def __init__(self, room: int = MAX_PENDING_WRITES) -> None:
        """Allows at most `room` pending writes."""
        self._room = room
        self._thread = ThreadPoolExecutor(1, "writes")
        self._pending: deque[tuple[Future[None], Callable[[], None]]] = deque()
        self._has_failed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Waits for pending writes. Without `finish`, their callbacks do not run."""
        self._thread.shutdown()

    def submit(self, write: Callable[[], None], then: Callable[[], None]) -> None:
        """Starts a write as soon as there is room, then continues as `run_callbacks`.

        Args:
            write: Called after all earlier writes, and never after a failed one.
            then: Callback after the write, by `submit`, `run_callbacks` or `finish`.

        Raises:
            Any error of an earlier write or callback.
        """
        while len(self._pending) >= self._room:
            self._run_next_callback()
        self._pending.append((self._thread.submit(self._run, write), then))
        self.run_callbacks()

    def run_callbacks(self) -> None:
        """Runs the callbacks of finished writes in order; raises as `submit`."""
        while self._pending and self._pending[0][0].done():
            self._run_next_callback()

    def finish(self) -> None:
        """Waits for all writes and runs their callbacks; raises as `submit`."""
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
