# SPDX-License-Identifier: GPL-3.0-or-later
"""From a Blender object through the solver and back: what Blender shows is where the solver says that it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import add_box, add_driven_shape_key, add_rig, evaluated, fresh, world
from sinew.addon.blender_data import object_keys
from sinew.addon.export import export_scene
from sinew.addon.objects import new_role_objects, roles
from sinew.addon.playback import mesh_cache
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.run_bake import run_bake


def baked(scene: bpy.types.Scene, cache: Path) -> CacheReader:
    """Exports and simulates a scene, and lets its bodies play the result."""
    for _ in export_scene.export_scene(bpy.context, scene, cache):
        pass
    run_bake(cache, lambda event: None)
    for obj in roles.bodies(scene):
        mesh_cache.attach(obj, cache, object_keys.body_key(obj))
    return CacheReader(cache)


def solved(cache: CacheReader, key: str, frame: int) -> np.ndarray:
    """Returns render positions [m], world, from the nodes of a frame and the binding, without the PC2."""
    model = cache.read_model(key)
    x = cache.read_frame(frame).x.astype(np.float64)
    return np.einsum("ka,kai->ki", model["binding_weights"], x[model["tets"][model["binding_tet"]]])


def test_a_falling_rigged_body_lands_where_the_solver_says(tmp_path: Path) -> None:
    scene = fresh()
    obj = add_box("Jelly", divisions=4, height=1.0)
    rig = add_rig(obj, turn=0.5, frames=(3, 9))
    add_driven_shape_key(obj, rig)
    obj.parent = parent = bpy.data.objects.new("Parent", None)
    scene.collection.objects.link(parent)
    parent.location, parent.rotation_euler, parent.scale = (1.0, 2.0, 20.0), (0.3, 0.4, 0.5), (1.0, 2.0, -1.5)
    parent.keyframe_insert("rotation_euler", frame=3)
    parent.rotation_euler.x += 1.0
    parent.keyframe_insert("rotation_euler", frame=9)
    roles.make_body(obj)
    obj.sinew.divisions = 5
    new_role_objects.add_ground(bpy.context).location.z = 18.0
    scene.frame_start, scene.frame_end = 3, 9
    scene.unit_settings.scale_length = 0.1
    cache = baked(scene, tmp_path / "shot.sinew")
    assert cache.is_done() and not cache.integrity_problems()
    size = None
    for frame in range(3, 10):
        wanted = solved(cache, "Jelly", frame)
        size = size or np.ptp(wanted, axis=0).max()
        assert np.abs(0.1 * world(*evaluated(obj, frame)) - wanted).max() < 1e-5 * size
    # at the first frame it is the animated mesh, and then it falls
    mesh_cache.detach(obj)
    start = 0.1 * world(*evaluated(obj, 3))
    assert np.abs(solved(cache, "Jelly", 3) - start).max() < 1e-5 * size
    fall = (start - solved(cache, "Jelly", 9))[:, 2].mean()
    assert fall == pytest.approx(0.5 * 0.981 * (6 / 24) ** 2, rel=0.1)


def test_pinned_vertices_are_drawn_on_the_animated_mesh(tmp_path: Path) -> None:
    scene = fresh()
    obj = add_box("Belly", divisions=4, height=2.0)
    add_rig(obj, turn=0.6, frames=(1, 8))
    wanted = {frame: world(*evaluated(obj, frame)) for frame in (1, 4, 8)}
    roles.make_body(obj)
    obj.sinew.divisions = 6
    obj.sinew.pin_group = "upper"
    scene.frame_end = 8
    baked(scene, tmp_path / "shot.sinew")
    pins = [v.index for v in obj.data.vertices if v.co.z > 0]
    free = [v.index for v in obj.data.vertices if v.co.z < -0.9]
    for frame, points in wanted.items():
        assert np.abs(world(*evaluated(obj, frame))[pins] - points[pins]).max() < 1e-5 * 2.0
    assert np.abs(world(*evaluated(obj, 8))[free] - wanted[8][free]).max() > 0.01


def test_affect_simulates_a_part_and_fades_into_the_rest(tmp_path: Path) -> None:
    scene = fresh()
    obj = add_box("Cheek", divisions=6, height=2.0)
    add_rig(obj, turn=0.8, frames=(1, 10))
    animated = world(*evaluated(obj, 10))
    roles.make_body(obj)
    obj.sinew.divisions = 8
    obj.sinew.youngs_modulus = 5000.0
    wanted = np.clip([1.5 * v.co.z + 0.25 for v in obj.data.vertices], 0.0, 1.0)
    group = obj.vertex_groups.new(name="Affect")
    for i, weight in enumerate(wanted):
        group.add([i], weight, "REPLACE")
    obj.sinew.affect_group = "Affect"
    # nothing is let go by the pins, which there are none of
    obj.sinew.pin_stiffness = 0.0
    scene.frame_end = 10
    baked(scene, tmp_path / "shot.sinew")
    away = np.linalg.norm(world(*evaluated(obj, 10)) - animated, axis=1)
    assert away[wanted == 0].max() < 1e-5
    assert away[wanted == 1].max() > 0.05
    # no step at the border: what is affected a little moves a little
    assert away[(wanted > 0) & (wanted < 0.3)].max() < 0.2 * away.max()
