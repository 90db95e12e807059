# SPDX-License-Identifier: GPL-3.0-or-later
"""Muscles made wrongly in Blender: the bake, and Check, name the object and what it lacks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box
from fixtures.export_scenes import exported, refused
from fixtures.muscle_objects import select_only
from sinew.addon.export.input_warnings import input_warnings
from sinew.addon.objects import roles
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.run_bake import run_bake
from sinew.solver.runtime.errors import BadInput
from test_export_muscle import muscle_box

ON_NO_BONE = "muscle-on-no-bone"


def held_muscle() -> tuple[bpy.types.Scene, bpy.types.Object]:
    """Returns a muscle in coarse tets that is pinned at both ends."""
    scene, obj = muscle_box()
    obj.name = "Biceps"
    obj.sinew.sizing, obj.sinew.divisions = "DIVISIONS", 8
    obj.vertex_groups.clear()
    for name, side in (("Origin", -1.0), ("Insertion", 1.0), ("Ends", 0.0)):
        is_in = [v.index for v in obj.data.vertices if (side * v.co.x if side else abs(v.co.x)) > 0.49]
        obj.vertex_groups.new(name=name).add(is_in, 1.0, "REPLACE")
    obj.sinew.pin_group = "Ends"
    return scene, obj


def refusal_of_bake(scene: bpy.types.Scene, cache: Path) -> BadInput:
    with pytest.raises(BadInput) as caught:
        exported(scene, cache)
        run_bake(cache, lambda event: None)
    return caught.value


def on_no_bone(obj: bpy.types.Object) -> None:
    obj.sinew.pin_group = ""


def bones_hold_another(obj: bpy.types.Object) -> None:
    """A bone mesh holds flesh beside the muscle, and neither it nor anything else the muscle."""
    obj.sinew.pin_group = ""
    other, bone = add_box("Cheek"), add_box("Jaw")
    for each in (other, bone):
        each.location.y = 5.0
    bone.scale = (0.4, 0.4, 0.4)
    bpy.context.view_layer.update()
    roles.make_body(other)
    other.sinew.motion, other.sinew.sizing, other.sinew.divisions = "POSE", "DIVISIONS", 8
    roles.make_bone(bone)


def bone_out_of_reach(obj: bpy.types.Object) -> None:
    obj.sinew.pin_group = ""
    bone = add_box("Femur")
    bone.location.y = 5.0
    bpy.context.view_layer.update()
    roles.make_bone(bone)
    bone.sinew.bone_body = obj


def origin_is_insertion(obj: bpy.types.Object) -> None:
    obj.sinew.insertion_group = "Origin"


def origin_unpainted(obj: bpy.types.Object) -> None:
    obj.vertex_groups["Origin"].remove([v.index for v in obj.data.vertices])


def a_piece_has_no_origin(obj: bpy.types.Object) -> None:
    """Joins a second box, of which one end alone is painted."""
    other = add_box("Piece")
    other.location.y = 1.4
    for name in ("Insertion", "Ends"):
        group = other.vertex_groups.new(name=name)
        group.add([v.index for v in other.data.vertices if v.co.x > 0.49], 1.0, "REPLACE")
    bpy.context.view_layer.update()
    select_only(obj, other)
    bpy.ops.object.join()


def curves_cross(obj: bpy.types.Object) -> None:
    """Three short strands at right angles beside the muscle: none of them leads anywhere."""
    data = bpy.data.curves.new("Strands", "CURVE")
    data.dimensions = "3D"
    for axis in range(3):
        points = data.splines.new("POLY").points
        points.add(1)
        for point, side in zip(points, (-1.0, 1.0), strict=True):
            place = [0.0, 0.0, 0.9]
            place[axis] += 1e-4 * side
            point.co = (*place, 1.0)
    strands = bpy.data.objects.new("Strands", data)
    bpy.context.scene.collection.objects.link(strands)
    obj.sinew.fibre_source, obj.sinew.fibre_curves = "CURVES", strands


def lattice_too_small(obj: bpy.types.Object) -> None:
    cage = bpy.data.objects.new("Cage", bpy.data.lattices.new("Cage"))
    bpy.context.scene.collection.objects.link(cage)
    cage.scale = (0.5, 0.5, 0.5)
    obj.sinew.fibre_source, obj.sinew.fibre_lattice = "LATTICE", cage


@pytest.mark.parametrize(
    ("spoil", "kind", "words"),
    [
        (on_no_bone, ON_NO_BONE, ("touches no bone",)),
        (bones_hold_another, ON_NO_BONE, ("touches no bone",)),
        (bone_out_of_reach, "bone-outside", ('"Femur"', "holds no flesh")),
        (origin_is_insertion, "muscle-ends-overlap", ("Origin and insertion",)),
        (origin_unpainted, "group-empty", ("Origin",)),
        (a_piece_has_no_origin, "muscle-piece-unattached", ("piece", "origin")),
        (curves_cross, "fibres-undefined", ("no fibre direction",)),
        (lattice_too_small, "fibre-lattice-too-small", ('"Cage"',)),
    ],
)
def test_a_bake_names_the_muscle_and_what_it_lacks(
    tmp_path: Path, spoil: Callable[[bpy.types.Object], None], kind: str, words: tuple[str, ...]
) -> None:
    scene, obj = held_muscle()
    spoil(obj)
    problem = refusal_of_bake(scene, tmp_path / "c.sinew")
    assert problem.kind == kind
    assert all(word in problem.sentence for word in ('"Biceps"', *words)), problem.sentence
    assert problem.next_step


def test_the_button_names_a_muscle_on_no_bone_and_one_with_inertia_falls_with_a_warning() -> None:
    scene, obj = held_muscle()
    on_no_bone(obj)
    with pytest.raises(RuntimeError, match='"Biceps" touches no bone'):
        bpy.ops.sinew.simulate()
    obj.sinew.motion = "JIGGLE"
    assert '"Biceps" touches no bone' in {each.kind: each for each in input_warnings(scene)}[ON_NO_BONE].sentence
    obj.sinew.pin_group = "Ends"
    assert ON_NO_BONE not in {each.kind for each in input_warnings(scene)}


def test_a_muscle_without_faults_is_not_refused(tmp_path: Path) -> None:
    scene, _ = held_muscle()
    scene.frame_end = 2
    exported(scene, tmp_path / "c.sinew")
    run_bake(tmp_path / "c.sinew", lambda event: None)
    report = CacheReader(tmp_path / "c.sinew").report()
    assert len(report) == 2 and all(line["converged"] for line in report)


@pytest.mark.parametrize("way", ["attached", "shaped"])
def test_a_muscle_of_an_earlier_pass_that_follows_a_later_one_is_refused(tmp_path: Path, way: str) -> None:
    scene, obj = held_muscle()
    later = add_box("Fat")
    roles.make_body(later)
    later.sinew.bake_pass = 2
    if way == "attached":
        select_only(obj)
        bpy.ops.sinew.add_table_row(table="attachments")
        obj.sinew.attachments[-1].target = later
    else:
        obj.modifiers.new("Shrinkwrap", "SHRINKWRAP").target = later
    problem = refused(scene, tmp_path / "c.sinew")
    assert problem.kind == {"attached": "pass-follows-later", "shaped": "pass-shaped-by-later"}[way]
    assert '"Biceps" in pass 1' in problem.sentence and '"Fat" in pass 2, which comes later' in problem.sentence
