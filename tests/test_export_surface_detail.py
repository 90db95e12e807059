# SPDX-License-Identifier: GPL-3.0-or-later
"""Surface detail set in Blender: what the scene folder says of it, what its panel says, presets and digests."""

from __future__ import annotations

from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, fresh
from fixtures.export_scenes import exported
from fixtures.fake_layout import FakeLayout
from sinew.addon.blender_data import sinew_modifier
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import roles
from sinew.addon.panels import material_layout
from sinew.solver.scene.surface_detail import SurfaceDetail
from test_addon import context_of


def clay_box() -> tuple[bpy.types.Scene, bpy.types.Object]:
    scene = fresh()
    obj = add_box()
    roles.make_body(obj)
    obj.sinew.preset = "CLAY"
    return scene, obj


def test_the_settings_arrive_in_the_scene(tmp_path: Path) -> None:
    scene, obj = clay_box()
    assert exported(scene, tmp_path / "without")[0].bodies[0].surface_detail is None
    own = obj.sinew
    own.use_surface_detail, own.detail_particles, own.detail_depth = True, 6, 0.5
    assert exported(scene, tmp_path / "with")[0].bodies[0].surface_detail == SurfaceDetail(6, pytest.approx(0.03), 0.5)


def test_a_subdivision_is_part_of_the_mesh_that_is_dented(tmp_path: Path) -> None:
    scene, obj = clay_box()
    finer = obj.modifiers.new("Finer", "SUBSURF")
    finer.subdivision_type, finer.levels, finer.render_levels = "SIMPLE", 3, 3
    counts = []
    for number, is_on in enumerate((False, True)):
        obj.sinew.use_surface_detail = is_on
        sinew_modifier.move_below_subdivision(obj)
        counts.append(len(exported(scene, tmp_path / str(number))[0].bodies[0].vertices))
    assert counts[1] > 30 * counts[0]


def test_materials_that_flow_say_how_hard_their_surface_is() -> None:
    _, obj = clay_box()
    assert obj.sinew.detail_yield == pytest.approx(0.03)
    obj.sinew.preset = "WAX"
    assert obj.sinew.detail_yield == pytest.approx(0.06)
    obj.sinew.preset = "RUBBER"
    assert obj.sinew.detail_yield == pytest.approx(0.06)  # of a body that an artist makes flow
    obj.sinew.detail_yield = 0.5
    assert obj.sinew.preset == "RUBBER"


def test_the_digest_knows_the_layer_only_where_there_is_one() -> None:
    scene, obj = clay_box()
    before = settings_digest(scene)
    obj.sinew.detail_yield = 0.2
    assert settings_digest(scene) == before
    obj.sinew.use_surface_detail = True
    with_layer = settings_digest(scene)
    assert with_layer != before
    obj.sinew.detail_depth = 0.4
    assert settings_digest(scene) != with_layer


def test_the_panel_draws_every_setting_and_none_for_flesh() -> None:
    _, obj = clay_box()
    obj.sinew.use_surface_detail = True
    bpy.context.view_layer.objects.active = obj
    layout = FakeLayout()
    material_layout.draw_surface_detail(layout, context_of(obj))
    assert {name for _, name in layout.drawn} == {"detail_particles", "detail_yield", "detail_depth"}
    obj.sinew.motion = "POSE"
    material_layout.draw_surface_detail(layout, context_of(obj))
    assert "choose Soft Body" in " ".join(layout.lines)
