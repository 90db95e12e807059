# SPDX-License-Identifier: GPL-3.0-or-later
"""PC2 files: what is written comes back, and Blender's modifier plays it at subframes."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from sinew.solver.bake.cache.pc2 import Pc2Writer, read_header, read_samples


def some_samples(count: int, vertices: int = 5) -> np.ndarray:
    return np.random.default_rng(count).normal(size=(count, vertices, 3)).astype(np.float32)


def write(path: Path, samples: np.ndarray, start: float = 1.0, rate: float = 1.0) -> None:
    writer = Pc2Writer(path, samples.shape[1], start, rate)
    writer.append(samples)
    writer.commit()
    writer.close()


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    samples = some_samples(4)
    path = tmp_path / "a.pc2"
    write(path, samples, 12.0, 0.5)
    assert read_header(path) == (head := read_header(path)) and head.samples == 4 and head.vertices == 5
    np.testing.assert_array_equal(read_samples(path, 0, 4), samples)
    np.testing.assert_array_equal(read_samples(path, 2, 1), samples[2:3])
    assert path.read_bytes()[:32] == struct.pack("<12siiffi", b"POINTCACHE2\0", 1, 5, 12.0, 0.5, 4)
    assert path.stat().st_size == 32 + 4 * 5 * 12


def test_what_is_not_counted_does_not_exist(tmp_path: Path) -> None:
    samples = some_samples(4)
    path = tmp_path / "a.pc2"
    writer = Pc2Writer(path, 5, 1.0, 1.0)
    writer.append(samples[:2])
    writer.commit()
    writer.append(samples[2:])
    assert read_header(path).samples == 2
    with pytest.raises(ValueError, match="samples 2 to 2 of 2"):
        read_samples(path, 2, 1)
    writer.close()
    again = Pc2Writer(path, 5, 1.0, 1.0)
    assert again.samples == 2 and path.stat().st_size == 32 + 2 * 60
    again.append(samples[3:])
    again.commit()
    again.close()
    np.testing.assert_array_equal(read_samples(path, 0, 3), samples[[0, 1, 3]])


def test_a_head_that_counts_too_much_is_lowered(tmp_path: Path) -> None:
    samples = some_samples(3)
    path = tmp_path / "a.pc2"
    write(path, samples)
    path.write_bytes(path.read_bytes()[:-7])
    writer = Pc2Writer(path, 5, 1.0, 1.0)
    writer.close()
    assert read_header(path).samples == 2
    np.testing.assert_array_equal(read_samples(path, 0, 2), samples[:2])


@pytest.mark.parametrize(
    "data", [b"", b"POINTCACHE2\0", b"x" * 40, struct.pack("<12siiffi", b"POINTCACHE2\0", 2, 1, 0, 1, 0)]
)
def test_other_files_are_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.pc2"
    path.write_bytes(data)
    with pytest.raises(ValueError):
        read_header(path)


def test_files_of_another_vertex_count_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.pc2"
    write(path, some_samples(2))
    with pytest.raises(ValueError, match="5 vertices where 6"):
        Pc2Writer(path, 6, 1.0, 1.0)
    with pytest.raises(ValueError, match="for 5 vertices"):
        Pc2Writer(path, 5, 1.0, 1.0).append(some_samples(1, 6))


@pytest.mark.parametrize(("first", "per_frame"), [(1, 1), (10, 4), (-3, 3), (1001, 8)])
def test_blender_plays_it_at_subframes(tmp_path: Path, first: int, per_frame: int) -> None:
    bpy = pytest.importorskip("bpy")
    samples = some_samples(3 * per_frame + 1, 4)
    path = tmp_path / "a.pc2"
    write(path, samples, first, 1.0 / per_frame)
    mesh = bpy.data.meshes.new("m")
    mesh.from_pydata([(0, 0, 0)] * 4, [], [(0, 1, 2, 3)])
    body = bpy.data.objects.new("o", mesh)
    scene = bpy.context.scene
    scene.collection.objects.link(body)
    modifier = body.modifiers.new("Sinew", "MESH_CACHE")
    modifier.cache_format, modifier.interpolation = "PC2", "LINEAR"
    modifier.play_mode, modifier.time_mode = "SCENE", "FRAME"
    modifier.frame_scale, modifier.frame_start = per_frame, per_frame * first
    modifier.filepath = str(path)
    try:
        for at in [0, 0.125, 1, 1.5, 1.0 + 1.0 / per_frame, 2.75, 3, 5]:
            scene.frame_set(first + int(at), subframe=at % 1.0)
            evaluated = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
            seen = np.array([v.co[:] for v in evaluated.data.vertices])
            place = min(at * per_frame, len(samples) - 1.0)
            below = int(place)
            above = min(below + 1, len(samples) - 1)
            expected = samples[below] + (place - below) * (samples[above] - samples[below])
            np.testing.assert_allclose(seen, expected, atol=2e-4 if first > 1000 else 2e-6)
    finally:
        bpy.data.objects.remove(body)
        bpy.data.meshes.remove(mesh)
