# SPDX-License-Identifier: GPL-3.0-or-later
"""Brittle bodies as an artist meets them: a mesh, Make Body, the preset Glass, a ground, all else as it comes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import fresh
from fixtures.export_scenes import exported
from sinew.addon.baking import last_failure
from sinew.addon.export import input_digest
from sinew.addon.export.crack_guides import guide_objects
from sinew.addon.fracture_meshes import show_results
from sinew.addon.fracture_meshes.result_objects import results_of
from sinew.addon.objects import roles
from sinew.addon.panels.panels import _shown_panels


def glass_cube(size: float, height: float) -> bpy.types.Object:
    bpy.ops.mesh.primitive_cube_add(size=size, location=(0.0, 0.0, height), rotation=(0.5, 0.4, 0.0))
    cube = bpy.context.object
    assert bpy.ops.sinew.make_body() == {"FINISHED"}
    cube.sinew.preset = "GLASS"
    return cube


def test_presets_of_what_is_stiff_choose_brittle_and_others_do_not() -> None:
    fresh()
    cube = glass_cube(0.1, 0.5)
    own = cube.sinew
    assert own.motion == "BRITTLE" and own.use_fracture and own.preset == "GLASS"
    for preset, motion in (("JELLY", "ELASTIC"), ("STONE", "BRITTLE"), ("ICE", "ELASTIC"), ("PLASTER", "BRITTLE")):
        own.preset = preset
        assert own.motion == motion and own.use_fracture == (motion == "BRITTLE"), preset
    own.method = "SHEET"
    own.preset = "GLASS"
    assert own.motion == "ELASTIC" and not roles.is_brittle(cube)


def test_panels_of_a_brittle_body_are_those_that_it_has_a_use_for() -> None:
    fresh()
    cube = glass_cube(0.1, 0.5)
    shown = _shown_panels(bpy.context)
    assert {"fracture", "tets", "material"} <= shown
    assert not {"plasticity", "heat", "core", "pressure", "surface_detail", "stretch_limit", "goal"} & shown
    cube.sinew.use_goal = True
    assert "goal" in _shown_panels(bpy.context), "what is refused can be switched off"
    assert not roles.is_flesh(cube) and not roles.is_rigid(cube)


def test_paint_of_a_brittle_body_arrives(tmp_path: Path) -> None:
    scene = fresh()
    cube = glass_cube(0.1, 0.5)
    for name, setting, weight in (("Weak", "strength_group", 0.25), ("Tough", "unbreakable_group", 1.0)):
        cube.vertex_groups.new(name=name).add([0, 1], weight, "REPLACE")
        setattr(cube.sinew, setting, name)
    (body,) = exported(scene, tmp_path / "c.sinew")[0].bodies
    assert body.is_rigid and body.fracture is not None
    assert body.fracture.strength_paint.tolist() == [0.25] * 2 + [0.0] * 6
    assert body.fracture.unbreakable.tolist() == [1.0] * 2 + [0.0] * 6


def test_crack_guides_arrive_and_their_shapes_count(tmp_path: Path) -> None:
    """A plane, and in a collection a piece and a curve; what has no shape is left out."""
    scene = fresh()
    bpy.ops.mesh.primitive_plane_add(size=1.0, location=(0.0, 0.0, 2.0))
    plane = bpy.context.object
    bpy.ops.mesh.primitive_cube_add(size=0.1)
    piece = bpy.context.object
    bpy.ops.curve.primitive_bezier_curve_add()
    curve = bpy.context.object
    collection = bpy.data.collections.new("Guides")
    for each in (piece, curve, bpy.data.objects.new("Empty", None)):
        collection.objects.link(each)
    scene.collection.children.link(collection)
    cube = glass_cube(0.1, 0.5)
    own = cube.sinew
    before = input_digest.settings_digest(scene)
    own.crack_guide, own.crack_guides, own.guide_strength = plane, collection, 0.3
    (body,) = exported(scene, tmp_path / "c.sinew")[0].bodies
    assert body.fracture is not None and body.fracture.guide_strength == pytest.approx(0.3)
    by_name = {guide.name: guide for guide in body.fracture.guides}
    flat, box, line = (by_name.pop(each.name) for each in (plane, piece, curve))
    assert not by_name
    assert len(flat.triangles) == 2 and np.allclose(flat.vertices[:, 2], 2.0)
    assert len(box.triangles) == 12 and not len(box.edges)
    assert not len(line.triangles) and len(line.edges) == len(line.vertices) - 1 > 10
    digests = [before, input_digest.settings_digest(scene)]
    curve.data.splines[0].bezier_points[0].co.z += 0.1
    digests.append(input_digest.settings_digest(scene))
    plane.data.vertices[0].co.z += 0.1
    plane.data.update()
    digests.append(input_digest.settings_digest(scene))
    assert len(set(digests)) == 4
    own.use_fracture = False
    assert not guide_objects(cube)


@pytest.mark.slow
def test_a_glass_cube_that_falls_on_a_new_ground_comes_apart(tmp_path: Path) -> None:
    scene = fresh()
    scene.frame_end = 16
    cube = glass_cube(0.1, 1.2)
    cube.sinew.tet_count = 2500  # half of what it has, to be quicker; a force is spread over a tet and a half
    assert bpy.ops.sinew.add_ground() == {"FINISHED"}
    (ground,) = roles.colliders(scene)
    ground.location.z = 0.0
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}, last_failure.failure_text(scene)
    (broken,) = [obj for obj in scene.objects if obj.name == f"{cube.name} Broken"]
    assert len(broken.data.polygons) > len(cube.data.polygons)


@pytest.mark.slow
def test_dust_is_a_point_cloud_with_velocity_size_and_age(tmp_path: Path) -> None:
    scene = fresh()
    scene.frame_end = 3
    cube = glass_cube(0.1, 0.12)
    own = cube.sinew
    own.tet_count, own.makes_dust, own.initial_velocity = 700, True, (0.0, 0.0, -15.0)
    assert bpy.ops.sinew.add_ground() == {"FINISHED"}
    roles.colliders(scene)[0].location.z = 0.0
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert bpy.ops.sinew.simulate() == {"FINISHED"}, last_failure.failure_text(scene)
    (dust,) = [obj for obj in scene.objects if obj.name == f"{cube.name} Dust"]
    assert dust.type == "POINTCLOUD" and dust in results_of(cube)

    def cloud(frame: int) -> bpy.types.PointCloud:
        scene.frame_set(frame)
        return dust.evaluated_get(bpy.context.evaluated_depsgraph_get()).data

    assert len(cloud(1).points) == 0
    shown = cloud(3)
    values = {name: np.zeros(len(shown.points), kind) for name, kind in (("size", "f"), ("age", "f"), ("id", "i"))}
    for name, found in values.items():
        shown.attributes[name].data.foreach_get("value", found)
    radius, velocity = np.zeros(len(shown.points), "f"), np.zeros(3 * len(shown.points), "f")
    shown.attributes["radius"].data.foreach_get("value", radius)
    shown.attributes["velocity"].data.foreach_get("vector", velocity)
    assert len(radius) > 0 and radius == pytest.approx(0.5 * values["size"])
    assert ((values["age"] >= 0.0) & (values["age"] <= 2.0 / 24.0)).all() and len(set(values["id"])) == len(radius)
    assert 0.0 < values["size"].max() < 0.05 and 0.1 < np.abs(velocity).max() < 50.0
    own.separate_pieces = True
    kinds = {obj.type for obj in results_of(cube)}
    assert kinds == {"EMPTY", "MESH", "POINTCLOUD"}
    show_results.restore_body(cube)
    assert not results_of(cube) and not len(bpy.data.pointclouds)
