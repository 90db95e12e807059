# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told of a solve while it goes on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """How far a solve is: Newton iterations so far, residual, inverted tets."""

    newton_iterations: int
    residual: float
    inverted_tets: int
