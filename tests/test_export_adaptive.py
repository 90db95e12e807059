# SPDX-License-Identifier: GPL-3.0-or-later
"""Fill "Adaptive" of a body in Blender: what is exported, what a bake depends on, what the panel says, and a bake."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import evaluated, fresh
from fixtures.export_scenes import exported, refused
from sinew.addon.command_line import commands
from sinew.addon.export.input_digest import settings_digest
from sinew.addon.objects import roles, tet_estimate
from sinew.addon.panels import tets_layout
from sinew.solver.bake.cache import CacheReader
from sinew.solver.mechanics.state import State
from sinew.solver.mesh.mesh_npz import from_arrays
from sinew.solver.scene.meshing import Meshing


def monkey() -> bpy.types.Object:
    """Returns a head above a ground, made a body as an artist does, with adaptive tets and all else as it comes."""
    bpy.ops.mesh.primitive_plane_add(size=20.0, location=(0.0, 0.0, -1.2))
    roles.make_collider(bpy.context.object)
    bpy.ops.mesh.primitive_monkey_add()
    obj = bpy.context.object
    assert bpy.ops.sinew.make_body() == {"FINISHED"}
    obj.sinew.method = "ADAPTIVE"
    bpy.context.scene.frame_end = 8
    return obj


def near(*objects: bpy.types.Object) -> bpy.types.Collection:
    """Returns a collection of these objects."""
    found = bpy.data.collections.new("Near")
    for obj in objects:
        found.objects.link(obj)
    return found


def add_empty(location: tuple[float, float, float]) -> bpy.types.Object:
    obj = bpy.data.objects.new("Empty", None)
    obj.location = location
    bpy.context.scene.collection.objects.link(obj)
    return obj


def test_settings_arrive(tmp_path: Path) -> None:
    scene = fresh()
    obj = monkey()
    meshing = exported(scene, tmp_path / "plain.sinew")[0].bodies[0].meshing
    assert (meshing.method, meshing.coarsest_size, meshing.fine) == ("adaptive", 4, None)
    scene.unit_settings.scale_length = 0.5
    top = [vertex.index for vertex in obj.data.vertices if vertex.co.z > 0.5]
    obj.vertex_groups.new(name="Top").add(top, 1.0, "REPLACE")
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(2.0, 0.0, 0.0))
    cube = bpy.context.object
    bpy.ops.object.armature_add(location=(0.0, 4.0, 0.0))
    rig = bpy.context.object
    own = obj.sinew
    own.coarsest_size, own.fine_group, own.fine_distance = "8", "Top", 0.3
    own.fine_collection = near(cube, rig, add_empty((0.0, 0.0, 6.0)), obj)
    meshing = exported(scene, tmp_path / "c.sinew")[0].bodies[0].meshing
    assert meshing.coarsest_size == 8 and meshing.fine is not None
    assert np.flatnonzero(meshing.fine.paint > 0.5).tolist() == top
    assert meshing.fine.reach == pytest.approx(0.15)
    assert len(meshing.fine.places) == 8 + 33 + 1 and len(meshing.fine.triangles) == 12
    assert np.abs(meshing.fine.places[:8] - [1.0, 0.0, 0.0]).max() == pytest.approx(0.25)
    np.testing.assert_allclose(
        meshing.fine.places[[8, 40, 41]], [[0.0, 2.0, 0.0], [0.0, 2.0, 0.5], [0.0, 0.0, 3.0]], atol=1e-6
    )


def test_refine_while_simulating_arrives_where_it_is_on(tmp_path: Path) -> None:
    scene = fresh()
    obj = monkey()
    obj.sinew.max_strain_variation = 0.2
    meshing = exported(scene, tmp_path / "off.sinew")[0].bodies[0].meshing
    assert not meshing.refines_dynamically and meshing.max_strain_variation == Meshing().max_strain_variation
    obj.sinew.refines_dynamically = True
    meshing = exported(scene, tmp_path / "on.sinew")[0].bodies[0].meshing
    assert meshing.refines_dynamically and meshing.max_strain_variation == pytest.approx(0.2)
    obj.sinew.method = "ROBUST"
    assert not exported(scene, tmp_path / "robust.sinew")[0].bodies[0].meshing.refines_dynamically


def test_a_group_that_is_not_there_is_named(tmp_path: Path) -> None:
    scene = fresh()
    monkey().sinew.fine_group = "gone"
    assert "Fine Group" in str(refused(scene, tmp_path / "c.sinew"))


def test_the_bake_depends_on_what_tets_are_small_near() -> None:
    scene = fresh()
    obj, empty = monkey(), add_empty((0.0, 0.0, 0.0))
    digests = [settings_digest(scene)]

    def changes() -> bool:
        digests.append(settings_digest(scene))
        return digests[-1] != digests[-2]

    obj.sinew.fine_collection = near(empty)
    assert changes()
    empty.location.x = 0.5
    assert changes()
    obj.sinew.coarsest_size = "2"
    assert changes()
    obj.sinew.method = "ROBUST"
    assert changes()
    empty.location.x = 1.0
    obj.sinew.coarsest_size = "8"
    assert not changes()


@pytest.mark.slow
@pytest.mark.parametrize("divisions", [12, 24])
def test_the_panel_says_about_how_many_tets_come(tmp_path: Path, divisions: int) -> None:
    scene = fresh()
    obj = monkey()
    obj.sinew.sizing, obj.sinew.divisions = "DIVISIONS", divisions
    even, few = (f(obj, scene) for f in (_count_of_robust, lambda obj, _: tet_estimate.tet_count(obj, 1.0)))
    assert few < even
    assert tets_layout._tet_count_text(obj, scene).startswith("About ")
    assert _baked_tets(tmp_path) == pytest.approx(few, rel=0.25)


def _count_of_robust(obj: bpy.types.Object, _: bpy.types.Scene) -> int:
    obj.sinew.method = "ROBUST"
    found = tet_estimate.tet_count(obj, 1.0)
    obj.sinew.method = "ADAPTIVE"
    return found


def _baked_tets(folder: Path, end: int = 1) -> int:
    bpy.context.scene.frame_end = end
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shot.blend"))
    assert commands.run_in_blender(["bake"]) == 0
    mesh, _ = from_arrays(CacheReader(folder / "shot.sinew").read_model("Suzanne"))
    assert len(mesh.junctions)
    return len(mesh.tets)


@pytest.mark.slow
def test_a_baked_head_falls_lies_and_is_whole(tmp_path: Path) -> None:
    fresh()
    obj = monkey()
    _baked_tets(tmp_path, 20)
    start, end = evaluated(obj, 1)[0], evaluated(obj, 20)[0]
    edges = np.array([edge.vertices for edge in obj.data.edges])
    lengths = [np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1) for points in (start, end)]
    lowest = min(evaluated(obj, frame)[0][:, 2].min() for frame in range(1, 21))
    assert lowest == pytest.approx(-1.2, abs=0.03)
    assert 0.4 < (lengths[1] / lengths[0]).min() and (lengths[1] / lengths[0]).max() < 2.0


@pytest.mark.slow
def test_a_baked_head_whose_tets_change_their_sizes_plays_and_shows_the_smallest(tmp_path: Path) -> None:
    scene = fresh()
    obj = monkey()
    obj.sinew.refines_dynamically = True
    scene.frame_end = 16
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert commands.run_in_blender(["bake"]) == 0
    reader = CacheReader(tmp_path / "shot.sinew")
    mesh, _ = from_arrays(reader.read_model("Suzanne"))
    assert mesh.levels is not None and len(reader.read_frame(16).x) == len(mesh.nodes)
    counts = {len(State.from_arrays(reader.read_resume(frame)).x) for frame in reader.resume_frames()}
    assert len(counts) > 1 and max(counts) < len(mesh.nodes)
    drawn = reader.read_positions(16, "Suzanne")
    assert np.abs(evaluated(obj, 16)[0] - drawn).max() < 1e-5 and np.ptp(drawn[:, 2]) < np.ptp(mesh.nodes[:, 2])
