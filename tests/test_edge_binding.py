# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of edges are attached to tets as barycentric weights say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.edge_contact_scenes import box
from fixtures.hybrid_scenes import cloth
from fixtures.rigid_bodies import rigid_box, run_of
from fixtures.scenes import rotation
from sinew.solver.contact.detection import edge_contacts
from sinew.solver.mesh.embedding import barycentric_weights
from sinew.solver.mesh.sheet_mesh import weights_in_hinges
from sinew.solver.runtime.arrays import Bools, Floats, Indices
from sinew.solver.scene.contact import Collider, Collision


def reference(places: Any, edges: Any, materials: Any, nodes: Any, prescribed: Any, min_factor: float) -> tuple:
    """Returns the tets, weights, sizes, stiffnesses, μ and carried positions of contacts of edges."""
    a, b, along_a, along_b = places
    on_collider: Bools = edges.tet[a] < 0
    sides = [(np.where(on_collider, b, a), np.where(on_collider, along_b, along_a)), (b, along_b)]
    counts = [np.ones(len(a), bool), ~on_collider]
    tet, weights = np.full((len(a), 2), -1), np.zeros((len(a), 8))
    carried, softness, mass = np.zeros((len(a), 3)), np.zeros(len(a)), np.full(len(a), np.inf)
    for side, (edge, along) in enumerate(sides):
        own, which = _weights(edge, along, edges, nodes), counts[side]
        i, j = edges.ends[edge, :2].T
        lever = np.maximum(np.abs(own).max(axis=1), 1.0) ** 2
        k = ((1.0 - along) * materials.stiffness[i] + along * materials.stiffness[j]) / lever
        m = ((1.0 - along) * materials.mass[i] + along * materials.mass[j]) / lever
        tet[which, side], weights[which, 4 * side : 4 * side + 4] = edges.tet[edge][which], own[which]
        at = np.einsum("ka,kai->ki", own, nodes.start[nodes.tets[edges.tet[edge]]])
        carried[which] += (at if side == 0 else -at)[which]
        softness[which] += (1.0 / k)[which]
        mass[which] = np.minimum(mass, m)[which]
    i, j = edges.ends[a, :2].T
    moved = prescribed.end - prescribed.start
    ridden = (1.0 - along_a)[:, None] * moved[i] + along_a[:, None] * moved[j]
    carried[on_collider] += ridden[on_collider]
    one, other = (materials.friction[edges.surface[edge]] for edge in (a, b))
    size = np.minimum(edges.size[a], edges.size[b])
    mu = np.where(on_collider, one, np.sqrt(one * other))
    return tet, weights, size, np.maximum(1.0 / softness, min_factor * mass), mu, carried


def _weights(edge: Indices, along: Floats, edges: Any, nodes: Any) -> Floats:
    i, j = edges.ends[edge, :2].T
    is_sheet, tet = edges.is_of_sheet[edge], edges.tet[edge]
    places = edges.at_rest[i] + along[:, None] * (edges.at_rest[j] - edges.at_rest[i])
    out = np.zeros((len(edge), 4))
    out[~is_sheet] = barycentric_weights(nodes.rest, nodes.tets, places[~is_sheet], tet[~is_sheet])
    ends = edges.node[edges.ends[edge[is_sheet], :2]]
    share = np.stack([1.0 - along, along], axis=1)[is_sheet]
    out[is_sheet] = weights_in_hinges(nodes.tets[tet[is_sheet]], ends, share)
    return out


@pytest.mark.parametrize("with_sheet", [False, True])
def test_edges_are_attached_as_their_weights_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_sheet: bool
) -> None:
    seen = [0, 0, 0]
    attach = edge_contacts.attach_edges

    def attach_and_compare(*given: Any) -> None:
        attach(*given)
        places, edges, _, nodes, *_ = given[:6]
        attached, carried = given[6:]
        tet, weights, size, k, mu, at = reference(*given[:6])
        np.testing.assert_array_equal(attached.attachment.tet[:, :2], tet)
        np.testing.assert_allclose(attached.attachment.weights[:, :8], weights, atol=1e-12)
        np.testing.assert_allclose(carried, at, atol=1e-12)
        np.testing.assert_allclose(attached.size, size)
        np.testing.assert_allclose(attached.k, k)
        np.testing.assert_allclose(attached.mu, mu)
        on_collider = edges.tet[places.a] < 0
        seen[0] += int(on_collider.sum())
        seen[1] += int((~on_collider).sum())
        seen[2] += int(edges.is_of_sheet[places.b].sum())

    monkeypatch.setattr(edge_contacts, "attach_edges", attach_and_compare)
    vertices, triangles = box(np.array([1.0, 0.1, 0.1]))
    vertices = (vertices - vertices.mean(axis=0)) @ rotation([1, 0, 0], np.pi / 4).T
    beam = Collider("beam", "Beam", "mesh", vertices, triangles, friction=0.5)
    across = rotation([0, 0, 1], np.pi / 2) @ rotation([1, 0, 0], np.pi / 4)
    bodies = [
        rigid_box((0.6, 0.1, 0.1), (0.03, 0.02, 0.145), across, "low"),
        rigid_box((0.6, 0.1, 0.1), (0.01, 0.03, 0.29), rotation([1, 0, 0], np.pi / 4), "up"),
    ]
    if with_sheet:
        bodies.append(cloth((0.4, 0.4), (6, 6), np.array([-0.2, -0.2, 0.37]), "cloth", collision=Collision(0.3)))
    run = run_of(tmp_path, *bodies, colliders=(beam,), substeps=4, frame_end=99)
    run.advance(6)
    assert min(seen[:2]) > 10
    assert (seen[2] > 10) == with_sheet
