# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the pins of a body, and of the part of it that is simulated."""

from __future__ import annotations

from ..serialisation.schema_constraints import at_least
from .setting import Setting, When, weight_group

PIN_GROUP = weight_group(
    "pin_group",
    "Pin Group",
    "Vertex group or attribute that pins vertices to the animated mesh. 1 holds exactly, less is a spring, 0 is free. "
    "Around a single vertex or a row of them the body may rotate",
)
PIN_STIFFNESS = Setting(
    "pin_stiffness",
    "Pin Stiffness",
    "How hard pins with a weight below 1 pull back. At 1000 and weight 0.5, a part sags 2 cm under its own weight. "
    "0 releases all pins, those of weight 1 too",
    default=1000.0,
    term="Spring stiffness per mass",
    unit="1/s²",
    limits=at_least(0.0, "Pin Stiffness", "1/s²"),
    soft=(None, 100000.0),
    precision=1,
    step=1000,
    when=(When("pin_group"),),
    is_animated=True,
)
AFFECT_GROUP = weight_group(
    "affect_group",
    "Simulated Group",
    "Simulate only the vertices in this vertex group or attribute. The others keep their animation. "
    "Weights between 0 and 1 blend the two (vertex groups only)",
)

PIN_SETTINGS = (PIN_GROUP, PIN_STIFFNESS, AFFECT_GROUP)
