# SPDX-License-Identifier: GPL-3.0-or-later
"""What plays is what was baked: by the modifier, as shape keys, in Alembic and USD, with and without the add-on."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from mathutils import Matrix

from fixtures.blender_scenes import add_box, add_rig, evaluated, fresh, world, write_cache
from sinew.addon.baking import attach_bake
from sinew.addon.blender_data import object_keys, sinew_modifier
from sinew.addon.cache import cache_folder_status
from sinew.addon.objects import roles
from sinew.addon.playback import mesh_cache, shape_keys
from sinew.solver.bake.cache import layout
from sinew.solver.runtime.errors import BadInput, StorageFailed

FRAMES = 11


def wobble(obj: bpy.types.Object, samples: int) -> np.ndarray:
    """Returns made-up motion of the vertices of `obj`, (samples, n, 3) float32."""
    points = np.array([v.co for v in obj.data.vertices])
    random = np.random.default_rng(1).normal(size=(samples, *points.shape))
    return (points + 0.02 * np.cumsum(random, axis=0)).astype(np.float32)


def playing(folder: Path, samples_per_frame: int = 1, frame_start: int = 1) -> tuple[bpy.types.Object, np.ndarray]:
    """Returns a body that plays made-up motion, moved, turned and scaled by animation of its own."""
    fresh()
    obj = add_box()
    roles.make_body(obj)
    obj.scale = (1.0, 2.0, 0.5)
    for frame, angle in ((frame_start, 0.0), (frame_start + FRAMES - 1, 2.0)):
        obj.rotation_euler.z = angle
        obj.location.x = angle
        obj.keyframe_insert("rotation_euler", frame=frame)
        obj.keyframe_insert("location", frame=frame)
    shapes = wobble(obj, (FRAMES - 1) * samples_per_frame + 1)
    write_cache(folder, {"Box": shapes}, frame_start, samples_per_frame)
    mesh_cache.attach(obj, folder, "Box")
    return obj, shapes


def between(shapes: np.ndarray, place: float) -> np.ndarray:
    """Returns the shape at a place between samples."""
    i = min(int(place), len(shapes) - 2)
    return shapes[i] + (place - i) * (shapes[i + 1].astype(float) - shapes[i])


@pytest.mark.parametrize(("samples_per_frame", "frame_start"), [(1, 1), (1, -7), (4, 1), (3, 1001)])
def test_positions_at_frames_and_between(tmp_path: Path, samples_per_frame: int, frame_start: int) -> None:
    obj, shapes = playing(tmp_path / "c.sinew", samples_per_frame, frame_start)
    for frame, part in ((0, 0.0), (3, 0.0), (3, 0.25), (6, 0.1), (9, 0.9), (10, 0.0)):
        points, _ = evaluated(obj, frame_start + frame, part)
        wanted = between(shapes, (frame + part) * samples_per_frame)
        size = np.ptp(wanted, axis=0).max()
        assert np.abs(points - wanted).max() < 1e-5 * size
    for frame, wanted in ((-3, shapes[0]), (FRAMES + 5, shapes[-1])):
        assert np.allclose(evaluated(obj, frame_start + frame)[0], wanted, atol=1e-6)


def test_remapped_time(tmp_path: Path) -> None:
    obj, shapes = playing(tmp_path / "c.sinew")
    bpy.context.scene.render.frame_map_new = 200
    mesh_cache.attach(obj, tmp_path / "c.sinew", "Box")
    for frame in (1, 4, 11):
        assert np.allclose(evaluated(obj, frame)[0], shapes[frame - 1], atol=1e-5)


def test_attaching_again_changes_nothing_and_detaching_shows_the_mesh(tmp_path: Path) -> None:
    obj, shapes = playing(tmp_path / "c.sinew")
    own = np.array([v.co for v in obj.data.vertices])
    modifier = sinew_modifier.find_modifier(obj)
    seen = [getattr(modifier, name) for name in ("filepath", "frame_start", "frame_scale")]
    mesh_cache.attach(obj, tmp_path / "c.sinew", "Box")
    assert [getattr(modifier, name) for name in ("filepath", "frame_start", "frame_scale")] == seen
    assert len(obj.modifiers) == 1
    mesh_cache.detach(obj)
    assert np.allclose(evaluated(obj, 5)[0], own)
    assert sinew_modifier.find_modifier(obj) == modifier
    mesh_cache.attach(obj, tmp_path / "c.sinew", "Box")
    assert np.allclose(evaluated(obj, 5)[0], shapes[4], atol=1e-6)
    with pytest.raises(StorageFailed):
        mesh_cache.attach(obj, tmp_path / "nothing.sinew", "Box")


def test_a_bake_that_a_process_deletes_after_its_status_was_read_stops_playing(tmp_path: Path) -> None:
    obj, shapes = playing(tmp_path / "c.sinew")
    scene = bpy.context.scene
    scene.sinew.cache_path = str(tmp_path / "c.sinew")
    key = object_keys.body_key(obj)
    write_cache(tmp_path / "c.sinew", {key: shapes}, frame_start=1)
    cache_folder_status.invalidate()
    attach_bake.attach(scene)
    assert mesh_cache.attached_file(obj) is not None
    for name in (layout.METADATA_FILE, layout.METADATA_COPY):
        (tmp_path / "c.sinew" / name).unlink()
    assert cache_folder_status.read_status(tmp_path / "c.sinew").metadata is not None, "as it was read before"
    attach_bake.attach(scene, is_undoable=False)
    assert mesh_cache.attached_file(obj) is None


def test_affect_fades_into_the_animated_mesh(tmp_path: Path) -> None:
    fresh()
    obj = add_box()
    add_rig(obj)
    group = obj.vertex_groups.new(name="Belly")
    weights = np.linspace(0.0, 1.0, len(obj.data.vertices))
    for i, weight in enumerate(weights):
        group.add([i], weight, "REPLACE")
    animated = {frame: evaluated(obj, frame)[0] for frame in (1, 6, 11)}
    roles.make_body(obj)
    obj.sinew.affect_group = "Belly"
    shapes = wobble(obj, FRAMES)
    write_cache(tmp_path / "c.sinew", {"Box": shapes})
    mesh_cache.attach(obj, tmp_path / "c.sinew", "Box")
    for frame, mesh in animated.items():
        wanted = mesh + weights[:, None] * (shapes[frame - 1] - mesh)
        assert np.allclose(evaluated(obj, frame)[0], wanted, atol=1e-5)


def test_added_frames_play_after_a_refresh(tmp_path: Path) -> None:
    obj, shapes = playing(tmp_path / "c.sinew")
    longer = wobble(obj, 2 * FRAMES)
    assert np.allclose(evaluated(obj, 15)[0], shapes[-1], atol=1e-6)
    write_cache(tmp_path / "c.sinew", {"Box": longer})
    mesh_cache.refresh([obj])
    final = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    assert np.allclose([v.co for v in final.data.vertices], longer[14], atol=1e-6)


def test_custom_normals_turn_with_the_mesh(tmp_path: Path) -> None:
    fresh()
    obj = add_box()
    mesh = obj.data
    random = np.random.default_rng(2)
    for polygon in mesh.polygons:
        polygon.use_smooth = bool(polygon.index % 2)
    normals = np.array([n.vector for n in mesh.corner_normals]) + 0.3 * random.normal(size=(len(mesh.loops), 3))
    mesh.normals_split_custom_set(normals / np.linalg.norm(normals, axis=1)[:, None])
    before = np.array([n.vector for n in mesh.corner_normals])
    assert mesh.has_custom_normals
    roles.make_body(obj)
    turn = np.array(Matrix.Rotation(1.1, 3, (1.0, 2.0, 3.0)))
    points = np.array([v.co for v in mesh.vertices])
    write_cache(tmp_path / "c.sinew", {"Box": np.stack([points, points @ turn.T + [1.0, 2.0, 3.0]])})
    mesh_cache.attach(obj, tmp_path / "c.sinew", "Box")
    for frame, wanted in ((1, before), (2, before @ turn.T)):
        bpy.context.scene.frame_set(frame)
        final = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
        found = np.array([n.vector for n in final.corner_normals])
        assert np.abs(found - wanted).max() < 1e-3  # Blender keeps custom normals in 16 bits


def test_normals_are_those_of_the_deformed_mesh(tmp_path: Path) -> None:
    obj, shapes = playing(tmp_path / "c.sinew")
    obj.data.shade_smooth()
    evaluated(obj, 6)
    final = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    found = np.array([n.vector for n in final.vertex_normals])
    plain = obj.data.copy()
    plain.vertices.foreach_set("co", shapes[5].ravel())
    plain.update()
    assert np.abs(found - [n.vector for n in plain.vertex_normals]).max() < 1e-5


PLAY_WITHOUT_ADD_ON = """
import sys, bpy, numpy as np
blend, seen, *names = sys.argv[sys.argv.index("--") + 1 :]
bpy.ops.wm.open_mainfile(filepath=blend)
assert not hasattr(bpy.types.Object, "sinew")
shapes = {}
for name in names:
    for frame, part in ((4, 0.0), (7, 0.5)):
        bpy.context.scene.frame_set(frame, subframe=part)
        final = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())
        local = np.array([v.co for v in final.data.vertices])
        matrix = np.array(final.matrix_world)
        shapes[f"{name} {frame + part}"] = local @ matrix[:3, :3].T + matrix[:3, 3]
np.savez(seen, **shapes)
import os; os._exit(0)
"""


def test_plays_without_the_add_on_and_after_the_folder_moved(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    obj, shapes = playing(here / "shot.sinew")
    bpy.ops.wm.save_as_mainfile(filepath=str(here / "shot.blend"))
    mesh_cache.attach(obj, here / "shot.sinew", "Box")
    assert sinew_modifier.find_modifier(obj).filepath == "//shot.sinew/play/Box.pc2"
    copy = shape_keys.convert_to_shape_keys(bpy.context, bpy.context.scene, obj, here / "shot.sinew")
    name = copy.name
    matrices = {place: evaluated(obj, int(place), place % 1)[1] for place in (4.0, 7.5)}
    bpy.ops.wm.save_as_mainfile(filepath=str(here / "shot.blend"))
    there = tmp_path / "there"
    shutil.move(here, there)
    blender = bpy.app.binary_path
    start = [blender, "-b", "--factory-startup", "--python-expr"] if blender else [sys.executable, "-c"]
    command = [*start, PLAY_WITHOUT_ADD_ON, "--", str(there / "shot.blend"), str(tmp_path / "seen"), "Box", name]
    subprocess.run(command, check=True, timeout=120)
    with np.load(tmp_path / "seen.npz") as seen:
        for place, matrix in matrices.items():
            wanted = world(between(shapes, place - 1), matrix)
            assert np.allclose(seen[f"Box {place}"], wanted, atol=2e-5)
            if place == 4.0:
                assert np.allclose(seen[f"{name} {place}"], wanted, atol=2e-5)


def test_shape_keys_hold_every_sample_and_need_nothing(tmp_path: Path) -> None:
    fresh()
    obj = add_box()
    rig = add_rig(obj, frames=(1, FRAMES))
    obj.modifiers.new("Subdivision", "SUBSURF")
    roles.make_body(obj)
    shapes = wobble(obj, (FRAMES - 1) * 2 + 1)
    write_cache(tmp_path / "c.sinew", {"Box": shapes}, samples_per_frame=2)
    mesh_cache.attach(obj, tmp_path / "c.sinew", "Box")
    bpy.context.scene.frame_set(4)
    copy = shape_keys.convert_to_shape_keys(bpy.context, bpy.context.scene, obj, tmp_path / "c.sinew")
    assert bpy.context.scene.frame_current == 4
    assert [m.type for m in copy.modifiers] == ["SUBSURF"]
    assert copy.parent is None and copy.animation_data is None and copy.sinew.role == "NONE"
    assert len(copy.data.shape_keys.key_blocks) == len(shapes)
    bpy.data.objects.remove(rig)
    shutil.rmtree(tmp_path / "c.sinew")
    copy.modifiers.clear()
    for place in (0.0, 0.25, 3.0, 3.3, 9.5, 10.0, 30.0):
        points, _ = evaluated(copy, 1 + int(place), place % 1)
        assert np.allclose(points, between(shapes, min(place * 2, 20.0)), atol=1e-5)


def test_the_memory_of_shape_keys_is_foretold(tmp_path: Path) -> None:
    """A file with the keys grows by what was said, within a tenth."""
    fresh()
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=99, y_subdivisions=99)
    obj = bpy.context.object
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"), compress=False)
    mesh = obj.data.copy()
    copy = bpy.data.objects.new("Copy", mesh)
    bpy.context.scene.collection.objects.link(copy)
    for i in range(21):
        copy.shape_key_add(name=str(i), from_mix=False)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "b.blend"), compress=False)
    grown = (tmp_path / "b.blend").stat().st_size - (tmp_path / "a.blend").stat().st_size
    assert shape_keys.shape_key_bytes(len(mesh.vertices), 21) == pytest.approx(grown, rel=0.1)
    assert round(shape_keys.shape_key_bytes(90_000, 101) / 1e6) == 119


def test_shape_keys_of_what_is_not_baked_are_refused(tmp_path: Path) -> None:
    obj, _ = playing(tmp_path / "c.sinew")
    other = add_box("Other")
    roles.make_body(other)
    objects = len(bpy.data.objects)
    with pytest.raises(BadInput) as caught:
        shape_keys.convert_to_shape_keys(bpy.context, bpy.context.scene, other, tmp_path / "c.sinew")
    assert caught.value.kind == "not-baked"
    assert len(bpy.data.objects) == objects


@pytest.mark.parametrize("suffix", ["abc", "usdc"])
def test_alembic_and_usd_hold_the_baked_shape(tmp_path: Path, suffix: str) -> None:
    needed = {"abc": "alembic", "usdc": "usd"}[suffix]
    if not getattr(bpy.app.build_options, needed):
        pytest.skip(f"this Blender is built without {needed}")
    obj, shapes = playing(tmp_path / "c.sinew")
    path = str(tmp_path / f"out.{suffix}")
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    _, matrix = evaluated(obj, 6)
    if suffix == "abc":
        bpy.ops.wm.alembic_export(filepath=path, start=1, end=FRAMES, evaluation_mode="RENDER", as_background_job=False)
    else:
        bpy.ops.wm.usd_export(filepath=path, export_animation=True, evaluation_mode="RENDER")
    fresh()
    if suffix == "abc":
        bpy.ops.wm.alembic_import(filepath=path, as_background_job=False)
    else:
        bpy.ops.wm.usd_import(filepath=path, set_frame_range=True)
    came = next(o for o in bpy.context.scene.objects if o.type == "MESH")
    points, there = evaluated(came, 6)
    assert np.allclose(world(points, there), world(shapes[5], matrix), atol=2e-5)
