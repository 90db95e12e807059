# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the layers of a character: the pass of a body, and the Wrap at which fat ends."""

from __future__ import annotations

from ..serialisation.schema_constraints import closed_range
from .setting import OBJECT, Setting, integer

FIRST_PASS, LAST_PASS = 1, 99

BAKE_PASS = integer(
    "bake_pass",
    "Pass",
    "Bodies of one pass are simulated together and feel each other. Each pass follows the bake of those with smaller "
    "numbers. For a character: 1 for muscles, 2 for fat, 3 for skin",
    FIRST_PASS,
    closed_range(FIRST_PASS, LAST_PASS, "Pass"),
    soft=(1, 9),
    since="0.3",
)
WRAP = Setting(
    "wrap",
    "Wrap",
    "The body is fat: it ends at this Wrap, and tets fill only the space between the two. What the Wrap is attached "
    "to, the fat follows. Holes of the body's own mesh are closed for the physics",
    OBJECT,
    None,
    since="0.3",
)
PASS_AND_WRAP_SETTINGS = (BAKE_PASS, WRAP)
