# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of sheets. The defaults are of the preset Cotton."""

from __future__ import annotations

from ..serialisation.schema_constraints import at_least, greater_than
from .setting import Choice, Setting, When, length, menu, switch

IS_SHEET = When("method", ("SHEET",))

SHEET_THICKNESS = length(
    "sheet_thickness",
    "Thickness",
    "How thick the sheet is, and its strings, edges without faces. Twice as thick is twice as hard to stretch, eight "
    "times to bend. Others stay away by Thickness under Collision, at least 6 % of an edge",
    0.0003,
    limits=greater_than(0.0, "Thickness", "m"),
    soft=(0.00001, 0.01),
    precision=6,
    when=(IS_SHEET,),
    field="Sheet.thickness",
    since="0.3",
)
SHEET_BENDING = Setting(
    "sheet_bending",
    "Bending",
    "How hard the sheet is to bend, over a plate of this Stiffness and Thickness, and strings over round bars. Threads "
    "of cloth slide on each other: it bends more easily than a plate",
    default=0.3,
    term="Factor on D = E h³ / 12 (1 − ν²)",
    limits=at_least(0.0, "Bending"),
    soft=(None, 10.0),
    precision=3,
    when=(IS_SHEET,),
    field="Sheet.bending",
    since="0.3",
)
SHEET_SHEAR = Setting(
    "sheet_shear",
    "Shear",
    "How hard the sheet is to shear, over a material that is the same in all directions. Threads of cloth turn against "
    "each other, which lets cloth drape. Threads follow the edges of quads",
    default=0.05,
    term="Factor on G = E / 2 (1 + ν)",
    limits=greater_than(0.0, "Shear"),
    soft=(0.01, 1.0),
    precision=3,
    when=(IS_SHEET,),
    field="Sheet.shear",
    since="0.3",
)
SHEET_LAW = menu(
    "sheet_law",
    "Membrane",
    "How the sheet resists being stretched far",
    (
        Choice("STVK", "Cloth", "Stiffens when stretched, goes soft when squeezed (St. Venant-Kirchhoff)", 0, "stvk"),
        Choice(
            "NEO_HOOKEAN",
            "Rubber",
            "Stays soft when stretched to several times its length (stable neo-Hookean)",
            1,
            "stable-neo-hookean",
        ),
    ),
    "STVK",
    when=(IS_SHEET,),
    field="Sheet.law",
    since="0.3",
)
SHEET_T_JUNCTIONS = switch(
    "sheet_t_junctions",
    "Close T-Junctions",
    "A vertex on the border that lies on an edge of another face stays on it, so that large faces may be beside small "
    "ones. Off, the sheet gapes there. It folds freely along such borders",
    when=(IS_SHEET,),
    field="Sheet.closes_t_junctions",
    since="0.3",
)
SHEET_POINTS = switch(
    "sheet_points",
    "Carried by Points",
    "Each vertex follows the nearest 12 of points scattered around the sheet. A fine sheet then moves smoothly, with "
    "few unknowns, in waves wider than these are apart. Takes longer",
    when=(IS_SHEET,),
    field="Sheet.is_carried_by_points",
    since="0.3",
)
SHEET_POINT_SPACING = Setting(
    "sheet_point_spacing",
    "Point Spacing",
    "How far apart these points are, over the length of the sheet's edges. More: fewer points, wider waves, and more "
    "of the sheet is held beside its pins",
    default=3.0,
    limits=at_least(1.0, "Point Spacing"),
    soft=(None, 8.0),
    precision=2,
    when=(IS_SHEET, When("sheet_points", (True,))),
    field="Sheet.point_spacing",
    since="0.3",
)
# what it is made of, which presets fill in, and what its mesh is
SHEET_STIFFNESS_SETTINGS = (SHEET_THICKNESS, SHEET_BENDING, SHEET_SHEAR, SHEET_LAW)
SHEET_SETTINGS = (*SHEET_STIFFNESS_SETTINGS, SHEET_T_JUNCTIONS, SHEET_POINTS, SHEET_POINT_SPACING)
