# SPDX-License-Identifier: GPL-3.0-or-later
"""The section of a page about one experiment or benchmark."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.result_store import picture_name
from harness.text_table import remark_lines
from harness.text_wrap import wrap


def page_section(
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
    """Returns the Markdown of a section.

    Args:
        name: Name of its file.
        heading: Heading, with its # signs.
        what: Description.
        table: Lines of the table.
        kept: Stored result.
        said_of: The rows whose remarks follow the table.
        pictures: Folder of the page's pictures, relative to the page.
        command: The command that runs it, with the date or duration of the last run.
    """
    out = [heading, "", wrap(what), "", *table, ""]
    said = [wrap(line, "  ") for line in remark_lines(said_of)]
    out += [*said, ""] if said else []
    for note in kept["notes"]:
        out += [wrap(note), ""]
    for number, caption in enumerate(kept["captions"]):
        out += [f"![{caption}]({pictures}/{picture_name(name, number)})", "", wrap(caption), ""]
    return "\n".join([*out, command, ""])
