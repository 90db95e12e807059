# SPDX-License-Identifier: GPL-3.0-or-later
"""Places outside of all tets move with the triangle that they are on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fixtures.contact_scenes import NOTHING
from fixtures.energy_measures import energy
from fixtures.scenes import Run, block
from sinew.solver.constraints.tet_pair_springs import MAX_TETS_PER_CONTACT
from sinew.solver.contact.surfaces.collision_surfaces import interpolate_vertices
from sinew.solver.scene.scene import Material, Scene, Settings


def fat(side: int):
    """Returns a block of tets whose surface is half a tet outside of them, on its way to the other one."""
    body = block(
        (2, 2, 2), (0.2,) * 3, at=(0.17 * side - 0.1, 0.03 * side - 0.1, 0.02 * side - 0.1), key=f"b{side}",
        material=Material(1.0e5, 0.3, stiffness_damping=0.01), initial_velocity=(-2.0 * side, 0.3 * side, 0.0),
    )  # fmt: skip
    middle = body.vertices.mean(axis=0)
    return replace(body, vertices=middle + 1.5 * (body.vertices - middle))


def test_contacts_move_with_the_surface(tmp_path) -> None:
    run, hang = Run(tmp_path, Scene((fat(-1), fat(1)), (), Settings(gravity=NOTHING))), 0
    energies = [energy(run)]
    for _ in range(10):
        run.advance()
        energies.append(energy(run))
        contacts = run.simulation.contacts
        pushing, touching, skins = contacts.contact_state, contacts.contact_set, contacts.surfaces.surfaces
        at = np.zeros((skins.vertex_count, 3))
        interpolate_vertices(run.state.x, skins.nodes, skins.weights, at)
        which = np.flatnonzero((touching.id < contacts.surfaces.first_edge_id) & (pushing.attachment.tet[:, 2] >= 0))
        hang += len(which)
        x = run.state.x[run.built.model.tets[pushing.attachment.tet[which]]]
        legs = np.einsum("kla,klai->kli", pushing.attachment.weights[which].reshape(-1, MAX_TETS_PER_CONTACT, 4), x)
        corners = at[skins.triangles[touching.triangle[which]]]
        there = np.einsum("ka,kai->ki", touching.place[which], corners)
        assert np.abs(legs[:, 1:].sum(axis=1) - there).max(initial=0.0) < 1e-12
        point = (touching.id[which] - contacts.surfaces.id_offset) % skins.vertex_count
        assert np.abs(legs[:, 0] - at[point]).max(initial=0.0) < 1e-12
    assert hang > 20 and np.diff(energies).max() < 1e-6 * energies[0]
