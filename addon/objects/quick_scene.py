# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes of meshes that Sinew does not know yet a scene that plays well at once."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from . import first_settings, new_objects, roles, subdivision


def make_bodies(context: bpy.types.Context, meshes: Iterable[bpy.types.Object]) -> None:
    """Makes meshes bodies with enough vertices to bend, and adds a ground where the scene has no collider."""
    for obj in meshes:
        first_settings.make_new_body(obj)
        if subdivision.has_few_vertices(obj):
            subdivision.subdivide(obj)
    if not roles.colliders(context.scene):
        new_objects.add_ground(context)
