# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the seams of sheets."""

from __future__ import annotations

from ..serialisation.schema_constraints import at_least
from .setting import Setting, When, switch
from .sheet_settings import IS_SHEET

HAS_SEAMS = When("use_seams", (True,))

USE_SEAMS = switch(
    "use_seams",
    "Seams",
    "Edges without faces pull their two vertices together, as Sewing of Cloth does. Draw them between the borders of "
    "two panels of one mesh in Edit Mode. Off, they are strings",
    when=(IS_SHEET,),
    field="Seams.is_on",
    is_animated=True,
    since="0.3",
)
SEAM_MAX_FORCE = Setting(
    "seam_max_force",
    "Max Sewing Force",
    "The largest force with which one edge of a seam pulls. Less closes it more slowly. 0: any",
    default=0.0,
    unit="N",
    limits=at_least(0.0, "Max Sewing Force", "N"),
    soft=(None, 1.0e3),
    precision=3,
    step=10,
    when=(IS_SHEET, HAS_SEAMS),
    field="Seams.max_force",
    is_animated=True,
    since="0.3",
)
SEAM_BREAKING_FORCE = Setting(
    "seam_breaking_force",
    "Tears At",
    "The force on one edge of a seam above which it tears for good, and its neighbours then bear more. 0: never",
    default=0.0,
    unit="N",
    limits=at_least(0.0, "Tears At", "N"),
    soft=(None, 1.0e3),
    precision=3,
    step=10,
    when=(IS_SHEET, HAS_SEAMS),
    field="Seams.breaking_force",
    since="0.3",
)
SEAM_SETTINGS = (USE_SEAMS, SEAM_MAX_FORCE, SEAM_BREAKING_FORCE)
