# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a body's tets, size, start and pins."""

from __future__ import annotations

from ..serialisation.field_annotations import at_least, closed_range, greater_than
from .setting import (
    FIELD_DEFAULT,
    FILE,
    METRE_PER_SECOND,
    VECTOR,
    Choice,
    Setting,
    When,
    integer,
    length,
    menu,
    switch,
    weight_group,
)

FOLLOWS_NO_POSE = When("motion", ("ELASTIC", "JIGGLE"))
IS_MESHED = When("method", ("SMOOTH", "ROBUST"))
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

USE_SIMULATED_SIZE = switch(
    "use_simulated_size",
    "Simulated Size",
    "Simulate the body as if it had another size. A small body falls and wobbles faster and sags less",
)
SIMULATED_SIZE = length(
    "simulated_size",
    "Simulated Size",
    "Longest side of the object that the physics assumes",
    0.2,
    limits=greater_than(0.0, "Simulated Size", "m"),
    soft=(0.001, 100.0),
    when=(When("use_simulated_size", (True,)),),
)
GRAVITY_IN_SHAPE = switch(
    "gravity_in_shape",
    "Gravity Already in Shape",
    "The modeled shape already includes gravity, so the body does not sag at the start. On for new flesh "
    "(sag-free start)",
    field="Body.gravity_in_shape",
)
INITIAL_VELOCITY = Setting(
    "initial_velocity",
    "Initial Velocity",
    "Velocity at the first frame, in world space",
    VECTOR,
    (0.0, 0.0, 0.0),
    unit=METRE_PER_SECOND,
    limits=closed_range(-1.0e9, 1.0e9, "Initial Velocity"),
    when=(FOLLOWS_NO_POSE,),
    field="Body.initial_velocity",
)
INITIAL_SPIN = Setting(
    "initial_spin",
    "Initial Spin",
    "Angular velocity at the first frame about the body's centre, in world space. 6.28 is one turn per second",
    VECTOR,
    (0.0, 0.0, 0.0),
    term="Angular velocity ω",
    unit="rad/s",
    limits=closed_range(-1.0e6, 1.0e6, "Initial Spin"),
    when=(FOLLOWS_NO_POSE,),
    field="Body.initial_spin",
    since="0.3",
)
ANIMATED = switch(
    "animated",
    "Animated",
    "Follow the keys, rig and shape keys exactly. Keyed off, the body flies on with their velocity and spin, or with "
    "Initial Velocity and Initial Spin where these are set. Keyed on again, it is caught",
    when=(FOLLOWS_NO_POSE,),
    field="Body.animated",
    otherwise=FIELD_DEFAULT,
    is_animated=True,
    since="0.3",
)
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

TET_SETTINGS = (FILL, TETS_PATH, SIZING, DIVISIONS, TET_SIZE, TET_COUNT, INTERIOR_SIZE)
START_SETTINGS = (USE_SIMULATED_SIZE, SIMULATED_SIZE, GRAVITY_IN_SHAPE, INITIAL_VELOCITY, INITIAL_SPIN, ANIMATED)
PIN_SETTINGS = (PIN_GROUP, PIN_STIFFNESS, AFFECT_GROUP)
DISPLAY_SETTINGS = (SHOW_TETS, SHOW_JOINED)
