# SPDX-License-Identifier: GPL-3.0-or-later
"""What quasistatic flesh may touch: colliders, other flesh, and itself where that is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..contact.colliders import BuiltCollider
from ..contact.points import ContactPoints
from ..quasistatic.contact import RenderSurface, make_flesh_contact
from .bodies import FleshBodies


def with_contact(
    flesh: FleshBodies | None,
    surfaces: Sequence[RenderSurface],
    points: ContactPoints,
    colliders: Sequence[BuiltCollider],
) -> FleshBodies | None:
    """Returns flesh with what it may touch.

    Args:
        flesh: All flesh of a scene, or None.
        surfaces: Of all bodies of the scene, in their order.
        points: Of all bodies, tets counted in the whole model.
        colliders: Of the scene.
    """
    part = flesh.quasistatic if flesh else None
    if flesh is None or part is None:
        return flesh
    meets_itself = [asked.self_contact for asked in part.asked]
    if not colliders and not any(meets_itself) and len(meets_itself) == 1:
        return flesh
    own = [surfaces[number] for number in part.part.bodies]
    contact = make_flesh_contact(part.part, own, points, colliders, meets_itself)
    return replace(flesh, quasistatic=replace(part, contact=contact))
