# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of how far a body stretches before its material stiffens."""

from __future__ import annotations

from ..serialisation.schema_constraints import closed_range
from .setting import Setting, When, switch, weight_group

HAS_STRETCH_LIMIT = When("use_stretch_limit", (True,))

USE_STRETCH_LIMIT = switch(
    "use_stretch_limit",
    "Stretch Limit",
    "Stiffen the material where it is drawn out, as skin and rubber do. Without it, a soft body that hangs or is "
    "shaken draws out without end",
    since="0.3",
)
STRETCH_LIMIT = Setting(
    "stretch_limit",
    "Limit",
    "Length from which the material stiffens, over the length at rest. It draws out by about another 10 %",
    default=1.5,
    term="Limiting principal stretch",
    limits=closed_range(1.0, 100.0, "Limit"),
    soft=(None, 3.0),
    when=(HAS_STRETCH_LIMIT,),
    field="StretchLimit.stretch",
    is_animated=True,
    since="0.3",
)
STRETCH_LIMIT_GROUP = weight_group(
    "stretch_limit_group",
    "Stretch Limit Group",
    "Vertex group or attribute: 1 has the limit, 0.5 stretches twice as far, 0 without end. "
    "Points inside take the weight of the nearest surface",
    when=(HAS_STRETCH_LIMIT,),
    field="StretchLimit.paint",
    since="0.3",
)
STRETCH_LIMIT_SETTINGS = (USE_STRETCH_LIMIT, STRETCH_LIMIT, STRETCH_LIMIT_GROUP)
