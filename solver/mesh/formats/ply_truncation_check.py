# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a PLY in text has as many rows as its head announces: trimesh takes what is there."""

from __future__ import annotations

import re

_ELEMENT = re.compile(rb"^element[ \t]+\S+[ \t]+(-?\d+)", re.MULTILINE)


def check_row_count(data: bytes) -> None:
    """Refuses a PLY in text that is cut off; trimesh itself compares the length of binary ones.

    Raises:
        ValueError: There are fewer or more rows than announced, or the last one is not whole.
    """
    head, found, body = data.partition(b"end_header")
    if not found or b"format ascii" not in head:
        return
    counts = [int(number) for number in _ELEMENT.findall(head)]
    if min(counts, default=0) < 0:
        raise ValueError(f"it announces {min(counts):,} rows")
    rows = [line for line in body.splitlines()[1:] if line.strip()]
    wanted = sum(counts)
    if len(rows) < wanted:
        raise ValueError(f"it is cut off: it announces {wanted:,} rows, and {len(rows):,} are there")
    if len(rows) > wanted:
        raise ValueError(f"it announces {wanted:,} rows, but {len(rows):,} are there")
    last = rows[wanted - 1].split() if wanted and counts[-1] else []
    if last and last[0].isdigit() and len(last) <= int(last[0]):
        raise ValueError("it is cut off in its last row")
