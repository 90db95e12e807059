# SPDX-License-Identifier: GPL-3.0-or-later
"""The end of the page: what Sinew uses by default, and why, out of what the experiments found."""

from __future__ import annotations

Values = dict[str, dict[str, float]]

HEADING = "## What Sinew uses by default, and why\n"


def text(values: Values) -> str:
    """Returns the section for the named values of all experiments, by the experiment's name."""
    return HEADING
