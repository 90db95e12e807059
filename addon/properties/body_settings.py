# SPDX-License-Identifier: GPL-3.0-or-later
"""How a body is filled with tets, how large it seems, how it starts, and what holds it."""

from __future__ import annotations

from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, IntProperty, StringProperty

from .enum_items import FILL_METHODS, INTERIOR_SIZES, SIZINGS
from .property_options import ANIMATED_OPTIONS, FIXED_OPTIONS


class BodySettings:
    """Tets, size, start and pins."""

    method: EnumProperty(
        name="Method",
        items=FILL_METHODS,
        default="SMOOTH",
        description="How the mesh is filled with tets",
        **FIXED_OPTIONS,
    )
    tets_path: StringProperty(
        name="File",
        description=(
            "File of tets (.msh, .vtu, .vtk, .mesh, .veg) in the object's own space: "
            "one unit of the file is one of the object's, and they share the origin"
        ),
        subtype="FILE_PATH",
        options={"PATH_SUPPORTS_BLEND_RELATIVE"},
        override=FIXED_OPTIONS["override"],
    )
    sizing: EnumProperty(
        name="Sizing",
        items=SIZINGS,
        default="DIVISIONS",
        description="How the size of the tets is given",
        **FIXED_OPTIONS,
    )
    divisions: IntProperty(
        name="Resolution Divisions",
        description="Tets along the largest of the object's Dimensions, however it is turned",
        default=12,
        min=1,
        soft_min=4,
        soft_max=64,
        max=1000,
        **FIXED_OPTIONS,
    )
    tet_size: FloatProperty(
        name="Tet Size",
        description="Edge length of the tets at the surface [m]",
        default=0.1,
        min=0.0,
        soft_min=0.001,
        soft_max=10.0,
        precision=4,
        step=1,
        subtype="DISTANCE",
        unit="LENGTH",
        **FIXED_OPTIONS,
    )
    interior_size: EnumProperty(
        name="Interior",
        items=INTERIOR_SIZES,
        default="1",
        description="How much larger the tets deep inside may get, which saves time (Smooth only)",
        **FIXED_OPTIONS,
    )

    use_simulated_size: BoolProperty(
        name="Simulated Size",
        description="Move as if the object were larger or smaller than it is: a large cube need not move like a giant",
        default=False,
        **FIXED_OPTIONS,
    )
    simulated_size: FloatProperty(
        name="Longest Side",
        description="What the largest of the object's Dimensions is to be for the physics [m]",
        default=0.2,
        min=0.0,
        soft_min=0.001,
        soft_max=100.0,
        precision=3,
        step=1,
        subtype="DISTANCE",
        unit="LENGTH",
        **FIXED_OPTIONS,
    )
    gravity_in_shape: BoolProperty(
        name="Gravity Already in Shape",
        description="The first frame already sags: keep it still instead of letting it sag twice",
        default=False,
        **FIXED_OPTIONS,
    )
    initial_velocity: FloatVectorProperty(
        name="Initial Velocity",
        description="Velocity at the first frame [m/s], in world space",
        size=3,
        default=(0.0, 0.0, 0.0),
        precision=3,
        subtype="VELOCITY",
        unit="VELOCITY",
        **FIXED_OPTIONS,
    )

    pin_group: StringProperty(
        name="Pin Group",
        description=(
            "Vertex group or attribute that holds vertices to the animated mesh: "
            "1 holds exactly, less is a spring, 0 is free"
        ),
        **FIXED_OPTIONS,
    )
    pin_stiffness: FloatProperty(
        name="Pin Stiffness",
        description=(
            "Stiffness of the pin springs per mass [1/s²]: a spring of weight w pulls with w × this × mass × distance; "
            "0 releases all pins, exact ones too. Can be keyframed"
        ),
        default=1000.0,
        min=0.0,
        soft_max=100000.0,
        precision=1,
        step=1000,
        **ANIMATED_OPTIONS,
    )
    affect_group: StringProperty(
        name="Affect",
        description=(
            "Vertex group or attribute that limits the simulation to a part of the mesh; "
            "at its border it fades into the animated mesh. Empty: the whole mesh"
        ),
        **FIXED_OPTIONS,
    )

    show_tets: BoolProperty(
        name="Tets",
        description="Draw the body's tets in the viewport, as they are in the cache; those of a rigid core in yellow",
        default=False,
        **FIXED_OPTIONS,
    )
    show_joined: BoolProperty(
        name="Joined Surfaces",
        description="Draw in colour the tets that join surfaces far apart along the mesh, such as lips or fingers",
        default=True,
        **FIXED_OPTIONS,
    )
