# SPDX-License-Identifier: GPL-3.0-or-later
"""Wraps the text of a page like the rest of docs/."""

from __future__ import annotations

import textwrap

LINE_WIDTH = 118


def wrap(paragraph: str, indent: str = "") -> str:
    """Returns a paragraph in lines of at most `LINE_WIDTH`, indented from the second line on."""
    return textwrap.fill(
        " ".join(paragraph.split()),
        LINE_WIDTH,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
