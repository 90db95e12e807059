# SPDX-License-Identifier: GPL-3.0-or-later
"""What one step has to say about itself."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class StepReport:
    """How a step went.

    Attributes:
        iterations: Iterations of the linear solver, over all solves of the step.
        residual: ‖b − A v‖ / ‖b‖ of the last solve, computed anew at its end, of the body where it is largest.
        converged: Whether `residual` is within the tolerance.
        settled: Whether contacts were content at the end, rather than cut off after the last solve allowed.
        solves: Linear solves; more than one where contacts changed.
        contacts: Contacts in the last solve.
        inverted_tets: Tets turned inside out at the end of the step.
        milliseconds: Time of each stage, by name; never written where bytes are compared.
        splits_left: Overloaded tets that wait for the next step because of a limit, by key of the body.
    """

    iterations: int
    residual: float
    converged: bool
    settled: bool = True
    solves: int = 1
    contacts: int = 0
    inverted_tets: int = 0
    milliseconds: dict[str, float] = field(default_factory=dict)
    splits_left: dict[str, float] = field(default_factory=dict)
