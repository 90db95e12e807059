# SPDX-License-Identifier: GPL-3.0-or-later
"""How the steps of a bake went, summed up from its report: nothing that did not converge goes unsaid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

DIVERGED_RESIDUAL = (
    1.0  # residual of a step that leaves more than all that it is made of (`integrators/nonlinear_step.py`)
)


@dataclass(frozen=True)
class ConvergenceSummary:
    """What is to be said about the steps of a bake.

    Attributes:
        residual: The largest relative residual that a step ended with.
        worst_frame: The frame in which it did, or None.
        not_converged: Steps and poses that ended above the tolerance.
        unsettled: Steps whose contacts still wanted to change after the last solve allowed.
        inverted_tets: Most tets turned inside out after a step.
        pose_residual: The largest residual that a pose of flesh ended with.
        worst_pose_frame: The frame in which it did, or None.
        poses_not_converged: How many of `not_converged` are poses.
        contacts: Most contacts at the end of a frame.
        busiest_frame: The frame that had them, or None.
    """

    residual: float = 0.0
    worst_frame: int | None = None
    not_converged: int = 0
    unsettled: int = 0
    inverted_tets: int = 0
    pose_residual: float = 0.0
    worst_pose_frame: int | None = None
    poses_not_converged: int = 0
    contacts: int = 0
    busiest_frame: int | None = None

    @staticmethod
    def from_report(lines: Iterable[Mapping[str, Any]]) -> ConvergenceSummary:
        """Returns the tally of the lines of a report, or of `frame` events."""
        tally = ConvergenceSummary()
        for line in lines:
            tally = tally.with_frame(line)
        return tally

    def with_frame(self, line: Mapping[str, Any]) -> ConvergenceSummary:
        """Returns the tally with one more frame, of which a line of the report tells."""
        residual, pose_residual = _number(line, "residual"), _number(line, "pose_residual")
        contacts = int(line.get("contacts", 0))
        is_worse, is_worse_pose = residual > self.residual, pose_residual > self.pose_residual
        return ConvergenceSummary(
            residual if is_worse else self.residual,
            line.get("frame") if is_worse else self.worst_frame,
            self.not_converged + int(line.get("not_converged", not line.get("converged", True))),
            self.unsettled + int(line.get("unsettled", 0)),
            max(self.inverted_tets, int(line.get("inverted_tets", 0))),
            pose_residual if is_worse_pose else self.pose_residual,
            line.get("frame") if is_worse_pose else self.worst_pose_frame,
            self.poses_not_converged + int(line.get("poses_not_converged", 0)),
            max(contacts, self.contacts),
            line.get("frame") if contacts > self.contacts else self.busiest_frame,
        )

    def as_event(self) -> dict[str, Any]:
        """Returns it as the `done` event and `sinew info` tell it."""
        return {
            "residual": self.residual,
            "worst_frame": self.worst_frame,
            "not_converged": self.not_converged,
            "unsettled": self.unsettled,
            "inverted_tets": self.inverted_tets,
            "pose_residual": self.pose_residual,
            "worst_pose_frame": self.worst_pose_frame,
            "poses_not_converged": self.poses_not_converged,
            "contacts": self.contacts,
            "busiest_frame": self.busiest_frame,
        }


def _number(line: Mapping[str, Any], name: str) -> float:
    """Returns a number of a report; what is no number stands there as null, and is worse than any."""
    told = line.get(name, 0.0)
    return float("inf") if told is None else float(told)
