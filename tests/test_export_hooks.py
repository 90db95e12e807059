# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that hang on empties: rows of the list of attachments, keys, digests, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh
from fixtures.export_scenes import exported, refused
from fixtures.fake_layout import FakeLayout
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import new_attachments, roles
from sinew.addon.panels import attachments_layout
from test_addon import context_of


def hanging() -> tuple[bpy.types.Scene, bpy.types.Object, bpy.types.Object, bpy.types.PropertyGroup]:
    """Returns a box and an empty at its corner, on which it hangs."""
    scene = fresh()
    box, empty = add_box("Box"), bpy.data.objects.new("Hand", None)
    scene.collection.objects.link(empty)
    empty.location = 1.0, 1.0, 1.0
    roles.make_body(box)
    row = new_attachments.add_attachment(box, empty)
    scene.frame_end = 4
    bpy.context.view_layer.update()
    return scene, box, empty, row


def test_an_empty_takes_what_is_within_reach_and_its_keys_arrive(tmp_path: Path) -> None:
    scene, box, empty, row = hanging()
    assert row.kind == "SPRING"
    other = new_attachments.add_attachment(box, bpy.data.objects.new("Nowhere", None))
    other.is_on = False
    row = box.sinew.attachments[0]
    row.reach = 1.2
    for frame, strength, x in ((1, 0.0, 1.0), (3, 2.0, 1.5)):
        row.strength, empty.location.x = strength, x
        row.keyframe_insert("strength", frame=frame)
        empty.keyframe_insert("location", frame=frame)
    body, tracks = (found := exported(scene, tmp_path / "c.sinew"))[0].bodies[0], found[1]
    (hook,) = body.hooks
    assert not body.attachments
    distance = np.linalg.norm(body.vertices - [1.0, 1.0, 1.0], axis=1)
    assert np.array_equal(hook.paint > 0.0, distance < 1.2) and 0 < hook.paint.sum() < len(hook.paint)
    at_three = 2.0 / scene.render.fps
    assert tracks.sample("body.Box.hook.0.strength", at_three) == 2.0
    assert tracks.sample("body.Box.hook.0.matrix", at_three)[:3, 3] == pytest.approx([1.5, 1.0, 1.0])


def test_a_group_says_what_hangs_and_how_much(tmp_path: Path) -> None:
    scene, box, _, row = hanging()
    row.group = "Held"
    box.vertex_groups.new(name="Held").add([3, 5], 0.5, "REPLACE")
    (hook,) = exported(scene, tmp_path / "c.sinew")[0].bodies[0].hooks
    assert np.flatnonzero(hook.paint).tolist() == [3, 5] and hook.strength == 1.0


def test_what_cannot_hang_is_told(tmp_path: Path) -> None:
    scene, box, empty, row = hanging()
    row.reach = 1e-4
    empty.location = 5.0, 0.0, 0.0
    assert refused(scene, tmp_path / "c.sinew").kind == "hook-without-points"
    row.kind = "SLIDING"
    assert "Hand" in refused(scene, tmp_path / "c.sinew").sentence


def test_the_digest_changes_with_the_empty_and_its_keys() -> None:
    scene, box, empty, row = hanging()
    digests = {settings_digest(scene)}
    row.reach = 0.5
    digests.add(settings_digest(scene))
    empty.location.x = 2.0
    digests.add(settings_digest(scene))
    empty.keyframe_insert("location", frame=2)
    digests.add(settings_digest(scene))
    row.keyframe_insert("strength", frame=2)
    now = settings_digest(scene)
    assert len(digests | {now}) == 5
    row.strength = 0.25  # its curve counts
    assert settings_digest(scene) == now


def test_the_panel_draws_a_row_about_an_empty() -> None:
    _, box, _, row = hanging()
    drawn = FakeLayout()
    attachments_layout.draw_attachments(drawn, context_of(box))
    assert "strength" in str(drawn.drawn) and attachments_layout.HOOK_NOTE in " ".join(drawn.lines)
