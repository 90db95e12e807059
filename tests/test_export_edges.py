# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of attachments with a mesh of edges: what the scene folder has of them, the panel, Make Edges, and errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import bmesh

from fixtures.blender_scenes import add_box, add_rig, fresh
from fixtures.export_scenes import exported, refused
from fixtures.fake_layout import FakeLayout
from fixtures.rigid_body_scenes import bake
from fixtures.selected_bodies import bake_here, only_pass, played, two_boxes
from sinew.addon.baking import frame_report_reader
from sinew.addon.cache.bake_passes import body_folder
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.export.participants import find_participants
from sinew.addon.live import handled_inputs
from sinew.addon.objects import roles
from sinew.addon.objects.attachment_rows import may_break, row_about_bone
from sinew.addon.objects.copy_settings import copy_settings
from sinew.addon.overlays import attached_points, bone_attachment_overlay
from sinew.addon.panels import attachments_layout
from sinew.addon.properties.table_editing import add_row
from sinew.solver.scene.attachment import FRAME, NOTHING
from sinew.solver.simulation.simulation import Simulation
from test_addon import context_of

ENDS = np.array([[[0.2, 0.0, -1.0], [0.2, 0.0, -3.0]], [[-0.4, 0.1, -3.0], [-0.2, 0.1, -1.0]]])


def add_edges(name: str = "Guys", ends: np.ndarray = ENDS) -> bpy.types.Object:
    """Returns an object whose mesh has these edges, (e, 2, 3), and one face, which is none of them."""
    mesh = bpy.data.meshes.new(name)
    points = [*ends.reshape(-1, 3).tolist(), [9, 9, 9], [9, 8, 9], [8, 9, 9]]
    edges = [(2 * k, 2 * k + 1) for k in range(len(ends))]
    mesh.from_pydata(points, edges, [[len(points) - 3, len(points) - 2, len(points) - 1]])
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def tied_box() -> tuple[bpy.types.Scene, bpy.types.Object, bpy.types.Object, bpy.types.PropertyGroup]:
    """Returns a box of 1 × 1 × 2 units about the origin, one of 2 × 2 × 2 two units below, and the row with edges."""
    scene = fresh()
    box, board = add_box("Box"), add_box("Board")
    board.location.z, board.scale = -4.0, (2.0, 2.0, 1.0)
    for obj in (box, board):
        roles.make_body(obj)
    row = add_row(box.sinew.attachments)
    row.target, row.edges = board, add_edges()
    scene.frame_end = 4
    bpy.context.view_layer.update()
    return scene, box, board, row


def test_a_new_row_with_edges_is_a_spring_and_its_ends_arrive_in_metres(tmp_path: Path) -> None:
    scene, _, board, row = tied_box()
    assert row.kind == "SPRING"
    scene.unit_settings.scale_length = 0.1
    row.reach, row.spring_constant, row.damping, row.collides, row.breaking_force = 0.5, 70.0, 3.0, True, 9.0
    row.edges.location.x, row.edges.rotation_euler.z = 0.1, np.pi
    body = next(each for each in exported(scene, tmp_path / "c.sinew")[0].bodies if each.name == "Box")
    (found,) = body.attachments
    expected = 0.1 * (ENDS * [-1.0, -1.0, 1.0] + [0.1, 0.0, 0.0])
    np.testing.assert_allclose(found.edges, expected, atol=1e-7)
    assert (found.target, found.kind, found.reach) == ("Board", "spring", pytest.approx(0.05))
    assert (found.spring_constant, found.damping, found.breaking_force) == (70.0, 3.0, 9.0)
    assert not (found.collides or found.is_exact or found.holds_material) and may_break(row)
    board.sinew.role = "COLLIDER"
    found = exported(scene, tmp_path / "d.sinew")[0].bodies[0].attachments[0]
    assert found.damping == 3.0, "unlike that of surfaces, which both have to be simulated"


@pytest.mark.slow
def test_edges_hold_a_box_in_a_bake_of_blender(tmp_path: Path) -> None:
    """It hangs on the board above it; the report of each frame has the force and both ends of each edge."""
    scene, box, board, row = tied_box()
    board.sinew.role, row.kind = "COLLIDER", "FIXED"
    scene.gravity = 0.0, 0.0, 9.81
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "tied.blend"))
    bake(tmp_path, 6)
    folder = body_folder(scene, box)
    found = frame_report_reader.attachment_loads(folder, "Box", 6)[0]
    ends = np.array(found[7:]).reshape(-1, 2, 3)
    assert found[0] > 0.0 and len(ends) == 2
    flipped = np.stack([ENDS[0], ENDS[1, ::-1]])
    np.testing.assert_allclose(ends, flipped, atol=0.05)
    lines = [lines for _, _, _, lines in bone_attachment_overlay.baked_parts(folder, scene, box, 6)]
    np.testing.assert_allclose(lines[-1].reshape(-1, 2, 3), ends, atol=1e-9)


def test_an_empty_and_a_bone_carry_ends_of_edges(tmp_path: Path) -> None:
    scene, box, _, row = tied_box()
    empty = bpy.data.objects.new("Hand", None)
    scene.collection.objects.link(empty)
    rig = add_rig(add_box("Skin"))
    rig.location.x = 2.0
    row.target = empty
    for frame, x in ((1, 0.0), (3, 0.5)):
        empty.location = x, 0.0, -3.0
        empty.keyframe_insert("location", frame=frame)
    other = add_row(box.sinew.attachments)
    other.target_type, other.armature, other.bone, other.edges = "BONE", rig, "upper", row.edges
    bpy.context.view_layer.update()
    scene.frame_end = 21
    written, tracks = exported(scene, tmp_path / "c.sinew")
    body = next(each for each in written.bodies if each.name == "Box")
    assert [each.target for each in body.attachments] == [FRAME, FRAME] and not body.hooks
    assert tracks.sample("body.Box.attachment.0.matrix", 2.0 / 24.0)[:3, 3] == pytest.approx([0.5, 0.0, -3.0])
    turned = tracks.sample("body.Box.attachment.1.matrix", 20.0 / 24.0)
    assert turned[:3, 3] == pytest.approx([2.0, 0.0, 0.0], abs=1e-6)
    assert np.degrees(np.arccos(turned[:3, 1] @ [0.0, 0.0, 1.0])) == pytest.approx(np.degrees(1.0), abs=0.1)
    scene.frame_set(1)
    inputs = handled_inputs.find(find_participants(scene), written, tmp_path / "c.sinew" / "scene")
    handled = {each.track: each for each in inputs if "attachment" in each.track}
    assert set(handled) == {"body.Box.attachment.0.matrix", "body.Box.attachment.1.matrix"}
    empty.animation_data_clear()
    before = handled_inputs.values(handled.values(), scene)
    empty.location.y += 2.0
    bpy.context.view_layer.update()
    after = handled_inputs.values(handled.values(), scene)
    np.testing.assert_allclose(before["body.Box.attachment.0.matrix"][:3, 3], [0.0, 0.0, -3.0], atol=1e-6)
    np.testing.assert_allclose(after["body.Box.attachment.0.matrix"][:3, 3], [0.0, 2.0, -3.0], atol=1e-6)
    simulation = Simulation(written, tracks)
    moved = [simulation.advance().positions["Box"].mean(axis=0)[0] for _ in range(4)]
    assert moved[-1] > 0.01, "the empty pulls it along"


def test_edges_to_a_bone_mesh_change_nothing_of_how_bones_hold_flesh(tmp_path: Path) -> None:
    scene, box, board, row = tied_box()
    board.sinew.role = "BONE"
    box.sinew.motion = "JIGGLE"
    assert roles.is_flesh(box)
    box.sinew.bones_are_rows = True
    row.kind = "FIXED"
    assert row_about_bone(box, board) is None
    written, _ = exported(scene, tmp_path / "c.sinew")
    (bone,) = written.bones
    assert bone.bodies == (NOTHING,) and written.bodies[0].attachments[0].target == bone.key
    assert not written.bodies[0].attachments[0].holds_material


def test_the_digest_changes_with_edges_and_with_what_carries_them() -> None:
    scene, _, _, row = tied_box()
    found, edges = [settings_digest(scene)], row.edges
    for change in (
        lambda: setattr(edges.location, "x", 0.3),
        lambda: setattr(edges.data.vertices[0].co, "z", -1.1),
        lambda: setattr(row, "edges", None),
    ):
        change()
        bpy.context.view_layer.update()
        found.append(settings_digest(scene))
    assert len(set(found)) == 4
    edges.location.x = 0.5
    bpy.context.view_layer.update()
    assert settings_digest(scene) == found[-1], "no row names it any more"
    row.edges = edges
    named = settings_digest(scene)
    row.collides = not row.collides
    assert settings_digest(scene) == named, "a row of edges does not read it"


def test_what_cannot_be_edges_is_told(tmp_path: Path) -> None:
    scene, box, board, row = tied_box()
    guys = row.edges
    row.edges = board
    assert refused(scene, tmp_path / "a.sinew").kind == "edges-of-itself"
    row.edges = box
    assert refused(scene, tmp_path / "b.sinew").kind == "edges-of-itself"
    row.edges = add_box("Solid")
    problem = refused(scene, tmp_path / "c.sinew")
    assert problem.kind == "edges-none" and '"Solid"' in problem.sentence and '"Box"' in problem.sentence
    row.edges = guys
    scene.collection.objects.unlink(guys)
    problem = refused(scene, tmp_path / "d.sinew")
    assert problem.kind in ("edges-missing", "object-gone") and "Guys" in problem.sentence


def test_the_panel_draws_what_edges_have() -> None:
    scene, box, _, row = tied_box()
    bpy.context.view_layer.objects.active = box
    drawn = {}
    for edges, kind in ((row.edges, "SPRING"), (row.edges, "SLIDING"), (None, "SPRING")):
        row.edges = edges
        row.kind = kind
        layout = FakeLayout()
        attachments_layout.draw_attachments(layout, context_of(box))
        drawn[edges is not None, kind] = {name for _, name in layout.drawn}, " ".join(layout.lines)
        assert "sinew.make_edges" in [name for name, _ in layout.buttons]
    names, _ = drawn[True, "SPRING"]
    assert {"edges", "reach", "spring_constant", "damping", "breaking_force", "target_group"} <= names
    assert not {"collides", "is_exact"} & names
    assert "do not slide" in drawn[True, "SLIDING"][1]
    assert "collides" in drawn[False, "SPRING"][0]


def test_the_panel_says_what_carries_edges_without_a_surface() -> None:
    scene, box, _, row = tied_box()
    empty, rig = bpy.data.objects.new("Hand", None), add_rig(add_box("Skin"))
    scene.collection.objects.link(empty)
    bpy.context.view_layer.objects.active = box
    said = []
    for target_type in ("OBJECT", "BONE"):
        row.target_type, row.target, row.armature, row.bone = target_type, empty, rig, "upper"
        layout = FakeLayout()
        attachments_layout.draw_attachments(layout, context_of(box))
        assert {"edges", "reach", "damping"} <= {name for _, name in layout.drawn}
        said.append(" ".join(layout.lines))
    assert "carries the ends" in said[0] and "carries the ends" in said[1] and "choose Fixed" not in said[1]


def test_make_edges_draws_from_selected_vertices_to_the_nearest_places(tmp_path: Path) -> None:
    scene, box, board, row = tied_box()
    bpy.context.view_layer.objects.active = box
    row.edges = None
    select(box)
    assert "CANCELLED" in _make_edges()
    low = [vertex.index for vertex in box.data.vertices if vertex.co.z < -0.9]
    places = [tuple(box.data.vertices[number].co) for number in low]
    select(box, *low[:2])
    assert "FINISHED" in _make_edges()
    made = row.edges
    assert made.name == "Box Edges" and len(made.data.edges) == 2 and row.kind == "SPRING" and made.hide_render
    ends = np.array([made.data.vertices[v].co for edge in made.data.edges for v in edge.vertices]).reshape(-1, 2, 3)
    np.testing.assert_allclose(ends[:, 0], places[:2], atol=1e-6)
    np.testing.assert_allclose(ends[:, 1], ends[:, 0] - [0.0, 0.0, 2.0], atol=1e-6)
    made.location.x = 0.5  # what is added is where it should be, too
    bpy.context.view_layer.update()
    select(box, low[2])
    assert "FINISHED" in _make_edges()
    assert row.edges == made and len(made.data.edges) == 3
    world = made.matrix_world @ made.data.vertices[made.data.edges[2].vertices[0]].co
    np.testing.assert_allclose(world, places[2], atol=1e-6)
    made.location.x = 0.0
    (found,) = exported(scene, tmp_path / "c.sinew")[0].bodies[-1].attachments
    assert len(found.edges) == 3


def select(obj: bpy.types.Object, *numbers: int) -> None:
    """Selects these vertices alone; references to vertices do not outlive an evaluation."""
    chosen = np.zeros(len(obj.data.vertices), bool)
    chosen[list(numbers)] = True
    obj.data.vertices.foreach_set("select", chosen)


def _make_edges() -> set[str]:
    try:
        return bpy.ops.sinew.make_edges()
    except RuntimeError as problem:
        assert "No vertex" in str(problem)
        return {"CANCELLED"}


def test_make_edges_sees_what_is_selected_in_edit_mode_and_on_a_subdivided_body() -> None:
    scene, box, _, row = tied_box()
    box.modifiers.new("Smooth", "SUBSURF").levels = 1
    box.modifiers.move(len(box.modifiers) - 1, 0)
    bpy.context.view_layer.objects.active = box
    row.edges = None
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    mesh = bmesh.from_edit_mesh(box.data)
    corner = min(mesh.verts, key=lambda vertex: sum(vertex.co))
    corner.select_set(True)
    bmesh.update_edit_mesh(box.data)
    assert "FINISHED" in bpy.ops.sinew.make_edges()
    bpy.ops.object.mode_set(mode="OBJECT")
    (edge,) = row.edges.data.edges
    first, last = (np.array(row.edges.data.vertices[v].co) for v in edge.vertices)
    low = min((tuple(vertex.co) for vertex in box.data.vertices), key=sum)
    distance = np.linalg.norm(first - low)
    assert 0.05 < distance < 0.5, "at the smooth surface, and not at the corner of the cage"
    np.testing.assert_allclose(last, [*first[:2], -3.0], atol=1e-6)


def test_make_edges_ends_on_bones_and_empties() -> None:
    scene, box, _, row = tied_box()
    bpy.context.view_layer.objects.active = box
    empty = bpy.data.objects.new("Hand", None)
    scene.collection.objects.link(empty)
    empty.location = 0.0, 0.0, -5.0
    rig = add_rig(add_box("Skin"))
    rig.location = 3.0, 0.0, 0.0
    bpy.context.view_layer.objects.active = box
    bpy.context.view_layer.update()
    select(box, 0)
    start = tuple(box.data.vertices[0].co)
    for target_type in ("OBJECT", "BONE"):
        row.edges, row.target_type, row.target, row.armature, row.bone = None, target_type, empty, rig, "lower"
        assert "FINISHED" in bpy.ops.sinew.make_edges()
        first, last = (row.edges.data.vertices[v].co for v in row.edges.data.edges[0].vertices)
        np.testing.assert_allclose(first, start, atol=1e-6)
        expected = [0.0, 0.0, -5.0] if target_type == "OBJECT" else [3.0, 0.0, min(max(start[2], -1.0), 0.0)]
        np.testing.assert_allclose(last, expected, atol=1e-6)


def test_copied_settings_have_the_edges_and_rows_stay_apart() -> None:
    scene, box, _, row = tied_box()
    other = add_box("Other")
    roles.make_body(other)
    assert copy_settings(box, other)
    assert other.sinew.attachments[0].edges == row.edges and other.sinew.attachments[0].kind == "SPRING"
    bpy.context.view_layer.update()
    stamp = attached_points.row_stamp(box)
    ((colour, ends),) = attached_points.edges_at_rest(box, bpy.context.evaluated_depsgraph_get())
    assert colour == tuple(row.color)
    np.testing.assert_allclose(ends.reshape(-1, 2, 3), ENDS, atol=1e-6)
    row.edges.location.x = 1.0
    bpy.context.view_layer.update()
    assert attached_points.row_stamp(box) != stamp
    assert not [points for _, points in attached_points.points_at_rest(box, bpy.context.evaluated_depsgraph_get())]


@pytest.mark.slow
@pytest.mark.parametrize("owner", ["Lower", "Upper"])
def test_a_body_simulated_alone_feels_edges_of_either_side(tmp_path: Path, owner: str) -> None:
    """The other one stays as it was baked with it, so it moves as it did then."""
    scene, lower, upper = two_boxes(6, (0.0, 0.0, 2.5))
    lower.sinew.pin_group = "Base"
    base = [vertex.index for vertex in lower.data.vertices if vertex.co.z < -0.9]
    lower.vertex_groups.new(name="Base").add(base, 1.0, "REPLACE")
    row = add_row((lower if owner == "Lower" else upper).sinew.attachments)
    ends = np.array([[[x, y, 1.0], [x, y, 1.5]] for x in (-0.4, 0.4) for y in (-0.4, 0.4)])
    row.target, row.edges = upper if owner == "Lower" else lower, add_edges(ends=ends)
    row.spring_constant, row.damping = 5.0e5, 2.0e4
    bake_pass = only_pass(scene, tmp_path / "c.sinew")
    bake_here(scene, bake_pass)
    together = played(bake_pass.folder, "Upper")
    alone = played(bake_here(scene, bake_pass, upper), "Upper")
    falls = [shown[:, :, 2].mean(axis=1) - shown[0, :, 2].mean() for shown in (together, alone)]
    free = -0.5 * 9.81 * (5.0 / scene.render.fps) ** 2
    assert free < 1.5 * falls[0][-1] < 0.0, "edges push it up"
    np.testing.assert_allclose(falls[1], falls[0], atol=0.02 * abs(falls[0][-1]))
