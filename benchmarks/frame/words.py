# SPDX-License-Identifier: GPL-3.0-or-later
"""How the text of the page is wrapped: as the rest of docs/ is."""

from __future__ import annotations

import textwrap

WIDE = 118


def filled(paragraph: str, indent: str = "") -> str:
    """Returns a paragraph in lines of at most `WIDE`, all but the first of them indented."""
    return textwrap.fill(
        " ".join(paragraph.split()), WIDE, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
