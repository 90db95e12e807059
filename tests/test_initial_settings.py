# SPDX-License-Identifier: GPL-3.0-or-later
"""What a new body begins with: a material and tets that suit its size; and what nobody asked for stays."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box, fresh
from fixtures.closed_surfaces import cube, sphere, torus
from fixtures.export_scenes import exported
from sinew.addon.baking import playhead
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import roles, self_weight_collapse, tet_estimate, thickness
from sinew.solver.mesh.geometry.triangle_surface import make_surface
from sinew.solver.mesh.tetrahedralize import tetrahedralize
from sinew.solver.mesh.tetrahedralize.estimate import MAX_COUNT_RATIO, TETS_ACROSS
from sinew.solver.scene.material_presets import SIZED_PRESETS


def new_body(size: float = 1.0, add: str = "cube") -> bpy.types.Object:
    """Returns a new body of Blender's, whose height is `size` for a cube, a cone and a sphere."""
    getattr(bpy.ops.mesh, f"primitive_{add}_add")()
    obj = bpy.context.object
    obj.scale = (size / 2.0,) * 3
    bpy.context.view_layer.update()
    bpy.ops.sinew.make_body()
    return obj


@pytest.mark.parametrize("size", [0.02, 1.0, 20.0])
def test_a_new_body_stands_at_its_size(size: float) -> None:
    scene = fresh()
    obj = new_body(size)
    assert obj.sinew.preset == "JELLY_BY_SIZE" and not obj.sinew.use_simulated_size
    # the stiffness is rounded to two digits
    assert self_weight_collapse.self_weight_strain(obj, scene) == pytest.approx(0.05, rel=0.06)
    assert obj.sinew.youngs_modulus == pytest.approx(1020.0 * 9.81 * size / 0.05, rel=0.06)
    assert not self_weight_collapse.collapses(obj, scene)


@pytest.mark.parametrize("key", SIZED_PRESETS)
def test_presets_by_size_choose_the_stiffness_and_become_custom_when_it_is_edited(key: str) -> None:
    scene = fresh()
    obj = new_body(0.5)
    obj.sinew.motion = "POSE" if key == "FLESH_BY_SIZE" else "ELASTIC"
    obj.sinew.preset = key
    sized = SIZED_PRESETS[key]
    # a cube of side a that hangs has 6 V / A = a
    wanted = sized.preset.material.density * 9.81 * 0.5 / sized.self_weight_strain
    assert obj.sinew.preset == key and obj.sinew.youngs_modulus == pytest.approx(wanted, rel=0.06)
    obj.sinew.density = 500.0
    assert obj.sinew.preset == "CUSTOM"
    obj.sinew.preset = key
    scene.use_gravity = False
    obj.sinew.preset = key
    assert obj.sinew.youngs_modulus == pytest.approx(sized.preset.material.youngs_modulus)


def test_settings_that_were_chosen_before_stay() -> None:
    fresh()
    obj = add_box()
    obj.sinew.preset, obj.sinew.divisions = "CLAY", 9
    bpy.ops.sinew.make_body()
    assert (obj.sinew.preset, obj.sinew.sizing, obj.sinew.divisions) == ("CLAY", "DIVISIONS", 9)
    bpy.ops.sinew.make_body()
    assert obj.sinew.preset == "CLAY", "a body stays what it is"


def test_a_body_of_an_earlier_file_keeps_its_divisions_and_its_digest() -> None:
    scene = fresh()
    obj = add_box()
    roles.make_body(obj)
    assert (obj.sinew.preset, obj.sinew.sizing, obj.sinew.divisions) == ("RUBBER", "DIVISIONS", 12)
    assert not obj.sinew.use_stretch_limit
    before = settings_digest(scene)
    bpy.ops.sinew.make_body()
    assert settings_digest(scene) == before
    scene.sinew.follow_bake = False
    assert settings_digest(scene) == before, "the playhead is none of the bake's business"
    obj.sinew.tet_count = 700
    assert settings_digest(scene) == before, "which does not count with divisions"
    obj.sinew.sizing = "COUNT"
    assert settings_digest(scene) != before
    obj.sinew.divisions = 8
    assert obj.sinew.sizing == "DIVISIONS", "a script that sets divisions means them"


def test_new_bodies_have_a_stretch_limit_that_reaches_the_scene(tmp_path: Path) -> None:
    scene = fresh()
    obj = new_body()
    assert obj.sinew.use_stretch_limit and obj.sinew.stretch_limit == 1.5
    obj.vertex_groups.new(name="Arms").add([0, 1], 0.5, "REPLACE")
    obj.sinew.stretch_limit_percent, obj.sinew.stretch_limit_group = 200.0, "Arms"
    obj.keyframe_insert("sinew.stretch_limit", frame=1)
    written, tracks = exported(scene, tmp_path / "c.sinew")
    (body,) = written.bodies
    assert body.stretch_limit.stretch == 2.0 and np.count_nonzero(body.stretch_limit.paint) == 2
    assert tracks.sample(f"body.{body.key}.stretch_limit", 0.0) == 2.0
    limited = settings_digest(scene)
    obj.sinew.use_stretch_limit = False
    assert settings_digest(scene) != limited
    bpy.ops.sinew.make_body()
    assert not obj.sinew.use_stretch_limit, "a body stays what it is"
    flesh = add_box()
    bpy.ops.sinew.make_flesh()
    assert flesh.sinew.use_stretch_limit


def test_new_flesh_is_at_the_first_frame_as_it_was_modeled() -> None:
    fresh()
    obj = add_box()
    bpy.ops.sinew.make_flesh()
    assert obj.sinew.gravity_in_shape and (obj.sinew.preset, obj.sinew.sizing) == ("FLESH_BY_SIZE", "COUNT")
    obj.sinew.gravity_in_shape = False
    bpy.ops.sinew.make_flesh()
    assert not obj.sinew.gravity_in_shape, "flesh stays what it is"


@pytest.mark.parametrize("size", [0.02, 1.0, 20.0])
@pytest.mark.parametrize("add", ["cube", "uv_sphere", "torus", "cone", "monkey"])
def test_a_body_has_about_as_many_tets_as_it_was_asked_for(tmp_path: Path, size: float, add: str) -> None:
    fresh()
    obj = new_body(size, add)
    scene, _ = exported(bpy.context.scene, tmp_path / "c.sinew")
    (body,) = scene.bodies
    wanted = tet_estimate.tet_count(obj, 1.0)
    assert 5000 <= wanted <= MAX_COUNT_RATIO * 5000
    mesh = tetrahedralize(make_surface(body.vertices, body.triangles, "body"), body.meshing, "body")
    # an open surface such as Suzanne's encloses less than its triangles tell
    assert len(mesh.tets) == pytest.approx(wanted, rel=0.3)


def test_thickness_is_that_of_the_thin_parts() -> None:
    points, faces = sphere(24)
    radius = np.linalg.norm(points, axis=1).max()
    assert thickness.thin_thickness(points, faces) == pytest.approx(2.0 * radius, rel=0.03)
    points, faces = cube(4)
    side = np.ptp(points[:, 0])
    assert thickness.thin_thickness(points * [1.0, 1.0, 0.1], faces) == pytest.approx(0.1 * side, rel=1e-3)
    assert thickness.thin_thickness(points, faces[:, ::-1]) == pytest.approx(side, rel=1e-3), "inside out"
    points, faces = torus()
    height = np.ptp(points[:, 2])
    assert thickness.thin_thickness(points, faces) == pytest.approx(height, rel=0.1)
    sheet = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]), np.array([[0, 1, 2], [0, 2, 3]])
    assert thickness.thin_thickness(*sheet) is None


def test_what_is_thin_gets_three_tets_across_where_that_fits() -> None:
    fresh()
    bpy.ops.mesh.primitive_cube_add()
    obj = bpy.context.object
    found = {}
    for thin in (0.2, 0.05):
        obj.scale = (1.0, 1.0, thin)
        bpy.context.view_layer.update()
        found[thin] = 2.0 * thin / (tet_estimate.meshing(_counted(obj), 1.0).tet_size or 1.0)
    assert found[0.2] == pytest.approx(TETS_ACROSS, rel=0.01)
    assert found[0.05] < TETS_ACROSS and tet_estimate.tet_count(obj, 1.0) <= MAX_COUNT_RATIO * 5000


def _counted(obj: bpy.types.Object) -> bpy.types.Object:
    obj.sinew.sizing = "COUNT"
    return obj


def test_an_open_mesh_without_volume_is_a_sheet() -> None:
    fresh()
    grid = new_body(1.0, "grid")
    assert grid.sinew.method == "SHEET" and grid.sinew.sheet_preset == "COTTON"
    assert new_body(1.0, "cube").sinew.method == "SMOOTH"


def test_flesh_and_closed_meshes_without_volume_are_covered_by_tets() -> None:
    fresh()
    bpy.ops.mesh.primitive_grid_add()
    bpy.ops.sinew.make_flesh()
    assert bpy.context.object.sinew.method == "ROBUST"
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.object.scale.z = 1.0e-5
    bpy.context.view_layer.update()
    bpy.ops.sinew.make_body()
    assert bpy.context.object.sinew.method == "ROBUST"


def test_how_a_grid_is_filled_stays_where_somebody_has_chosen_it() -> None:
    fresh()
    bpy.ops.mesh.primitive_grid_add()
    bpy.context.object.sinew.method = "ROBUST"
    bpy.ops.sinew.make_body()
    assert bpy.context.object.sinew.method == "ROBUST"


def test_simulate_makes_a_body_that_bends_and_a_ground_and_bakes(tmp_path: Path) -> None:
    scene = fresh()
    scene.frame_end = 3
    scene.sinew.cache_path = str(tmp_path / "c.sinew")
    bpy.ops.mesh.primitive_cube_add()
    cube_object = bpy.context.object
    cube_object.sinew.tet_count = 200
    cube_object.sinew.sizing = "COUNT"
    assert bpy.ops.sinew.simulate_selected() == {"FINISHED"}
    assert roles.bodies(scene) == [cube_object] and cube_object.sinew.preset == "JELLY_BY_SIZE"
    assert len(cube_object.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices) > 64
    (ground,) = roles.colliders(scene)
    assert ground.location.z == pytest.approx(-2.0)
    assert (tmp_path / "c.sinew" / "frames" / "000003.npz").exists()


def _bake(frame: int | None) -> Any:
    job = SimpleNamespace(frame=frame)
    return SimpleNamespace(driver=SimpleNamespace(job=job), playhead=None, is_playhead_taken=False)


def test_the_playhead_follows_until_it_is_moved() -> None:
    scene = fresh()
    scene.frame_set(7)
    bake = _bake(None)
    playhead.follow(scene, bake, [])
    assert scene.frame_current == 7, "nothing is baked yet"
    for frame in (1, 2, 5):
        bake.driver.job.frame = frame
        playhead.follow(scene, bake, [])
        assert scene.frame_current == frame
    scene.frame_set(3)
    bake.driver.job.frame = 6
    playhead.follow(scene, bake, [])
    bake.driver.job.frame = 7
    playhead.follow(scene, bake, [])
    assert scene.frame_current == 3, "the artist has taken it"


@pytest.mark.parametrize("why", ["switch", "playing"])
def test_the_playhead_stays_where_the_artist_wants_it(why: str) -> None:
    scene = fresh()
    scene.sinew.follow_bake = why != "switch"
    windows = [SimpleNamespace(screen=SimpleNamespace(is_animation_playing=why == "playing"))]
    scene.frame_set(4)
    playhead.follow(scene, _bake(9), windows)  # type: ignore[arg-type]
    assert scene.frame_current == 4
