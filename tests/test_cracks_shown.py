# SPDX-License-Identifier: GPL-3.0-or-later
"""While a body breaks: its tets stand in from the first crack on, and nothing is drawn out like rubber."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh
from fixtures.tiny_bakes import box_of_tets
from sinew.addon.baking import attach_bake, bake_control
from sinew.addon.cache import baked_tets, cache_paths
from sinew.addon.objects import roles
from sinew.addon.overlays import tet_geometry, tet_overlay
from sinew.solver.bake.cache import CachedBody, CacheMetadata, CacheReader, CacheWriter, Frame

FRAMES, CRACK = 6, 4


def split(nodes: np.ndarray, tets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns tets of a box parted at the middle plane, and the node that each node is a copy of."""
    middle = np.flatnonzero(np.isclose(nodes[:, 2], 0.5))
    upper = nodes[tets].mean(axis=1)[:, 2] > 0.5
    origin = np.sort(np.concatenate([np.arange(len(nodes)), middle]))
    new_number = np.searchsorted(origin, np.arange(len(nodes)))
    parted = new_number[tets]
    on_plane = np.isin(tets, middle)
    parted[on_plane & upper[:, None]] += 1  # the copy follows its node
    return parted.astype(np.int32), origin


def write_cracking(folder: Path, points: np.ndarray, samples_per_frame: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Writes a cache of two bodies, "Whole" and "Box", of which the second cracks; no finishing pass has run."""
    nodes, tets, _ = box_of_tets(2)
    parted, origin = split(nodes, tets)
    bodies = (CachedBody("Whole", "Whole", 4), CachedBody("Box", "Box", len(points)))
    whole = np.concatenate([tets, parted + len(nodes)]).astype(np.int32)
    origins = np.concatenate([np.arange(len(nodes)), origin + len(nodes)])
    with CacheWriter(folder) as writer:
        writer.start_over(CacheMetadata("s", "t", bodies, 1, FRAMES, 24.0, samples_per_frame))
        for key in ("Whole", "Box"):
            writer.write_model(key, {"nodes": nodes, "tets": tets, "joined_tets": np.array([0])})
        for frame in range(1, FRAMES + 1):
            count = 1 if frame == 1 else samples_per_frame
            samples = {"Whole": np.zeros((count, 4, 3)), "Box": np.repeat(points[None], count, axis=0)}
            first = (CRACK - 1) * samples_per_frame
            if frame < CRACK:
                writer.write_frame(Frame(frame, np.concatenate([nodes, nodes])), samples, {"frame": frame})
            else:
                x = np.concatenate([nodes, nodes[origin]])
                new = {first: {"tets": whole, "origin": origins}} if frame == CRACK else {}
                writer.write_frame(Frame(frame, x, first), samples, {"frame": frame}, new)
    return tets, parted


@pytest.mark.parametrize("samples_per_frame", [1, 2])
def test_the_first_crack_of_each_body_is_found(tmp_path: Path, samples_per_frame: int) -> None:
    write_cracking(tmp_path, np.zeros((4, 3)), samples_per_frame)
    assert baked_tets.first_crack(tmp_path, "Box") == CRACK
    assert baked_tets.first_crack(tmp_path, "Whole") is None and baked_tets.first_crack(tmp_path, "None") is None
    assert baked_tets.first_crack(tmp_path / "nothing", "Box") is None


def test_the_outside_of_parted_tets_has_both_sides_of_the_crack(tmp_path: Path) -> None:
    tets, parted = write_cracking(tmp_path, np.zeros((4, 3)))
    reader = CacheReader(tmp_path)
    before, after = (tet_geometry.load_geometry(reader, "Box", t) for t in (0, CRACK - 1))
    assert before is not None and after is not None
    assert before.nodes == (27, 54) and after.nodes == (27, 54 + 9)
    # a plane of 2 × 2 cells has 8 triangles, seen from both sides
    assert len(after.faces) == len(before.faces) + 16
    assert np.array_equal(after.joined, parted[[0]][:, tet_geometry.TET_FACES].reshape(-1, 3))
    assert tet_geometry.topology_at(tmp_path, CRACK - 1) == 0 and tet_geometry.topology_at(tmp_path, CRACK) == CRACK - 1
    x = tet_geometry.node_positions(tmp_path, FRAMES, after.nodes)
    assert x is not None and len(x) == 36 and after.faces.max() == 35
    corners, colours = tet_geometry.shaded_faces(x, after.faces, (1.0, 0.5, 0.25))
    assert corners.shape == (3 * len(after.faces), 3) and colours.shape == (3 * len(after.faces), 4)
    up = np.isclose(corners.reshape(-1, 3, 3)[:, :, 2], 1.0).all(axis=1)
    down = np.isclose(corners.reshape(-1, 3, 3)[:, :, 2], 0.0).all(axis=1)
    assert colours[np.repeat(up, 3), 0].min() > colours[np.repeat(down, 3), 0].max() > 0.2
    assert np.allclose(colours[:, 1], colours[:, 0] / 2) and (colours[:, 3] == 1).all()


def test_the_body_is_hidden_from_its_first_crack_on_and_its_tets_stand_in(tmp_path: Path) -> None:
    scene = fresh()
    obj = add_box()
    roles.make_body(obj)
    obj.sinew.use_fracture = True
    folder = tmp_path / "c.sinew"
    write_cracking(folder, np.array([v.co for v in obj.data.vertices], np.float32))
    scene.sinew.cache_path = str(folder)
    cache_paths.remember_bake(scene, folder)
    for _ in range(2):
        attach_bake.attach(scene)
        for frame in (1, CRACK - 1, CRACK, FRAMES):
            scene.frame_set(frame)
            final = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
            assert final.hide_viewport == final.hide_render == (frame >= CRACK)
            assert tet_overlay.replaces_mesh(obj, scene) == (frame >= CRACK)
    bake_control.delete(scene)
    assert not obj.hide_viewport and obj.animation_data is None and not tet_overlay.replaces_mesh(obj, scene)


def test_a_body_that_the_artist_has_hidden_stays_hidden(tmp_path: Path) -> None:
    scene = fresh()
    obj = add_box()
    roles.make_body(obj)
    obj.hide_viewport = True
    folder = tmp_path / "c.sinew"
    write_cracking(folder, np.array([v.co for v in obj.data.vertices], np.float32))
    scene.sinew.cache_path = str(folder)
    cache_paths.remember_bake(scene, folder)
    attach_bake.attach(scene)
    scene.frame_set(FRAMES)
    assert not tet_overlay.replaces_mesh(obj, scene)
    bake_control.delete(scene)
    assert obj.hide_viewport and not obj.hide_render
