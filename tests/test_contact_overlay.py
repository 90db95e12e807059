# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact overlay: arrows of a bake's contacts in the viewport, and their count in the panel."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import fresh, write_cache
from fixtures.collision_objects import body
from sinew.addon.blender_data.object_keys import body_key
from sinew.addon.cache import cache_folder_status, cache_paths
from sinew.addon.overlays import contact_geometry, contact_overlay
from sinew.addon.runtime.memo import clear_results
from sinew.solver.bake.cache import layout
from test_addon import drawn


def write_contacts(folder: Path, frame: int, positions, forces, normals=None, let_in=None) -> None:
    path = contact_geometry.path_of(folder, frame)
    path.parent.mkdir(exist_ok=True)
    with open(path, "wb") as file:
        rows = {"positions": positions, "forces": forces} | ({} if normals is None else {"normals": normals})
        rows |= {} if let_in is None else {"let_in": let_in}
        np.savez(file, **{name: np.asarray(values, np.float32) for name, values in rows.items()})


def baked(tmp_path: Path) -> tuple[bpy.types.Scene, bpy.types.Object, Path]:
    """Returns a scene with a body baked from frame 1 to 3, and its cache."""
    scene = fresh()
    jelly = body()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "contacts.blend"))
    folder = cache_paths.cache_folder(scene)
    points = np.array([v.co for v in jelly.data.vertices], float)
    folder.parent.mkdir(exist_ok=True)
    write_cache(folder, {body_key(jelly): np.stack([points] * 3)})
    cache_folder_status.invalidate()
    return scene, jelly, folder


def test_the_longest_arrow_is_half_a_body_long_and_points_along_its_force() -> None:
    positions = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    forces = np.array([[0.0, 0.0, 8.0], [0.0, -2.0, 0.0], [1.0e-6, 0.0, 0.0]])
    contacts = contact_geometry.Contacts(positions, forces, contact_geometry._unit_vectors(forces), np.zeros((0, 3)))
    assert contacts.largest == 8.0
    lines = contact_geometry.arrow_lines(contacts, 3.0).reshape(-1, 5, 2, 3)
    assert len(lines) == 2, "next to nothing is no arrow"
    shafts = lines[:, 0]
    assert np.allclose(shafts[:, 0], positions[:2])
    assert np.allclose(shafts[:, 1] - shafts[:, 0], [[0.0, 0.0, 1.5], [0.0, -0.375, 0.0]])
    for arrow, length in zip(lines, (1.5, 0.375), strict=True):
        tip = arrow[0, 1]
        assert np.allclose(arrow[1:, 0], tip)
        back = arrow[1:, 1] - tip
        along = (arrow[0, 1] - arrow[0, 0]) / length
        assert np.allclose(back @ along, -contact_geometry.ARROW_HEAD_LENGTH * length)
        assert np.allclose(
            np.linalg.norm(back - np.outer(back @ along, along), axis=1), contact_geometry.ARROW_HEAD_WIDTH * length
        )
        assert np.allclose(back.sum(axis=0), -4.0 * contact_geometry.ARROW_HEAD_LENGTH * length * along), (
            "even on all sides"
        )
    normals = contact_geometry.normal_lines(contacts, 3.0).reshape(-1, 2, 3)
    assert np.allclose(np.linalg.norm(normals[:, 1] - normals[:, 0], axis=1), contact_geometry.NORMAL_LENGTH * 3.0)
    assert contact_geometry.arrow_lines(contact_geometry.NO_CONTACTS, 1.0).shape == (0, 3)


def test_contacts_are_those_of_the_frame(tmp_path: Path) -> None:
    scene, jelly, folder = baked(tmp_path)
    write_contacts(folder, 2, [[1, 2, 3], [4, 5, 6]], [[0, 0, 5], [3, 0, 4]])
    write_contacts(folder, 3, [[1, 2, 3]], [[0, 0, 9]])
    counts, largest = {}, {}
    for frame in (0, 1, 2, 3, 7):
        scene.frame_set(frame)
        found = contact_overlay.contacts(scene)
        counts[frame], largest[frame] = len(found), found.largest
    assert counts == {0: 0, 1: 0, 2: 2, 3: 1, 7: 1}, "past the end it stays as it was"
    assert largest[2] == 5.0 and largest[7] == 9.0
    scene.frame_set(2)
    scene.sinew.show_contacts = True
    assert "2 contacts, up to 5 N each" in drawn(jelly, "draw_collision").lines
    scene.frame_set(1)
    assert "Nothing touches at this frame" in drawn(jelly, "draw_collision").lines
    assert np.allclose(contact_overlay.contacts(scene).normals, [[0, 0, 1]]), "without friction, along the force"
    scene.frame_set(2)
    write_contacts(folder, 2, [[1, 2, 3]] * 2, [[0, 3, 4]] * 2, [[0, 0, 1]] * 2)
    assert np.allclose(contact_overlay.contacts(scene).normals, [[0, 0, 1]] * 2), "friction pushes sideways"
    write_contacts(folder, 2, [[1, 2, 3]] * 3, [[0, 0, 2.5e3]] * 3)
    assert "3 contacts, up to 2.5 kN each" in drawn(jelly, "draw_collision").lines, "baked again"
    assert not len(contact_overlay.contacts(scene).let_in)
    write_contacts(folder, 2, np.zeros((0, 3)), np.zeros((0, 3)), let_in=[[1, 2, 3], [np.nan, 0, 0], [4, 5, 6]])
    assert np.allclose(contact_overlay.contacts(scene).let_in, [[1, 2, 3], [4, 5, 6]])
    assert "Colliders are let in at 2 places" in drawn(jelly, "draw_collision").lines


def test_without_a_bake_contacts_are_silent(tmp_path: Path) -> None:
    scene = fresh()
    jelly = body()
    scene.sinew.show_contacts = True
    assert len(contact_overlay.contacts(scene)) == 0
    assert "Press Simulate to see them" in drawn(jelly, "draw_collision").lines
    assert contact_geometry.load_contacts(tmp_path, 1) is contact_geometry.NO_CONTACTS


def test_a_file_that_cannot_be_read_shows_nothing(tmp_path: Path) -> None:
    path = contact_geometry.path_of(tmp_path, 1)
    path.parent.mkdir()
    for data in (b"", b"no archive", b"PK\x03\x04 cut"):
        path.write_bytes(data)
        clear_results()
        assert len(contact_geometry.load_contacts(tmp_path, 1)) == 0
    write_contacts(tmp_path, 2, [[0, 0, 0], [np.nan, 0, 0]], [[0, 0, 1], [0, 0, 2]])
    assert len(contact_geometry.load_contacts(tmp_path, 2)) == 1, "what is no number is left out"
    np.savez(contact_geometry.path_of(tmp_path, 3), positions=np.zeros((2, 3)))
    write_contacts(tmp_path, 4, np.zeros((2, 3)), np.zeros((3, 3)))
    assert [len(contact_geometry.load_contacts(tmp_path, frame)) for frame in (3, 4)] == [0, 0]


def test_delete_bake_takes_the_contacts_along(tmp_path: Path) -> None:
    _, _, folder = baked(tmp_path)
    write_contacts(folder, 2, [[1, 2, 3]], [[0, 0, 5]])
    assert layout.is_sinew_file(Path("contacts/000002.npz")) and not layout.is_sinew_file(Path("contacts/mine.npz"))
    bpy.ops.sinew.delete_bake()
    assert not folder.exists()
