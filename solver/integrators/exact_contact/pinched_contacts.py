# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pairs are no longer kept apart where colliders and held nodes leave bodies no room."""

from __future__ import annotations

import numpy as np

from ...contact.exact.conservative_advancement import SafeDistance, mark_limited_pairs
from ...contact.exact.contact_mesh import ContactMesh
from ...contact.exact.contact_potential import ContactBarrier, PairStencils, fill_closing_motion
from ...contact.exact.excluded_features import ExcludedFeatures, features_of_pairs
from ...contact.exact.pair_search import Groups, PairSearch
from ...contact.exact.tangled_features import tangled_features
from ...runtime.arrays import Bools, Floats


def blocking_features(
    mesh: ContactMesh, groups: Groups, y: Floats, y_end: Floats, is_collider: Bools, how: ContactBarrier, share: float
) -> ExcludedFeatures:
    """Returns the features of pairs that keep colliders and held nodes from going on.

    These are close pairs that what is left of their way would close; where there are none, close pairs that have to do
    with it, or else all close pairs: bodies are between them.

    Args:
        mesh: The surfaces.
        groups: Their pairs.
        y, y_end: Vertices now, and where only these have arrived [m], (v, 3).
        is_collider: Which vertices are those of colliders, (v,).
        how: The barrier.
        share: Of the gap of a pair: it is close below that.
    """
    is_prescribed = is_collider | (np.abs(y_end - y) > 0.0).any(axis=1)
    choices: list[list[Bools]] = []
    for group in groups:
        distance, closing = closing_motion(group, y, y_end - y)
        is_close = distance - group.thickness < share * group.gaps(how)
        has_to_do = is_close & is_prescribed[group.vertices].any(axis=1)
        choices.append([is_close & (closing > 0.0), has_to_do, is_close])
    for each in range(3):
        features = _features(mesh, groups, [own[each] for own in choices])
        if len(features):
            return features
    return ExcludedFeatures()


def squeezed_bodies(mesh: ContactMesh, groups: Groups, features: ExcludedFeatures, is_collider: Bools) -> Bools:
    """Returns which bodies some features are of, and which are near to these, one through the other, (s,).

    Args:
        mesh: The surfaces.
        groups: Pairs that are near.
        features: They.
        is_collider: Which vertices are those of colliders, (v,).
    """
    is_near, is_body = np.zeros_like(mesh.may_touch), np.zeros(len(mesh.owner), bool)
    is_body[mesh.owner[mesh.surface[~is_collider]]] = True
    for group in groups:
        one, other = (mesh.owner[mesh.surface[group.vertices[:, corner]]] for corner in (0, 3))
        is_near[one, other] = is_near[other, one] = True
    found, more = np.zeros(len(is_body), bool), features.owner_pairs(mesh).any(axis=1) & is_body
    while (more & ~found).any():
        found = found | more
        more = is_near[found].any(axis=0) & is_body
    return found


def limited_features(
    mesh: ContactMesh, groups: Groups, y: Floats, y_end: Floats, safe: SafeDistance
) -> ExcludedFeatures:
    """Returns the features of pairs that would come too close on straight paths from y to y_end [m], (v, 3)."""
    limited = []
    for group in groups:
        limited.append(np.zeros(len(group.vertices), bool))
        mark_limited_pairs(group.kind, group.vertices, group.thickness, y, y_end - y, safe, limited[-1])
    return _features(mesh, groups, limited)


def features_not_parted(
    mesh: ContactMesh, search: PairSearch, y: Floats, how: ContactBarrier, share: float
) -> ExcludedFeatures:
    """Returns what is still not kept apart: what is tangled, and what of it is closer than a share of its gap.

    Args:
        mesh: The surfaces.
        search: Its pairs, and what it excludes.
        y: Vertices [m], (v, 3).
        how: The barrier.
        share: Of the gap.
    """
    excluded = search.excluded
    if not len(excluded):
        return excluded
    found = tangled_features(mesh, y, excluded.owner_pairs(mesh))
    for group in search.all_pairs(y, y):
        rows = np.flatnonzero(excluded.excludes(mesh, group))
        own = group.select(rows)
        near = rows[closing_motion(own, y, np.zeros_like(y))[0] < share * own.gaps(how)]
        found = found.united(features_of_pairs(mesh, group, near).common(excluded))
    return found


def closing_motion(group: PairStencils, y: Floats, motion: Floats) -> tuple[Floats, Floats]:
    """Returns distances of pairs [m], and by how much a motion of vertices would close them at first [m], (k,) each."""
    distance, closing = np.empty(len(group.vertices)), np.empty(len(group.vertices))
    fill_closing_motion(group, y, motion, distance, closing)
    return distance, closing


def _features(mesh: ContactMesh, groups: Groups, chosen: list[Bools]) -> ExcludedFeatures:
    """Returns the features of some of the pairs of each group."""
    found = ExcludedFeatures()
    for group, which in zip(groups, chosen, strict=True):
        found = found.united(features_of_pairs(mesh, group, np.flatnonzero(which)))
    return found
