# SPDX-License-Identifier: GPL-3.0-or-later
"""Make Wrap and Quick Fat and Skin: the surface, what it is attached to, and what an artist is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from mathutils import Vector

from fixtures.blender_scenes import add_box, add_rig, fresh
from fixtures.operator_scenes import status
from sinew.addon.objects import quick_fat, roles
from sinew.solver.bake.cache import CacheReader
from test_make_muscle import elbow, select, spindle


def limb(
    make: str = "make_bone",
) -> tuple[bpy.types.Object, bpy.types.Object, bpy.types.Object, bpy.types.Object]:
    """Returns two bone meshes on an armature, a muscle beside them, and a box around all.

    `make`: the operator that makes the bones, meshes that hold flesh or colliders.
    """
    fresh()
    rig = elbow()
    bones = [add_box(name, height=0.9) for name in ("Upper", "Fore")]
    for bone, z in zip(bones, (1.5, 0.5), strict=True):
        bone.location, bone.scale = (1.0, 0.0, z), (0.1, 0.1, 0.5)
        select(bone)
        bpy.ops.object.transform_apply(location=True, scale=True)
        getattr(bpy.ops.sinew, make)()
        bone.parent, bone.parent_type, bone.parent_bone = rig, "BONE", f"{bone.name}.L"
        bone.matrix_world.identity()
    muscle = spindle()
    select(muscle)
    bpy.ops.sinew.make_muscle()
    skin = add_box("Skin")
    skin.location, skin.scale = (1.0, 0.05, 1.0), (0.5, 0.6, 1.3)
    bpy.context.view_layer.update()
    return (*bones, muscle, skin)


def rows_of(wrap: bpy.types.Object) -> dict[bpy.types.Object, tuple[str, str]]:
    """Returns kind and group of each row, by its target."""
    return {row.target: (row.kind, row.group) for row in wrap.sinew.attachments}


def rows_by_default(
    muscle: bpy.types.Object, *bones: bpy.types.Object, of_bones: str = "FIXED"
) -> dict[bpy.types.Object, tuple[str, str]]:
    """Returns what `rows_of` should find where Make Wrap has made the rows."""
    return {obj: ("SLIDING" if obj == muscle else of_bones, f"On {obj.name}") for obj in (muscle, *bones)}


def painted(obj: bpy.types.Object, group: str) -> np.ndarray:
    """Returns which vertices are in a vertex group, (n,)."""
    index = obj.vertex_groups[group].index
    return np.array([any(e.group == index and e.weight == 1.0 for e in v.groups) for v in obj.data.vertices])


@pytest.mark.slow
def test_a_wrap_slides_on_muscles_and_is_tied_to_bone_below_it() -> None:
    upper, fore, muscle, _ = limb()
    select(muscle, upper, fore)
    assert bpy.ops.sinew.make_wrap(width=0.2) == {"FINISHED"}
    wrap = bpy.context.object
    assert roles.wraps(bpy.context.scene) == [wrap] and wrap.hide_render
    assert rows_of(wrap) == rows_by_default(muscle, upper, fore)
    assert all(row.surface_only == (row.kind == "FIXED") for row in wrap.sinew.attachments)
    points = np.array([v.co[:] for v in wrap.data.vertices])
    parts = [painted(wrap, f"On {obj.name}") for obj in (muscle, upper, fore)]
    assert (np.sum(parts, axis=0) == 1).all()  # each vertex is attached to one object
    on_bone = ~parts[0]
    # bones are around y = 0, the muscle is around y = 0.1; the upper one is above z = 1
    assert points[on_bone, 1].mean() < 0.05 < points[~on_bone, 1].mean() and 0.1 < on_bone.mean() < 0.6
    assert points[parts[1], 2].min() > 0.9 and points[parts[2], 2].max() < 1.1
    found = [(*muscle.closest_point_on_mesh(p)[1:3], Vector(p)) for p in points.tolist()]  # at the origin, not turned
    inside = np.array([(place - closest).dot(normal) < 0.0 for closest, normal, place in found])[~on_bone].mean()
    assert inside < 0.05, "smoothing sinks hardly anything into the muscle"
    nearest = [closest - place for closest, _, place in found]
    assert np.linalg.norm(nearest, axis=1)[~on_bone].max() < 0.2
    # another surface for the same Wrap: what the artist has set stays
    wrap.sinew.attachments[0].strength = 3.0
    count, uid = len(wrap.data.vertices), wrap.session_uid
    select(wrap, muscle, upper, fore)
    assert bpy.ops.sinew.make_wrap(width=0.2, voxel_size=0.1) == {"FINISHED"}
    assert bpy.context.object.session_uid == uid and len(wrap.data.vertices) < count
    assert [row.strength for row in wrap.sinew.attachments] == [3.0, 1.0, 1.0]
    groups = {row.target: painted(wrap, row.group) for row in wrap.sinew.attachments}
    assert (np.sum(list(groups.values()), axis=0) == 1).all() and all(part.any() for part in groups.values())
    # a Wrap from before there were groups per object keeps its group of all bones
    for row in wrap.sinew.attachments:
        row.group = "" if row.target == muscle else "Bone"
    select(wrap, muscle, upper, fore)
    assert bpy.ops.sinew.make_wrap(width=0.2, voxel_size=0.1) == {"FINISHED"}
    assert (painted(wrap, "Bone") == (groups[upper] | groups[fore])).all()
    assert {row.target: row.group for row in wrap.sinew.attachments} == {muscle: "", upper: "Bone", fore: "Bone"}
    select(wrap)
    with pytest.raises(RuntimeError, match="Nothing that can be wrapped"):
        bpy.ops.sinew.make_wrap()
    with pytest.raises(RuntimeError, match="more memory"):
        select(muscle)
        bpy.ops.sinew.make_wrap(width=0.2, voxel_size=0.0001)


@pytest.mark.slow
def test_a_wrap_is_tied_to_bones_that_are_colliders() -> None:
    """As bones are that muscles slide on."""
    upper, fore, muscle, skin = limb("make_collider")
    select(muscle, upper, fore)
    assert bpy.ops.sinew.make_wrap(width=0.2) == {"FINISHED"}
    assert rows_of(bpy.context.object) == rows_by_default(muscle, upper, fore, of_bones="SPRING")
    assert quick_fat.anatomy_inside(bpy.context.scene, skin) == [muscle, fore, upper]
    fore.scale *= 4.0  # a collider that is not all inside may be a floor
    bpy.context.view_layer.update()
    assert quick_fat.anatomy_inside(bpy.context.scene, skin) == [muscle, upper]


@pytest.mark.slow
def test_quick_fat_bakes_muscles_and_fat_in_one_click(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, _, muscle, skin = limb()
    bpy.context.scene.frame_end = 2
    muscle.sinew.tet_size = 0.1
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "limb.blend"))
    select(skin)
    assert bpy.ops.sinew.quick_fat() == {"FINISHED"}
    assert skin.sinew.wrap is not None and (muscle.sinew.bake_pass, skin.sinew.bake_pass) == (1, 2)
    assert status().phase == "baked" and not status().outdated
    assert CacheReader(tmp_path / "limb.sinew" / "pass-2").last_frame() == 2
    thickness = quick_fat.fat_thickness(skin, skin.sinew.wrap)
    assert skin.sinew.tet_size == pytest.approx(thickness / 2.0, rel=0.01) and 0.1 < thickness < 0.6
    assert not skin.sinew.self_contact
    assert "half of its thickness" in capsys.readouterr().out


def test_quick_fat_without_anatomy_holds_to_the_armature() -> None:
    fresh()
    box = add_box(divisions=4)
    select(box)
    with pytest.raises(RuntimeError, match="no armature poses it"):
        bpy.ops.sinew.quick_fat()
    assert not roles.roles_of(box)
    add_rig(box)
    quick_fat.make_fat_on_armature(box)
    assert roles.is_flesh(box) and box.sinew.use_armature_bones and quick_fat.has_support(box)


def shells(gap: float, unit: float = 1.0) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Returns a cube of 1 m and a Wrap inside, `gap` [m] below each face, in a scene with a unit of metres."""
    fresh()
    bpy.context.scene.unit_settings.scale_length = unit
    skin, wrap = (add_box(name, divisions=24, height=1.0) for name in ("Skin", "Wrap"))
    skin.scale, wrap.scale = (1.0 / unit,) * 3, ((1.0 - 2.0 * gap) / unit,) * 3
    bpy.context.view_layer.update()
    return skin, wrap


@pytest.mark.slow
@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_fat_gets_two_tets_across_while_these_are_not_too_many(unit: float) -> None:
    """A cube of 1 m: 6 m² of fat, of which tets of half its thickness make 25 per thickness² and more."""
    sizing = quick_fat.fat_sizing(*shells(0.1, unit), unit)
    assert sizing.thickness == pytest.approx(0.1, rel=0.01) and sizing.tet_size == pytest.approx(0.05, rel=0.01)
    assert not sizing.is_covered and 20_000 < sizing.count < 100_000 and sizing.text.endswith("half of its thickness")
    coarser = quick_fat.fat_sizing(*shells(0.04, unit), unit)
    assert not coarser.is_covered and coarser.thickness / 2.0 < coarser.tet_size <= coarser.thickness
    assert coarser.count == pytest.approx(100_000, rel=0.01) and "more than 100,000" in coarser.text
    thin = quick_fat.fat_sizing(*shells(0.005, unit), unit)
    assert thin.is_covered and thin.tet_size > thin.thickness == pytest.approx(0.005, rel=0.02)
    assert thin.count == pytest.approx(100_000, rel=0.01) and "Robust" in thin.text


def test_the_thickness_of_fat_is_that_of_its_thin_parts() -> None:
    """Half of the skin is drawn far away, and what is inside of the Wrap has no fat."""
    skin, wrap = shells(0.1)
    for vertex in skin.data.vertices:
        if vertex.co.z > 0.1:
            vertex.co.z *= 10.0
    assert quick_fat.fat_thickness(skin, wrap) == pytest.approx(0.1, rel=0.01)
    for vertex in skin.data.vertices:
        vertex.co *= 0.01
    assert quick_fat.fat_thickness(skin, wrap) == 0.0
    assert quick_fat.fat_sizing(skin, wrap, 1.0).is_covered
