# SPDX-License-Identifier: GPL-3.0-or-later
"""How four blocks of a matrix lie in 22 words of 32 bits: a quad; `int16_block_rows.py` says what is where."""

from __future__ import annotations

BLOCKS_PER_QUAD = 4
ROWS_OFFSET = 4  # word of a quad at which the rows of its blocks begin, behind the columns
LAST_NUMBERS_OFFSET = 20  # word at which the last numbers of the blocks begin
WORDS_PER_QUAD = 22
