# SPDX-License-Identifier: GPL-3.0-or-later
"""What a page says of one experiment or benchmark."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from frame.store import picture_name
from frame.table import remarks
from frame.words import filled


def section(
    name: str,
    heading: str,
    what: str,
    table: Iterable[str],
    kept: dict[str, Any],
    *,
    said_of: Iterable[Any],
    pictures: str,
    command: str,
) -> str:
    """Returns the Markdown of one.

    Args:
        name: Of its file.
        heading: With as many # as it has.
        what: Is done.
        table: Its lines.
        kept: What is stored of it.
        said_of: The rows whose remarks follow the table.
        pictures: Folder of the page's pictures, as the page names it.
        command: That runs it, and when, or for how long, that was.
    """
    out = [heading, "", filled(what), "", *table, ""]
    said = [filled(line, "  ") for line in remarks(said_of)]
    out += [*said, ""] if said else []
    for note in kept["notes"]:
        out += [filled(note), ""]
    for number, caption in enumerate(kept["captions"]):
        out += [f"![{caption}]({pictures}/{picture_name(name, number)})", "", filled(caption), ""]
    return "\n".join([*out, command, ""])
