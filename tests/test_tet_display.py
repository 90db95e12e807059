# SPDX-License-Identifier: GPL-3.0-or-later
"""The tets in the viewport: the outside, its edges, the tets that join surfaces, and where they are at a frame."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fixtures.tiny_bakes import box_of_tets
from sinew.addon.overlays import bone_attachment_geometry, tet_geometry
from sinew.addon.runtime.distinct_colors import distinct_colour
from sinew.solver.bake.cache import CachedBody, CacheMetadata, CacheReader, CacheWriter, Frame


def test_the_outside_of_a_box_of_tets_is_its_surface_seen_from_outside() -> None:
    nodes, tets, triangles = box_of_tets(3)
    faces = tet_geometry.boundary_faces(tets)
    assert {frozenset(face) for face in faces.tolist()} == {frozenset(face) for face in triangles.tolist()}
    a, b, c = (nodes[faces[:, i]] for i in range(3))
    outwards = (a + b + c) / 3 - nodes.mean(axis=0)
    assert (np.einsum("ij,ij->i", np.cross(b - a, c - a), outwards) > 0).all()


def test_every_edge_once() -> None:
    _, tets, _ = box_of_tets(3)
    faces = tet_geometry.boundary_faces(tets)
    edges = tet_geometry.face_edges(faces)
    wanted = {frozenset(pair) for face in faces.tolist() for pair in zip(face, face[1:] + face[:1], strict=True)}
    assert len(edges) == len(wanted) and {frozenset(edge) for edge in edges.tolist()} == wanted
    # Euler: nodes − edges + faces = 2 on a closed surface
    assert len(np.unique(faces)) - len(edges) + len(faces) == 2
    assert tet_geometry.face_edges(np.zeros((0, 3), np.int32)).shape == (0, 2)


def test_bodies_are_cut_out_of_a_frame(tmp_path: Path) -> None:
    nodes, tets, _ = box_of_tets(2)
    bodies = tuple(CachedBody(key, key.upper(), 4) for key in ("a", "b"))
    core = np.array([0, 3], np.int32)
    with CacheWriter(tmp_path) as writer:
        writer.start_over(CacheMetadata("s", "t", bodies, 1, 3, 24.0, 1))
        writer.write_model("a", {"nodes": nodes, "tets": tets, "joined_tets": np.array([5, 7]), "core_tets": core})
        writer.write_model("b", {"nodes": nodes[:10], "tets": tets[:0]})
        for frame in (1, 2):
            x = np.concatenate([nodes + frame, nodes[:10] - frame]).astype(np.float32)
            writer.write_frame(Frame(frame, x), {key: np.zeros((1, 4, 3)) for key in ("a", "b")}, {"frame": frame})
    reader = CacheReader(tmp_path)
    first, second = (tet_geometry.load_geometry(reader, key) for key in ("a", "b"))
    assert first is not None and second is not None
    assert first.nodes == (0, len(nodes)) and second.nodes == (len(nodes), len(nodes) + 10)
    assert {frozenset(f) for f in first.joined.tolist()} == {
        frozenset(np.delete(tets[t], i).tolist()) for t in (5, 7) for i in range(4)
    }
    assert np.array_equal(first.core, tet_geometry.boundary_faces(tets[core])) and len(first.core) in (6, 8)
    assert len(second.joined) == len(second.core) == 0
    assert np.allclose(tet_geometry.node_positions(tmp_path, 2, second.nodes), nodes[:10] - 2)
    assert np.allclose(tet_geometry.node_positions(tmp_path, 99, first.nodes), nodes + 2), "the nearest baked frame"
    assert tet_geometry.load_geometry(reader, "c") is None
    assert tet_geometry.node_positions(tmp_path / "none", 1, (0, 1)) is None


def test_what_each_bone_holds(tmp_path: Path) -> None:
    nodes, tets, _ = box_of_tets(3)
    attached = np.full(len(nodes), -1)
    attached[nodes[:, 2] < nodes[:, 2].max() * 0.4] = 2  # a slab, and one node on the other side
    lonely = int(nodes[:, 2].argmax())
    attached[lonely] = 0
    bodies = (CachedBody("ball", "Ball", 4), CachedBody("arm", "Arm", 4))
    names = np.array(["Ulna", "Idle", "Rig: upper"])
    with CacheWriter(tmp_path) as writer:
        writer.start_over(CacheMetadata("s", "t", bodies, 1, 1, 24.0, 1))
        writer.write_model("ball", {"nodes": nodes[:5], "tets": tets[:0]})
        writer.write_model("arm", {"nodes": nodes, "tets": tets, "attached": attached, "bones": names})
    reader = CacheReader(tmp_path)
    assert (
        bone_attachment_geometry.load_attachment(reader, "ball") is None
        and bone_attachment_geometry.load_attachment(reader, "none") is None
    )
    display = bone_attachment_geometry.load_attachment(reader, "arm")
    assert display is not None and display.nodes == (5, 5 + len(nodes)) and display.cross > 0.0
    ulna, upper = display.attachments
    assert (ulna.bone, ulna.nodes.tolist(), len(ulna.faces)) == ("Ulna", [lonely], 0)
    assert (upper.number, upper.bone) == (2, "Rig: upper")
    assert set(upper.nodes.tolist()) == set(np.flatnonzero(attached == 2).tolist()) == set(upper.faces.ravel().tolist())
    whole = tets[(attached[tets] == 2).all(axis=1)]
    edges = tet_geometry.face_edges(upper.faces)
    assert len(whole) and len(np.unique(upper.faces)) - len(edges) + len(upper.faces) == 2, "a closed surface"


def test_crosses_are_centred_and_bones_differ() -> None:
    points = np.array([[0.0, 0, 0], [1, 2, 3]])
    lines = bone_attachment_geometry.cross_lines(points, 0.5).reshape(2, 3, 2, 3)
    assert np.allclose(lines.mean(axis=2), points[:, None])
    assert np.allclose(np.linalg.norm(lines[:, :, 1] - lines[:, :, 0], axis=2), 1.0)
    colours = np.array([distinct_colour(number) for number in range(12)])
    apart = np.linalg.norm(colours[:, None] - colours, axis=2) + 9.0 * np.eye(12)
    assert apart.min() > 0.1 and np.linalg.norm(colours[1:] - colours[:-1], axis=1).min() > 0.7
