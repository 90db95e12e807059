# SPDX-License-Identifier: GPL-3.0-or-later
"""Tears of live runs in Blender: the object shows the cut mesh with its layers at once, and whatever ends it goes."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box, counts, fresh
from fixtures.live_in_blender import ended as ended  # a fixture
from fixtures.live_in_blender import pulled_until_torn, run_key, run_steps, shown, until
from fixtures.tet_meshes import bar as bar_of_tets
from sinew.addon.baking import bake_status
from sinew.addon.baking.addon_session import session
from sinew.addon.baking.live_state import LiveRun
from sinew.addon.cache.final_mesh_file import StoredResult
from sinew.addon.fracture_meshes import torn_mesh_modifier
from sinew.addon.fracture_meshes.broken_mesh_values import broken_mesh_values
from sinew.addon.fracture_meshes.source_mesh_arrays import read_source
from sinew.addon.live import grabs, run_control
from sinew.addon.objects import roles
from sinew.addon.playback import live_modifier
from sinew.solver.mesh.cutting.cut import cut_surface

LONG = 4.0
INSIDE = "Inside"


def bar() -> bpy.types.Object:
    """Returns a breakable bar along x whose lower end is pinned, with a UV map, two materials and a vertex group."""
    scene = fresh()
    bpy.ops.mesh.primitive_cube_add(size=1.0, calc_uvs=True)
    obj = bpy.context.object
    obj.name = "Bar"
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide(number_cuts=5)
    bpy.ops.object.mode_set(mode="OBJECT")
    for vertex in obj.data.vertices:
        vertex.co.x *= LONG
    for name in ("Outside", "Stripe"):
        obj.data.materials.append(bpy.data.materials.new(name))
    for polygon in obj.data.polygons:
        polygon.material_index = int(polygon.center.y > 0.0)
    pinned = obj.vertex_groups.new(name="Pinned")
    pinned.add([v.index for v in obj.data.vertices if v.co.x < -0.45 * LONG], 1.0, "REPLACE")
    roles.make_body(obj)
    own = obj.sinew
    own.youngs_modulus, own.divisions, own.pin_group = 1.0e5, 8, "Pinned"
    own.use_fracture, own.breaking_stress = True, 2.0e4
    own.broken_material = bpy.data.materials.new(INSIDE)
    scene.gravity = (0.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    return obj


def stack(obj: bpy.types.Object) -> list[str]:
    return [modifier.name for modifier in obj.modifiers]


def seen(obj: bpy.types.Object) -> bpy.types.Mesh:
    """Returns a copy of the mesh that is seen."""
    bpy.context.view_layer.update()
    return bpy.data.meshes.new_from_object(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()))


def values(mesh: bpy.types.Mesh, name: str) -> np.ndarray:
    return np.array([each.value for each in mesh.attributes[name].data])


@pytest.mark.slow
def test_the_cut_mesh_is_seen_with_both_sides_closed_its_materials_and_uvs_and_goes_with_the_run() -> None:
    obj = bar()
    before, datablocks, whole = shown(obj), counts(), obj.data
    run = pulled_until_torn(obj, LONG)
    with pytest.raises(RuntimeError, match="is torn, so it cannot begin like this"):
        bpy.ops.sinew.keep_start()
    assert stack(obj) == ["Sinew", "Sinew Live Mesh", "Sinew Live"] and obj.data == whole
    until(lambda: len(run.breakable[run_key(run)].values.points) > len(before))
    mesh = seen(obj)
    assert len(mesh.vertices) > len(before) == len(whole.vertices)
    is_broken = values(mesh, "broken")
    assert is_broken.sum() >= 2
    assert [m.name for m in mesh.materials] == ["Outside", "Stripe", INSIDE]
    slots = np.array([p.material_index for p in mesh.polygons])
    assert (slots[is_broken] == 2).all() and set(slots[~is_broken]) == {0, 1}
    edges = np.bincount([loop.edge_index for loop in mesh.loops])
    assert (edges == 2).all(), "every edge has two faces"
    outside = ~np.repeat(is_broken, [p.loop_total for p in mesh.polygons])
    uvs = np.array([each.vector for each in mesh.uv_layers[0].uv])
    assert uvs[outside].min() > -1e-4 and uvs[outside].max() < 1.0 + 1e-4 and np.ptp(uvs[outside], axis=0).min() > 0.3
    run_steps(run, run.step + 3)
    head = run.reader.newest()
    generation = run.breakable[run_key(run)].generation
    if run.reader.generation_of(run_key(run), head) == generation:
        played = run.reader.positions(run_key(run), head)
        assert len(shown(obj)) == len(played)
    run_control.stop()
    assert stack(obj) == ["Sinew"] and np.array_equal(shown(obj), before), "at once"
    bpy.data.meshes.remove(mesh)
    assert counts() == datablocks
    until(lambda: session.live is None)


@pytest.mark.slow
def test_modifiers_below_and_vertex_groups_act_on_the_torn_mesh_and_subdivision_is_above_as_in_a_bake() -> None:
    obj = bar()
    obj.modifiers.new("Subdivision", "SUBSURF").render_levels = 1
    mask = obj.modifiers.new("Mask", "MASK")
    mask.vertex_group, mask.invert_vertex_group = "Pinned", True
    other = obj.vertex_groups.new(name="Height")
    other.add(range(len(obj.data.vertices)), 0.25, "REPLACE")
    before = stack(obj), shown(obj)
    assert before[0] == ["Sinew", "Subdivision", "Mask"]
    run = pulled_until_torn(obj, LONG)
    assert stack(obj) == ["Subdivision", "Sinew", "Sinew Live Mesh", "Sinew Live", "Mask"]
    mesh, torn = seen(obj), run.breakable[run_key(run)].values
    assert 0 < len(mesh.vertices) < len(torn.points), "the pinned end is masked"
    assert np.allclose(values(mesh, "Height"), 0.25, atol=1e-6)
    run_control.stop()
    assert (stack(obj), shown(obj).tolist()) == (before[0], before[1].tolist())


@pytest.mark.slow
def test_a_file_that_is_saved_meanwhile_has_no_trace_and_the_torn_mesh_is_seen_again(tmp_path: Path) -> None:
    obj = bar()
    obj.modifiers.new("Subdivision", "SUBSURF").render_levels = 1
    names = {block.name for block in (*bpy.data.objects, *bpy.data.meshes, *bpy.data.node_groups)}
    run = pulled_until_torn(obj, LONG)
    path = str(tmp_path / "a.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    with bpy.data.libraries.load(path) as (there, _):
        assert {*there.objects, *there.meshes, *there.node_groups} == names
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Bar"]
    assert stack(wanted.objects[0]) == ["Sinew", "Subdivision"]
    until(lambda: torn_mesh_modifier.is_shown(obj))
    assert len(shown(obj)) == len(run.breakable[run_key(run)].values.points)


@pytest.mark.slow
def test_another_file_and_a_recovered_one_have_no_trace(tmp_path: Path) -> None:
    obj = bar()
    path = str(tmp_path / "a.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    datablocks = counts()
    pulled_until_torn(obj, LONG)
    handlers, bpy.app.handlers.save_pre[:] = list(bpy.app.handlers.save_pre), []
    try:  # an auto-save calls no handlers
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "autosave.blend"), copy=True)
    finally:
        bpy.app.handlers.save_pre[:] = handlers
    bpy.ops.wm.open_mainfile(filepath=path)
    assert session.live is None and counts() == datablocks and stack(bpy.data.objects["Bar"]) == ["Sinew"]
    with bpy.data.libraries.load(str(tmp_path / "autosave.blend")) as (there, _):
        assert torn_mesh_modifier.NAME in there.objects, "there is something to take away"
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "autosave.blend"))
    assert counts() == datablocks and stack(bpy.data.objects["Bar"]) == ["Sinew"]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal here")
def test_a_crash_of_the_child_puts_the_whole_mesh_back() -> None:
    obj = bar()
    before, datablocks = shown(obj), counts()
    run = pulled_until_torn(obj, LONG)
    os.kill(run.driver._child.pid, signal.SIGKILL)
    until(lambda: session.live is None)
    assert stack(obj) == ["Sinew"] and np.array_equal(shown(obj), before) and counts() == datablocks


@pytest.mark.slow
def test_undo_and_redo_over_a_tear_leave_no_trace_and_do_not_crash() -> None:
    bar()
    bpy.ops.ed.undo_push(message="before")
    datablocks, whole = counts(), shown(bpy.data.objects["Bar"])
    pulled_until_torn(bpy.data.objects["Bar"], LONG)
    bpy.data.objects["Bar"].location.y = 0.5
    bpy.ops.ed.undo_push(message="moved while torn")
    bpy.data.objects["Bar"].location.y = 1.0
    bpy.ops.ed.undo_push(message="moved again")
    for step, place in ((bpy.ops.ed.undo, 0.5), (bpy.ops.ed.undo, 0.0), (bpy.ops.ed.redo, 0.5), (bpy.ops.ed.redo, 1.0)):
        step()
        obj = bpy.data.objects["Bar"]
        assert session.live is None and obj.location.y == place
        assert stack(obj) == ["Sinew"] and counts() == datablocks
        assert np.allclose(shown(obj), whole + [0.0, place, 0.0], atol=1e-6)


@pytest.mark.slow
def test_a_torn_piece_is_grabbed_where_it_is_and_its_place_goes_on_through_the_next_tear() -> None:
    obj = bar()
    run = pulled_until_torn(obj, LONG)
    key = run_key(run)
    generation = run.breakable[key].generation
    until(lambda: run.reader.generation_of(key, run.reader.newest()) > generation)
    first = next(iter(run.grabs.values()))
    assert first.generation == 0
    assert np.linalg.norm(grabs.grabbed_point(run, first) - first.hand) < 1.0, "the numbers of the whole mesh go on"
    # held, so that the piece is where it is seen when the hand takes it
    bpy.ops.sinew.pause_live()
    until(lambda: run.held_at is not None and run.step == run.held_at)
    grabs.release(run, run.last_grab)
    vertices = grabs.shown_vertices(run, key)
    number = grabs.take(run, key, vertices[np.argmax(vertices[:, 0])], 0.0)
    grab = run.grabs[number]
    assert grab.generation > 0 and np.linalg.norm(grabs.grabbed_point(run, grab) - grab.hand) < 1e-5
    hand = grab.hand + [0.5, 0.3, 0.0]
    grabs.move(run, number, hand)
    bpy.ops.sinew.pause_live()
    # a vertex that is torn off goes on under another number, which a window that looks rarely may not find again
    until(lambda: np.linalg.norm(newest_vertices(run, key) - hand, axis=1).min() < 0.15)
    assert not run.note


def newest_vertices(run: LiveRun, key: str) -> np.ndarray:
    """Returns the vertices of the torn mesh in the newest sample, or one far away while there is none."""
    found = grabs.shown_vertices(run, key, run.reader.generation_of(key, run.reader.newest()))
    return found if len(found) else np.full((1, 3), np.inf)


@pytest.mark.slow
def test_a_copy_of_the_object_made_meanwhile_is_whole_after_it() -> None:
    obj = bar()
    datablocks = counts()
    pulled_until_torn(obj, LONG)
    copy = obj.copy()
    bpy.context.scene.collection.objects.link(copy)
    run_control.stop()
    assert stack(copy) == ["Sinew"]
    bpy.data.objects.remove(copy)
    assert counts() == datablocks


@pytest.mark.slow
def test_no_keys_come_from_a_tear_under_auto_keying() -> None:
    obj = bar()
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    pulled_until_torn(obj, LONG)
    run_control.stop()
    assert obj.animation_data is None and not bpy.data.actions


def visibility() -> dict[str, tuple[object, ...]]:
    return {
        o.name: (o.hide_viewport, o.hide_render, o.sinew.is_replaced, sorted(o.keys()), o.visible_get())
        for o in bpy.data.objects
    }


@pytest.mark.slow
def test_what_was_torn_is_kept_with_its_pieces_and_runs_live_again_in_their_place(tmp_path: Path) -> None:
    obj = bar()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    run = pulled_until_torn(obj, LONG)
    key = run_key(run)
    run_steps(run, run.step + 20)
    run_control.stop()
    until(lambda: session.live is None)
    assert bpy.ops.sinew.keep_live() == {"FINISHED"}
    (made,) = (o for o in bpy.data.objects if o.sinew.result_of == obj)
    assert obj.sinew.is_replaced and obj.hide_viewport and made.name == "Bar Broken"
    assert values(made.data, "broken").sum() >= 2 and made.data.materials[-1].name == INSIDE
    scene = bpy.context.scene
    scene.frame_set(1)
    whole = np.ptp(shown(made), axis=0)[0]
    scene.frame_set(bake_status.status(scene).frame)
    assert np.ptp(shown(made), axis=0)[0] > 1.1 * whole, "it plays"
    scene.frame_set(1)
    bpy.ops.ed.undo_push(message="kept")
    before, datablocks = visibility(), counts()
    run = pulled_until_torn(obj, LONG)
    assert obj.visible_get() and not made.visible_get() and obj.hide_render and not made.hide_render
    assert len(shown(obj)) == len(run.breakable[key].values.points)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "b.blend"), copy=True)
    until(lambda: torn_mesh_modifier.is_shown(obj))
    run_control.stop()
    assert (visibility(), counts()) == (before, datablocks)
    until(lambda: session.live is None)
    pulled_until_torn(obj, LONG)
    bpy.ops.ed.undo_push(message="while live")
    bpy.ops.ed.undo()
    assert session.live is None and (visibility(), counts()) == (before, datablocks)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "b.blend"))
    assert visibility() == before, "the saved file has no trace"


@pytest.mark.slow
def test_a_torn_mesh_of_50_000_vertices_is_shown_in_50_ms() -> None:
    fresh()
    box = add_box("Box", divisions=91)
    roles.make_body(box)
    live_modifier.show(box, Path("no.pc2"))
    source = read_source(bpy.context.scene, box, 1)
    nodes, tets = bar_of_tets((6, 6, 12), (1.1, 1.1, 2.2))
    nodes = nodes - [0.55, 0.55, 1.1]
    is_upper = nodes[tets].mean(axis=1)[:, 2] > 0.05
    parted = np.unique(is_upper[:, None] * len(nodes) + tets, return_inverse=True)[1].reshape(-1, 4)
    surface = source.points, source.triangle_vertices, source.topology.polygon_of_triangle
    cut = cut_surface(nodes, tets, parted.astype(np.int32), *surface, "Box")
    arrays = {field.name: getattr(cut, field.name) for field in fields(cut)}
    names = {field.name for field in fields(StoredResult)} - {"opens", "vertex_opens"}
    result = StoredResult(**{name: arrays[name] for name in names}, opens=np.zeros(cut.face_count))
    values = broken_mesh_values(result, source, result.rest, False)
    assert len(values.points) > 50_000
    seconds = []
    for _ in range(5):  # the first also makes the nodes
        began = time.thread_time()  # of this thread alone: what else the machine does is left out
        torn_mesh_modifier.show(box, values, source)
        seconds.append(time.thread_time() - began)
    assert min(seconds) < 0.05, seconds
