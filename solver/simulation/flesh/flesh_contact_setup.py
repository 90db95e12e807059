# SPDX-License-Identifier: GPL-3.0-or-later
"""What quasistatic flesh may touch: colliders, other flesh, and itself where that is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...contact.colliders.rigid_colliders import BuiltCollider
from ...contact.detection.contact_sample_points import ContactPoints
from ...quasistatic.contact import FleshContact, RenderSurface, make_flesh_contact
from ...runtime.arrays import Bools, Floats
from .flesh_bodies import FleshBodies


def with_contact(
    flesh: FleshBodies | None,
    surfaces: Sequence[RenderSurface],
    points: ContactPoints,
    colliders: Sequence[BuiltCollider],
    ignored: Sequence[tuple[str, str]] = (),
    thickness: Sequence[float] | None = None,
    added_moduli: Floats | None = None,
) -> FleshBodies | None:
    """Returns flesh with what it may touch.

    Args:
        flesh: All flesh of a scene, or None.
        surfaces: Of all bodies of the scene, in their order.
        points: Of all bodies, tets counted in the whole model.
        colliders: Of the scene.
        ignored: Pairs of keys that pass through each other.
        thickness: What bodies keep away from colliders by themselves [m], all of them in their order; None: nothing.
        added_moduli: Young's modulus that muscles add, by tets of all bodies [Pa], (m,); None: nothing.
    """
    part = flesh.quasistatic if flesh else None
    if flesh is None or part is None:
        return flesh
    meets_itself = [asked.self_contact for asked in part.settings]
    if not colliders and not any(meets_itself) and len(meets_itself) == 1:
        return flesh
    own = [surfaces[number] for number in part.part.bodies]
    thick = [thickness[number] for number in part.part.bodies] if thickness is not None else None
    contact = make_flesh_contact(part.part, own, points, colliders, meets_itself, thick, added_moduli)
    return replace(flesh, quasistatic=replace(part, contact=_with_ignored(contact, ignored)))


def _with_ignored(contact: FleshContact, ignored: Sequence[tuple[str, str]]) -> FleshContact:
    """Returns the contact of flesh that passes through what it ignores."""
    numbers = {body.key: number for number, body in enumerate(contact.model.bodies)}
    passes = np.zeros((len(numbers), len(numbers)), bool)
    unfelt: dict[str, Bools] = {}
    for pair in ignored:
        for key, other in (pair, pair[::-1]):
            if key in numbers and other in numbers:
                passes[numbers[key], numbers[other]] = True
            elif key in numbers:
                tets, tet = contact.model.bodies[numbers[key]].tets, contact.points.tet
                own = (tet >= tets.start) & (tet < tets.stop)
                unfelt[other] = unfelt[other] | own if other in unfelt else own
    search = contact.tet_search
    if search is not None and passes.any():
        search = replace(search, may_touch=search.may_touch & ~passes)
    return replace(contact, ignoring_points=unfelt, tet_search=search)
