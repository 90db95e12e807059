# SPDX-License-Identifier: GPL-3.0-or-later
"""The surfaces of Exact contact after bodies have broken, and what a state remembers with the numbers of now.

Pieces of a body touch each other, and so do both sides of a crack. What is at one place or in each other when it comes
to be is not kept apart until it has parted.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...contact.exact.contact_mesh import close_pairs, loose_edges, make_contact_mesh
from ...contact.exact.contact_potential import pair_stencils
from ...contact.exact.excluded_features import ExcludedFeatures, features_of_pairs
from ...contact.exact.friction import RememberedShear
from ...contact.exact.tangled_features import intersecting_owners, tangled_features
from ...integrators.exact_contact.bound_surfaces import BoundSurfaces
from ...integrators.exact_contact.energy_bodies import energy_bodies
from ...mechanics.model import Model
from ...mechanics.state import State
from ...runtime.arrays import Floats, Indices, floats, indices
from ...scene.tracks import TrackReader
from .breakable_surface import RETREAT_SHARE, PartedTets, SurfacePart, part_of_tets, part_of_torn_sheet, vertex_keys
from .exact_start import SAME_PLACE_SHARE
from .exact_surfaces import ExactSurfaces


def surfaces_at_topology(whole: ExactSurfaces, parted: PartedTets, model: Model, initial: Floats) -> ExactSurfaces:
    """Returns the surfaces of a scene whose bodies have broken.

    Args:
        whole: While nothing has.
        parted: Which tets have.
        model: The bodies as they are now.
        initial: Their nodes where the simulation begins [m], (n, 3).
    """
    fragments, mesh, gap = whole.fragments, whole.bound.mesh, whole.options.barrier.gap
    if fragments is None:
        return whole
    solids, sheets = (
        [n for n in numbers if parted.is_parted[fragments.model.bodies[n].tets].any()]
        for numbers in (fragments.breakable_numbers, fragments.sheet_numbers)
    )
    bodies = [*solids, *sheets]
    if not bodies:
        return whole
    parts = []
    for number in range(len(whole.names)):
        if number in solids:
            parts.append(part_of_tets(fragments, number, parted, RETREAT_SHARE * gap))
        elif number in sheets:
            parts.append(part_of_torn_sheet(fragments, number, parted.tets))
        else:
            parts.append(_part_of(whole, number))
    starts = [0, *np.cumsum([len(part.vertices) for part in parts], dtype=np.int64).tolist()]
    triangles = [part.triangles + np.int32(first) for part, first in zip(parts, starts[:-1], strict=True)]
    strands = [part.strands + np.int32(first) for part, first in zip(parts, starts[:-1], strict=True)]
    rest, tet, weights, area = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("vertices", "tet", "weights", "area")
    )
    surface = np.repeat(np.arange(len(parts), dtype=np.int32), np.diff(starts))
    may_touch = mesh.may_touch.copy()
    may_touch[solids, solids] = True  # pieces of a sheet meet each other as it meets itself
    now = make_contact_mesh(
        floats(rest),
        indices(np.concatenate(triangles), -1, 3),
        surface,
        may_touch,
        floats(area),
        mesh.owner,
        strands=indices(np.concatenate(strands), -1, 2),
    )
    nodes = indices(np.where(tet[:, None] >= 0, model.tets[np.maximum(tet, 0)], -1), -1, 4)
    bound = BoundSurfaces(now, indices(tet), nodes, floats(weights), whole.bound.friction)
    start = bound.positions(initial, _start_of_colliders(whole, rest, starts))
    side = np.where(np.isin(np.arange(len(parts), dtype=np.int64), bodies), now.side, mesh.side).astype(mesh.side.dtype)
    bound = replace(bound, mesh=replace(now, start=start, side=side, thickness=mesh.thickness))
    return replace(
        whole,
        bound=bound,
        vertex_start=tuple(starts),
        local=floats(rest),
        energy_bodies=energy_bodies(model, whole.dt),
        first_excluded=ExcludedFeatures(),
        key=np.concatenate([vertex_keys(number, part) for number, part in enumerate(parts)]),
    )


def carry_over(before: ExactSurfaces, now: ExactSurfaces, state: State, tracks: TrackReader) -> None:
    """Gives what a state remembers the numbers of now, and excludes what is at one place or in each other.

    Args:
        before, now: The surfaces.
        state: The bodies as they are now; changed.
        tracks: Of the scene.
    """
    if before is now:
        return
    number = _numbers_now(before, now)
    RememberedShear.from_state(state).renumbered(number).to_state(state)
    excluded = ExcludedFeatures.from_state(state).renumbered(before.bound.mesh, now.bound.mesh, number)
    bound, motion = now.motion(tracks, state.time, state.time, (None, state.x))
    mesh, y, reach = bound.mesh, bound.positions(state.x, motion.start), SAME_PLACE_SHARE * now.options.barrier.gap
    excluded = excluded.united(tangled_features(mesh, y, intersecting_owners(mesh, y)))
    for group in pair_stencils(replace(mesh, start=y), close_pairs(mesh, y, y, reach)):
        excluded = excluded.united(features_of_pairs(mesh, group, np.flatnonzero(group.start_distance < reach)))
    excluded.to_state(state)


def _numbers_now(before: ExactSurfaces, now: ExactSurfaces) -> Indices:
    """Returns the vertex of now that each one is, −1 where it is no more, (v,)."""
    order = np.argsort(now.key)
    place = np.minimum(np.searchsorted(now.key[order], before.key), len(order) - 1)
    found = order[place]
    return indices(np.where(now.key[found] == before.key, found, -1))


def _part_of(whole: ExactSurfaces, surface: int) -> SurfacePart:
    """Returns a surface that has not broken."""
    mesh, bound, first = whole.bound.mesh, whole.bound, whole.vertex_start[surface]
    own = slice(first, whole.vertex_start[surface + 1])
    triangles = mesh.triangles[mesh.surface[mesh.triangles[:, 0]] == surface] - np.int32(first)
    strands = loose_edges(mesh)
    strands = strands[mesh.surface[strands[:, 0]] == surface] - np.int32(first)
    area = mesh.point_area[own]
    return SurfacePart(mesh.rest[own], triangles, bound.tet[own], bound.weights[own], area, strands=strands)


def _start_of_colliders(whole: ExactSurfaces, rest: Floats, starts: list[int]) -> Floats:
    """Returns vertices of colliders where the simulation begins [m], (v, 3), with any places of bodies."""
    out = rest.copy()
    first = whole.vertex_start[whole.first_collider]
    out[starts[whole.first_collider] :] = whole.bound.mesh.start[first:]
    return floats(out)
