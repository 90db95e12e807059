# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake as a pure transition: (job, bake_event) → (job, effects). No Blender, no process, no clock.

`bake_driver.py` says what happened, with the time, and does what the effects say. Every phase ends: exporting and a
running child by themselves or by Cancel, a cancelled child by its deadline, a killed one by another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...solver.bake.cache.convergence_summary import ConvergenceSummary
from ...solver.runtime.errors import SolveFailed
from .state_machine_events import (
    BakeEvent,
    CancelPressed,
    ChildEnded,
    ChildSaid,
    Exported,
    ExportFailed,
    Exporting,
    Started,
    Tick,
)

RUNNING_PHASES = ("exporting", "starting", "compiling", "building", "baking", "finishing", "cancelling")
CANCEL_TIMEOUT_SECONDS = 0.9  # after that a child that was asked to stop is killed
CANCEL_START_TIMEOUT_SECONDS = 0.2  # the same while it starts: it has nothing yet that it could finish
KILL_TIMEOUT_SECONDS = 3.0  # after that a killed child that is still there is given up
SILENCE_TIMEOUT_SECONDS = 120.0  # a child that has said nothing at all for that long is killed
EXIT_TIMEOUT_SECONDS = 10.0  # a child that has said its last word and is still there after that is killed
FRAME_RATE_WINDOW = 20


@dataclass(frozen=True)
class Job:
    """One bake, as far as it has come.

    Attributes:
        phase: "idle"; running: "exporting", "starting", "compiling", "building", "baking", "finishing",
            "cancelling"; ended: "done", "cancelled", "failed". A child that was asked to stop is "cancelling" until it
            begins to finish what broke, and again when it is asked to leave that too.
        frame_start, frame_end: What is asked for.
        resume_frame: The frame it goes on from, or None from the start.
        frame: The last frame that counts, or None.
        exported: How much of the export is done, 0 to 1.
        finished: How much of the finishing of a body that broke is done, 0 to 1, or None before that.
        prerolled: How much of the pre-roll is done, 0 to 1, or None where there is none, or it is over.
        newton_event: The last `solving` event of flesh since the last frame, or None.
        crack_event: The last `cracking` event of a brittle body since the last frame, or None.
        stage, body: What is being built ("tetrahedralize", "bind", "rest"), of which body; or which one is finished.
        bodies: What the child said about each body once built: key, name, tets, nodes, warnings.
        tets: Tets of all bodies, or None before they are known.
        warnings, error: What the child said, as its events.
        convergence: How the steps of this job went.
        last_frame_event: The last `frame` event.
        frame_times: When frames came: (seconds, frame), the last few.
        is_complete: Whether the child said `done`.
        deadline: When patience with the child ends, or None.
        is_killed: Whether it was killed.
        tried_fallback: Whether the second way of starting Python was tried.
    """

    phase: str = "idle"
    frame_start: int = 1
    frame_end: int = 250
    resume_frame: int | None = None
    frame: int | None = None
    exported: float = 0.0
    finished: float | None = None
    prerolled: float | None = None
    newton_event: Mapping[str, Any] | None = None
    crack_event: Mapping[str, Any] | None = None
    stage: str = ""
    body: str = ""
    bodies: tuple[Mapping[str, Any], ...] = ()
    tets: int | None = None
    warnings: tuple[Mapping[str, Any], ...] = ()
    error: Mapping[str, Any] | None = None
    convergence: ConvergenceSummary = ConvergenceSummary()
    last_frame_event: Mapping[str, Any] | None = None
    frame_times: tuple[tuple[float, int], ...] = ()
    is_complete: bool = False
    deadline: float | None = None
    is_killed: bool = False
    tried_fallback: bool = False

    @property
    def is_running(self) -> bool:
        """Whether something is going on that Cancel would stop."""
        return self.phase in RUNNING_PHASES

    @property
    def fraction(self) -> float:
        """How much of what this job bakes is done, 0 to 1; of the export while it exports."""
        if self.phase == "exporting":
            return self.exported
        if self.phase == "finishing":
            return self.finished or 0.0
        first = self.frame_start if self.resume_frame is None else self.resume_frame
        if self.frame is None:
            return 0.0
        return min(max((self.frame - first) / max(self.frame_end - first, 1), 0.0), 1.0)

    def seconds_left(self, now: float) -> float | None:
        """Returns how long the rest takes at the pace of the last frames [s], or None while that is unknown.

        While a body breaks, the last frames say nothing of how long that takes.
        """
        if self.phase != "baking" or len(self.frame_times) < 2 or self.crack_event is not None:
            return None
        (t0, frame0), (t1, frame1) = self.frame_times[0], self.frame_times[-1]
        if frame1 <= frame0:
            return None
        return max((t1 - t0) / (frame1 - frame0) * (self.frame_end - frame1) - (now - t1), 0.0)


# What is to be done about it, in order.
START_EXPORT = "start export"
STOP_EXPORT = "stop export"
LAUNCH = "launch child"
LAUNCH_FALLBACK = "launch child with Blender itself"
SEND_CANCEL = "send cancel"
KILL = "kill child"
FRAMES_CHANGED = "frames changed"  # the viewport may show more
WARN = "warn"  # say job.warnings[-1]
END = "end"  # say how it ended; nothing runs any more

Effects = tuple[str, ...]
Transition = tuple[Job, Effects]


def advance(job: Job, bake_event: BakeEvent) -> Transition:
    """Returns the job after something happened, and what is to be done; what cannot happen now changes nothing."""
    match bake_event:
        case Started() if not job.is_running:
            fresh = Job("exporting", bake_event.frame_start, bake_event.frame_end, bake_event.resume_frame)
            return replace(fresh, frame=bake_event.resume_frame), (START_EXPORT,)
        case Exporting() if job.phase == "exporting":
            return replace(job, exported=min(max(bake_event.done, 0.0), 1.0)), ()
        case Exported() if job.phase == "exporting":
            return replace(job, phase="starting", deadline=bake_event.now + SILENCE_TIMEOUT_SECONDS), (LAUNCH,)
        case ExportFailed() if job.phase == "exporting":
            return _end(job, "failed", bake_event.error)
        case ChildSaid() if job.is_running and job.phase != "exporting":
            return _on_child_event(job, bake_event.event, bake_event.now)
        case ChildEnded() if job.is_running and job.phase != "exporting":
            return _on_child_exit(job, bake_event)
        case CancelPressed() if job.phase == "exporting":
            ended, effects = _end(job, "cancelled")
            return ended, (STOP_EXPORT, *effects)
        case CancelPressed() if job.is_running and job.phase != "cancelling":
            patience = CANCEL_START_TIMEOUT_SECONDS if job.phase == "starting" else CANCEL_TIMEOUT_SECONDS
            return replace(job, phase="cancelling", deadline=bake_event.now + patience), (SEND_CANCEL,)
        case Tick() if job.is_running and job.deadline is not None and bake_event.now >= job.deadline:
            return _silence_deadline(job, bake_event.now)
    return job, ()


def _on_child_event(job: Job, event: Mapping[str, Any], now: float) -> Transition:
    kind = event.get("event")
    is_cancelling = job.phase == "cancelling"
    if kind == "finishing" and not (is_cancelling and job.finished is not None):
        # stopped or at the last frame, it makes of what broke what can be rendered: that may take some seconds
        return _on_finishing(job, event)
    if not is_cancelling:
        job = replace(job, deadline=None)
    match kind:
        case "started":
            return replace(job, error=None), ()
        case "compiling":
            return _in_phase(job, "compiling"), ()
        case "building":
            stage, body = str(event.get("stage", "")), str(event.get("body", ""))
            return replace(_in_phase(job, "building"), stage=stage, body=body), ()
        case "built":
            return _on_built(job, event)
        case "warning":
            return replace(job, warnings=(*job.warnings, event)), (WARN,)
        case "error":
            return replace(job, error=event, deadline=_exit_deadline(job, now)), ()
        case "done":
            convergence = _final_convergence(event, job.convergence)
            return replace(job, convergence=convergence, is_complete=True, deadline=_exit_deadline(job, now)), ()
        case "frame" if isinstance(event.get("frame"), int):
            return _on_frame(job, event, now)
        case "preroll":
            return replace(_in_phase(job, "baking"), prerolled=_event_fraction(event)), ()
        case "solving":
            return replace(_in_phase(job, "baking"), newton_event=event), ()
        case "cracking":
            return replace(_in_phase(job, "baking"), crack_event=event), ()
    return job, ()  # events of later versions


def _in_phase(job: Job, phase: str) -> Job:
    """Returns the job in a phase that the child says; while cancelling it stays in that one.

    Nothing else stays: frames that were finished before the child heard of it count.
    """
    return job if job.phase == "cancelling" else replace(job, phase=phase)


def _on_finishing(job: Job, event: Mapping[str, Any]) -> Transition:
    job = replace(job, newton_event=None, crack_event=None, prerolled=None, deadline=None)
    return replace(job, phase="finishing", body=str(event.get("body", "")), finished=_event_fraction(event)), ()


def _on_built(job: Job, event: Mapping[str, Any]) -> Transition:
    bodies = tuple(event.get("bodies", ()))
    found = tuple(warning for body in bodies for warning in body.get("warnings", ()))
    job = replace(_in_phase(job, "baking"), bodies=bodies, tets=event.get("tets"), warnings=job.warnings + found)
    return job, (WARN,) * bool(found)


def _on_frame(job: Job, event: Mapping[str, Any], now: float) -> Transition:
    job = replace(
        _in_phase(job, "baking"),
        frame=event["frame"],
        frame_times=(*job.frame_times, (now, event["frame"]))[-FRAME_RATE_WINDOW:],
        convergence=job.convergence.with_frame(event),
        last_frame_event=event,
        newton_event=None,
        crack_event=None,
        prerolled=None,
    )
    return job, (FRAMES_CHANGED,)


def _event_fraction(event: Mapping[str, Any]) -> float:
    """Returns how much an event says is done, 0 to 1."""
    fraction = event.get("fraction")
    return min(max(float(fraction), 0.0), 1.0) if isinstance(fraction, int | float) else 0.0


def _on_child_exit(job: Job, ended: ChildEnded) -> Transition:
    has_failed = job.error is not None and job.error.get("kind") != "cancelled"
    # a Python that starts but cannot import what it needs says "internal" at once
    is_stillborn = job.phase == "starting" and (job.error is None or job.error.get("kind") == "internal")
    if job.is_complete:  # whatever happened to it on its way out, every frame is there
        return _end(job, "done")
    if is_stillborn and ended.code != 130 and not job.is_killed and not job.tried_fallback:
        # what the first one said is kept until the second one says anything
        return replace(job, tried_fallback=True, deadline=ended.now + SILENCE_TIMEOUT_SECONDS), (LAUNCH_FALLBACK,)
    if has_failed:
        return _end(job, "failed", job.error)
    if ended.code == 130 or job.phase == "cancelling":
        return _end(job, "cancelled")
    if job.phase == "starting":
        return _end(job, "failed", SolveFailed("child-not-started", code=describe_exit(ended.code)).as_event())
    place = "before the first frame" if job.frame is None else f"after frame {job.frame}"
    crashed = SolveFailed("child-crashed", place=place, code=describe_exit(ended.code))
    return _end(job, "failed", crashed.as_event())


def _silence_deadline(job: Job, now: float) -> Transition:
    if not job.is_killed:
        if job.phase == "starting":
            silent = SolveFailed("child-silent", seconds=int(SILENCE_TIMEOUT_SECONDS))
            job = replace(job, error=silent.as_event())
        return replace(job, is_killed=True, deadline=now + KILL_TIMEOUT_SECONDS), (KILL,)
    return _on_child_exit(job, ChildEnded(-9, now))


def _final_convergence(event: Mapping[str, Any], summary: ConvergenceSummary) -> ConvergenceSummary:
    """Returns the convergence in a `done` event, which counts what was baked before a resume too."""
    known = {name: event.get(name) for name in summary.as_event()}
    return replace(summary, **{name: value for name, value in known.items() if value is not None})


def _exit_deadline(job: Job, now: float) -> float:
    """Returns when patience ends with a child that has said its last word."""
    deadline = now + EXIT_TIMEOUT_SECONDS
    return deadline if job.deadline is None else min(job.deadline, deadline)


def _end(job: Job, phase: str, error: Mapping[str, Any] | None = None) -> Transition:
    return replace(job, phase=phase, error=error if phase == "failed" else None, deadline=None), (FRAMES_CHANGED, END)


def describe_exit(code: int | None) -> str:
    """Returns what an exit code means, for the end of a sentence: "signal 9 (killed)"."""
    if code is None:
        return "it could not be started"
    known = {9: "killed", 11: "segmentation fault", 6: "aborted", 4: "illegal instruction", 8: "arithmetic error"}
    if code < 0:
        return f"signal {-code}" + (f" ({known[-code]})" if -code in known else "")
    if code > 0xC0000000:
        return f"Windows error 0x{code:X}"
    return f"exit code {code}"
