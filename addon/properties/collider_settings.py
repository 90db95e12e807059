# SPDX-License-Identifier: GPL-3.0-or-later
"""How bodies meet a collider."""

from __future__ import annotations

from bpy.props import EnumProperty, FloatProperty

from ..choices import COLLIDER_SHAPES
from .sampling import FIXED


class ColliderSettings:
    """Shape, friction and thickness."""

    collider_shape: EnumProperty(
        name="Shape", items=COLLIDER_SHAPES, default="MESH", description="What bodies bump into", **FIXED
    )
    friction: FloatProperty(
        name="Friction",
        description="Coulomb's coefficient of friction μ: 0 slides like ice, 1 grips like rubber on stone",
        default=0.5,
        min=0.0,
        soft_max=1.0,
        max=100.0,
        precision=2,
        step=1,
        **FIXED,
    )
    thickness: FloatProperty(
        name="Thickness",
        description="Bodies keep this distance from the collider [m]",
        default=0.0,
        min=0.0,
        soft_max=0.1,
        precision=4,
        step=1,
        subtype="DISTANCE",
        unit="LENGTH",
        **FIXED,
    )
