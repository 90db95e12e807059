# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether bodies can end at their Wrap, and the holes of their meshes that are closed for it."""

from __future__ import annotations

from collections.abc import Iterator

import bpy

from ...solver.mesh.geometry.hole_caps import open_loops
from ...solver.runtime.errors import BadInput, SinewError
from ..evaluation.evaluated_mesh import triangles
from ..properties.role_definitions import BODY


def check_fat(obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Makes sure that a body can end at its Wrap.

    Raises:
        BadInput: The Wrap is no part of the scene, or is a body itself, or the body does what fat cannot.
    """
    settings, wrap = obj.sinew, obj.sinew.wrap
    if wrap is None:
        return
    if wrap.name not in scene.objects or wrap == obj:
        raise BadInput("wrap-elsewhere", name=obj.name, wrap=wrap.name, scene=scene.name)
    if wrap.sinew.role == BODY:
        raise BadInput("wrap-is-body", name=obj.name, wrap=wrap.name)
    if wrap.mode == "EDIT":
        raise BadInput("in-edit-mode", name=wrap.name)
    not_fat = {
        "Fracture": settings.use_fracture,
        "Goal": settings.use_goal,
        "Animated": settings.animated,
        "Rigid Core": settings.use_core,
        "Muscle": settings.use_muscle,
        "Rest Shape from Shape Keys": settings.rest_from_keys and obj.data.shape_keys is not None,
        "Fill From File": settings.method == "GIVEN",
    }
    for feature, is_on in not_fat.items():
        if is_on:
            raise BadInput("wrap-combined", name=obj.name, feature=feature)


def hole_warnings(obj: bpy.types.Object) -> Iterator[SinewError]:
    """The mesh of fat has holes before modifiers, which are closed for the physics."""
    holes = len(open_loops(triangles(obj.data))) if obj.sinew.wrap is not None else 0
    if holes:
        yield SinewError("skin-capped", name=obj.name, count=holes)
