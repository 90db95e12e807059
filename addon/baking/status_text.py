# SPDX-License-Identifier: GPL-3.0-or-later
"""The status of a bake and the label of the button, from the running bake and the cache on disk, never from the file.

A crash of Blender therefore leaves no "baking" state behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...solver.bake.cache.convergence_summary import ConvergenceSummary
from ...solver.runtime.errors import SinewError
from .state_machine import RUNNING_PHASES

CUT_LABEL = "Cut the Broken Meshes"
# labels of the button during a bake; the bar below has the details
RUNNING_LABELS = {
    "exporting": "Reading",
    "starting": "Preparing …",
    "compiling": "Compiling …",
    "building": "Preparing …",
    "finishing": "Finishing",
}


@dataclass(frozen=True)
class Status:
    """The status of one scene's bake, for display.

    Attributes:
        phase: "none", "partial", "baked", or one of `state_machine.RUNNING_PHASES`.
        outdated: Whether settings or animation changed since the frames were baked.
        is_unfinished: Whether a broken body lacks its final mesh, because Blender was closed before.
        is_whole: Whether the file has the broken meshes and the nodes of the bake, which an undo removes.
        frame: The last complete frame in the cache, or None.
        resume_frame: The last frame from which the bake can continue, or None.
        frame_start, frame_end: The requested range.
        fraction: Of the running bake that is done, 0 to 1.
        seconds_left: Estimate for the rest of the running bake [s], or None.
        tets: Tets of all bodies, or None before they are known.
        stage: Of the running bake, for people.
        prerolled: Fraction of the pre-roll that is done, 0 to 1, or None outside it.
        iteration: Newton iteration of the present flesh solve, and its residual; or None.
        convergence: Summary of the running bake, or of the frames in the cache.
        contacts: Of the last frame of the running bake, or None.
        problem: Why the bake on disk cannot be read, or None.
        busy_elsewhere: Whether another process has the cache's lock.
    """

    phase: str = "none"
    outdated: bool = False
    is_unfinished: bool = False
    is_whole: bool = True
    frame: int | None = None
    resume_frame: int | None = None
    frame_start: int = 1
    frame_end: int = 250
    fraction: float = 0.0
    seconds_left: float | None = None
    tets: int | None = None
    stage: str = ""
    prerolled: float | None = None
    iteration: tuple[int, float] | None = None
    convergence: ConvergenceSummary = ConvergenceSummary()
    contacts: int | None = None
    problem: SinewError | None = None
    busy_elsewhere: bool = False

    @property
    def is_running(self) -> bool:
        """Whether this Blender is baking the scene."""
        return self.phase in RUNNING_PHASES

    @property
    def is_locked(self) -> bool:
        """Whether the settings are locked, since they belong to frames that are or will be up to date."""
        return self.is_running or (self.phase == "baked" and not self.outdated)

    @property
    def can_resume(self) -> bool:
        """Whether frames or final meshes are missing and the cache can be resumed."""
        is_incomplete = self.phase == "partial" or (self.phase == "baked" and self.is_unfinished)
        return is_incomplete and self.resume_frame is not None

    @property
    def next_frame(self) -> int:
        """The first frame that a resumed bake computes."""
        return (self.resume_frame or 0) + 1

    @property
    def label(self) -> str:
        """The label of the button."""
        if self.phase == "cancelling":
            return "Stopping …"
        if self.is_running:
            return f"{_running_label(self)}   Cancel"
        if self.busy_elsewhere:
            return "Baking in Another Blender …"
        if self.outdated:
            return "Out of Date: Simulate Again"
        if self.can_resume and self.phase == "baked":
            return CUT_LABEL
        if self.can_resume:
            return f"Resume from Frame {self.next_frame}"
        if self.phase == "baked":
            return f"Baked to Frame {self.frame}"
        return "Simulate"


def _running_label(status: Status) -> str:
    if status.phase in ("exporting", "baking", "finishing"):
        return f"{RUNNING_LABELS.get(status.phase, 'Baking')} {_percent(status.fraction)}"
    return RUNNING_LABELS[status.phase]


def newton_iteration(event: Mapping[str, Any] | None) -> tuple[int, float] | None:
    """Returns the Newton iteration and the residual in a `solving` event."""
    if event is None or not isinstance(event.get("newton_iterations"), int):
        return None
    residual = event.get("residual")
    return event["newton_iterations"], float(residual) if isinstance(residual, int | float) else float("inf")


def _percent(fraction: float) -> str:
    """Returns a percentage, never 100 before the end: "12 %"."""
    return f"{min(int(100.0 * fraction), 99)} %"


def duration_text(seconds: float) -> str:
    """Returns a time for people: "42 s", "3 min 05 s", "2 h 10 min"."""
    whole = int(seconds + 0.5)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def size_text(count: float) -> str:
    """Returns a number of bytes for people: "119 MB"."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000.0 or unit == "GB":
            return f"{count:.0f} {unit}" if unit in ("B", "kB") or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000.0
    raise AssertionError
