# SPDX-License-Identifier: GPL-3.0-or-later
"""Does what the bake's transition asks for: exports in slices, runs the child, tells what happened. No Blender."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...solver.errors import SinewError, SolveFailed
from . import bake_job
from .bake_job import Job
from .child_process import ChildProcess

SLICE_SECONDS = 0.03


class BakeDriver:
    """One bake from Simulate to its end. Call `poll` a few times a second until `job.is_running` is false."""

    def __init__(
        self,
        export: Callable[[], Iterator[float]],
        commands: Sequence[Sequence[str]],
        log: Path | None = None,
        on_event: Callable[[Mapping[str, Any]], None] | None = None,
        take: Callable[[], ChildProcess | None] = lambda: None,
    ) -> None:
        """Makes ready; nothing runs yet.

        Args:
            export: Returns an iterator that writes the scene bit by bit and yields how much is done, 0 to 1;
                it raises `SinewError`. It is closed when the bake is cancelled meanwhile.
            commands: The child's command and the ones to try when that does not start.
            log: Where the child's standard error goes; its folder is made by the export.
            on_event: Called with each event that the child says.
            take: Returns a child that was started before and does the first command from now on, or None.
        """
        self.job = Job()
        self._export = export
        self._commands = [command for command in commands if command]
        self._log = log
        self._on_event = on_event
        self._take = take
        self._exporting: Iterator[float] | None = None
        self._child: ChildProcess | None = None
        self._shown: list[str] = []

    def start(self, frame_start: int, frame_end: int, resume_frame: int | None = None) -> None:
        """Begins the bake; with `resume_frame` it goes on from there."""
        self._tell(bake_job.Started(frame_start, frame_end, clock.monotonic(), resume_frame))

    def poll(self) -> list[str]:
        """Lets the bake go on without waiting; returns FRAMES_CHANGED, WARN and END as they came."""
        if self._exporting is not None:
            self._export_slice(self._exporting)
        if self._child is not None:
            self._hear(self._child)
        self._tell(bake_job.Tick(clock.monotonic()))
        shown, self._shown = self._shown, []
        return shown

    def cancel(self) -> None:
        """Asks the bake to stop; it has ended within `CANCEL_SECONDS` or is killed then."""
        self._tell(bake_job.CancelPressed(clock.monotonic()))

    def close(self) -> None:
        """Ends the bake now: another file is loaded, or Blender ends. Takes at most about a second."""
        self.cancel()
        end = clock.monotonic() + bake_job.CANCEL_SECONDS
        while self.job.is_running and clock.monotonic() < end:
            self.poll()
            clock.sleep(0.01)
        if self._child is not None:
            self._child.close(0.1)
            self._child = None

    def _export_slice(self, steps: Iterator[float]) -> None:
        end = clock.monotonic() + SLICE_SECONDS
        try:
            while clock.monotonic() < end:
                self._tell(bake_job.Exporting(float(next(steps))))
        except StopIteration:
            self._exporting = None
            self._tell(bake_job.Exported(clock.monotonic()))
        except SinewError as problem:
            self._exporting = None
            self._tell(bake_job.ExportFailed(problem.as_event()))
        except Exception as problem:
            # told to the artist like any failure; the traceback is for the log
            self._exporting = None
            self._tell(bake_job.ExportFailed(_internal(problem, self._log).as_event()))
            raise

    def _hear(self, child: ChildProcess) -> None:
        code = child.exit_code()  # first, so that all that it said before is heard before its end
        for event in child.events():
            if self._on_event is not None:
                self._on_event(event)
            self._tell(bake_job.ChildSaid(event, clock.monotonic()))
        if code is not None and self._child is child:
            child.close(0.0)
            self._child = None
            self._tell(bake_job.ChildEnded(code, clock.monotonic()))

    def _tell(self, happening: bake_job.Happening) -> None:
        self.job, effects = bake_job.advance(self.job, happening)
        for effect in effects:
            self._do(effect)

    def _do(self, effect: str) -> None:
        if effect == bake_job.START_EXPORT:
            self._exporting = iter(self._export())
        elif effect == bake_job.STOP_EXPORT:
            close = getattr(self._exporting, "close", None)
            self._exporting = None
            if close is not None:
                close()
        elif effect in (bake_job.LAUNCH, bake_job.LAUNCH_FALLBACK):
            self._launch(0 if effect == bake_job.LAUNCH else 1)
        elif effect == bake_job.SEND_CANCEL and self._child is not None:
            self._child.send({"command": "cancel"})
        elif effect == bake_job.KILL and self._child is not None:
            self._child.kill()
        else:
            if effect == bake_job.END and self._child is not None:
                self._child.close(0.0)
                self._child = None
            self._shown.append(effect)

    def _launch(self, number: int) -> None:
        self._child = self._take() if number == 0 else None
        if self._child is not None:
            return
        try:
            self._child = ChildProcess(self._commands[number], self._log)
        except (OSError, IndexError):
            self._tell(bake_job.ChildEnded(None, clock.monotonic()))


def _internal(problem: Exception, log: Path | None) -> SinewError:
    return SolveFailed("internal", problem=f"{type(problem).__name__}: {problem}", log=str(log))
