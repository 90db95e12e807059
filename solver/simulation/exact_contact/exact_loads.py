# SPDX-License-Identifier: GPL-3.0-or-later
"""What Exact contact pushes with, as the overlay shows it and as it loads colliders, and where it lets these in."""

from __future__ import annotations

import numpy as np

from ...contact.contact_loads import ContactLoads
from ...contact.exact.conservative_advancement import POINT_TRIANGLE
from ...contact.exact.contact_mesh import ContactMesh
from ...contact.exact.excluded_features import ExcludedFeatures
from ...contact.exact.friction import PairForces
from ...runtime.arrays import Bools, Floats


def exact_contact_loads(pairs: PairForces, y: Floats, mesh: ContactMesh, keys: tuple[str, ...]) -> ContactLoads:
    """Returns the contacts of a step, each with the force on a body; the other side is a collider where one is one.

    Args:
        pairs: What they push with.
        y: Vertices at the end of the step [m], (v, 3).
        mesh: The surfaces.
        keys: Of the bodies or colliders of surfaces, (s,).
    """
    is_first = _is_first_side(pairs)
    one, other = (mesh.owner[mesh.surface[pairs.vertices[:, corner]]] for corner in (0, 3))
    sides = np.stack([one, other], axis=1)
    turns = one > other  # colliders come after bodies
    sign = np.where(turns, -1.0, 1.0)[:, None]
    weights = np.abs(pairs.weights) * (is_first != turns[:, None])
    return ContactLoads(
        np.einsum("ki,kij->kj", weights, y[pairs.vertices]),
        sign * pairs.normal,
        sign * pairs.force,
        keys,
        np.where(turns, sides[:, 0], sides[:, 1]).astype(np.int32),
    )


def exact_collider_loads(loads: ContactLoads, first: int, origins: Floats) -> Floats:
    """Returns force [N] and torque about its origin [N m] on every collider, (c, 6).

    Args:
        loads: Contacts.
        first: Surface of the first collider.
        origins: Of the colliders [m], (c, 3).
    """
    collider = loads.other - first
    rows = np.flatnonzero(collider >= 0)
    out = np.zeros((len(origins), 6))
    arm = loads.positions[rows] - origins[collider[rows]]
    np.add.at(out, collider[rows], -np.hstack([loads.forces[rows], np.cross(arm, loads.forces[rows])]))
    return out


def excluded_places(excluded: ExcludedFeatures, y: Floats, mesh: ContactMesh) -> Floats:
    """Returns where points and edges are that are not kept out of some surface [m], (k, 3)."""
    points, ends = excluded.excluded_points(mesh)[0], excluded.excluded_edges(mesh)[0]
    return np.unique(np.concatenate([y[points], y[ends].mean(axis=1).reshape(-1, 3)]), axis=0)


def _is_first_side(pairs: PairForces) -> Bools:
    """Returns which corners are those of the first side, (k, 4)."""
    count = np.where(pairs.kind == POINT_TRIANGLE, 1, 2)
    return np.arange(4, dtype=np.int64)[None, :] < count[:, None]
