# SPDX-License-Identifier: GPL-3.0-or-later
"""Physical quantities as text for people."""

from __future__ import annotations


def quantity_text(value: float, unit: str) -> str:
    """Returns a number of three digits with a prefix to its unit: "45 kPa"."""
    for factor, prefix in ((1.0e9, "G"), (1.0e6, "M"), (1.0e3, "k")):
        if abs(value) >= 0.9995 * factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"
