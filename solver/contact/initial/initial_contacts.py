# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of contacts before anything has moved."""

from __future__ import annotations

from collections.abc import Sequence

from ...mechanics.model import Model
from ...mechanics.state import State
from ...scene.tracks import TrackReader
from ..colliders.build_colliders import BuiltCollider
from ..detection.contact_materials import ContactMaterials
from ..detection.contact_points import ContactPoints
from ..detection.remap_contacts import merge_contacts
from ..surfaces.vertex_positions import vertex_positions
from .initial_sheet_side import initial_sheet_sides
from .resolve_overlap import initial_overlaps


def initialize_contacts(
    colliders: Sequence[BuiltCollider],
    surfaces: ContactMaterials | None,
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
    known = initial_sheet_sides(colliders, skins, points, model, tracks, state.time)
    if skins is not None:
        first = len(colliders) * max(len(points), 1)
        middles = {number: state.x[model.tets[b.tets]].mean(axis=1) for number, b in enumerate(model.bodies)}
        at = vertex_positions(skins, model, state.x)
        known = merge_contacts(known, initial_overlaps(skins, names, at, middles, first))
    if len(known.id):
        known.store_in(state)
