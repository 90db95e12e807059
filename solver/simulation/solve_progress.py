# SPDX-License-Identifier: GPL-3.0-or-later
"""What a frame tells while it is solved: Newton iterations of flesh, and how far a hit has broken a brittle body."""

from __future__ import annotations

from collections.abc import Callable

from ..brittle.crack_progress import CrackProgress
from ..quasistatic.progress import Progress

SolveProgress = Progress | CrackProgress
OnProgress = Callable[[SolveProgress], None]
