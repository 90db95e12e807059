# SPDX-License-Identifier: GPL-3.0-or-later
"""Fill "Sheet" in Blender: what a plane gets by one click, what is exported, and Copy from Cloth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import evaluated, fresh
from fixtures.export_scenes import exported
from sinew.addon.command_line import commands
from sinew.addon.objects import roles
from sinew.addon.panels import tets_layout
from sinew.solver.scene.sheet_presets import SHEET_PRESETS


def plane(cells: int = 10, height: float = 0.3) -> bpy.types.Object:
    """Returns a plane of 1 m that is the active object."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=cells, y_subdivisions=cells, size=1.0, location=(0.0, 0.0, height))
    obj = bpy.context.object
    obj.name = "Cloth"
    return obj


def test_make_body_makes_a_plane_cotton(tmp_path: Path) -> None:
    fresh()
    obj = plane()
    assert bpy.ops.sinew.make_body() == {"FINISHED"}
    assert (obj.sinew.method, obj.sinew.sheet_preset, obj.sinew.self_collision) == ("SHEET", "COTTON", True)
    body = exported(bpy.context.scene, tmp_path / "c.sinew")[0].bodies[0]
    wanted = SHEET_PRESETS["COTTON"]
    assert body.is_sheet and body.stretch_limit is None and body.collision.self_contact
    for name in ("thickness", "bending", "shear"):
        assert getattr(body.sheet, name) == pytest.approx(getattr(wanted.sheet, name))
    assert body.material.youngs_modulus == pytest.approx(wanted.material.youngs_modulus)
    assert tets_layout._tet_count_text(obj, bpy.context.scene) == "Its faces stretch and bend"


def test_the_menu_of_presets_follows_the_values() -> None:
    fresh()
    settings = plane().sinew
    settings.role, settings.method = "BODY", "SHEET"
    settings.sheet_preset = "FOIL"
    assert settings.youngs_modulus == pytest.approx(7.0e10) and settings.sheet_thickness == pytest.approx(1.6e-5)
    settings.sheet_thickness = 1.0e-4
    assert settings.sheet_preset == "CUSTOM"
    settings.method = "ROBUST"
    settings.method = "SHEET"  # what was chosen stays
    assert settings.sheet_thickness == pytest.approx(1.0e-4)


def test_points_that_carry_a_sheet_reach_the_scene_and_are_no_part_of_presets(tmp_path: Path) -> None:
    fresh()
    obj = plane()
    bpy.ops.sinew.make_body()
    settings = obj.sinew
    sheet = exported(bpy.context.scene, tmp_path / "off.sinew")[0].bodies[0].sheet
    assert not sheet.is_carried_by_points
    settings.sheet_points, settings.sheet_point_spacing = True, 2.5
    assert settings.sheet_preset == "COTTON"
    settings.sheet_preset = "SILK"
    sheet = exported(bpy.context.scene, tmp_path / "on.sinew")[0].bodies[0].sheet
    assert sheet.is_carried_by_points and sheet.point_spacing == 2.5


def test_copy_from_cloth_takes_what_a_cloth_modifier_says(tmp_path: Path) -> None:
    fresh()
    obj = plane(20)
    group = obj.vertex_groups.new(name="Rail")
    group.add([0, 20], 1.0, "REPLACE")
    modifier = obj.modifiers.new("Cloth", "CLOTH")
    cloth = modifier.settings
    cloth.tension_stiffness, cloth.shear_stiffness, cloth.bending_stiffness, cloth.mass = 20.0, 4.0, 0.5, 0.3
    cloth.vertex_group_mass, cloth.use_pressure, cloth.uniform_pressure_force = "Rail", False, 0.0
    modifier.collision_settings.use_self_collision = True
    assert bpy.ops.sinew.make_body() == {"FINISHED"}
    assert bpy.ops.sinew.copy_from_cloth() == {"FINISHED"}
    body = exported(bpy.context.scene, tmp_path / "c.sinew")[0].bodies[0]
    count, edge, h = len(obj.data.vertices), 0.05, body.sheet.thickness
    assert body.is_sheet and sorted(body.pinned.tolist()) == [0, 20] and body.collision.self_contact
    E, nu = body.material.youngs_modulus, body.material.poisson_ratio
    assert E * h == pytest.approx(1000.0 * 20.0 / edge, rel=1e-5)
    assert body.sheet.shear * E * h / (2.0 * (1.0 + nu)) == pytest.approx(1000.0 * 4.0 / edge, rel=1e-4)
    assert body.sheet.bending * E * h**3 / (12.0 * (1.0 - nu**2)) == pytest.approx(100.0 * 0.5 * edge**2, rel=1e-4)
    assert body.material.density * h == pytest.approx(0.3 * count, rel=1e-5)
    assert not modifier.show_viewport and not modifier.show_render


@pytest.mark.slow
def test_a_baked_sheet_falls_on_a_ball(tmp_path: Path) -> None:
    fresh()
    obj = plane(12, 0.45)
    assert bpy.ops.sinew.make_body() == {"FINISHED"}
    obj.sinew.method = "SHEET"
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.3, location=(0.0, 0.0, 0.1))
    roles.make_collider(bpy.context.object)
    bpy.context.scene.frame_end = 12
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert commands.run_in_blender(["bake"]) == 0
    x = evaluated(obj, 12)[0] + [0.0, 0.0, 0.45]
    distance = np.linalg.norm(x - [0.0, 0.0, 0.1], axis=1)
    assert distance.min() > 0.29 and x[:, 2].min() < 0.3
