# SPDX-License-Identifier: GPL-3.0-or-later
"""Add Fascia: along which bones muscles slide then, where, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box, fresh
from fixtures.muscle_objects import select_only
from test_make_muscle import elbow, spindle


@pytest.fixture
def limb() -> tuple[bpy.types.Object, bpy.types.Object, bpy.types.Object]:
    """Returns a bone mesh, a collider below it, a joint between them, and a muscle beside both."""
    fresh()
    rig, bones = elbow(), []
    for name, z, make in (("Upper", 1.5, bpy.ops.sinew.make_bone), ("Fore", 0.5, bpy.ops.sinew.make_collider)):
        bone = add_box(name, height=0.9)
        bone.location, bone.scale = (1.0, 0.0, z), (0.1, 0.1, 0.5)
        select_only(bone)
        bpy.ops.object.transform_apply(location=True, scale=True)
        make()
        bone.parent, bone.parent_type, bone.parent_bone = rig, "BONE", f"{name}.L"
        bone.matrix_world.identity()
        bones.append(bone)
    muscle = spindle()
    select_only(muscle)
    bpy.ops.sinew.make_muscle()
    bpy.context.view_layer.update()
    return (*bones, muscle)


def rows_of_objects(muscle: bpy.types.Object) -> list[bpy.types.PropertyGroup]:
    """Returns the rows of a muscle that name an object, and not all bones as that of new flesh does."""
    return [row for row in muscle.sinew.attachments if row.target is not None]


def test_a_muscle_slides_along_the_shafts_of_bones_beside_it(limb) -> None:
    upper, fore, muscle = limb
    select_only(muscle, upper)
    assert bpy.ops.sinew.add_fascia() == {"FINISHED"}
    rows = {row.target: row for row in rows_of_objects(muscle)}
    assert set(rows) == {upper, fore}
    z = np.array([(muscle.matrix_world @ v.co).z for v in muscle.data.vertices])
    width = min(muscle.dimensions)
    for bone, row in rows.items():
        assert row.kind == "SLIDING" and 0.7 * width < row.reach < 1.1 * width
        index = muscle.vertex_groups[row.group].index
        places = z[[any(e.group == index for e in v.groups) for v in muscle.data.vertices]]
        ends = np.array([(bone.matrix_world @ v.co).z for v in bone.data.vertices])
        margin = 0.099 * np.ptp(ends)  # beside joints it is free
        assert len(places) and ends.min() + margin < places.min() and places.max() < ends.max() - margin
    # what there is stays
    rows[upper].reach = 0.5
    assert bpy.ops.sinew.add_fascia() == {"FINISHED"}
    rows = {row.target: row.reach for row in rows_of_objects(muscle)}
    assert len(rows_of_objects(muscle)) == 2 and rows[upper] == 0.5 and rows[fore] < 0.4


def test_what_cannot_slide_is_told(limb) -> None:
    upper, _, muscle = limb
    select_only(upper)
    with pytest.raises(RuntimeError, match='"Upper" is no muscle, and nothing else'):
        bpy.ops.sinew.add_fascia()
    for bone in limb[:2]:
        bone.parent, bone.location.x = None, 9.0
    select_only(muscle)
    with pytest.raises(RuntimeError, match="has no bone mesh or collider within"):
        bpy.ops.sinew.add_fascia()
    assert not rows_of_objects(muscle)
