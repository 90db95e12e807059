# SPDX-License-Identifier: GPL-3.0-or-later
"""The convergence of a bake's steps, summarised from its report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

DIVERGED_RESIDUAL = 1.0  # residual of a diverged step (`integrators/nonlinear_step.py`)


@dataclass(frozen=True)
class ConvergenceSummary:
    """Summary of the steps of a bake.

    Attributes:
        residual: The largest final relative residual of a step.
        worst_frame: Its frame, or None.
        not_converged: Steps and poses that ended above the tolerance.
        unsettled: Steps whose active set still changed after the last allowed solve.
        inverted_tets: The largest number of inverted tets after a step.
        pose_residual: The largest final residual of a pose.
        worst_pose_frame: Its frame, or None.
        poses_not_converged: The number of poses in `not_converged`.
        contacts: The largest number of contacts at the end of a frame.
        busiest_frame: Its frame, or None.
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
        """Returns the summary of the lines of a report, or of `frame` events."""
        summary = ConvergenceSummary()
        for line in lines:
            summary = summary.with_frame(line)
        return summary

    def with_frame(self, line: Mapping[str, Any]) -> ConvergenceSummary:
        """Returns the summary with one more line of the report."""
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
        """Returns the fields of the `done` event and of `sinew info`."""
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
    """Returns a number of a report. null stands for a number that is not finite, and counts as infinity."""
    value = line.get(name, 0.0)
    return float("inf") if value is None else float(value)
