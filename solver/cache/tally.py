# SPDX-License-Identifier: GPL-3.0-or-later
"""How the steps of a bake went, summed up from its report: nothing that did not converge goes unsaid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Tally:
    """What is to be said about the steps of a bake.

    Attributes:
        residual: The largest relative residual that a step ended with.
        worst_frame: The frame in which it did, or None.
        not_converged: Steps that ended above the tolerance.
        unsettled: Steps whose contacts still wanted to change after the last solve allowed.
        inverted_tets: Most tets turned inside out after a step.
    """

    residual: float = 0.0
    worst_frame: int | None = None
    not_converged: int = 0
    unsettled: int = 0
    inverted_tets: int = 0

    @staticmethod
    def of(lines: Iterable[Mapping[str, Any]]) -> Tally:
        """Returns the tally of the lines of a report, or of `frame` events."""
        tally = Tally()
        for line in lines:
            tally = tally.and_frame(line)
        return tally

    def and_frame(self, line: Mapping[str, Any]) -> Tally:
        """Returns the tally with one more frame, of which a line of the report tells."""
        residual = line.get("residual")
        residual = float("inf") if residual is None and "residual" in line else float(residual or 0.0)
        is_worse = residual > self.residual
        return Tally(
            residual if is_worse else self.residual,
            line.get("frame") if is_worse else self.worst_frame,
            self.not_converged + int(line.get("not_converged", not line.get("converged", True))),
            self.unsettled + int(line.get("unsettled", 0)),
            max(self.inverted_tets, int(line.get("inverted_tets", 0))),
        )

    def as_event(self) -> dict[str, Any]:
        """Returns it as the `done` event and `sinew info` tell it."""
        return {
            "residual": self.residual,
            "worst_frame": self.worst_frame,
            "not_converged": self.not_converged,
            "unsettled": self.unsettled,
            "inverted_tets": self.inverted_tets,
        }
