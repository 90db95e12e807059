# SPDX-License-Identifier: GPL-3.0-or-later
"""Names in sentences for people."""

from __future__ import annotations

from collections.abc import Sequence

MAX_NAMES = 3  # that a row or a sentence lists


def few_names(names: Sequence[str]) -> str:
    """Returns the first names, and how many more there are: "Humerus, Ulna, Radius and 3 more"."""
    more = len(names) - MAX_NAMES
    few = ", ".join(names[:MAX_NAMES])
    return f"{few} and {more} more" if more > 0 else few
