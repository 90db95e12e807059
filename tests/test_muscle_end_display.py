# SPDX-License-Identifier: GPL-3.0-or-later
"""Colors of what Make Muscle found: on which faces, how long they are shown, and where they are after a pose."""

from __future__ import annotations

import math

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import fresh
from fixtures.muscle_objects import select_only
from sinew.addon.baking.addon_session import session
from sinew.addon.baking.fibre_search import FibrePreview
from sinew.addon.blender_data.object_keys import body_key
from sinew.addon.cache import cache_folder_status
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.overlays import muscle_end_overlay
from sinew.addon.overlays.muscle_end_geometry import EndWeights, end_faces
from test_fibre_display import arrays_of
from test_make_muscle import elbow, spindle


def made_muscle():
    scene = fresh()
    rig, obj = elbow(), spindle()
    select_only(obj)
    bpy.ops.sinew.make_muscle()
    return scene, rig, obj


def shown(obj):
    return muscle_end_overlay.shown_ends(obj, bpy.context.evaluated_depsgraph_get())


def in_group(obj, name: str) -> np.ndarray:
    number = obj.vertex_groups[name].index
    return np.array([any(g.group == number for g in v.groups) for v in obj.data.vertices])


def test_make_muscle_shows_its_ends_and_tendons_at_once() -> None:
    scene, _, obj = made_muscle()
    assert obj.sinew.show_ends and muscle_end_overlay.is_shown(scene, obj)
    faces, points = shown(obj)
    is_origin, is_insertion = in_group(obj, "Origin"), in_group(obj, "Insertion")
    assert len(faces.origin) and is_origin[faces.origin].all() and points[faces.origin][..., 2].min() > 1.7
    assert len(faces.insertion) and is_insertion[faces.insertion].all() and points[faces.insertion][..., 2].max() < 0.3
    reach = obj.sinew.origin_tendon
    assert reach > 0.1 and len(faces.tendon), "the spindle is thin at its ends"
    near = [points[is_end][:, None] for is_end in (is_origin, is_insertion)]
    for corner in points[faces.tendon].reshape(-1, 3):
        assert min(np.linalg.norm(end - corner, axis=2).min() for end in near) <= reach * (1 + 1e-6)
    ours = {tuple(sorted(face)) for part in (faces.origin, faces.insertion) for face in part.tolist()}
    assert not ours & {tuple(sorted(face)) for face in faces.tendon.tolist()}


def test_they_move_with_the_pose_and_change_with_the_settings() -> None:
    _, rig, obj = made_muscle()
    before = shown(obj)
    bone = rig.pose.bones["Fore.L"]
    bone.rotation_mode, bone.rotation_euler.x = "XYZ", math.radians(40.0)
    bpy.context.view_layer.update()
    after = shown(obj)
    assert after[0] is before[0], "the faces stay"
    ends = [found[1][before[0].insertion].reshape(-1, 3).mean(axis=0) for found in (before, after)]
    assert np.linalg.norm(ends[1] - ends[0]) > 0.3
    obj.sinew.origin_tendon = obj.sinew.insertion_tendon = 0.0
    assert not len(shown(obj)[0].tendon)
    obj.sinew.tendon_only = True
    faces = shown(obj)[0]
    assert sum(map(len, (faces.origin, faces.insertion, faces.tendon))) == 2 * len(obj.data.vertices) - 4
    obj.sinew.tendon_only, obj.sinew.origin_group = False, "Gone"
    assert shown(obj) is None


def test_a_bake_or_built_fibres_take_their_place(monkeypatch: pytest.MonkeyPatch) -> None:
    scene, _, obj = made_muscle()
    session.fibre_previews[(scene.session_uid, body_key(obj))] = FibrePreview(settings_digest(scene), arrays_of())
    assert muscle_end_overlay.is_shown(scene, obj)
    obj.sinew.show_fibres = True
    assert not muscle_end_overlay.is_shown(scene, obj)
    session.clear()
    assert muscle_end_overlay.is_shown(scene, obj)
    monkeypatch.setattr(cache_folder_status.CacheStatus, "frame_shown_at", lambda _, frame: frame)
    assert not muscle_end_overlay.is_shown(scene, obj)
    monkeypatch.undo()
    obj.sinew.show_ends = False
    assert not muscle_end_overlay.is_shown(scene, obj)


def test_painted_tendon_and_lengths_add_up_and_ends_come_first() -> None:
    vertices = np.array([[x, y, 0.0] for x in range(6) for y in (0.0, 1.0)])
    triangles = np.array([[i, i + 1, i + 2] for i in range(10)])
    x = vertices[:, 0]
    weights = EndWeights((x == 0).astype(float), (x >= 4).astype(float), 0.6 * (x >= 3))
    found = end_faces(vertices, triangles, weights, (1.0, 0.0))
    assert not len(found.origin), "a face is at an end with all its corners"
    assert found.insertion.tolist() == [[8, 9, 10], [9, 10, 11]]
    assert found.tendon.tolist() == [[i, i + 1, i + 2] for i in (0, 1, 6, 7)]
