# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the contacts of a step for a simulation: with rigid and deforming colliders, and between bodies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..contact.contact_step import ContactStep
from ..contact.detection.collider_surface_motion import PrescribedSurfaces, prescribe_surfaces
from ..contact.detection.persistent_contacts import PersistentContacts, resolving_contacts
from ..contact.detection.rigid_collider_contacts import collider_poses
from ..contact.detection.surface_contacts import SurfaceContacts
from ..contact.initial.resolve_overlap import contacts_inside_collider
from ..contact.surfaces.collision_surfaces import interpolate_vertices
from ..contact.surfaces.point_triangle_search import PointTriangleSearch
from ..contact.surfaces.post_fracture_penetration import find_backside_points
from ..mechanics.model import Model
from ..mechanics.topology_state import TETS_FIELD
from ..runtime.arrays import Bools, Floats
from .features.surface_dents import SurfaceDents
from .simulated_scene import SimulatedScene
from .step_interval import StepPart
from .torn_seams import contact_materials_at


def make_contact_step(
    simulation: SimulatedScene, model: Model, is_fixed: Bools | None, gravity: Floats, part: StepPart
) -> ContactStep | None:
    """Returns the contacts of a step or of a part of one; None if nothing can touch.

    Args:
        simulation: At the start of the step.
        model: Of the step.
        is_fixed: Which nodes are fixed, (n,); None: none.
        gravity: g [m/s²], (3,).
        part: Which part.
    """
    built, tracks, begin, end, dt = simulation.built, simulation.tracks, part.begin, part.end, part.dt
    poses, contacts = collider_poses(built.colliders, tracks, begin, end), None
    points, materials = built.contact_points, contact_materials_at(built, simulation.state)
    if (dents := built.feature(SurfaceDents)) is not None:
        points, materials = dents.present_targets(model, simulation.state, points, materials)
    if model.mu is not built.model.mu:  # of what has softened, or has a key
        factors = model.mu / built.model.mu
        points = points.with_moduli(factors)
        materials = replace(materials, points=materials.points.with_moduli(factors)) if materials else None
    if materials is not None and materials.surfaces.may_touch.any():
        prescribed = prescribe_surfaces(materials.surfaces, poses, built.deforming, tracks, begin, end)
        is_flesh = built.flesh is not None and built.flesh.dynamics is not None
        contacts = SurfaceContacts(
            materials, prescribed, model, dt, PointTriangleSearch, allows_multiple_tets=not is_flesh
        )
        if built.deforming:
            _add_contacts_inside_colliders(simulation, prescribed, begin, end)
    if not poses and contacts is None:
        return None
    return ContactStep(points, poses, model, simulation.state, is_fixed, gravity, dt, contacts)


def add_backside_contacts(
    contacts: PersistentContacts, simulation: SimulatedScene, has_broken: Bools
) -> PersistentContacts:
    """Returns contacts, and those of points a little behind a surface after bodies broke, so that they go no deeper.

    Args:
        contacts: Of the step before.
        simulation: After the surfaces changed.
        has_broken: Which bodies have just broken, (b,).
    """
    built, state, tracks = simulation.built, simulation.state, simulation.tracks
    assert built.contact_materials is not None
    poses = collider_poses(built.colliders, tracks, state.time, state.time)
    prescribed = prescribe_surfaces(
        built.contact_materials.surfaces, poses, built.deforming, tracks, state.time, state.time
    )
    surfaces, positions = prescribed.surfaces, prescribed.end.copy()
    interpolate_vertices(state.x, surfaces.nodes, surfaces.weights, positions)
    piece = np.searchsorted(built.model.pattern.island_start, surfaces.nodes[:, 0], side="right").astype(np.int32) - 1
    is_included = (surfaces.body >= 0) & has_broken[np.maximum(surfaces.body, 0)]
    id, triangle, depth = find_backside_points(surfaces, positions, piece, is_included)
    id_offset, pair_count = _first_surface_id(simulation), len(surfaces) * surfaces.vertex_count
    existing = contacts.id[np.searchsorted(contacts.id, id_offset) :] - id_offset
    existing = existing[existing < surfaces.point_id_count]
    is_new = ~np.isin(id, existing % pair_count)
    return contacts.merge(resolving_contacts(id[is_new] + id_offset, triangle[is_new], depth[is_new]))


def _add_contacts_inside_colliders(
    simulation: SimulatedScene, prescribed: PrescribedSurfaces, begin: float, end: float
) -> None:
    """Stores in the state contacts of what is inside colliders that have just appeared."""
    built, state, surfaces = simulation.built, simulation.state, prescribed.surfaces
    contacts, id_offset = PersistentContacts.from_state(state), _first_surface_id(simulation)
    positions, is_whole = prescribed.start.copy(), TETS_FIELD not in state.fields
    interpolate_vertices(state.x, surfaces.nodes, surfaces.weights, positions)
    for collider in built.deforming:
        is_known = collider.is_solid and collider.key in surfaces.names
        if is_known and collider.appears(simulation.tracks, begin, end):
            surface = surfaces.names.index(collider.key)
            new = contacts_inside_collider(surfaces, surface, positions, is_whole, id_offset)
            contacts = contacts.merge(new.select(~np.isin(new.id, contacts.id)))
            contacts.store_in(state)


def _first_surface_id(simulation: SimulatedScene) -> int:
    """Returns the offset of ids of contacts of surfaces: ids of contacts with rigid colliders are lower."""
    return len(simulation.built.colliders) * max(len(simulation.built.contact_points), 1)
