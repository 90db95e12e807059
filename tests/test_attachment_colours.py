# SPDX-License-Identifier: GPL-3.0-or-later
"""What the viewport shows of attachments: the points of each row, in its colour, before a bake and of a bake."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh
from fixtures.scenes import Run
from fixtures.sliding_scenes import attachments_of
from sinew.addon.objects import roles
from sinew.addon.objects.attachment_rows import is_without_target
from sinew.addon.objects.new_attachments import add_attachment
from sinew.addon.overlays import attached_points
from sinew.addon.overlays.bone_attachment_overlay import preview_parts
from sinew.solver.scene.scene import Scene
from test_sliding import WEIGHTLESS, stacked

BLUE = (0.0, 0.25, 1.0)


def test_vertices_in_reach_are_shown_in_the_colour_of_their_row() -> None:
    scene = fresh()
    box, board = add_box("Box"), add_box("Board")
    box.location.z = 2.0 * max(v.co.z for v in box.data.vertices) + 0.1
    for obj in (box, board):
        roles.make_body(obj)
    row = add_attachment(box, board)
    row.reach, row.color = 0.2, BLUE
    bpy.context.view_layer.update()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    ((colour, points),) = attached_points.points_at_rest(box, depsgraph)
    low = min(v.co.z for v in box.data.vertices)
    wanted = sum(v.co.z == low for v in box.data.vertices)
    assert colour == BLUE and len(points) == wanted > 3 and np.ptp(points[:, 2]) == 0.0
    box.vertex_groups.new(name="One").add([next(v.index for v in box.data.vertices if v.co.z == low)], 1.0, "ADD")
    before, row.group = attached_points.row_stamp(box), "One"
    assert attached_points.row_stamp(box) != before
    bpy.context.view_layer.update()
    assert [len(points) for _, points in attached_points.points_at_rest(box, depsgraph)] == [1]
    ((name, colour, faces, lines),) = preview_parts(scene, box, depsgraph)
    assert (name, colour, len(faces), len(lines)) == ("", BLUE, 0, 6)


def test_a_bone_is_shown_in_the_colour_of_its_row_as_far_as_the_row_reaches() -> None:
    scene = fresh()
    obj, bone = add_box("Arm"), add_box("Bone")
    bone.scale = 0.3, 0.3, 0.3
    roles.make_flesh(obj)
    roles.make_bone(bone)
    bpy.context.view_layer.update()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    (without,) = preview_parts(scene, obj, depsgraph)
    row = add_attachment(obj, bone)
    row.reach, row.color = 0.2, BLUE
    (own,) = preview_parts(scene, obj, depsgraph)
    assert own[:2] == ("Bone", BLUE) and without[0] == "Bone" and len(own[3]) > len(without[3]) > 0


def test_a_new_row_has_a_colour_that_no_other_one_has() -> None:
    fresh()
    box = add_box("Box")
    roles.make_body(box)
    for _ in range(3):
        add_attachment(box, None)
    box.sinew.attachments.remove(0)
    add_attachment(box, None)
    assert len({tuple(row.color) for row in box.sinew.attachments}) == 3


def test_what_is_hidden_is_shown_as_modeled_and_what_is_deleted_is_told() -> None:
    """Blender evaluates neither what is disabled in viewports nor what was deleted and is still a target."""
    scene = fresh()
    obj, bone, board = add_box("Arm"), add_box("Bone"), add_box("Board")
    bone.scale = 0.3, 0.3, 0.3
    roles.make_flesh(obj)
    roles.make_bone(bone)
    roles.make_body(board)
    row = add_attachment(obj, board)
    row.reach = 3.0
    bpy.context.view_layer.update()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    shown = [(name, len(lines)) for name, _, _, lines in preview_parts(scene, obj, depsgraph)]
    assert [name for name, _ in shown] == ["Bone", ""] and all(count for _, count in shown)
    bone.hide_viewport = board.hide_viewport = True
    bpy.context.view_layer.update()
    assert [(name, len(lines)) for name, _, _, lines in preview_parts(scene, obj, depsgraph)] == shown
    assert not is_without_target(row)
    with bpy.context.temp_override(selected_objects=[board], selected_ids=[board]):
        bpy.ops.object.delete()
    bpy.context.view_layer.update()
    assert row.target == board and is_without_target(row), "the panel shows it in red"
    assert [name for name, *_ in preview_parts(scene, obj, depsgraph)] == ["Bone"]


def test_a_bake_tells_where_it_has_linked_the_surface(tmp_path) -> None:
    run = Run(tmp_path, Scene(tuple(stacked()), settings=WEIGHTLESS))
    model, links = run.built.model, attachments_of(run).links[0]
    cube, slab = model.bodies
    arrays = attachments_of(run).to_arrays(cube.nodes)
    assert attachments_of(run).to_arrays(slab.nodes) == {}
    arrays["tets"] = model.tets[cube.tets] - cube.nodes.start
    ((number, points),) = attached_points.baked_points(arrays, model.X[cube.nodes])
    assert number == 0 and points == pytest.approx(links.points(model.X, model.tets), abs=1e-12)
    assert not list(attached_points.baked_points({}, model.X))
