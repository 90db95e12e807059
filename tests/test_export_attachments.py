# SPDX-License-Identifier: GPL-3.0-or-later
"""Attachments made in Blender: their list, what the scene folder says of them, keys, digests, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh
from fixtures.export_scenes import exported, refused
from fixtures.fake_layout import FakeLayout
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import roles
from sinew.addon.objects.copy_settings import copy_settings
from sinew.addon.panels import attachments_layout
from sinew.addon.properties.table_editing import add_row
from sinew.solver.simulation.simulation import Simulation
from test_addon import context_of


def two_boxes() -> tuple[bpy.types.Scene, bpy.types.Object, bpy.types.Object]:
    """Returns a box and a board of twice its size below it, to which it is attached."""
    scene = fresh()
    box, board = add_box("Box"), add_box("Board")
    box.location = 0.0, 0.0, 3.01
    board.scale = 2.0, 2.0, 1.0
    for obj in (box, board):
        roles.make_body(obj)
    row = add_row(box.sinew.attachments)
    row.target, row.reach = board, 1.5
    scene.frame_end = 4
    bpy.context.view_layer.update()
    return scene, box, board


def test_attachments_arrive_with_their_tracks(tmp_path: Path) -> None:
    scene, box, board = two_boxes()
    row = box.sinew.attachments[0]
    row.kind, row.strength, row.group = "SPRING", 2.0, "Low"
    box.vertex_groups.new(name="Low").add([v.index for v in box.data.vertices if v.co.z < 0], 0.5, "REPLACE")
    off = add_row(box.sinew.attachments)
    off.target, off.is_on = board, False
    keyed = add_row(box.sinew.attachments)
    keyed.target = board
    for frame, is_on in ((1, True), (3, False)):
        keyed.is_on = is_on
        keyed.keyframe_insert("is_on", frame=frame)
    row.keyframe_insert("strength", frame=1)
    written, tracks = exported(scene, tmp_path / "c.sinew")
    first, second = next(body for body in written.bodies if body.name == "Box").attachments
    assert (first.target, first.kind, first.reach, first.strength) == ("Board", "spring", 1.5, 2.0)
    assert set(first.paint) == {0.0, 0.5} and second.kind == "sliding" and not len(second.paint)
    assert tracks.sample("body.Box.attachment.0.strength", 0.0) == 2.0
    values = [tracks.sample("body.Box.attachment.1.strength", time / scene.render.fps) for time in range(4)]
    assert np.array(values) == pytest.approx([1.0, 1.0, 0.0, 0.0])
    assert not tracks.has("body.Box.attachment.2.strength")


@pytest.mark.slow
def test_a_box_slides_on_a_collider(tmp_path: Path) -> None:
    scene, _, board = two_boxes()
    board.sinew.role = "COLLIDER"
    scene.gravity = 2.0, 0.0, 5.0  # upwards
    written, tracks = exported(scene, tmp_path / "c.sinew")
    simulation = Simulation(written, tracks)
    before = written.bodies[0].vertices
    for _ in range(3):
        moved = simulation.advance().positions["Box"] - before
    assert (
        moved[:, 0].mean() == pytest.approx(0.5 * 2.0 * (3.0 / 24.0) ** 2, rel=0.4) and abs(moved[:, 2].mean()) < 0.01
    )


def test_what_cannot_be_attached_is_told(tmp_path: Path) -> None:
    scene, box, board = two_boxes()
    row = box.sinew.attachments[0]
    row.group = "Nothing"
    box.vertex_groups.new(name="Nothing")
    assert refused(scene, tmp_path / "a.sinew").kind == "group-empty"
    row.group = ""
    board.sinew.role = "NONE"
    assert refused(scene, tmp_path / "b.sinew").kind == "attachment-target-missing"
    row.target = None
    assert refused(scene, tmp_path / "c.sinew").kind == "attachment-without-target"
    row.is_on = False
    assert exported(scene, tmp_path / "d.sinew")[0].bodies[0].attachments == ()


def test_the_digest_changes_with_attachments_and_not_with_the_playhead() -> None:
    scene, box, _ = two_boxes()
    row, found = box.sinew.attachments[0], []
    for change in ({}, {"reach": 1.0}, {"kind": "SPRING"}, {"is_on": False}):
        for name, value in change.items():
            setattr(row, name, value)
        found.append(settings_digest(scene))
    assert len(set(found)) == 4
    for frame, strength in ((1, 0.0), (4, 1.0)):
        row.strength = strength
        row.keyframe_insert("strength", frame=frame)
    keyed = settings_digest(scene)
    scene.frame_set(3)
    assert settings_digest(scene) == keyed
    box.sinew.attachments.clear()
    box.animation_data_clear()
    plain = settings_digest(scene)
    box.sinew.attachments_index = 3
    assert settings_digest(scene) == plain


def test_the_list_in_the_panel() -> None:
    _, box, board = two_boxes()
    bpy.context.view_layer.objects.active = box
    layout = FakeLayout()
    attachments_layout.draw_attachments(layout, context_of(box))
    assert {"target", "kind", "reach", "strength", "group"} <= {name for _, name in layout.drawn}
    buttons = [name for name, _ in layout.buttons]
    assert buttons == ["sinew.add_attachment", "sinew.remove_attachment", "sinew.make_edges"]
    for obj in (box, board):
        obj.select_set(True)
    bpy.ops.sinew.add_attachment()
    assert box.sinew.attachments[1].target == board and box.sinew.attachments_index == 1
    bpy.ops.sinew.remove_attachment()
    assert len(box.sinew.attachments) == 1 and box.sinew.attachments_index == 0


def test_keyframes_stay_with_their_row_when_an_earlier_one_is_removed() -> None:
    _, box, board = two_boxes()
    bpy.context.view_layer.objects.active = box
    later = add_row(box.sinew.attachments)
    later.target, later.strength = board, 0.25
    later.keyframe_insert("strength", frame=1)
    box.sinew.attachments_index = 0
    bpy.ops.sinew.remove_attachment()
    (row,) = box.sinew.attachments
    row.strength = 1.0
    bpy.context.scene.frame_set(2)
    assert row.strength == 0.25


def test_copied_settings_have_the_attachments_but_none_to_itself() -> None:
    _, box, board = two_boxes()
    other = add_box("Other")
    roles.make_body(other)
    assert copy_settings(box, other) and other.sinew.attachments[0].target == board
    assert copy_settings(box, board) and not len(board.sinew.attachments)
