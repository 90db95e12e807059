# SPDX-License-Identifier: GPL-3.0-or-later
"""Cracks of brittle bodies go where an artist aims them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

from fixtures.brittle_scenes import SCRATCHED_GLASS, SLAB, TURN, dropped_slab
from sinew.solver.brittle.piece_stress import normal_stress
from sinew.solver.mechanics.elements.elastic_stress import principal_stresses
from sinew.solver.mesh.geometry.segment_surface_crossings import segments_crossing
from sinew.solver.mesh.geometry.triangle_bvh import build_bvh
from sinew.solver.mesh.node_splitting.face_adjacency import FACE_CORNERS
from sinew.solver.mesh.shapes import box
from sinew.solver.runtime.arrays import Floats, Indices
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.crack_guide import CrackGuide
from sinew.solver.scene.meshing import Meshing
from sinew.solver.scene.scene import Fracture, Scene
from sinew.solver.simulation.brittle.body_in_pieces import BodyInPieces
from sinew.solver.simulation.simulation import Simulation
from test_fracture_constraints import held_bar, torn

BAND = 0.02  # half the width of what is painted weak: a row of vertices, and squares on both sides [m]


def painted_slab(height: float, **paints: Callable[[Floats], Floats]) -> Scene:
    """Returns a slab of glass that falls from a height [m], painted by functions of its vertices at rest."""
    scene = dropped_slab(height, frames=3, fracture=SCRATCHED_GLASS)
    (body,) = scene.bodies
    rest, triangles = box(SLAB, 10)
    vertices = rest @ TURN.T
    vertices[:, 2] += body.vertices[:, 2].min() - vertices[:, 2].min()
    fracture = replace(body.fracture, **{name: values(rest) for name, values in paints.items()})
    return replace(scene, bodies=(replace(body, vertices=vertices, triangles=triangles, fracture=fracture),))


def broken(scene: Scene) -> BodyInPieces:
    simulation = Simulation(scene)
    for _ in simulation.run():
        pass
    assert simulation.built.pieces is not None
    return simulation.built.pieces.bodies[0]


def in_slab(scene: Scene, places: Floats) -> Floats:
    """Returns places of the slab [m], (k, 3), along its own sides from its middle."""
    return (places - scene.bodies[0].vertices.mean(axis=0)) @ TURN


@pytest.mark.slow
def test_a_hit_that_glass_bears_cracks_it_where_weakness_is_painted_and_nowhere_else() -> None:
    """5 cm: the slab stays whole, and with a band of a tenth of the strength it cracks within a tet of the band."""
    assert not broken(painted_slab(0.05)).cracked.is_parted.any()
    scene = painted_slab(0.05, strength_paint=lambda at: np.where(np.abs(at[:, 0]) < 0.5 * BAND, 0.1, 1.0))
    body = broken(scene)
    faces = body.body.nodes[body.cracked.crack_faces].mean(axis=1)
    assert len(faces) > 20
    assert np.abs(in_slab(scene, faces)[:, 0]).max() < BAND + body.report.tet_size


@pytest.mark.slow
@pytest.mark.parametrize("side", [1.0, -1.0], ids=["right", "left"])
def test_what_is_painted_unbreakable_stays_in_one_piece(side: float) -> None:
    body = broken(painted_slab(1.0, unbreakable=lambda at: np.where(side * at[:, 0] > 0.0, 1.0, 0.0)))
    kept = np.flatnonzero(~body.body.is_breakable)
    assert len(kept) > 100 and len(np.unique(body.piece_of_tet[kept])) == 1
    assert body.cracked.piece_count > 3
    plain = broken(painted_slab(1.0))
    assert len(np.unique(plain.piece_of_tet[kept])) > 1, "unpainted, it does not"


SLANTED = np.array([1.0, 0.4, 0.0]) / np.hypot(1.0, 0.4)  # normal of an upright plane through the middle


def plane_guide() -> list[CrackGuide]:
    """Returns an open surface that divides the slab, in its own axes."""
    along, up = 0.3 * np.array([-SLANTED[1], SLANTED[0], 0.0]), np.array([0.0, 0.0, 0.3])
    return [CrackGuide(np.array([-along - up, along - up, along + up, up - along]), [[0, 1, 2], [0, 2, 3]])]


def box_guides() -> list[CrackGuide]:
    """Returns the pieces of three by two, with a gap between them, as Cell Fracture makes."""
    size = np.array(SLAB) / [3, 2, 1]
    middles = [((i - 1.0) * size[0], (j - 0.5) * size[1], 0.0) for i in range(3) for j in range(2)]
    return [CrackGuide(*box(tuple(size - [2e-4, 2e-4, 0.0]), 1, middle)) for middle in middles]


def curve_guide() -> list[CrackGuide]:
    """Returns a bent curve above the slab, whose ends are beside it."""
    return [CrackGuide([[-0.02, -0.07, 0.02], [0.0, 0.0, 0.02], [0.03, 0.07, 0.02]], edges=[[0, 1], [1, 2]])]


def guided_slab(height: float, guides: list[CrackGuide], strength: float, divisions: int = 7) -> Scene:
    scene = dropped_slab(height, frames=3, meshing=Meshing("rigid", divisions=divisions), fracture=SCRATCHED_GLASS)
    (body,) = scene.bodies
    assert body.fracture is not None
    placed = tuple(replace(each, vertices=each.vertices @ TURN.T + body.vertices.mean(axis=0)) for each in guides)
    fracture = replace(body.fracture, guides=placed, guide_strength=strength)
    return replace(scene, bodies=(replace(body, fracture=fracture),))


def face_middles(body: BodyInPieces, tet: Indices, face: Indices) -> Floats:
    nodes = np.take_along_axis(body.body.tets[tet], FACE_CORNERS[face], axis=1)
    return body.body.nodes[nodes].mean(axis=1)


@pytest.mark.slow
@pytest.mark.parametrize(("guides", "cells"), [(plane_guide, 2), (box_guides, 6)], ids=["plane", "pieces"])
def test_cracks_of_a_guided_slab_are_within_a_tet_of_the_guide(
    guides: Callable[[], list[CrackGuide]], cells: int
) -> None:
    """5 cm, which the slab bears: 95 % of the crack faces are nearer than a tet, and 80 % of the guide opens."""
    whole = broken(guided_slab(0.05, guides(), 1.0))
    assert not whole.cracked.is_parted.any(), "a guide as strong as the body has no effect"
    assert whole.body.guides is not None
    assert whole.body.neighbours.piece_count(whole.body.guides.is_guided) == cells
    body = broken(guided_slab(0.05, guides(), 0.1))
    assert body.body.guides is not None and body.cracked.piece_count > 1
    is_guided, is_parted = body.body.guides.is_guided, body.cracked.is_parted
    near = cKDTree(face_middles(body, *np.nonzero(is_guided))).query(face_middles(body, *np.nonzero(is_parted)))[0]
    assert (near < body.report.tet_size).mean() > 0.95
    assert is_parted[is_guided].mean() > 0.8


def test_a_curve_guides_through_the_wall_below_it_and_beside_its_ends() -> None:
    simulation = Simulation(guided_slab(0.05, curve_guide(), 0.1))
    assert simulation.built.pieces is not None
    body = simulation.built.pieces.bodies[0]
    guided = body.body.guides
    assert guided is not None and body.body.neighbours.piece_count(guided.is_guided) == 2
    at = in_slab(simulation.scene, face_middles(body, *np.nonzero(guided.is_guided)))
    off = at[:, 0] - np.interp(at[:, 1], [-0.07, 0.0, 0.07], [-0.02, 0.0, 0.03])
    assert np.abs(off).max() < body.report.tet_size


def test_guides_that_are_elsewhere_are_told_with_their_names() -> None:
    far = CrackGuide(plane_guide()[0].vertices + 9.0, plane_guide()[0].triangles, name="Wall")
    with pytest.raises(BadInput) as caught:
        Simulation(guided_slab(0.05, [far], 0.1))
    assert caught.value.kind == "crack-guides-elsewhere"
    assert '"Glass"' in caught.value.sentence and '"Wall"' in caught.value.sentence


def test_the_stress_along_a_normal_is_that_of_the_tensor() -> None:
    rng = np.random.default_rng(1)
    stress, normal = rng.normal(size=(5, 6)), rng.normal(size=(5, 3))
    tensors = stress[:, [0, 3, 5, 3, 1, 4, 5, 4, 2]].reshape(-1, 3, 3)
    found = normal_stress(principal_stresses(stress), np.arange(5), normal)
    assert np.allclose(found, np.einsum("ki,kij,kj->k", normal, tensors, normal))


def test_segments_cross_what_they_cross() -> None:
    vertices, triangles = box((1.0, 1.0, 1.0), 3)
    rng = np.random.default_rng(2)
    begin, end = rng.uniform(-1.0, 1.0, (100, 3)), rng.uniform(-1.0, 1.0, (100, 3))
    found = segments_crossing(build_bvh(vertices, triangles), begin, end)
    shares = np.linspace(0.0, 1.0, 5001)[:, None, None]
    inside = (np.abs(begin + shares * (end - begin)) < 0.5).all(axis=2)
    assert np.array_equal(found, inside.any(axis=0) & ~inside.all(axis=0))


@pytest.mark.slow
def test_a_soft_bar_tears_along_its_guide(tmp_path: Path) -> None:
    """A slanted guide with a fifth of the strength: the bar tears there, and nowhere else."""
    slant = np.array([1.0, 0.0, 0.5])
    corners = np.array([[0.0, y, z] for y, z in ((-1, -1), (2, -1), (2, 2), (-1, 2))])
    corners[:, 0] = 1.1 - 0.5 * (corners[:, 2] - 0.3)
    guide = CrackGuide(corners, [[0, 1, 2], [0, 2, 3]])
    body = held_bar(Fracture(breaking_stress=3.0e4, seed=1, guides=(guide,), guide_strength=0.2))
    run = torn(tmp_path, body)
    run.advance(40)
    fracture = run.built.fracture
    assert fracture.guides is not None and run.reports[-1].bodies["bar"]["pieces"] >= 2
    tet, face = np.nonzero(fracture.neighbours.is_parted(run.built.model.tets))
    whole = run.built.unbroken.model
    nodes = np.take_along_axis(whole.tets[tet], FACE_CORNERS[face], axis=1)
    off = (whole.X[nodes].mean(axis=1) - [1.1, 0.0, 0.3]) @ slant / np.linalg.norm(slant)
    assert (np.abs(off) < 0.2).all(), "cells are 0.2 m"
    assert fracture.guides.is_guided[tet, face].mean() > 0.8
