# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the tets of a body, and of how the viewport shows them."""

from __future__ import annotations

from ..serialisation.schema_constraints import at_least, closed_range, greater_than
from .setting import COLLECTION, FILE, Choice, Setting, When, integer, length, menu, switch, weight_group

IS_MESHED = When("method", ("SMOOTH", "ROBUST", "ADAPTIVE"))
IS_ADAPTIVE = When("method", ("ADAPTIVE",))
BY_DIVISIONS, BY_SIZE = When("sizing", ("DIVISIONS",)), When("sizing", ("SIZE",))
BY_COUNT = When("sizing", ("COUNT",))

FILL = menu(
    "method",
    "Fill",
    "How the mesh is filled with tets",
    (
        Choice(
            "SMOOTH",
            "Smooth",
            "Tets follow the surface; best for rendering and contact (isosurface stuffing)",
            0,
        ),
        Choice(
            "ROBUST", "Robust", "Works on any mesh, also an open or thin one: tets cover the surface (lattice cover)", 1
        ),
        Choice("GIVEN", "From File", "Tets from a file (.msh, .vtu, .vtk, .mesh, .veg)", 2),
        Choice("RIGID", "Rigid", "The mesh moves as one piece and does not deform. It has to be closed", 3),
        Choice(
            "ADAPTIVE",
            "Adaptive",
            "Small tets where the mesh bends or is painted, large ones inside: fewer for the same detail. "
            "Works on any mesh, as Robust",
            4,
        ),
        Choice(
            "SHEET",
            "Sheet",
            "The faces themselves stretch and bend, as cloth, leather, paper and foil do, and edges without faces are "
            "strings and ropes. The mesh may be open, or have edges alone",
            5,
        ),
    ),
    "SMOOTH",
    field="Meshing.method",
)
TETS_PATH = Setting(
    "tets_path",
    "File",
    "File of tets (.msh, .vtu, .vtk, .mesh, .veg) in the object's own space, in its units",
    FILE,
    "",
    when=(When("method", ("GIVEN",)),),
)
SIZING = menu(
    "sizing",
    "Size By",
    "What sets the size of the tets",
    (
        Choice("DIVISIONS", "Divisions", "The number of tets along the object's longest own axis", 0),
        Choice("SIZE", "Tet Size", "The edge length of the tets", 1),
        Choice("COUNT", "Number of Tets", "About how many tets the body gets. New bodies have this", 2),
    ),
    "DIVISIONS",
    when=(IS_MESHED,),
)
DIVISIONS = integer(
    "divisions",
    "Divisions",
    "Number of tets along the object's longest own axis (Dimensions)",
    12,
    at_least(1, "Divisions"),
    maximum=1000,
    soft=(4, 64),
    when=(IS_MESHED, BY_DIVISIONS),
    field="Meshing.divisions",
)
TET_SIZE = length(
    "tet_size",
    "Tet Size",
    "Edge length of the tets at the surface",
    0.1,
    limits=greater_than(0.0, "Tet Size", "m"),
    soft=(0.001, 10.0),
    precision=4,
    when=(IS_MESHED, BY_SIZE),
    field="Meshing.tet_size",
)
TET_COUNT = integer(
    "tet_count",
    "Number of Tets",
    "About how many tets the body gets. More bend finer and take longer. "
    "Thin bodies get up to twice as many, so that three fit across them",
    5000,
    at_least(1, "Number of Tets"),
    maximum=100_000_000,
    soft=(500, 50_000),
    when=(IS_MESHED, BY_COUNT),
    since="0.3",
)
INTERIOR_SIZE = menu(
    "interior_size",
    "Interior Size",
    "How much larger tets deep inside may be. Larger ones save time. "
    "For Smooth tets only, so not with Fracture, which makes them Robust",
    (
        Choice("1", "Same", "Tets deep inside are as small as those at the surface", 0, 1),
        Choice("2", "2×", "Tets deep inside may be twice as large as those at the surface", 1, 2),
        Choice("4", "4×", "Tets deep inside may be four times as large as those at the surface", 2, 4),
    ),
    "1",
    limits=closed_range(1, 4, "Interior Size"),
    when=(When("method", ("SMOOTH",)),),
    field="Meshing.interior_size",
    otherwise=1,
)
COARSEST_SIZE = menu(
    "coarsest_size",
    "Largest Tets",
    "How much larger tets deep inside are than the smallest ones at the surface",
    (
        Choice("2", "2×", "Tets inside, and at flat parts of the surface, are twice as large", 0, 2),
        Choice("4", "4×", "Tets deep inside are four times as large, those at flat parts twice", 1, 4),
        Choice("8", "8×", "Tets deep inside are eight times as large, those at flat parts twice", 2, 8),
    ),
    "4",
    limits=closed_range(2, 8, "Largest Tets"),
    when=(IS_ADAPTIVE,),
    field="Meshing.coarsest_size",
    otherwise=4,
    since="0.3",
)
FINE_GROUP = weight_group(
    "fine_group",
    "Fine Group",
    "Tets are small where this vertex group or attribute is above 0.5, besides where the mesh bends",
    when=(IS_ADAPTIVE,),
    field="FineRegions.paint",
    since="0.3",
)
FINE_COLLECTION = Setting(
    "fine_collection",
    "Fine Near",
    "Tets are small near the objects of this collection at the Rest Frame, such as bones, colliders or empties",
    COLLECTION,
    None,
    when=(IS_ADAPTIVE,),
    since="0.3",
)
FINE_DISTANCE = length(
    "fine_distance",
    "Distance",
    "How far from these objects tets are small",
    0.1,
    soft=(None, 1.0),
    when=(IS_ADAPTIVE, When("fine_collection")),
    field="FineRegions.reach",
    since="0.3",
)
REFINES_DYNAMICALLY = switch(
    "refines_dynamically",
    "Refine While Simulating",
    "Tets become smaller where the strain varies or colliders are near, down to the size of the smallest, and larger "
    "again where they need not be. For Soft Body, in bakes, not live",
    when=(IS_ADAPTIVE,),
    field="Meshing.refines_dynamically",
    otherwise=False,
    since="0.3",
)
MAX_STRAIN_VARIATION = Setting(
    "max_strain_variation",
    "Strain Variation",
    "How much the strain may vary within a tet before it becomes eight. They become one again below a third of it. "
    "Less gives more tets",
    default=0.1,
    limits=greater_than(0.0, "Strain Variation", ""),
    soft=(0.01, 0.5),
    when=(IS_ADAPTIVE, When("refines_dynamically", (True,))),
    field="Meshing.max_strain_variation",
    otherwise=0.1,
    since="0.3",
)
USE_PREVIEW_TETS = switch(
    "use_preview_tets",
    "Preview Tets",
    "Have fewer tets live and in bakes at Preview than in final bakes. Bakes without a window are final",
    when=(IS_MESHED,),
    changes_bake=False,  # where bakes are at Preview, the digest has the number
    since="0.3",
)
PREVIEW_TETS = integer(
    "preview_tets",
    "Preview",
    "About how many tets the body gets at Preview, and never more than in final bakes",
    2000,
    at_least(1, "Preview"),
    maximum=100_000_000,
    soft=(200, 20_000),
    when=(IS_MESHED, When("use_preview_tets", (True,))),
    changes_bake=False,
    since="0.3",
)
SHOW_TETS = switch(
    "show_tets",
    "Show Tets",
    "Show the tets of the bake in the viewport. Those of a rigid core are yellow",
    changes_bake=False,
)
SHOW_JOINED = switch(
    "show_joined",
    "Bridging Tets",
    "Color the tets that bridge a gap between parts of the mesh, such as lips or fingers, and join them",
    True,
    when=(When("show_tets", (True,)),),
    changes_bake=False,
)

TET_SETTINGS = (
    FILL, TETS_PATH, SIZING, DIVISIONS, TET_SIZE, TET_COUNT, USE_PREVIEW_TETS, PREVIEW_TETS, INTERIOR_SIZE,
    COARSEST_SIZE, FINE_GROUP, FINE_COLLECTION, FINE_DISTANCE, REFINES_DYNAMICALLY, MAX_STRAIN_VARIATION,
)  # fmt: skip
DISPLAY_SETTINGS = (SHOW_TETS, SHOW_JOINED)
