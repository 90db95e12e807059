# SPDX-License-Identifier: GPL-3.0-or-later
"""A square cloth drapes over a ball: as Blender's Cloth, and as a sheet with the settings of Copy from Cloth.

    python -m pytest -s tests/validate_drape.py

With the environment variable SINEW_PICTURES both shapes are written into that folder, which `scripts/sheet_pictures.py`
renders.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.blender_scenes import evaluated, fresh
from fixtures.claim_table import reach
from harness import demo_scenes
from sinew.addon.objects import roles
from sinew.solver.runtime.arrays import Floats, Indices
from sinew.solver.simulation.simulation import Simulation

SECTION = "Drape beside Blender's Cloth"
CELLS, SIDE, HEIGHT = 30, 1.0, 0.35  # of the cloth [1], [m], [m]
RADIUS = 0.25  # of the ball, whose centre is at the origin [m]
FRAMES = 50


@dataclass(frozen=True)
class Drape:
    """How a cloth came to hang.

    Attributes:
        x: Its vertices at the last frame [m], (n, 3).
        before: Those five frames before [m], (n, 3).
        seconds: Of all frames, of the wall clock and of the processor.
        not_converged: Steps that did not; of Blender's Cloth that is not known.
    """

    x: Floats
    before: Floats
    seconds: tuple[float, float]
    not_converged: int = 0

    def stretches(self, rest: Floats, edges: Indices) -> Floats:
        """Returns by which share edges are longer than at rest, (e,)."""
        now, at_rest = (np.linalg.norm(p[edges[:, 1]] - p[edges[:, 0]], axis=1) for p in (self.x, rest))
        return now / at_rest - 1.0


def build() -> bpy.types.Object:
    """Returns a cloth with Blender's Cloth at its defaults, above a ball with Blender's Collision."""
    fresh()
    bpy.ops.mesh.primitive_uv_sphere_add(segments=48, ring_count=32, radius=RADIUS)
    bpy.context.object.name = "Ball"
    bpy.ops.object.modifier_add(type="COLLISION")
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=CELLS, y_subdivisions=CELLS, size=SIDE, location=(0, 0, HEIGHT))
    obj = bpy.context.object
    obj.name = "Cloth"
    bpy.ops.object.modifier_add(type="CLOTH")
    cloth = obj.modifiers["Cloth"]
    cloth.point_cache.frame_start, cloth.point_cache.frame_end = 1, FRAMES
    cloth.collision_settings.use_self_collision = False
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, FRAMES
    return obj


def blenders(obj: bpy.types.Object) -> Drape:
    """Lets Blender's Cloth play; it does so only where frames follow each other."""
    began, before = (time.perf_counter(), time.process_time()), None
    for frame in range(1, FRAMES + 1):
        x = evaluated(obj, frame)[0]
        if frame == FRAMES - 5:
            before = x
    assert before is not None
    return Drape(_in_world(obj, x), _in_world(obj, before), _since(began))


def sinews(obj: bpy.types.Object, folder: Path) -> Drape:
    """Takes the same cloth over, by the buttons, and simulates it."""
    assert bpy.ops.sinew.make_body() == {"FINISHED"}
    assert bpy.ops.sinew.copy_from_cloth() == {"FINISHED"}
    obj.sinew.self_collision = False
    ball = bpy.data.objects["Ball"]
    ball.modifiers.clear()
    roles.make_collider(ball)
    simulation = Simulation(*demo_scenes.export_open_file(folder))
    began, found, bad = (time.perf_counter(), time.process_time()), {}, 0
    for frame in simulation.run():
        bad += frame.report.not_converged
        found[frame.number] = next(iter(frame.positions.values())).copy()
        if frame.number == FRAMES:
            break
    return Drape(found[FRAMES], found[FRAMES - 5], _since(began), bad)


def _since(began: tuple[float, float]) -> tuple[float, float]:
    return time.perf_counter() - began[0], time.process_time() - began[1]


def _in_world(obj: bpy.types.Object, x: Floats) -> Floats:
    found: Floats = x @ np.array(obj.matrix_world)[:3, :3].T + np.array(obj.matrix_world)[:3, 3]
    return found


@pytest.mark.timed
def test_a_cloth_drapes_over_a_ball_beside_blenders(tmp_path: Path) -> None:
    obj = build()
    rest = _in_world(obj, evaluated(obj, 1)[0])
    edges = np.array([edge.vertices[:] for edge in obj.data.edges], np.int32)
    faces = np.array([face.vertices[:] for face in obj.data.polygons], np.int32)
    both = {"Blender's Cloth": blenders(obj), "Sinew": sinews(obj, tmp_path)}
    if "SINEW_PICTURES" in os.environ:
        drapes = {name.split("'")[0].lower(): drape.x for name, drape in both.items()}
        np.savez(Path(os.environ["SINEW_PICTURES"]) / "drape.npz", faces=faces, **drapes)
    for name, drape in both.items():
        fallen = float(rest[:, 2].mean() - drape.x[:, 2].mean())
        assert fallen > 0.1, f"{name} stood still"
        stretch, wall, busy = drape.stretches(rest, edges), *drape.seconds
        depth = RADIUS - np.linalg.norm(drape.x, axis=1).min()
        moved = np.linalg.norm(drape.x - drape.before, axis=1).max()
        print(
            f"{name}: {FRAMES} frames in {wall:.1f} s, {busy:.1f} s of the processor; stretched by {stretch.max():.2%} "
            f"at most, {stretch.mean():.2%} in the mean; in the ball by {1e3 * depth:.1f} mm; lowest "
            f"{drape.x[:, 2].min():.3f} m; moved by {1e3 * moved:.1f} mm in the last 5 frames"
        )
    ours, theirs = (both[name] for name in ("Sinew", "Blender's Cloth"))
    apart = np.linalg.norm(ours.x - theirs.x, axis=1)
    print(f"apart by {apart.mean():.3f} m in the mean, {apart.max():.3f} m at most")
    stretches = [drape.stretches(rest, edges).max() for drape in (ours, theirs)]
    # bounds were set after 1.45 % beside 10.7 %, and 1.5 mm outside of the ball, were seen
    line = f"largest stretch of an edge, of Blender's Cloth {stretches[1]:.2%}"
    reach(SECTION, line, f"{stretches[0]:.2%}", "2 %", stretches[0] <= 0.02)
    # 2 of 200 were seen, where the cloth passes through itself; 1 when each edge bent by itself
    reach(SECTION, "steps that did not converge", ours.not_converged, 4, ours.not_converged <= 4)
    near = float(np.linalg.norm(ours.x, axis=1).min())
    reach(SECTION, "nearest vertex to the middle of the ball [m]", near, RADIUS, near >= RADIUS)
