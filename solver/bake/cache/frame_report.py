# SPDX-License-Identifier: GPL-3.0-or-later
"""`report.jsonl`: one line per frame."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...runtime.checksums import line_has_checksum
from .frame_report_check import is_report_line


@dataclass(frozen=True)
class ReportLine:
    """A complete line of a report.

    Attributes:
        text: The line without its end.
        values: The parsed line.
        has_checksum: Whether it has a checksum.
    """

    text: str
    values: dict[str, Any]
    has_checksum: bool


def read_lines(path: Path) -> list[ReportLine]:
    """Returns the intact lines of a report, without truncated and damaged ones."""
    try:
        data = path.read_bytes()
    except OSError:
        return []
    lines = []
    for text in data.decode(errors="replace").splitlines():
        try:
            has_checksum, values = line_has_checksum(text), json.loads(text)
        except (ValueError, RecursionError):
            continue
        if is_report_line(values):
            lines.append(ReportLine(text, values, has_checksum))
    return lines


def read_report(path: Path) -> list[dict[str, Any]]:
    """Returns the values of the intact lines of a report."""
    return [line.values for line in read_lines(path)]
