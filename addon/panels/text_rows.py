# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences and numbers of things in panels."""

from __future__ import annotations

import textwrap

import bpy

# widths of a letter and of the margins [pixels at 100 %], for wrapping sentences
LETTER_PIXELS, MARGIN_PIXELS = 6.4, 60


def wrapped_lines(line: str, context: bpy.types.Context) -> list[str]:
    """Returns a sentence in as many lines as the panel's width needs."""
    scale = context.preferences.system.ui_scale
    letters = max(int((context.region.width / scale - MARGIN_PIXELS) / LETTER_PIXELS), 20)
    return textwrap.wrap(line, letters)


def draw_wrapped(layout: bpy.types.UILayout, line: str, icon: str, context: bpy.types.Context) -> None:
    """Draws a sentence over as many lines as the panel's width needs."""
    column = layout.box().column(align=True)
    for i, part in enumerate(wrapped_lines(line, context)):
        column.label(text=part, icon=icon if i == 0 else "BLANK1")


def count_text(number: int, noun: str) -> str:
    """Returns a number of things in words: "1 contact", "1,234 contacts"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
