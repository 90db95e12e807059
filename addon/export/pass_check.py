# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether every pass follows earlier passes alone."""

from __future__ import annotations

from collections.abc import Collection

import bpy

from ...solver.runtime.errors import BadInput
from ..objects.attachment_rows import attachment_owners, targets_of_owner
from .deforming_mesh_check import shape_dependencies


def check_passes(bodies: Collection[bpy.types.Object]) -> None:
    """Makes sure that no body, nor its Wrap, is attached to a body of a later pass, or shaped by one.

    Raises:
        BadInput: One is; both are named.
    """
    if len({obj.sinew.bake_pass for obj in bodies}) < 2:
        return
    for obj in bodies:
        number = obj.sinew.bake_pass
        for owner, _ in attachment_owners(obj):
            for target in targets_of_owner(owner):
                if _is_later(target, number, bodies):
                    names = {"name": owner.name, "target": target.name}
                    raise BadInput("pass-follows-later", number=number, later=target.sinew.bake_pass, **names)
        for other in sorted(shape_dependencies(obj) & {*bodies}, key=lambda o: o.name):
            if _is_later(other, number, bodies):
                names = {"name": obj.name, "target": other.name}
                raise BadInput("pass-shaped-by-later", number=number, later=other.sinew.bake_pass, **names)


def _is_later(target: bpy.types.Object, number: int, bodies: Collection[bpy.types.Object]) -> bool:
    return target in bodies and target.sinew.bake_pass > number
