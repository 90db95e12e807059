# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a scene with Exact contact begins: nothing may intersect there, but bodies themselves.

Bodies that only touch are moved apart by a hair. Bodies that are in each other, or in colliders, are refused, with how
far they would have to be moved. What intersects itself is not kept apart until it has parted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...contact.exact.contact_mesh import ContactMesh, close_pairs
from ...contact.exact.contact_potential import pair_stencils
from ...contact.exact.excluded_features import ExcludedFeatures, features_of_pairs
from ...contact.exact.separating_translations import deepest_intersection, separating_translations
from ...contact.exact.tangled_features import intersecting_owners, tangled_features
from ...mechanics.model import Model
from ...mechanics.state import State
from ...runtime.arrays import Floats
from ...runtime.errors import BadInput, SinewError
from ...scene.tracks import TrackReader
from ..features.surface_dents import SurfaceDents
from .exact_dents import with_dents
from .exact_surfaces import ExactSurfaces

TOUCH_SHARE = 0.05  # of the gap: bodies that are no deeper in each other only touch
SAME_PLACE_SHARE = 1.0e-3  # of the gap: bodies, and parts of one body, that are closer touch each other
CLEARANCE_SHARE = 0.25  # of the gap: how far apart they begin then


@dataclass(frozen=True, eq=False)
class ExactStart:
    """Surfaces that know where they begin.

    Attributes:
        surfaces: The surfaces.
        warnings: What the artist should know, by number of the body.
    """

    surfaces: ExactSurfaces
    warnings: dict[int, SinewError]


def begin_exact_contact(
    surfaces: ExactSurfaces,
    tracks: TrackReader,
    time: float,
    model: Model,
    state: State,
    dents: SurfaceDents | None = None,
) -> ExactStart:
    """Looks at surfaces where a simulation begins; moves bodies that only touch, and stores what is not kept apart.

    Args:
        surfaces: Of the scene.
        tracks: Its animated inputs.
        time: When it begins [s].
        model: The bodies.
        state: Where they begin; changed.
        dents: Bodies with surface detail, which may begin with dents; None: there are none.

    Raises:
        BadInput: Bodies are in each other or in colliders; its `moves` say what would separate them.
    """
    bound, motion = surfaces.motion(tracks, time, time, (None, state.x))
    bound = with_dents(bound, surfaces, dents, model, state)
    mesh, gap = bound.mesh, surfaces.options.barrier.gap
    y = bound.positions(state.x, motion.start)
    touching = SAME_PLACE_SHARE * gap
    found = deepest_intersection(mesh, y, touching)
    moved: Floats = np.zeros((len(surfaces.names), 3))
    if found is not None:
        moves = separating_translations(mesh, y, _masses(surfaces, model), touching, CLEARANCE_SHARE * gap)
        if found.depth > TOUCH_SHARE * gap or moves is None:
            names = {"name": surfaces.names[found.one], "other": surfaces.names[found.other]}
            place = "(" + ", ".join(f"{x:.3g}" for x in found.place) + ") m"
            wanted = _moves_by_key(surfaces, model, moves)
            raise BadInput("exact-contact-intersects", **names, time=time, place=place, moves=wanted)
        moved = moves
        for number, body in enumerate(model.bodies):
            state.x[body.nodes] += moved[number]
        y = bound.positions(state.x, motion.start)
    mesh = replace(mesh, start=y)
    excluded = tangled_features(mesh, y, intersecting_owners(mesh, y))
    for group in pair_stencils(mesh, close_pairs(mesh, y, y, SAME_PLACE_SHARE * gap)):
        rows = np.flatnonzero(group.start_distance < SAME_PLACE_SHARE * gap)
        excluded = excluded.united(features_of_pairs(mesh, group, rows))
    excluded.to_state(state)
    start = replace(surfaces.bound, mesh=replace(surfaces.bound.mesh, start=y))
    return ExactStart(
        replace(surfaces, bound=start, first_excluded=excluded),
        _moved_warnings(surfaces, model, moved) | _crossing_warnings(surfaces, mesh, excluded, y),
    )


def _masses(surfaces: ExactSurfaces, model: Model) -> Floats:
    """Returns the masses of bodies [kg], and infinite ones of colliders, (s,)."""
    masses = np.full(len(surfaces.names), np.inf)
    for number, body in enumerate(model.bodies):
        masses[number] = model.mass[body.nodes].sum()
    return masses


def _moves_by_key(surfaces: ExactSurfaces, model: Model, moves: Floats | None) -> dict[str, list[float]]:
    """Returns the translations of bodies that move [m], by key; none where nothing separates them."""
    if moves is None:
        return {}
    return {surfaces.keys[n]: moves[n].tolist() for n in range(len(model.bodies)) if moves[n].any()}


def _moved_warnings(surfaces: ExactSurfaces, model: Model, moved: Floats) -> dict[int, SinewError]:
    """Returns a warning for each body that was moved."""
    found = {}
    for number in range(len(model.bodies)):
        way = float(np.linalg.norm(moved[number]))
        if way > 0.0:
            details = {"name": surfaces.names[number], "millimetres": 1e3 * way, "is_minor": True}
            found[number] = SinewError("exact-contact-touches", **details)
    return found


def _crossing_warnings(
    surfaces: ExactSurfaces, mesh: ContactMesh, excluded: ExcludedFeatures, y: Floats
) -> dict[int, SinewError]:
    """Returns a warning for each body that intersects itself."""
    found = {}
    points, ends = excluded.excluded_points(mesh)[0], excluded.excluded_edges(mesh)[0]
    places = np.concatenate([y[points], y[ends].mean(axis=1).reshape(-1, 3)])
    of_place = mesh.owner[mesh.surface[np.concatenate([points, ends[:, 0]])]]
    for number in np.unique(of_place).tolist():
        own = np.unique(places[of_place == number], axis=0)
        place = "(" + ", ".join(f"{x:.3g}" for x in own[0]) + ") m"
        details = {"name": surfaces.names[number], "count": len(own), "place": place}
        found[number] = SinewError("exact-contact-crosses-itself", **details)
    return found
