# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that meet themselves: what is close at rest is left alone, and nothing goes through itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.contact_scenes import NOTHING, RUBBER, given, held, stay
from fixtures.energy_measures import kinetic_energy
from fixtures.penetration_measures import TetOverlap
from fixtures.scenes import Run, boundary, rotation
from fixtures.tet_meshes import bar
from sinew.solver.mesh.geometry.triangle_surface import Surface
from sinew.solver.mesh.separate_coincident_vertices import separate_coincident_vertices
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.scene import Body, Collider, Scene, Settings

SELF = Collision(0.3, self_contact=True)
SOFT = replace(RUBBER, youngs_modulus=1.0e5)
CLOSE = 1.0e-5  # distance of lips [m], far below what a contact tells apart


def crossed_shells() -> Body:
    """Returns two plates in one mesh that go through each other."""
    parts = [bar((6, 6, 1), (1.0, 1.0, 0.15)) for _ in range(2)]
    (first, tets), (second, others) = ((nodes - [0.5, 0.5, 0.075], tets) for nodes, tets in parts)
    second = second @ rotation([1, 0, 0], 1.27).T + [0.013, 0.02, 0.01]
    both = np.vstack([tets, others + len(first)]).astype(np.int32)
    return given("shells", np.vstack([first, second]), both, material=RUBBER, collision=SELF)


def slit_of(nodes) -> np.ndarray:
    """Returns the nodes at the lips."""
    return np.flatnonzero((np.abs(nodes[:, 2] - 0.4) < 1e-9) & (nodes[:, 0] > 0.3))


def mouth(close: float = CLOSE, **settings) -> Body:
    """Returns a block that is slit from its right end: its lips are a hundredth of a millimetre apart, or touch."""
    nodes, tets = bar((6, 2, 4), (1.2, 0.4, 0.8))
    above = nodes[tets].mean(axis=1)[:, 2] > 0.4
    slit = slit_of(nodes)
    copy = np.arange(len(nodes))
    copy[slit] = len(nodes) + np.arange(len(slit))
    tets = np.where(above[:, None], copy[tets], tets).astype(np.int32)
    return given("mouth", np.vstack([nodes, nodes[slit] + [0.0, 0.0, close]]), tets, material=SOFT, **settings)


def hairpin(**settings) -> Body:
    """Returns a strip that is bent back over itself, its lower leg on the ground."""

    def bend(nodes):
        along, height = nodes[:, 0], nodes[:, 2] - 0.05
        radius, leg = 0.2, 1.0
        turn = np.clip((along - leg) / radius, 0.0, np.pi)
        over = np.maximum(along - leg - np.pi * radius, 0.0)
        x = np.minimum(along, leg) + (radius + height) * np.sin(turn) - over
        z = radius - (radius + height) * np.cos(turn)
        return np.column_stack([x, nodes[:, 1], z + 0.05])

    nodes, tets = bar((27, 3, 1), (2.0 + 0.2 * np.pi, 0.3, 0.1))
    return given("strip", bend(nodes), tets[:, [0, 1, 3, 2]], material=SOFT, **settings)


@pytest.mark.parametrize(
    "body",
    [crossed_shells(), mouth(collision=SELF), mouth(0.0, collision=SELF)],
    ids=["crossed", "lips", "lips that touch"],
)
def test_what_is_close_at_rest_stays_as_it_is(tmp_path, body):
    run = Run(tmp_path, Scene((body,), (), Settings(gravity=NOTHING)))
    X = run.state.x.copy()
    run.advance(4)
    assert run.built.contact_materials is not None and run.built.contact_materials.surfaces.may_touch[0, 0]
    assert np.abs(run.state.x - X).max() < 1e-12
    assert run.reports[-1].contacts == 0


@pytest.mark.parametrize("close", [CLOSE, 0.0])
@pytest.mark.parametrize("meets_itself", [True, False])
def test_lips_that_are_close_at_rest_do_not_go_through_each_other(tmp_path, meets_itself, close):
    body = mouth(close, collision=Collision(0.3, self_contact=meets_itself))
    body = held(body, lambda vertices: (vertices[:, 0] < 0.01) | (vertices[:, 2] < 0.01))
    run = Run(tmp_path, Scene((body,), (), Settings(gravity=(0.0, 0.0, -30.0))), **stay(body))
    lower = slit_of(bar((6, 2, 4), (1.2, 0.4, 0.8))[0])
    upper = len(body.tet_nodes) - len(lower)
    assert np.allclose(body.tet_nodes[lower], body.tet_nodes[upper:], atol=2.0 * CLOSE)
    deepest = 0.0
    for _ in range(12):
        run.advance()
        down = run.state.x[lower, 2] - run.state.x[upper:, 2]
        # beside the corner of the mouth, tets of both lips share a node: there nothing is met
        deepest = max(deepest, float(down[body.tet_nodes[lower, 0] > 0.5].max()))
    assert (deepest < 0.003) == meets_itself, "in metres, of tets of 0.2 m"


def test_lips_that_touch_are_two_surfaces(tmp_path):
    """Each is drawn with its own tets: where they are pulled apart, they open."""
    body = mouth(0.0, collision=SELF)
    body = held(body, lambda vertices: (vertices[:, 0] < 0.01) | (vertices[:, 2] < 0.01))
    run = Run(tmp_path, Scene((body,), (), Settings(gravity=(0.0, 0.0, 30.0))), **stay(body))
    drawn = run.advance(6)
    lip = np.flatnonzero((np.abs(body.vertices[:, 2] - 0.4) < 1e-9) & (body.vertices[:, 0] > 1.1))
    upper = lip[lip >= len(body.vertices) - len(slit_of(bar((6, 2, 4), (1.2, 0.4, 0.8))[0]))]
    lower = np.setdiff1d(lip, upper)
    assert len(upper) == len(lower) == 3
    assert drawn[upper, 2].min() - drawn[lower, 2].max() > 0.05
    skins = run.built.contact_materials.surfaces
    assert np.allclose(skins.rest[:, 2][np.abs(skins.rest[:, 2] - 0.4) < 1e-4], 0.4, atol=1e-5)


def test_seams_are_no_lips():
    """Every face of a cube has corners of its own, as from most files; so have two blocks grown together."""
    nodes, tets = bar((3, 3, 3), (1.0, 1.0, 1.0))
    faces = boundary(tets)
    surface = Surface(nodes[faces].reshape(-1, 3), np.arange(3 * len(faces), dtype=np.int32).reshape(-1, 3))
    assert separate_coincident_vertices(surface, nodes, tets, 1.0 / 3.0) is surface
    half = nodes[tets].mean(axis=1)[:, 0] < 1.0 / 3.0
    blocks = np.concatenate([boundary(tets[half]), boundary(tets[~half])])
    surface = Surface(nodes[blocks].reshape(-1, 3), np.arange(3 * len(blocks), dtype=np.int32).reshape(-1, 3))
    assert separate_coincident_vertices(surface, nodes, tets, 1.0 / 3.0) is surface


@pytest.mark.slow
def test_a_strip_that_gravity_folds_lies_on_itself(tmp_path):
    body = hairpin(collision=SELF)
    run = Run(tmp_path, Scene((body,), (Collider("ground", "Ground"),)))
    assert np.linalg.det(body.tet_nodes[body.tets][:, 1:] - body.tet_nodes[body.tets][:, :1]).min() > 0.0
    overlap, deepest, energies = TetOverlap(body, 0.15), 0.0, []
    for _ in range(36):
        run.advance()
        deepest = max(deepest, overlap.depth(run.state.x))
        energies.append(kinetic_energy(run))
    assert run.reports[-1].contacts > 10
    assert deepest < 0.01  # a tenth of the strip's thickness
    assert energies[-1] < 0.02 * max(energies)
