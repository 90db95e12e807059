# SPDX-License-Identifier: GPL-3.0-or-later
"""How many tets a loop without branches works on at a time, which the compiler turns into SIMD."""

from __future__ import annotations

LANES = 32
