# SPDX-License-Identifier: GPL-3.0-or-later
"""Durations, file sizes and physical quantities as text for people."""

from __future__ import annotations

from ...solver.runtime.quantity_text import quantity_text

__all__ = ["duration_text", "quantity_text", "size_text", "stress_text"]


def duration_text(seconds: float) -> str:
    """Returns a time for people: "42 s", "3 min 05 s", "2 h 10 min"."""
    whole = int(seconds + 0.5)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def size_text(count: float) -> str:
    """Returns a number of bytes for people: "119 MB"."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000.0 or unit == "GB":
            return f"{count:.0f} {unit}" if unit in ("B", "kB") or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000.0
    raise AssertionError


def stress_text(value: float) -> str:
    """Returns a stress for people: "12.3 MPa"."""
    return quantity_text(value, "Pa")
