# SPDX-License-Identifier: GPL-3.0-or-later
"""Points that are left out as too far away would not have touched: the same contacts as of all points."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.scenes import rotation
from sinew.solver.contact.colliders.rigid_colliders import build_collider
from sinew.solver.contact.detection.collider_broad_phase import (
    PUSH_OUT_REACH,
    NearbyPoints,
    broad_phase_box,
    nearby_points,
)
from sinew.solver.contact.detection.contact_sample_points import ContactPoints
from sinew.solver.contact.detection.persistent_contacts import PersistentContacts
from sinew.solver.contact.detection.rigid_collider_contacts import ColliderPose, find_contacts
from sinew.solver.scene.scene import Collider
from sinew.solver.scene.tracks import TrackReader
from test_collider_contact import sheet, slab

COUNT = 400
COLLIDERS = [Collider("ground", "Ground", thickness=0.05), slab((3.0, 3.0, 1.0)), sheet(3.0, thickness=0.02)]


@pytest.mark.parametrize("collider", COLLIDERS, ids=["plane", "slab", "sheet"])
@pytest.mark.parametrize("with_memory", [False, True], ids=["new", "known"])
def test_near_points_have_all_contacts(tmp_path, collider, with_memory):
    rng = np.random.default_rng(3)
    start = rng.normal(size=(60, 3)) * [2.0, 2.0, 1.0]
    end, tets = start + 0.3 * rng.normal(size=start.shape), rng.integers(0, 60, size=(90, 4)).astype(np.int32)
    weights = rng.normal(0.25, 0.4, size=(COUNT, 4))  # many are outside of their tets
    weights[:, 3] = 1.0 - weights[:, :3].sum(axis=1)
    one = np.ones(COUNT)
    tet = rng.integers(0, 90, COUNT).astype(np.int32)
    points = ContactPoints(tet, weights, one, one, one, one, 0.2 * one, one, one)
    built = build_collider(collider, TrackReader(tmp_path, wait=0.0))
    turn = rotation([1.0, 2.0, 3.0], 0.4)
    place = ColliderPose(built, np.vstack([turn, [0.1, 0.0, -0.2], rotation([1, 0, 0], 0.1) @ turn, [0.0, 0.1, -0.1]]))
    known, shift = PersistentContacts.empty(), np.zeros((COUNT, 1))
    if with_memory:
        known = PersistentContacts.without_force(np.arange(5, COUNT, 40), np.zeros(10, np.int8), np.full(10, 0.3))
        known.normal[:] = [0.0, 0.0, 1.0]
        shift[known.id] = 0.3

    at = [np.einsum("ka,kai->ki", weights, x[tets[points.tet]]) for x in (start, end)]
    at[1] -= shift * place.pose[4:7, 2]
    every = np.arange(COUNT, dtype=np.int32)
    wanted = find_contacts(place, 0, points, NearbyPoints(every, *at), known)
    nearby = nearby_points(
        broad_phase_box(built, PUSH_OUT_REACH * points.largest_tet), place.pose, points, known, tets, start, end
    )
    which, *ends = nearby
    found = find_contacts(place, 0, points, nearby, known)
    assert set(known.id) <= set(which) and len(which) < 0.8 * COUNT
    assert np.allclose(ends, np.array(at)[:, which], atol=1e-12)
    assert len(wanted) > 10 and np.array_equal(found.id, wanted.id)
    for name in ("normal", "gap", "carried"):
        assert np.allclose(getattr(found, name), getattr(wanted, name), atol=1e-9)
