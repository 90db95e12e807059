# SPDX-License-Identifier: GPL-3.0-or-later
"""What the one big button says: read off the running bake and the cache on disk, never stored in the file.

A crash of Blender therefore leaves no "baking" behind: the next start sees what is on disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...solver.bake.cache.convergence_summary import ConvergenceSummary
from ...solver.runtime.errors import SinewError

CUT_LABEL = "Cut the Mesh of What Broke"
# what the button says of a running bake; the bar below says more
RUNNING_LABELS = {"export": "Reading", "compiling": "Compiling …", "building": "Preparing …", "finishing": "Finishing"}
# phases of a running bake_job.Job, as the panel tells them apart
SHOWN_PHASES = {
    "exporting": "export",
    "starting": "building",
    "compiling": "compiling",
    "building": "building",
    "baking": "baking",
    "finishing": "finishing",
    "cancelling": "stopping",
}


@dataclass(frozen=True)
class Status:
    """The state of one scene's bake, as it is shown.

    Attributes:
        phase: "none", "partial", "baked", or of a running bake "export", "compiling", "building", "baking",
            "finishing", "stopping".
        outdated: Whether settings or animation changed since the frames were baked.
        is_unfinished: Whether something broke whose final mesh is not there: Blender was closed before it was made.
        is_whole: Whether the file has the broken meshes and the nodes that the bake needs: an undo takes them out.
        frame: The last whole frame in the cache, or None.
        resume_frame: The last frame from which the bake can go on, or None.
        frame_start, frame_end: The range that is asked for.
        fraction: How much of the running bake is done, 0 to 1.
        seconds_left: Estimate for the rest of the running bake [s], or None.
        tets: Tets of all bodies, or None before they are known.
        stage: What a running bake is at, for people.
        prerolled: How much of the pre-roll is done, 0 to 1, or None outside it.
        iteration: Of Newton's method, for the flesh that is being solved, and the residual there; or None.
        tally: How the steps of the running bake, or of the frames that are there, went.
        contacts: Of the last frame of the running bake, or None.
        problem: Why the bake that is there cannot be read, or None.
        busy_elsewhere: Whether another process holds the cache's lock.
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
        """Whether this Blender bakes the scene now."""
        return self.phase in {*RUNNING_LABELS, "baking", "stopping"}

    @property
    def is_locked(self) -> bool:
        """Whether the settings are not to be changed: they belong to frames that are, or will be, up to date."""
        return self.is_running or (self.phase == "baked" and not self.outdated)

    @property
    def can_resume(self) -> bool:
        """Whether frames are missing at the end, or final meshes, and the cache lets the bake go on."""
        is_wanting = self.phase == "partial" or (self.phase == "baked" and self.is_unfinished)
        return is_wanting and self.resume_frame is not None

    @property
    def next_frame(self) -> int:
        """The first frame that a resumed bake makes anew."""
        return (self.resume_frame or 0) + 1

    @property
    def label(self) -> str:
        """The words on the button."""
        if self.phase == "stopping":
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
    if status.phase in ("export", "baking", "finishing"):
        return f"{RUNNING_LABELS.get(status.phase, 'Baking')} {_percent(status.fraction)}"
    return RUNNING_LABELS[status.phase]


def newton_iteration(event: Mapping[str, Any] | None) -> tuple[int, float] | None:
    """Returns what a `solving` event says of the flesh that is being solved: Newton iteration and residual."""
    if event is None or not isinstance(event.get("newton_iterations"), int):
        return None
    residual = event.get("residual")
    return event["newton_iterations"], float(residual) if isinstance(residual, int | float) else float("inf")


def _percent(fraction: float) -> str:
    """Returns whole per cent, never 100 before the end: "12 %"."""
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
