# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of fracture against slow twins: lots, neighbours, copies of nodes, patterns, overload, notches, lattice."""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.csgraph

from fixtures.scenes import boundary
from fixtures.tet_meshes import bar, lattice_bar
from sinew.solver.linalg.block_pattern import block_pattern
from sinew.solver.linalg.block_pattern_kernel import compiled_block_pattern
from sinew.solver.mechanics.elements.elastic_stress import elastic_stress
from sinew.solver.mechanics.elements.formulation_strain import NO_STRAIN as BY_NEAREST
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mesh.geometry.triangle_surface import Surface
from sinew.solver.mesh.node_splitting.face_adjacency import FACE_CORNERS, face_adjacency, load_shares
from sinew.solver.mesh.node_splitting.node_duplication import count_pieces, separate_hinges, split_nodes
from sinew.solver.mesh.tetrahedralize.user_tets import user_tets
from sinew.solver.runtime.arrays import floats
from sinew.solver.runtime.counter_rng import uniform
from sinew.solver.scene.scene import Material
from sinew.solver.simulation.fracture.failure_criterion import StrainedTets, TetStrengths, evaluate_overload
from sinew.solver.simulation.fracture.reentrant_edges import notch_edges, notch_nodes


def random_parted(tets, share, seed=0):
    """Returns neighbours of tets, and a random share of the inner faces parted, on both sides."""
    neighbours = face_adjacency(tets, np.ones(len(tets), bool))
    lot = np.random.default_rng(seed).random(neighbours.tet.shape) < share
    parted = np.zeros_like(lot)
    for tet, face in zip(*np.nonzero(lot & (neighbours.tet >= 0)), strict=True):
        other = neighbours.tet[tet, face]
        parted[tet, face] = True
        parted[other, np.flatnonzero(neighbours.tet[other] == tet)[0]] = True
    return neighbours, parted


def test_lots_are_even_and_depend_on_every_counter():
    lots = uniform(3, 1, np.arange(20000))
    assert (lots >= 0.0).all() and (lots < 1.0).all()
    assert np.abs(np.histogram(lots, 20, (0.0, 1.0))[0] / 1000.0 - 1.0).max() < 0.12
    assert abs(np.corrcoef(lots[1:], lots[:-1])[0, 1]) < 0.02
    assert np.array_equal(lots, uniform(3, 1, np.arange(20000)))
    for other in (uniform(4, 1, np.arange(20000)), uniform(3, 2, np.arange(20000)), uniform(-3, 1, np.arange(20000))):
        assert abs(np.corrcoef(lots, other)[0, 1]) < 0.03
    assert uniform(7, np.arange(3)[:, None], np.arange(4)).shape == (3, 4)


def test_neighbours_are_those_that_share_three_nodes():
    _, tets = bar((3, 2, 2), (1.0, 1.0, 1.0))
    breaks = np.arange(len(tets)) % 7 != 0
    found = face_adjacency(tets, breaks)
    for one in range(len(tets)):
        for face in range(4):
            nodes = set(tets[one, FACE_CORNERS[face]].tolist())
            across = [o for o in range(len(tets)) if o != one and breaks[o] and nodes <= set(tets[o].tolist())]
            wanted = across[0] if across and breaks[one] else -1
            assert found.tet[one, face] == wanted
            for corner in range(4):
                twin = found.twin[one, face, corner]
                if wanted < 0 or corner == face:
                    assert twin == -1
                else:
                    assert twin // 4 == wanted and tets.ravel()[twin] == tets[one, corner]


def slow_copies(tets, neighbours, parted):
    """Returns the sets of corners that share a copy of a node, by graphs of the tets at every node."""
    at = defaultdict(list)
    for tet, corner in np.ndindex(tets.shape):
        at[tets[tet, corner]].append((tet, corner))
    sets = []
    for corners in at.values():
        here = {tet: place for place, (tet, _) in enumerate(corners)}
        links = [
            (here[tet], here[neighbours.tet[tet, face]])
            for tet, corner in corners
            for face in range(4)
            if face != corner and neighbours.tet[tet, face] in here and not parted[tet, face]
        ]
        a, b = np.array(links).reshape(-1, 2).T
        graph = scipy.sparse.coo_matrix((np.ones(len(a)), (a, b)), shape=(len(corners),) * 2)
        label = scipy.sparse.csgraph.connected_components(graph, directed=False)[1]
        for number in np.unique(label):
            sets.append(frozenset(4 * corners[k][0] + corners[k][1] for k in np.flatnonzero(label == number)))
    return set(sets)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.6, 1.0])
def test_copies_are_what_can_be_reached_through_faces(share):
    nodes, tets = bar((3, 3, 2), (1.0, 1.0, 1.0))
    neighbours, parted = random_parted(tets, share)
    copies = split_nodes(tets, neighbours.tet, neighbours.twin, parted, 0)
    found = defaultdict(set)
    for corner, node in enumerate(copies.tets.ravel()):
        found[node].add(corner)
    assert {frozenset(corners) for corners in found.values()} == slow_copies(tets, neighbours, parted)
    assert np.array_equal(copies.corner, [min(found[node]) for node in range(len(found))])

    # pieces: what faces connect is what nodes connect, and nodes come piece by piece
    joined = (neighbours.tet >= 0) & ~parted
    one, face = np.nonzero(joined)
    graph = scipy.sparse.coo_matrix((np.ones(len(one)), (one, neighbours.tet[one, face])), shape=(len(tets),) * 2)
    count, piece = scipy.sparse.csgraph.connected_components(graph, directed=False)
    assert count == len(copies.piece_start) == count_pieces(neighbours.tet, neighbours.twin, parted, 0)
    of_node = np.searchsorted(copies.piece_start, copies.tets, side="right")
    assert (of_node == of_node[:, :1]).all()  # no tet belongs to two pieces
    assert len({*zip(piece.tolist(), of_node[:, 0].tolist(), strict=True)}) == count
    # what has parted can be read off the nodes again
    assert np.array_equal(neighbours.is_parted(copies.tets), parted_through(neighbours, parted, copies.tets))


def parted_through(neighbours, parted, tets):
    """Returns the parted faces but those whose three nodes hang together round other ways."""
    out = parted.copy()
    for tet, face in zip(*np.nonzero(parted), strict=True):
        corners = FACE_CORNERS[face]
        out[tet, face] = (tets[tet, corners] != tets.ravel()[neighbours.twin[tet, face, corners]]).any()
    return out


def test_tets_that_share_an_edge_alone_get_nodes_of_their_own():
    nodes = np.array([[0, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]], float)
    tets = np.array([[0, 2, 3, 1], [0, 4, 5, 1]])
    box = Surface(nodes, boundary(tets))
    mesh = separate_hinges(user_tets(nodes, tets, box, "x"))
    assert len(mesh.nodes) == 8 and len(np.unique(mesh.tets)) == 8
    assert np.array_equal(mesh.nodes[mesh.tets], nodes[tets])
    whole = user_tets(*bar((2, 2, 2), (1.0, 1.0, 1.0)), None, "x")
    assert np.array_equal(separate_hinges(whole).tets, whole.tets)
    assert np.array_equal(separate_hinges(whole).nodes, whole.nodes)


@pytest.mark.parametrize("cells", [(1, 1, 1), (4, 3, 2)])
def test_the_compiled_pattern_is_the_pattern(cells):
    _, tets = bar(cells, (1.0, 1.0, 1.0))
    neighbours, parted = random_parted(tets, 0.4)
    copies = split_nodes(tets, neighbours.tet, neighbours.twin, parted, 0)
    count, islands = len(copies.corner), copies.piece_start.tolist()
    slow, compiled = block_pattern(copies.tets, count, islands), compiled_block_pattern(copies.tets, count, islands)
    for name in slow.__dataclass_fields__:
        one, other = getattr(slow, name), getattr(compiled, name)
        if one is None or other is None:  # no contacts join islands
            assert one is other, name
        else:
            assert one.dtype == other.dtype and np.array_equal(one, other), name


@pytest.mark.parametrize("strain", [False, True])
def test_overload_is_the_largest_principal_stress_over_the_strength(strain):
    rng = np.random.default_rng(5)
    nodes, tets = bar((3, 3, 3), (1.0, 1.0, 1.0))
    given = 0.02 * rng.normal(size=(len(tets), 6)) if strain else None
    model = make_model([Part("x", nodes, tets, np.ones(len(tets)), Material(), initial_strain=given)])
    x = floats(nodes + 0.04 * rng.normal(size=nodes.shape))
    _, stress = elastic_stress(model, x)
    share, size = rng.uniform(0.5, 1.5, len(tets)), rng.uniform(0.1, 0.3, len(tets))
    is_tip, is_held = (rng.random(len(nodes)) < 0.1).astype(np.uint8), rng.random(len(nodes)) < 0.4
    breaks, counts = rng.random(len(tets)) < 0.8, rng.random(len(tets)) < 0.9
    bearing = rng.uniform(0.5, 1.0, len(tets))
    stress = bearing * stress
    at_tip, rigid = is_tip[tets].any(axis=1), is_held[tets].all(axis=1)
    strength = share * np.where(at_tip, 2500.0 / np.sqrt(size), 6000.0)
    acts = breaks & ~rigid
    wanted = np.where(acts & counts & (stress > strength), stress / strength, 0.0)
    before = rng.random(len(tets)) * 0.5
    damage, overload = before.copy(), np.ones(len(tets))
    strained = StrainedTets(model.tets, model.Dm_inverse, model.mu, model.lam, model.initial_strain, BY_NEAREST)
    strengths = TetStrengths(breaks, counts, bearing, share, size)
    largest, count = evaluate_overload(
        0,
        len(tets),
        x,
        strained,
        strengths,
        is_held,
        is_tip,
        6000.0,
        2500.0,
        0.0,
        damage,
        overload,
    )
    assert 10 < count < len(tets) - 10 and count == np.count_nonzero(wanted)
    np.testing.assert_allclose(overload, wanted, rtol=1e-12)
    assert largest == pytest.approx(stress[acts & counts].max(), rel=1e-12)
    np.testing.assert_allclose(damage, np.where(acts, np.clip(stress / strength, before, 1.0), before), rtol=1e-12)
    # what is known already changes nothing
    again = np.ones(len(tets))
    assert evaluate_overload(
        0,
        len(tets),
        x,
        strained,
        strengths,
        is_held,
        is_tip,
        6000.0,
        2500.0,
        largest,
        damage.copy(),
        again,
    ) == (largest, count)
    assert np.array_equal(again, overload)


def test_notches_are_sharp_edges_that_turn_inward():
    from sinew.solver.mesh.geometry.triangle_surface import make_surface

    def prism(outline):
        """Returns a prism over a polygon that is star-shaped about its first corner."""
        count = len(outline)
        vertices = np.concatenate([np.column_stack([outline, np.full(count, z)]) for z in (0.0, 1.0)])
        faces = []
        for k in range(1, count - 1):
            faces += [(0, k + 1, k), (count, count + k, count + k + 1)]
        for k in range(count):
            following = (k + 1) % count
            faces += [(k, following, count + following), (k, count + following, count + k)]
        return make_surface(vertices, faces, "x")

    square = prism(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]))
    assert len(notch_edges(square)) == 0
    angle = prism(np.array([[1.0, 1.0], [0.0, 1.0], [0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [1.0, 2.0]]))
    ends = notch_edges(angle)
    assert len(ends) == 1 and np.allclose(np.sort(ends[0], axis=0), [[1, 1, 0], [1, 1, 1]])
    inside_out = Surface(angle.vertices, angle.triangles[:, ::-1])
    assert len(notch_edges(inside_out)) == 1
    shallow = prism(np.array([[1.0, 0.8], [0.0, 1.0], [0.0, 0.0], [2.0, 0.0], [2.0, 1.0]]))
    assert len(notch_edges(shallow)) == 0

    points = np.array([[1.0, 1.0, 0.4], [1.1, 1.1, 0.9], [1.3, 1.3, 0.5], [0.0, 0.0, 0.0], [1.0, 1.0, 1.3]])
    assert notch_nodes(angle, points, 0.3).tolist() == [True, True, False, False, False]


@pytest.mark.slow
def test_an_irregular_lattice_covers_the_surface_with_good_tets():
    import trimesh

    from sinew.solver.mesh.embedding import closest_tets
    from sinew.solver.mesh.tetrahedralize import tetrahedralize
    from sinew.solver.scene.scene import Meshing

    found = trimesh.creation.torus(1.0, 0.35, major_sections=40, minor_sections=20)
    surface = Surface(floats(found.vertices), np.asarray(found.faces, np.int32))
    meshes = [tetrahedralize(surface, Meshing("robust", divisions=12), "x", seed) for seed in (None, 0, 0, 1)]
    assert np.array_equal(meshes[1].nodes, meshes[2].nodes) and np.array_equal(meshes[1].tets, meshes[2].tets)
    assert not np.array_equal(meshes[1].nodes, meshes[3].nodes)
    regular, *others = meshes
    assert abs(regular.report.min_dihedral - 60.0) < 1e-6
    samples = trimesh.sample.sample_surface(found, 20000, seed=1)[0]
    for mesh in others:
        assert mesh.report.min_dihedral > 30.0 and mesh.report.max_dihedral < 133.0
        assert closest_tets(mesh.nodes, mesh.tets, floats(samples)).distance.max() < 1e-9
        assert mesh.report.volume_ratio == pytest.approx(1.0, abs=0.02)
        assert 0.9 < len(mesh.tets) / len(regular.tets) < 1.15
        # faces lie in many planes
        corners = mesh.nodes[mesh.tets[:, FACE_CORNERS]].reshape(-1, 3, 3)
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        assert len(np.unique(np.round(normals, 2), axis=0)) > 1000


def test_without_moving_the_irregular_cover_is_the_regular_one(monkeypatch):
    from sinew.solver.mesh.tetrahedralize import lattice_jitter
    from sinew.solver.mesh.tetrahedralize.bcc_lattice import lattice_around
    from sinew.solver.mesh.tetrahedralize.surface_lattice_overlap import touched_tets

    rng = np.random.default_rng(1)
    corners = floats(rng.random((40, 1, 3)) + 0.2 * rng.normal(size=(40, 3, 3))).reshape(-1, 9)
    lattice = lattice_around(corners.reshape(-1, 3).min(axis=0), corners.reshape(-1, 3).max(axis=0), 0.2)
    marks = rng.random(40) < 0.3
    regular = touched_tets(lattice, corners, marks)
    found = lattice_jitter.touched_jittered_tets(lattice, lattice.coordinates().astype(float), corners, marks)
    assert np.array_equal(found, regular) and (regular == 2).any() and (regular == 1).any()
    # moved: no tet is missed, by brute force over all tets and triangles
    from sinew.solver.mesh.geometry.triangle_tet import triangle_meets_tet
    from sinew.solver.mesh.tetrahedralize.bcc_lattice import tet_families

    points = lattice_jitter.jitter_points(lattice.coordinates(), 7)
    found = lattice_jitter.touched_jittered_tets(lattice, points, corners, marks)
    cells = (corners.reshape(-1, 3, 3) - lattice.origin) / lattice.cell
    for axis, i, family in itertools.islice(tet_families(lattice), 0, 12, 5):
        for place in np.ndindex(*family[0].shape):
            tet = 0.5 * points[[corner[place] for corner in family]].ravel()
            touching = [t for t in range(40) if triangle_meets_tet(cells[t].ravel(), tet, 1e-9)]
            wanted = 0 if not touching else 2 if marks[touching].any() else 1
            assert found[(axis, i, *place)] == wanted


def test_lattice_bars_can_be_parted_too():
    nodes, tets = lattice_bar((2, 1, 1), (2.0, 1.0, 1.0))
    neighbours, parted = random_parted(tets, 0.3, seed=4)
    copies = split_nodes(tets, neighbours.tet, neighbours.twin, parted, 0)
    assert np.array_equal(nodes[tets], nodes[tets.ravel()[copies.corner]][copies.tets])


def test_tets_with_little_in_them_keep_to_the_fullest_neighbour():
    _, tets = bar((3, 2, 2), (1.0, 1.0, 1.0))
    rng = np.random.default_rng(2)
    fill, volume = rng.random(len(tets)), rng.uniform(0.5, 1.5, len(tets))
    neighbours = face_adjacency(tets, np.ones(len(tets), bool))
    together = neighbours.bonded_faces(fill, fill * volume)
    wanted = set()
    for tet in np.flatnonzero(fill < 0.25):
        beside = [other for other in neighbours.tet[tet] if other >= 0]
        wanted.add(frozenset((int(tet), int(max(beside, key=lambda other: fill[other] * volume[other])))))
    tet, face = np.nonzero(together)
    assert {frozenset(pair) for pair in zip(tet.tolist(), neighbours.tet[tet, face].tolist(), strict=True)} == wanted
    assert len(tet) == 2 * len(wanted) > 10


def test_stress_counts_as_much_as_a_tet_is_full_beside_the_fullest_around_it():
    _, tets = bar((3, 2, 2), (1.0, 1.0, 1.0))
    fill = np.random.default_rng(3).random(len(tets)) * 0.8
    found = load_shares(tets, fill)
    for tet in range(len(tets)):
        around = [fill[other] for other in range(len(tets)) if set(tets[other]) & set(tets[tet])]
        assert found[tet] == pytest.approx(fill[tet] / max(around), rel=1e-15)
    assert (load_shares(tets, np.full(len(tets), 0.1)) == 1.0).all()
