# SPDX-License-Identifier: GPL-3.0-or-later
"""The cracks of a brittle body at one hit, without a bake."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import fresh
from fixtures.brittle_scenes import SCRATCHED_GLASS, dropped_slab
from sinew.addon.operators.preview_cracks import cracks_of
from sinew.solver.__main__ import main
from sinew.solver.runtime.errors import BadInput
from sinew.solver.runtime.npz_reader import read_arrays
from sinew.solver.scene.scene import Scene
from sinew.solver.simulation.brittle.crack_preview import preview_cracks
from test_brittle_defaults import glass_cube


def corner_of_slab(scene: Scene) -> np.ndarray:
    vertices = scene.bodies[0].vertices
    return vertices[vertices[:, 2].argmin()]


def test_a_slow_hit_makes_no_crack_and_a_fast_one_cracks_inside_the_body() -> None:
    scene = dropped_slab(1.0, fracture=SCRATCHED_GLASS)
    vertices, corner = scene.bodies[0].vertices, corner_of_slab(scene)
    slow = preview_cracks(scene, "glass", corner - [0.0, 0.0, 0.1], 0.1)
    assert slow.pieces == 1 and not len(slow.triangles) and slow.first_crack_share > 1.0
    fast = preview_cracks(scene, "glass", corner - [0.0, 0.0, 0.1], 6.0)
    assert fast.pieces > 1 and len(fast.triangles) > 10 and fast.first_crack_share < 1.0
    assert fast.place == pytest.approx(corner, abs=1e-9)
    assert (fast.vertices > vertices.min(axis=0) - 1e-9).all() and (fast.vertices < vertices.max(axis=0) + 1e-9).all()


def test_bodies_that_are_not_brittle_are_told_by_name() -> None:
    scene = dropped_slab(1.0, fracture=SCRATCHED_GLASS)
    rigid = replace(scene, bodies=(replace(scene.bodies[0], fracture=None),))
    for given, key, name in ((rigid, "glass", "Glass"), (scene, "other", "other")):
        with pytest.raises(BadInput) as caught:
            preview_cracks(given, key, np.zeros(3), 1.0)
        assert caught.value.kind == "crack-preview-not-brittle" and f'"{name}"' in caught.value.sentence


def test_the_command_writes_what_the_function_finds(tmp_path: Path) -> None:
    scene = dropped_slab(1.0, fracture=SCRATCHED_GLASS)
    corner = corner_of_slab(scene)
    scene.save(tmp_path / "scene")
    words = ["cracks", str(tmp_path / "scene"), "glass", str(tmp_path / "c.npz"), "--speed", "6", "--at"]
    assert main([*words, *(repr(float(each)) for each in corner), "--json"]) == 0
    found, made = preview_cracks(scene, "glass", corner, 6.0), read_arrays(tmp_path / "c.npz")
    assert np.array_equal(made["vertices"], found.vertices) and np.array_equal(made["triangles"], found.triangles)


@pytest.mark.slow
def test_the_operator_adds_lines_in_the_body_and_nothing_else() -> None:
    scene = fresh()
    cube = glass_cube(0.1, 0.5)
    cube.sinew.tet_count = 700
    before = {obj.name for obj in bpy.data.objects}
    matrix = cube.matrix_world.copy()
    scene.cursor.location = cube.matrix_world @ cube.data.vertices[0].co
    assert bpy.ops.sinew.preview_cracks(speed=12.0) == {"FINISHED"}
    (made,) = cracks_of(cube)
    assert {obj.name for obj in bpy.data.objects} - before == {made.name} and cube.matrix_world == matrix
    at = np.array([vertex.co for vertex in made.data.vertices])
    assert len(made.data.polygons) > 10 and np.abs(at).max() < 0.05 + 1e-6, "in the space of the cube"
    assert np.abs(at - np.array(cube.data.vertices[0].co)).max(axis=1).min() < 0.05, "where it is hit"
    assert made.hide_render and made.display_type == "WIRE"
    assert bpy.ops.sinew.preview_cracks(speed=0.1) == {"FINISHED"}
    assert not cracks_of(cube) and {obj.name for obj in bpy.data.objects} == before
    cube.sinew.motion = "ELASTIC"
    assert not bpy.ops.sinew.preview_cracks.poll()
