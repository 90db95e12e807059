# SPDX-License-Identifier: GPL-3.0-or-later
"""Fineness: brittle bodies crack in smaller tets where cracks begin, and in coarse ones elsewhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sinew
from fixtures.brittle_bodies import ball_on, brittle, covered, pane_tets, surface_of_tets
from fixtures.brittle_scenes import SCRATCHED_GLASS, dropped_slab
from sinew.solver.brittle.bisected_body import BisectedBody
from sinew.solver.brittle.break_bisected_body import break_bisected
from sinew.solver.brittle.break_body import break_body
from sinew.solver.brittle.cracked_mesh import CrackedMesh, whole_mesh
from sinew.solver.brittle.hit import Hit
from sinew.solver.brittle.rigid_mass import RigidMotion
from sinew.solver.mesh.mesh_npz import from_arrays, to_arrays
from sinew.solver.mesh.node_splitting.face_adjacency import FACE_CORNERS, face_adjacency
from sinew.solver.mesh.shapes import box_tets
from sinew.solver.mesh.tet_bisection import TetForest, bisected_tets
from sinew.solver.mesh.tet_mesh import TetMesh
from sinew.solver.mesh.tetrahedralize.bisect_mesh import bisect_mesh
from sinew.solver.runtime.arrays import Floats, Indices
from sinew.solver.runtime.threads.thread_count import using_threads
from sinew.solver.scene.scene import Meshing, Scene
from sinew.solver.simulation.simulation import Simulation

SLAB = surface_of_tets(*box_tets((1, 1, 1), (0.2, 0.12, 0.03)))
STILL = RigidMotion(np.zeros(3), np.zeros(3))


def outer_area(nodes: Floats, tets: Indices) -> float:
    tet, face = np.nonzero(face_adjacency(tets, np.ones(len(tets), bool)).tet < 0)
    a, b, c = np.moveaxis(nodes[np.take_along_axis(tets[tet], FACE_CORNERS[face].astype(np.int32), axis=1)], 1, 0)
    return float(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())


@pytest.fixture(scope="module")
def slab() -> TetMesh:
    return covered(SLAB, 0.03)[0]


@pytest.mark.parametrize("levels", [1, 2])
def test_any_leaves_meet_face_to_face_and_fill_what_coarse_tets_fill(slab: TetMesh, levels: int) -> None:
    forest, rng = bisected_tets(slab.nodes, slab.tets, levels), np.random.default_rng(levels)
    area, volume = outer_area(slab.nodes, slab.tets), forest.volume[: forest.root_count].sum()
    counts = []
    for chosen in (0, 3, 40, len(forest.tets)):
        halved = np.zeros(len(forest.tets), bool)
        halved[rng.permutation(len(halved))[:chosen]] = True
        leaves = forest.leaves(halved)
        counts.append(len(leaves))
        # faces that do not meet would be outer ones
        assert abs(outer_area(forest.nodes, forest.tets[leaves]) / area - 1.0) < 1e-12
        assert abs(forest.volume[leaves].sum() / volume - 1.0) < 1e-12
        assert forest.leaf_of_fine(leaves).min() == 0
    assert counts[0] == len(slab.tets) < counts[1] < counts[2] < counts[3] == len(forest.fine)
    assert forest.volume.min() > 0.0 and forest.generation[forest.fine].min() == 3 * levels


def test_bisected_tets_hold_as_much_as_the_coarse_ones_and_are_stored(slab: TetMesh) -> None:
    made = bisect_mesh(slab, SLAB, 1)
    assert made.bisected is not None
    forest = made.bisected.forest
    held = np.bincount(forest.root_of_fine, made.fill * forest.volume[forest.fine])
    assert np.abs(held / (slab.fill * forest.volume[: forest.root_count]) - 1.0).max() < 1e-12
    assert made.fill.min() > 0.0 and made.fill.max() <= 1.0
    # the surface is met better than by coarse tets
    cut = (made.fill > 0.05) & (made.fill < 1.0)
    coarse = slab.fill < 1.0
    assert forest.volume[forest.fine][cut].sum() < 0.8 * forest.volume[: forest.root_count][coarse].sum()
    body = replace(dropped_slab(1.0).bodies[0], vertices=SLAB.vertices, triangles=SLAB.triangles)
    binding = sinew.solver.mesh.embedding.bind(made.nodes, made.tets, SLAB.vertices)
    arrays = to_arrays(body, made, binding)
    again, _ = from_arrays(arrays)
    assert again.bisected is not None and np.array_equal(again.bisected.forest.fine, forest.fine)
    assert np.array_equal(again.coarse.fill, slab.fill) and np.array_equal(again.coarse.tets, slab.tets)
    with pytest.raises(ValueError, match="not bisected"):
        from_arrays(arrays | {"coarse_tets": arrays["coarse_tets"][::-1]})
    with pytest.raises(ValueError, match="bisected_levels is 9"):
        from_arrays(arrays | {"bisected_levels": np.array(9)})


def _pane(cells: int, levels: int) -> tuple[BisectedBody, Hit, CrackedMesh]:
    nodes, tets = pane_tets(cells, 0.2, 0.01)
    coarse = brittle(nodes, tets)
    forest: TetForest = bisected_tets(nodes, tets, levels)
    whole = BisectedBody(forest, np.ones(len(forest.tets)), None, coarse)
    hit = ball_on(coarse, (0.003, 0.004, 0.005), (0.0, 0.0, -1.0), 6.0)
    return whole, hit, whole_mesh(whole.finest)


def on_fine(whole: BisectedBody, hit: Hit) -> Hit:
    fine = whole.finest
    bound = sinew.solver.mesh.embedding.bind(fine.nodes, fine.tets, hit.place(whole.coarse)[None])
    return replace(hit, tet=int(bound.tet[0]), weights=bound.weights[0])


def test_a_part_has_the_cracks_of_the_smallest_tets_and_gives_them_back() -> None:
    whole, _, alone = _pane(3, 1)
    rng, across = np.random.default_rng(1), alone.body.neighbours.tet
    tet, face = np.nonzero(across >= 0)
    chosen = rng.permutation(len(tet))[:12]
    faces = alone.is_parted.copy()
    faces[tet[chosen], face[chosen]] = True
    other = across[tet[chosen], face[chosen]]
    faces[other, (across[other] == tet[chosen][:, None]).argmax(axis=1)] = True
    cracked = CrackedMesh(alone.body, faces)
    every = np.arange(len(faces), dtype=np.int32)
    part = whole.part(cracked, every, np.zeros(len(faces), bool))
    assert len(whole.coarse.tets) < len(part.leaves) < len(faces)
    assert part.cracked.crack_area == pytest.approx(cracked.crack_area, rel=1e-12)
    bare = CrackedMesh(alone.body, np.zeros_like(faces))
    assert np.array_equal(part.parted_faces(bare, part.cracked), faces)


@pytest.mark.slow
@pytest.mark.long
def test_a_finer_pane_cracks_at_the_same_load_into_smaller_pieces_beside_as_large_ones() -> None:
    whole, hit, alone = _pane(6, 1)
    coarse = break_body(whole.coarse, [hit], STILL)
    every = np.arange(len(alone.body.tets), dtype=np.int32)
    fine = break_bisected(whole, (alone, every), [on_fine(whole, hit)], STILL, 0)
    loads = [found.first_crack_share * found.peak_forces[0] for found in (coarse, fine)]
    assert abs(loads[1] / loads[0] - 1.0) < 0.05
    masses = [np.array([piece.mass.mass for piece in found.pieces]) for found in (coarse, fine)]
    assert masses[1].sum() == pytest.approx(masses[0].sum(), rel=1e-12)
    assert len(masses[1]) > len(masses[0]) and masses[1].min() < 0.25 * masses[0].min()
    assert (masses[1] < masses[0].min()).sum() >= 3
    assert masses[1].max() > 0.5 * masses[0].max()
    momentum = sum(piece.mass.mass * piece.motion.velocity for piece in fine.pieces)
    assert np.abs(momentum - fine.impulses.sum(axis=0)).max() < 1e-9 * np.abs(fine.impulses).max()
    angular = sum(piece.mass.momenta(piece.motion, np.zeros(3))[1] for piece in fine.pieces)
    assert np.abs(angular - fine.impulse_moments.sum(axis=0)).max() < 1e-9 * np.abs(fine.impulse_moments).max()
    assert fine.cracked.piece_count == len(fine.pieces)


def slab_scene(frames: int = 3) -> Scene:
    fracture = replace(SCRATCHED_GLASS, fineness=1)
    return dropped_slab(3.0, frames=frames, fracture=fracture, meshing=Meshing("rigid", divisions=4))


def test_a_body_weighs_what_it_weighs_without_fineness() -> None:
    fine = slab_scene()
    body = fine.bodies[0]
    assert body.fracture is not None
    plain = replace(fine, bodies=(replace(body, fracture=replace(body.fracture, fineness=0)),))
    one, other = (Simulation(scene).built for scene in (plain, fine))
    assert other.model.mass.sum() == pytest.approx(one.model.mass.sum(), rel=1e-12)
    assert one.pieces is not None and other.pieces is not None
    coarse = other.pieces.bodies[0].bisected
    assert coarse is not None
    whole = one.pieces.bodies[0].body
    for name in ("fill", "strength_share", "load_share", "size", "is_held"):
        assert np.array_equal(getattr(coarse.coarse, name), getattr(whole, name)), name


@pytest.mark.slow
@pytest.mark.long
def test_bakes_that_were_cut_off_and_on_other_threads_have_the_same_bytes(tmp_path: Path) -> None:
    scene = slab_scene(frames=4)
    with using_threads(2):
        whole = sinew.bake(scene, tmp_path / "whole.sinew")
    with using_threads(1):
        for last in (1, 3):  # while it is whole, and after it broke
            first = replace(scene, settings=replace(scene.settings, frame_end=last))
            sinew.bake(first, tmp_path / "parts.sinew", resume=last > 1)
        parts = sinew.bake(scene, tmp_path / "parts.sinew", resume=True)
    for frame in range(1, 5):
        assert np.array_equal(whole.read_frame(frame).x, parts.read_frame(frame).x)
    made = whole.read_result("glass")
    assert made is not None and len(np.unique(made["piece"])) > 1
    assert whole.play_path("glass").read_bytes() == parts.play_path("glass").read_bytes()
    results = [(tmp_path / name / "result" / "glass.pc2").read_bytes() for name in ("whole.sinew", "parts.sinew")]
    assert results[0] == results[1]
