# SPDX-License-Identifier: GPL-3.0-or-later
"""The contacts of a step, of what was built: with rigid colliders, with those that deform, between bodies."""

from __future__ import annotations

from ..contact.contact_step import ContactStep
from ..contact.detection.collider_poses import collider_poses
from ..contact.detection.persistent_contacts import PersistentContacts
from ..contact.detection.prescribed_surfaces import PrescribedSurfaces, prescribe_surfaces
from ..contact.detection.surface_contacts import SurfaceContacts
from ..contact.initial.spawned_colliders import add_spawned_collider_contacts
from ..contact.surfaces.surface_search import PointTriangleSearch
from ..contact.surfaces.vertex_positions import interpolate_vertices
from ..mechanics.model import Model
from ..mechanics.topology import TETS_FIELD
from ..runtime.arrays import Bools, Floats
from .simulated_scene import SimulatedScene


def make_contact_step(
    simulation: SimulatedScene, model: Model, is_fixed: Bools | None, gravity: Floats, begin: float, end: float
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
    places, skins = collider_poses(built.colliders, tracks, begin, end), None
    if built.skins is not None and built.skins.skins.may_touch.any():
        where = prescribe_surfaces(built.skins.skins, places, built.deforming, tracks, begin, end)
        stepping = built.flesh.dynamics if built.flesh else None
        skins = SurfaceContacts(built.skins, where, model, dt, PointTriangleSearch, spreads=stepping is None)
        if built.deforming:
            _add_spawned_contacts(simulation, where, begin, end)
    if not places and skins is None:
        return None
    return ContactStep(built.contact_points, places, model, simulation.state, is_fixed, gravity, dt, skins)


def _add_spawned_contacts(simulation: SimulatedScene, where: PrescribedSurfaces, begin: float, end: float) -> None:
    """Lets the state remember what is inside colliders that have just appeared."""
    built, state, memory = simulation.built, simulation.state, PersistentContacts.from_state(simulation.state)
    at, first = where.start.copy(), len(built.colliders) * max(len(built.contact_points), 1)
    interpolate_vertices(state.x, where.skins.nodes, where.skins.weights, at)
    is_whole = TETS_FIELD not in state.fields
    known = add_spawned_collider_contacts(
        memory, where.skins, at, built.deforming, simulation.tracks, begin, end, is_whole, first
    )
    if known is not memory:
        known.store_in(state)
