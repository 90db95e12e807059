# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh at rest that is deep in another body or in a collider: which, in what, and how deep.

From a depth of `MAX_FORCE_DEPTH` on, a contact pushes no harder. What presses more than that sinks in until something
else holds it, and the solve converges there all the same.
"""

from __future__ import annotations

import numpy as np

from ...contact.colliders.rigid_colliders import POSED_KEY_SUFFIX
from ...mechanics.model import Model
from ...mesh.geometry.penetration_depth import penetration_depths
from ...mesh.geometry.triangle_bvh import build_bvh
from ...runtime.arrays import Bools, Floats, floats
from .contact_penalty import ContactPenalty
from .flesh_contact import FleshContact

SUNK_SHARE = 0.1  # of the mean thickness: deeper than that, something has sunk in

DepthsByPair = dict[str, dict[str, float]]  # key of a body → key of what it is in → depth [m]


def may_have_sunk(contact: FleshContact, deepest: float) -> bool:
    """Whether a largest depth [m], as the solve tells it, is more than that of any body may be."""
    return deepest > SUNK_SHARE * float(mean_thicknesses(contact).min(initial=np.inf))


def deep_contacts(penalty: ContactPenalty, at_rest: ContactPenalty, x: Floats, is_free: Bools) -> DepthsByPair:
    """Returns which bodies have points deep in another body or a collider, and the largest depth of each pair [m].

    In a collider, that is more than `SUNK_SHARE` of the body's mean thickness; in another body, of that of the thinner
    one. Depths are those beyond an overlap at rest, and of points that free nodes could bring out.

    Args:
        penalty: What the bodies touch.
        at_rest: With the colliders where they are as the bodies are at rest.
        x: Node positions [m], (n, 3).
        is_free: Which nodes nothing holds, (n,).
    """
    contact, found = penalty.contact, DepthsByPair()
    limit = SUNK_SHARE * mean_thicknesses(contact)
    keys, points = [body.key for body in contact.model.bodies], contact.points
    for each in penalty.depths(x, is_free):
        own = body_numbers(contact.model, points.tet[each.point])
        if each.collider is not None:
            name, is_deep = each.collider.removesuffix(POSED_KEY_SUFFIX), each.depth > limit[own]
            depth = each.depth - _rest_depths(at_rest, name)[each.point] if is_deep.any() else each.depth
            for number in np.unique(own[is_deep & (depth > limit[own])]):
                _note(found, keys[number], name, depth[own == number])
            continue
        other = _bodies_of_faces(contact, each.triangle)
        least = np.minimum(limit[own], limit[other])
        is_deep = (own != other) & (each.depth > least)
        for one, two in np.unique(np.stack([own, other], axis=1)[is_deep], axis=0):
            which = np.flatnonzero(is_deep & (own == one) & (other == two))
            depth = _depths_inside(contact, x, each.point[which], int(two))
            if (depth > least[which]).any():
                _note(found, keys[one], keys[two], depth)
    return found


def _rest_depths(at_rest: ContactPenalty, collider: str) -> Floats:
    """Returns how deep all points are at rest in the collider of a key [m], (k,)."""
    model, depths = at_rest.contact.model, np.zeros(len(at_rest.contact.points))
    for each in at_rest.collider_depths(model.X, np.ones(len(model.X), bool)):
        if each.collider is not None and each.collider.removesuffix(POSED_KEY_SUFFIX) == collider:
            depths[each.point] = each.depth
    return depths


def _bodies_of_faces(contact: FleshContact, triangles: np.ndarray) -> np.ndarray:
    """Returns the numbers of the bodies that triangles of the surface belong to, (k,)."""
    surface = contact.surface
    return body_numbers(contact.model, surface.tet[surface.triangles[triangles, 0]])


def _depths_inside(contact: FleshContact, x: Floats, points: np.ndarray, body: int) -> Floats:
    """Returns how deep points are inside a body, beyond how deep they are at rest [m], (k,), not above 0 outside.

    It is the distance from the surface. The place that a contact pushes its point to faces the point's own surface: for
    one on the side of what dips in, that is the far side of the body, much farther than it has sunk.
    """
    surface, model = contact.surface, contact.model
    faces = surface.triangles[_bodies_of_faces(contact, np.arange(len(surface.triangles), dtype=np.int64)) == body]
    now, at_rest = (
        penetration_depths(build_bvh(surface.vertices_at(model, nodes), faces), contact.positions(nodes)[points])
        for nodes in (x, model.X)
    )
    return floats(now - at_rest)


def mean_thicknesses(contact: FleshContact) -> Floats:
    """Returns 4 V / A of each body at rest [m], (b,): of a long round one its diameter; infinite without a surface."""
    model, points = contact.model, contact.points
    area = np.bincount(body_numbers(model, points.tet), points.area, len(model.bodies))
    volume = np.array([model.volume[body.tets].sum() for body in model.bodies])
    return np.divide(4.0 * volume, area, out=np.full(len(area), np.inf), where=area > 0.0)


def body_numbers(model: Model, tets: np.ndarray) -> np.ndarray:
    """Returns the numbers of the bodies that tets belong to, (k,)."""
    starts = np.array([body.tets.start for body in model.bodies], np.int64)
    return np.searchsorted(starts, tets, side="right") - 1


def _note(found: DepthsByPair, key: str, other: str, depths: Floats) -> None:
    own = found.setdefault(key, {})
    own[other] = max(own.get(other, 0.0), float(depths.max()))
