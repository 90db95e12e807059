# SPDX-License-Identifier: GPL-3.0-or-later
"""Where features of muscles meet: attachments, fibres and heads of muscles that are built, mirrored and renamed."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box
from fixtures.muscle_objects import pulled_muscle
from sinew.addon.baking import fibre_preview
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import roles
from sinew.addon.properties.table_rows import add_row
from test_make_muscle import select


def test_fibres_are_built_of_a_muscle_that_is_attached_to_a_bone() -> None:
    scene, obj = pulled_muscle()
    add_row(obj.sinew.attachments).target = scene.objects["Fixed"]
    assert fibre_preview._muscles_at_rest(scene, [obj]).bodies[0].muscle is not None


def test_a_range_is_fitted_only_where_length_is_the_source() -> None:
    scene, obj = pulled_muscle()
    via = bpy.data.objects.new("Via", None)
    scene.collection.objects.link(via)
    add_row(obj.sinew.via_points).object = via
    select(obj)
    with pytest.raises(RuntimeError, match="does not come from its length"):
        bpy.ops.sinew.fit_length_range()


def test_renaming_a_body_leaves_bakes_of_what_is_attached_to_it_up_to_date() -> None:
    scene, obj = pulled_muscle()
    other, bone = add_box("Other"), scene.objects["Fixed"]
    roles.make_body(other)
    other.sinew.key = "Other"  # as after a bake
    row = add_row(obj.sinew.attachments)
    row.target = other
    before = settings_digest(scene)
    other.name = "Renamed"
    assert settings_digest(scene) == before
    row.target = bone
    assert settings_digest(scene) != before
