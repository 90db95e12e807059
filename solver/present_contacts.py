# SPDX-License-Identifier: GPL-3.0-or-later
"""The contacts of a step, of what was built: with rigid colliders, with those that deform, between bodies."""

from __future__ import annotations

from .arrays import Bools, Floats
from .contact.appearing import with_appearing
from .contact.memory import Memory
from .contact.places import places_of
from .contact.response import ContactStep
from .contact.skin_contacts import SkinContacts
from .contact.told import Told, told
from .model import Model
from .simulation import Simulation
from .skins.places import place_vertices
from .skins.search import SkinSearch
from .topology import TETS


def present_contacts(
    simulation: Simulation, model: Model, is_fixed: Bools | None, gravity: Floats, begin: float, end: float
) -> ContactStep | None:
    """Returns the contacts of a step from one time to another [s]; None where nothing can meet.

    Args:
        simulation: At the start of the step.
        model: Of the step.
        is_fixed: Which nodes are held exactly, (n,); None: none.
        gravity: g [m/s²], (3,).
        begin, end: The step [s].
    """
    built, tracks, dt = simulation.built, simulation.tracks, end - begin
    places, skins = places_of(built.colliders, tracks, begin, end), None
    if built.skins is not None and built.skins.skins.meets.any():
        where = told(built.skins.skins, places, built.deforming, tracks, begin, end)
        stepping = built.flesh.stepping if built.flesh else None
        skins = SkinContacts(built.skins, where, model, dt, SkinSearch, spreads=stepping is None)
        if built.deforming:
            _let_out(simulation, where, begin, end)
    if not places and skins is None:
        return None
    return ContactStep(built.contact_points, places, model, simulation.state, is_fixed, gravity, dt, skins)


def _let_out(simulation: Simulation, where: Told, begin: float, end: float) -> None:
    """Lets the state remember what is inside colliders that have just appeared."""
    built, state, memory = simulation.built, simulation.state, Memory.of(simulation.state)
    at, first = where.start.copy(), len(built.colliders) * max(len(built.contact_points), 1)
    place_vertices(state.x, where.skins.nodes, where.skins.weights, at)
    is_whole = TETS not in state.fields
    known = with_appearing(memory, where.skins, at, built.deforming, simulation.tracks, begin, end, is_whole, first)
    if known is not memory:
        known.keep(state)
