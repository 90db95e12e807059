# SPDX-License-Identifier: GPL-3.0-or-later
"""How a bone mesh holds flesh."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, FloatProperty, PointerProperty, StringProperty

from .flesh_settings import DEFAULT_BONE_STIFFNESS
from .property_options import FIXED_OPTIONS


def _may_be_held(_settings: bpy.types.PropertyGroup, obj: bpy.types.Object) -> bool:
    return obj.type == "MESH" and obj.sinew.role == "BODY" and obj.sinew.motion != "ELASTIC"


class BoneSettings:
    """Which flesh follows the bone, and how strictly."""

    bone_distance: FloatProperty(
        name="Distance",
        description=(
            "Flesh as near to the bone's surface as this follows it [m]; what is inside a closed bone always does"
        ),
        default=0.0,
        min=0.0,
        soft_max=1.0,
        precision=4,
        step=1,
        subtype="DISTANCE",
        unit="LENGTH",
        **FIXED_OPTIONS,
    )
    use_bone_spring: BoolProperty(
        name="Springs",
        description="Springs hold the flesh to this bone, so that it may slip a little; off: it is held exactly",
        default=False,
        **FIXED_OPTIONS,
    )
    bone_stiffness: FloatProperty(
        name="Spring Stiffness",
        description=(
            "Stiffness of the springs per mass [1/s²]: under its own weight, what they hold gives way by "
            "a centimetre with 1000, by a third of a millimetre with 30,000. "
            "A thin bone from which much flesh hangs needs more"
        ),
        default=DEFAULT_BONE_STIFFNESS,
        min=0.0,
        soft_min=100.0,
        soft_max=1.0e6,
        precision=0,
        step=100000,
        **FIXED_OPTIONS,
    )
    bone_mask_group: StringProperty(
        name="Mask",
        description=(
            "Vertex group or attribute of the bone: only where its weight is above one half, the bone holds flesh. "
            "Empty: all of it"
        ),
        **FIXED_OPTIONS,
    )
    bone_body: PointerProperty(
        type=bpy.types.Object,
        name="Body",
        description="The one body whose flesh this bone holds. Empty: all flesh that is near",
        poll=_may_be_held,
        options=set(),
        override={"LIBRARY_OVERRIDABLE"},
    )
    show_attachment: BoolProperty(
        name="Attachment",
        description=(
            "Draw in the viewport what bones hold of flesh, a colour for each bone: of a bone what it holds, "
            "of flesh what all bones hold of it"
        ),
        default=False,
        **FIXED_OPTIONS,
    )
