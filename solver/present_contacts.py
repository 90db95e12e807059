# SPDX-License-Identifier: GPL-3.0-or-later
"""The contacts of a step, of what was built: with rigid colliders, with those that deform, between bodies."""

from __future__ import annotations

from .arrays import Bools, Floats
from .contact.places import places_of
from .contact.response import ContactStep
from .contact.skin_contacts import SkinContacts
from .contact.told import told
from .model import Model
from .simulation import Simulation
from .skins.search import SkinSearch


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
        skins = SkinContacts(built.skins, where, model, dt, SkinSearch)
    if not places and skins is None:
        return None
    return ContactStep(built.contact_points, places, model, simulation.state, is_fixed, gravity, dt, skins)
