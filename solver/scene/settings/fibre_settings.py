# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the fibres of a muscle: what gives their directions, and where they are tendon."""

from __future__ import annotations

from ..serialisation.schema_constraints import closed_range
from .muscle_settings import MUSCLE
from .setting import (
    FIELD_DEFAULT,
    OBJECT,
    RADIAN,
    VECTOR_ATTRIBUTE,
    Choice,
    Setting,
    When,
    length,
    menu,
    switch,
    weight_group,
)

HARMONIC, LATTICE, CURVES = "HARMONIC", "LATTICE", "CURVES"
FROM_LATTICE, FROM_CURVES = When("fibre_source", (LATTICE,)), When("fibre_source", (CURVES,))
RIGHT_ANGLE = 1.5707963267948966  # [rad]

FIBRE_SOURCE = menu(
    "fibre_source",
    "Fibres",
    "What gives the directions of the fibres",
    (
        Choice(
            HARMONIC,
            "Automatic",
            "From the origin to the insertion, as a fluid would flow (gradient of the harmonic coordinate)",
            0,
        ),
        Choice(LATTICE, "Lattice", "Along one axis of a Lattice around the muscle (Sifakis, 2007, 2.3.4)", 1),
        Choice(CURVES, "Curves", "Along curves or hair strands through or over the muscle, interpolated", 2),
    ),
    HARMONIC,
    when=MUSCLE,
    field="Fibres.source",
    since="0.3",
)
FIBRE_LATTICE = Setting(
    "fibre_lattice",
    "Fibre Lattice",
    "Lattice whose axis the fibres follow, as it is at the Rest Frame. It has to surround the muscle",
    OBJECT,
    None,
    when=(*MUSCLE, FROM_LATTICE),
    since="0.3",
)
FIBRE_AXIS = menu(
    "fibre_axis",
    "Fibre Axis",
    "Axis of the Lattice that the fibres follow, from origin to insertion",
    (Choice("U", "U", "Along U", 0), Choice("V", "V", "Along V", 1), Choice("W", "W", "Along W", 2)),
    "W",
    when=(*MUSCLE, FROM_LATTICE),
    field="Fibres.axis",
    otherwise=FIELD_DEFAULT,
    since="0.3",
)
FIBRE_CURVES = Setting(
    "fibre_curves",
    "Fibre Curves",
    "Curve or Hair Curves object whose strands run along the fibres, as it is at the Rest Frame. "
    "In which direction they are drawn does not matter",
    OBJECT,
    None,
    when=(*MUSCLE, FROM_CURVES),
    since="0.3",
)
PENNATION_ANGLE = Setting(
    "pennation_angle",
    "Pennation Angle",
    "Turns the fibres towards the tendon inside the muscle, which Tendon Group or Tendon Mesh says",
    default=0.0,
    unit=RADIAN,
    limits=closed_range(0.0, RIGHT_ANGLE, "Pennation Angle"),
    precision=1,
    step=100,
    when=MUSCLE,
    field="Fibres.pennation",
    since="0.3",
)
FIBRE_DIRECTION = Setting(
    "fibre_direction",
    "Fibre Direction",
    "Vector attribute that the fibres follow where it is not zero, such as one of Geometry Nodes. Empty: no correction",
    VECTOR_ATTRIBUTE,
    "",
    when=MUSCLE,
    field="Fibres.direction",
    since="0.3",
)
FIBRE_DIRECTION_GROUP = weight_group(
    "fibre_direction_group",
    "Direction Group",
    "How far the fibres turn towards Fibre Direction, a vertex group or attribute. Empty: all the way",
    when=(*MUSCLE, When("fibre_direction")),
    field="Fibres.direction_paint",
    otherwise=FIELD_DEFAULT,
    since="0.3",
)
TENDON_GROUP = weight_group(
    "tendon_group",
    "Tendon Group",
    "Vertex group or attribute: where it is 1 the muscle is tendon, beside Origin Tendon and Insertion Tendon. "
    "Points inside take the weight of the nearest surface",
    when=MUSCLE,
    field="Fibres.tendon_paint",
    since="0.3",
)
TENDON_DEPTH = length(
    "tendon_depth",
    "Tendon Depth",
    "How deep painted tendon reaches below the surface, for a sheet over the muscle. 0: as deep as the muscle is",
    when=(*MUSCLE, When("tendon_group")),
    soft=(None, 0.1),
    precision=4,
    field="Fibres.tendon_depth",
    otherwise=FIELD_DEFAULT,
    since="0.3",
)
TENDON_MESH = Setting(
    "tendon_mesh",
    "Tendon Mesh",
    "Closed mesh, as it is at the Rest Frame: inside it the muscle is tendon, such as an aponeurosis in its belly",
    OBJECT,
    None,
    when=MUSCLE,
    since="0.3",
)
TENDON_ONLY = switch(
    "tendon_only",
    "Only Tendon",
    "The whole mesh is tendon, which hardly stretches along its fibres and does not contract",
    when=MUSCLE,
    field="Fibres.tendon_only",
    since="0.3",
)
BY_ACTIVATION, BY_STRETCH = "ACTIVATION", "STRETCH"
SHOW_FIBRES = switch(
    "show_fibres",
    "Show Fibres",
    "Show the fibres in the viewport, tendon pale, the origin green and the insertion purple",
    when=MUSCLE,
    changes_bake=False,
    since="0.3",
)
SHOW_ENDS = switch(
    "show_ends",
    "Show Ends",
    "Color the origin green, the insertion purple and tendon pale on the mesh, until a bake or Build Fibres is there",
    when=MUSCLE,
    changes_bake=False,
    since="0.3",
)
FIBRE_COLOR = menu(
    "fibre_color",
    "Fibre Color",
    "What the color of a fibre says",
    (
        Choice(BY_ACTIVATION, "Activation", "Brown where relaxed, red where active", 0),
        Choice(BY_STRETCH, "Stretch", "Blue where shorter than at rest, orange where longer", 1),
    ),
    BY_ACTIVATION,
    when=(*MUSCLE, When("show_fibres", (True,))),
    changes_bake=False,
    since="0.3",
)
# the objects that fibres are made of
FIBRE_OBJECTS = (FIBRE_LATTICE, FIBRE_CURVES, TENDON_MESH)
FIBRE_SETTINGS = (
    FIBRE_SOURCE,
    FIBRE_LATTICE,
    FIBRE_AXIS,
    FIBRE_CURVES,
    PENNATION_ANGLE,
    FIBRE_DIRECTION,
    FIBRE_DIRECTION_GROUP,
    TENDON_GROUP,
    TENDON_DEPTH,
    TENDON_MESH,
    TENDON_ONLY,
)
FIBRE_DISPLAY_SETTINGS = (SHOW_ENDS, SHOW_FIBRES, FIBRE_COLOR)
