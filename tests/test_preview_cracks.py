# SPDX-License-Identifier: GPL-3.0-or-later
"""The cracks of a brittle body at one hit, without a bake."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import fresh
from fixtures.brittle_scenes import SCRATCHED_GLASS, dropped_slab
from sinew.addon.baking.addon_session import session
from sinew.addon.operators.preview_cracks import cracks_of
from sinew.solver.__main__ import main
from sinew.solver.mesh.geometry.closest_point import closest_points
from sinew.solver.mesh.geometry.triangle_bvh import build_bvh
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


def test_the_outline_is_where_cracks_come_to_the_surface_and_progress_is_told() -> None:
    scene = dropped_slab(1.0, fracture=SCRATCHED_GLASS)
    body, told = scene.bodies[0], []
    found = preview_cracks(scene, "glass", corner_of_slab(scene), 6.0, told.append)
    edges = {tuple(sorted((int(t[a]), int(t[b])))) for t in found.triangles for a, b in ((0, 1), (1, 2), (2, 0))}
    outline = {tuple(sorted(edge)) for edge in found.outline.tolist()}
    assert outline < edges and len(outline) > 10
    ends = found.vertices[np.unique(found.outline)]
    near = closest_points(build_bvh(body.vertices, body.triangles), ends)
    on_surface = np.einsum("ka,kai->ki", near.weights, body.vertices[body.triangles[near.triangle]])
    assert np.linalg.norm(ends - on_surface, axis=1).max() < 1e-6
    assert {progress.body for progress in told} == {body.name}
    assert [progress.stress_solves for progress in told] == list(range(len(told)))
    assert told[0].pieces == 1 < told[-1].pieces <= found.pieces + found.dust


def test_bodies_that_are_not_brittle_are_told_by_name() -> None:
    scene = dropped_slab(1.0, fracture=SCRATCHED_GLASS)
    rigid = replace(scene, bodies=(replace(scene.bodies[0], fracture=None),))
    for given, key, name in ((rigid, "glass", "Glass"), (scene, "other", "other")):
        with pytest.raises(BadInput) as caught:
            preview_cracks(given, key, np.zeros(3), 1.0)
        assert caught.value.kind == "crack-preview-not-brittle" and f'"{name}"' in caught.value.sentence


def test_the_command_writes_what_the_function_finds(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    scene = dropped_slab(1.0, fracture=SCRATCHED_GLASS)
    corner = corner_of_slab(scene)
    scene.save(tmp_path / "scene")
    words = ["cracks", str(tmp_path / "scene"), "glass", str(tmp_path / "c.npz"), "--speed", "6", "--at"]
    assert main([*words, *(repr(float(each)) for each in corner), "--json"]) == 0
    found, made = preview_cracks(scene, "glass", corner, 6.0), read_arrays(tmp_path / "c.npz")
    for name in ("vertices", "triangles", "outline"):
        assert np.array_equal(made[name], getattr(found, name))
    *going_on, last = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert {event["event"] for event in going_on} == {"cracking"} and len(going_on) > 1
    assert last == {"event": "cracks", "pieces": found.pieces, "dust": found.dust, "faces": len(found.triangles)}


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
    assert len(made.data.edges) > 10 and not len(made.data.polygons)
    assert np.abs(at).max(axis=1) == pytest.approx(0.05, abs=1e-6), "on the surface, in the space of the cube"
    assert np.abs(at - np.array(cube.data.vertices[0].co)).max(axis=1).min() < 0.05, "where it is hit"
    assert made.hide_render and made.display_type == "WIRE"
    assert bpy.ops.sinew.preview_cracks(speed=0.1) == {"FINISHED"}
    assert not cracks_of(cube) and {obj.name for obj in bpy.data.objects} == before
    session.crack_search = object()
    assert not bpy.ops.sinew.preview_cracks.poll(), "one at a time"
    session.crack_search = None
    assert bpy.ops.sinew.preview_cracks.poll()
    cube.sinew.motion = "ELASTIC"
    assert not bpy.ops.sinew.preview_cracks.poll()
