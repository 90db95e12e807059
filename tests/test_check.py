# SPDX-License-Identifier: GPL-3.0-or-later
"""Check in Blender: what is listed, where Select brings, and what Fix mends and says."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

import bmesh
import numpy as np
from mathutils import Matrix, Vector

from fixtures.blender_scenes import add_box, evaluated, fresh
from fixtures.fake_layout import FakeLayout
from sinew.addon.baking import scene_check
from sinew.addon.baking.addon_session import session
from sinew.addon.baking.check_process import CheckResult, CheckRow
from sinew.addon.evaluation.evaluated_mesh import positions, triangles
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import diagnostic_fixes, roles
from sinew.addon.objects.diagnostic_fixes import FixTarget
from sinew.addon.panels import check_layout
from sinew.solver.mesh.geometry.triangle_surface import signed_volume
from sinew.solver.runtime.error_messages import TEXTS
from sinew.solver.runtime.errors import BadInput
from test_addon import context_of
from test_fat import fat_ball
from test_make_muscle import elbow, select, spindle, vertex_positions


def muscle(name: str = "Biceps.L", **places):
    obj = spindle(name, **places)
    select(obj)
    bpy.ops.sinew.make_muscle()
    return obj


def checked() -> dict[str, CheckRow]:
    """Returns what Check lists, by the name of the object and the kind."""
    assert bpy.ops.sinew.check() == {"FINISHED"}
    rows = scene_check.result_of(bpy.context.scene).rows
    names = {obj.session_uid: obj.name for obj in bpy.context.scene.objects}
    return {f"{names.get(row.object_uid, '')}: {row.kind}": row for row in rows}


def press(what: str, key: str) -> set[str]:
    """Presses Select or Fix of a row."""
    rows = scene_check.result_of(bpy.context.scene).rows
    index = next(n for n, row in enumerate(rows) if row.kind == key)
    return getattr(bpy.ops.sinew, f"check_{what}")(index=index)


@pytest.mark.slow
def test_what_is_found_of_fat_is_selected_and_fixed_on_its_skin() -> None:
    _, skin, _, _ = fat_ball(is_open=True)
    skin.data.flip_normals()
    assert bpy.ops.sinew.check() == {"FINISHED"}
    assert press("select", "surface-inside-out") == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    of_faces = {number for polygon in skin.data.polygons for number in polygon.vertices}
    assert {vertex.index for vertex in skin.data.vertices if vertex.select} == of_faces
    assert press("fix", "surface-inside-out") == {"FINISHED"}
    assert signed_volume(positions(skin.data), triangles(skin.data)) > 0.0


@pytest.mark.slow
def test_where_a_wrap_sticks_out_is_selected_on_it() -> None:
    _, skin, wrap, core = fat_ball()
    for vertex in wrap.data.vertices:
        vertex.co.x += 0.45
    wrap.data.update()
    core.location.x = 0.45
    bpy.context.view_layer.update()
    row = checked()["Wrap: wrap-out-over"]
    assert all(f'"{name}"' in row.line for name in ("Skin", "Core")) and not row.is_refused
    assert press("select", "wrap-out-over") == {"FINISHED"}
    assert bpy.context.object == wrap and bpy.context.mode == "EDIT_MESH"
    bpy.ops.object.mode_set(mode="OBJECT")
    chosen = {vertex.index for vertex in wrap.data.vertices if vertex.select}
    assert chosen == {v.index for v in wrap.data.vertices if v.co.length > 0.99} and chosen


@pytest.mark.slow
def test_what_is_wrong_with_several_objects_is_listed_at_once_selected_and_fixed() -> None:
    fresh()
    elbow("", 1.0)
    good, turned, torn, scaled = muscle("Good"), muscle("Turned"), muscle("Torn"), muscle("Scaled")
    for number, obj in enumerate((good, turned, torn, scaled)):
        for vertex in obj.data.vertices:
            vertex.co.y += 0.3 * number
        obj.sinew.muscle_strength = 1.0
    for polygon in turned.data.polygons:
        polygon.flip()
    found = bmesh.new()
    found.from_mesh(torn.data)
    found.faces.ensure_lookup_table()
    corners = sorted(v.index for v in found.faces[150].verts)
    bmesh.ops.delete(found, geom=[found.faces[150]], context="FACES_ONLY")
    found.to_mesh(torn.data)
    found.free()
    hooked = [m for m in scaled.modifiers if m.type == "HOOK"]
    scaled.data.transform(Matrix.Diagonal((0.5, 0.5, 0.5, 1.0)))
    scaled.scale = (2.0, 2.0, 2.0)
    for hook in hooked:
        hook.matrix_inverse = hook.matrix_inverse @ scaled.matrix_basis
    bpy.context.view_layer.update()
    before = evaluated(scaled, 1)

    rows = checked()
    assert {"Turned: surface-inside-out", "Torn: surface-open", "Scaled: scale-not-applied"} <= rows.keys(), rows.keys()
    assert not [name for name in rows if name.startswith("Good")]
    assert press("select", "surface-open") == {"FINISHED"}
    assert bpy.context.object == torn and bpy.context.mode == "EDIT_MESH"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert sorted(v.index for v in torn.data.vertices if v.select) == corners
    for kind in ("surface-open", "surface-inside-out", "scale-not-applied"):
        assert press("fix", kind) == {"FINISHED"}
    assert not {"Turned: surface-inside-out", "Torn: surface-open", "Scaled: scale-not-applied"} & checked().keys()
    after = evaluated(scaled, 1)
    world = [points @ matrix[:3, :3].T + matrix[:3, 3] for points, matrix in (before, after)]
    assert world[1] == pytest.approx(world[0], abs=1e-5) and tuple(scaled.scale) == (1.0, 1.0, 1.0)


@pytest.mark.slow
def test_bad_muscles_are_named_with_what_they_lack() -> None:
    scene = fresh()
    elbow("", 1.0)
    alike, outside, free, heads = (muscle(name) for name in ("Alike", "Outside", "Free", "Heads"))
    for number, obj in enumerate((alike, outside, free, heads)):
        for vertex in obj.data.vertices:
            vertex.co.y += 0.3 * number
    alike.sinew.insertion_group = "Origin"
    lattice = bpy.data.objects.new("Cage", bpy.data.lattices.new("Cage"))
    scene.collection.objects.link(lattice)
    outside.sinew.fibre_source, outside.sinew.fibre_lattice = "LATTICE", lattice
    free.sinew.pin_group = ""
    free.modifiers.clear()
    for name, is_in in (("Long", lambda v: v.co.x > 1.0), ("Short", lambda v: v.co.x < 1.0)):
        heads.vertex_groups.new(name=name).add([v.index for v in heads.data.vertices if is_in(v)], 1.0, "REPLACE")
        heads.sinew.muscle_heads.add().group = name
    rows = checked()
    assert "shares" in rows["Alike: muscle-ends-overlap"].line or "share" in rows["Alike: muscle-ends-overlap"].line
    assert '"Outside"' in rows["Outside: fibre-lattice-too-small"].line
    assert '"Free" touches no bone' in rows["Free: muscle-on-no-bone"].line
    assert 'heads "Long" and "Short" of "Heads"' in rows["Heads: muscle-heads-share-tets"].line
    assert rows["Alike: muscle-ends-overlap"].is_refused and not rows["Heads: muscle-heads-share-tets"].is_refused
    assert press("fix", "muscle-on-no-bone") == {"FINISHED"} and press("fix", "muscle-ends-overlap") == {"FINISHED"}
    assert not {"Free: muscle-on-no-bone", "Alike: muscle-ends-overlap"} & checked().keys()


@pytest.mark.slow
def test_an_object_that_cannot_be_read_hides_nothing_of_the_others() -> None:
    scene = fresh()
    elbow("", 1.0)
    wrong, doubled = muscle("Wrong"), muscle("Doubled")
    wrong.sinew.activation_source = "POSE"
    wrong.modifiers["Origin"].object = None
    vertices = vertex_positions(doubled)
    found = bmesh.new()
    found.from_mesh(doubled.data)
    bmesh.ops.split_edges(found, edges=list(found.edges)[200:204])
    found.to_mesh(doubled.data)
    found.free()
    assert len(doubled.data.vertices) > len(vertices)
    rows = checked()
    assert {"Wrong: hook-without-object", "Wrong: poses-none", "Doubled: surface-doubled"} <= rows.keys()
    assert rows["Wrong: hook-without-object"].is_refused and not rows["Doubled: surface-doubled"].is_refused
    assert press("fix", "surface-doubled") == {"FINISHED"}
    assert len(doubled.data.vertices) == len(vertices)
    assert scene_check.is_current(scene, scene_check.result_of(scene))


def findings() -> dict[str, str]:
    """Returns what Blender's objects say by themselves."""
    bpy.context.view_layer.update()
    found = scene_check.object_findings(bpy.context)
    return {f"{obj.name}: {problem.kind}": problem.sentence for obj, problem in found}


def test_muscles_whose_ends_are_on_no_bone_or_on_one_are_found_and_held_anew() -> None:
    fresh()
    rig = elbow("", 1.0)
    far, one, still = muscle("Far"), muscle("One"), muscle("Still")
    assert findings() == {}
    for vertex in far.data.vertices:
        vertex.co.y += 1.0
    one.modifiers["Origin"].subtarget = "Fore"
    still.modifiers.remove(still.modifiers["Insertion"])
    said = findings()
    assert {"Far: muscle-end-far", "One: muscle-ends-on-one-bone", "Still: muscle-end-still"} <= said.keys(), said
    assert 'The Insertion of the muscle "Still"' in said["Still: muscle-end-still"]
    line = diagnostic_fixes.fix(bpy.context, "muscle-end-still", FixTarget(still))
    assert line == '"Still" begins on "Upper" and ends on "Fore"'
    assert still.modifiers["Insertion"].object == rig and "Still: muscle-end-still" not in findings()


def test_sizes_and_scales_that_are_unlike_are_told() -> None:
    fresh()
    elbow("", 1.0)
    large, small, bone = muscle("Large"), muscle("Small"), add_box("Bone", 2)
    roles.make_bone(bone)
    for obj, factor in ((large, 100.0), (small, 0.001)):
        obj.data.transform(Matrix.Scale(factor, 4))
    bone.scale = (0.1, 0.1, 0.2)
    said = findings()
    assert "Large: size-unlike-skeleton" in said and "Small: size-beyond-skeleton" in said
    assert "0.1, 0.1, 0.2" in said["Bone: scale-not-applied"]


def test_a_fix_that_cannot_be_made_changes_nothing_and_says_why() -> None:
    fresh()
    elbow("", 1.0)
    obj = muscle()
    other = bpy.data.objects.new("Other", obj.data)
    obj.scale = (2.0, 2.0, 2.0)
    with pytest.raises(BadInput, match="1 other object"):
        diagnostic_fixes.fix(bpy.context, "scale-not-applied", FixTarget(obj))
    assert tuple(obj.scale) == (2.0, 2.0, 2.0)
    bpy.data.objects.remove(other)
    with pytest.raises(BadInput, match="not all of its open edges"):
        diagnostic_fixes.fix(bpy.context, "surface-open", FixTarget(obj))


@pytest.mark.slow
def test_bodies_that_start_in_each_other_are_named_and_separated() -> None:
    scene = fresh()
    scene.sinew.contact = "EXACT"
    low = add_box(divisions=1)
    bpy.ops.sinew.make_body()
    bpy.ops.mesh.primitive_cube_add(location=low.location + Vector((0.1, 0.0, 1.9 * max(low.dimensions) / 2.0)))
    high = bpy.context.object
    high.dimensions = low.dimensions
    bpy.ops.sinew.make_body()
    before = {obj: obj.location.copy() for obj in (low, high)}
    (row,) = (row for row in checked().values() if row.kind == "exact-contact-intersects")
    assert row.is_refused and low.name in row.line and high.name in row.line and "Separate" in row.line
    assert {uid for uid, _ in row.moves} == {low.session_uid, high.session_uid}
    assert press("fix", "exact-contact-intersects") == {"FINISHED"}
    assert "exact-contact-intersects" not in {row.kind for row in checked().values()}
    assert high.location.z - low.location.z > max(low.dimensions) > (before[high] - before[low]).z
    high.keyframe_insert("location", frame=1)
    with pytest.raises(BadInput, match="animated"):
        diagnostic_fixes.fix(bpy.context, row.kind, FixTarget(high, moves=row.moves))
    with pytest.raises(BadInput, match="no way"):
        diagnostic_fixes.fix(bpy.context, row.kind, FixTarget(high))


def test_every_fix_is_of_a_kind_that_is_told() -> None:
    assert diagnostic_fixes.FIXES.keys() <= TEXTS.keys()


def test_the_panel_lists_what_was_found_with_its_buttons() -> None:
    scene = fresh()
    obj = add_box(divisions=8)
    bpy.ops.sinew.make_body()
    layout = FakeLayout()
    check_layout.draw_check(layout, context_of(obj))
    assert [name for _, name in layout.drawn] == ["sinew.check"]
    rows = (
        CheckRow("surface-open", "It is open", obj.session_uid, vertices=np.array([1, 2], np.int32)),
        CheckRow("gravity-scaled", "Gravity is weak", 0),
    )
    session.check_results[scene.session_uid] = CheckResult(settings_digest(scene), rows)
    layout = FakeLayout()
    check_layout.draw_check(layout, context_of(obj))
    assert [name for _, name in layout.drawn] == ["sinew.check", "sinew.check_select", "sinew.check_fix"]
    assert {"It is open", "Gravity is weak"} <= set(layout.lines)
    assert check_layout.OLD_NOTE not in " ".join(layout.lines)
    session.check_results[scene.session_uid] = CheckResult("other", ())
    layout = FakeLayout()
    check_layout.draw_check(layout, context_of(obj))
    assert check_layout.OLD_NOTE in " ".join(layout.lines)


def test_nothing_to_check_is_said() -> None:
    fresh()
    with pytest.raises(RuntimeError, match="Nothing in the scene"):
        bpy.ops.sinew.check()
