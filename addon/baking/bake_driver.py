# SPDX-License-Identifier: GPL-3.0-or-later
"""Drives one bake: exports in slices, runs the child, and passes events to the state machine. No Blender."""

from __future__ import annotations

import threading
import time as clock
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...solver.runtime.errors import SinewError, SolveFailed
from . import state_machine
from .child_process import ChildProcess
from .state_machine import Job

EXPORT_SLICE_SECONDS = 0.01


class BakeDriver:
    """One bake from Simulate to its end. Call `poll` a few times a second until `job.is_running` is false."""

    def __init__(
        self,
        export: Callable[[], Iterator[float | None]],
        commands: Sequence[Sequence[str]],
        log: Path | None = None,
        on_event: Callable[[Mapping[str, Any]], None] | None = None,
        take: Callable[[], ChildProcess | None] = lambda: None,
    ) -> None:
        """Makes ready; nothing runs yet.

        Args:
            export: Returns an iterator that writes the scene bit by bit and yields how much is done, 0 to 1, or None
                where it waits for a thread; it raises `SinewError`. It is closed when the bake is cancelled meanwhile.
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
        self._exporting: Iterator[float | None] | None = None
        self._child: ChildProcess | None = None
        self._ending: threading.Thread | None = None
        self._pending_effects: list[str] = []

    def start(self, frame_start: int, frame_end: int, resume_frame: int | None = None) -> None:
        """Begins the bake; with `resume_frame` it goes on from there."""
        self._advance_job(state_machine.Started(frame_start, frame_end, clock.monotonic(), resume_frame))

    def poll(self) -> list[str]:
        """Lets the bake go on without waiting; returns FRAMES_CHANGED, WARN and END as they came."""
        if self._exporting is not None:
            self._export_slice(self._exporting)
        if self._child is not None:
            self._read_events(self._child)
        self._advance_job(state_machine.Tick(clock.monotonic()))
        shown, self._pending_effects = self._pending_effects, []
        return shown

    def cancel(self) -> None:
        """Asks the bake to stop; it has ended within `CANCEL_TIMEOUT_SECONDS` or is killed then."""
        self._advance_job(state_machine.CancelPressed(clock.monotonic()))

    def send(self, command: Mapping[str, Any]) -> None:
        """Sends a command to the child, if it runs."""
        if self._child is not None:
            self._child.send(command)

    def close(self) -> None:
        """Ends the bake now: another file is loaded, or Blender ends. Takes at most about a second."""
        self.cancel()
        end = clock.monotonic() + state_machine.CANCEL_TIMEOUT_SECONDS
        while self.job.is_running and clock.monotonic() < end:
            self.poll()
            clock.sleep(0.01)
        if self._child is not None:
            self._child.close(0.1)
            self._child = None

    def let_go(self) -> None:
        """Ends the bake without waiting: a thread sees the child end, or kills it after `CANCEL_TIMEOUT_SECONDS`.

        Nothing more is heard of it.
        """
        self.cancel()
        child, self._child = self._child, None
        if child is not None:
            timeout = state_machine.CANCEL_TIMEOUT_SECONDS
            self._ending = threading.Thread(target=lambda: child.close(timeout), name="Sinew child's end")
            self._ending.start()
        if self.job.is_running:
            self._advance_job(state_machine.ChildEnded(0, clock.monotonic()))

    @property
    def is_ending(self) -> bool:
        """Whether a child that was let go is still there."""
        return self._ending is not None and self._ending.is_alive()

    def wait_for_end(self) -> None:
        """Waits until a child that was let go has ended, about a second at most."""
        if self._ending is not None:
            self._ending.join()

    def _export_slice(self, steps: Iterator[float | None]) -> None:
        end = clock.monotonic() + EXPORT_SLICE_SECONDS
        try:
            while clock.monotonic() < end and (done := next(steps)) is not None:
                self._advance_job(state_machine.Exporting(done))
        except StopIteration:
            self._exporting = None
            self._advance_job(state_machine.Exported(clock.monotonic()))
        except SinewError as problem:
            self._exporting = None
            self._advance_job(state_machine.ExportFailed(problem.as_event()))
        except Exception as problem:
            # told to the artist like any failure; the traceback is for the log
            self._exporting = None
            self._advance_job(state_machine.ExportFailed(_internal_error(problem, self._log).as_event()))
            raise

    def _read_events(self, child: ChildProcess) -> None:
        code = child.exit_code()  # first, so that all that it said before is heard before its end
        for event in child.events():
            if self._on_event is not None:
                self._on_event(event)
            self._advance_job(state_machine.ChildSaid(event, clock.monotonic()))
        if code is not None and self._child is child:
            child.close(0.0)
            self._child = None
            self._advance_job(state_machine.ChildEnded(code, clock.monotonic()))

    def _advance_job(self, bake_event: state_machine.BakeEvent) -> None:
        self.job, effects = state_machine.advance(self.job, bake_event)
        for effect in effects:
            self._run_effect(effect)

    def _run_effect(self, effect: str) -> None:
        if effect == state_machine.START_EXPORT:
            self._exporting = iter(self._export())
        elif effect == state_machine.STOP_EXPORT:
            close = getattr(self._exporting, "close", None)
            self._exporting = None
            if close is not None:
                close()
        elif effect in (state_machine.LAUNCH, state_machine.LAUNCH_FALLBACK):
            self._launch(0 if effect == state_machine.LAUNCH else 1)
        elif effect == state_machine.SEND_CANCEL and self._child is not None:
            self._child.send({"command": "cancel"})
        elif effect == state_machine.KILL and self._child is not None:
            self._child.kill()
        else:
            if effect == state_machine.END and self._child is not None:
                self._child.close(0.0)
                self._child = None
            self._pending_effects.append(effect)

    def _launch(self, number: int) -> None:
        self._child = self._take() if number == 0 else None
        if self._child is not None:
            return
        try:
            self._child = ChildProcess(self._commands[number], self._log)
        except (OSError, IndexError):
            self._advance_job(state_machine.ChildEnded(None, clock.monotonic()))


def _internal_error(problem: Exception, log: Path | None) -> SinewError:
    return SolveFailed("internal", problem=f"{type(problem).__name__}: {problem}", log=str(log))
