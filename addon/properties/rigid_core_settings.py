# SPDX-License-Identifier: GPL-3.0-or-later
"""Which part of a body moves as one rigid body, and what holds and pulls that."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, FloatProperty, PointerProperty, StringProperty

from ...solver.scene.rigid_core import Core, Pull
from .property_options import FIXED_OPTIONS


def _is_other(settings: bpy.types.PropertyGroup, obj: bpy.types.Object) -> bool:
    return bool(obj != settings.id_data)


class CoreSettings:
    """The core, its hinge, and the spring that pulls it."""

    use_core: BoolProperty(
        name="Rigid Core",
        description="What is deep inside moves as one rigid body, like a skull; the rest follows it as a soft skin",
        default=False,
        **FIXED_OPTIONS,
    )
    core_skin_thickness: FloatProperty(
        name="Skin Thickness",
        description="How deep below the surface the core begins [m]; what is nearer to the surface stays soft",
        default=Core().skin_thickness,
        min=0.0,
        soft_max=1.0,
        precision=3,
        step=1,
        subtype="DISTANCE",
        unit="LENGTH",
        **FIXED_OPTIONS,
    )
    core_group: StringProperty(
        name="Core Group",
        description=(
            "Vertex group or attribute: only what lies below a weight above one half can be core. "
            "Empty: everything deep enough"
        ),
        **FIXED_OPTIONS,
    )
    core_hinge: PointerProperty(
        type=bpy.types.Object,
        name="Hinge",
        description="The core only turns about the local Z axis of this object, and goes along with it. Empty: free",
        poll=_is_other,
        options=set(),
        override={"LIBRARY_OVERRIDABLE"},
    )
    core_pull: PointerProperty(
        type=bpy.types.Object,
        name="Pull",
        description=(
            "A spring pulls the core to this object: at the point where the object is in the rest pose. "
            "Empty: nothing pulls"
        ),
        poll=_is_other,
        options=set(),
        override={"LIBRARY_OVERRIDABLE"},
    )
    core_pull_stiffness: FloatProperty(
        name="Pull Stiffness",
        description=(
            "Stiffness of the spring over the mass of the body [1/s²]: it swings √stiffness / 2π times a second, "
            "and under its own weight it gives way by a centimetre with 1000"
        ),
        default=Pull().stiffness,
        min=0.0,
        soft_min=10.0,
        soft_max=1.0e5,
        precision=0,
        step=10000,
        **FIXED_OPTIONS,
    )
    core_pull_damping: FloatProperty(
        name="Pull Damping",
        description="How fast the swinging on the spring dies away [1/s]; at twice √stiffness it does not swing at all",
        default=Pull().damping,
        min=0.0,
        soft_max=1000.0,
        precision=1,
        step=100,
        **FIXED_OPTIONS,
    )
