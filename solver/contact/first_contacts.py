# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of contacts before anything has moved."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import Model
from ..skins.places import places
from ..state import State
from ..tracks import TrackReader
from .colliders import BuiltCollider
from .first_sides import first_sides
from .overlapped import first_overlaps
from .points import ContactPoints
from .skin_surfaces import SkinSurfaces
from .skins_broken import together


def first_contacts(
    colliders: Sequence[BuiltCollider],
    surfaces: SkinSurfaces | None,
    points: ContactPoints,
    model: Model,
    names: Sequence[str],
    tracks: TrackReader,
    state: State,
) -> None:
    """Writes into a first state on which side of sheets points begin, and which bodies are to be let out of others.

    Args:
        colliders: Rigid ones.
        surfaces: Of bodies and of colliders that deform; None: there are none.
        points: What rigid colliders are met with.
        model: All bodies.
        names: Of the bodies.
        tracks: Of the scene.
        state: The first one.

    Raises:
        BadInput: "bodies-overlap".
    """
    skins = surfaces.skins if surfaces else None
    known = first_sides(colliders, skins, points, model, tracks, state.time)
    if skins is not None:
        first = len(colliders) * max(len(points), 1)
        middles = {number: state.x[model.tets[b.tets]].mean(axis=1) for number, b in enumerate(model.bodies)}
        at = places(skins, model, state.x)
        known = together(known, first_overlaps(skins, names, at, middles, first))
    if len(known.id):
        known.keep(state)
