# SPDX-License-Identifier: GPL-3.0-or-later
"""Wraps: closed and smooth around meshes, grooves narrower than the Width bridged by the arc of a ball."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fixtures.closed_surfaces import cube, sphere, torus
from sinew.solver.mesh.geometry.closest_point import closest_points
from sinew.solver.mesh.geometry.hole_caps import hole_caps
from sinew.solver.mesh.geometry.manifold_defects import find_manifold_defects
from sinew.solver.mesh.geometry.triangle_bvh import build_bvh
from sinew.solver.mesh.geometry.triangle_surface import Surface, signed_volume
from sinew.solver.mesh.geometry.welding import weld
from sinew.solver.mesh.geometry.winding_number import winding_numbers
from sinew.solver.mesh.wrap.closing import quad_triangles
from sinew.solver.mesh.wrap.wrap_surface import WrapOptions, WrapSurface, wrap_surface
from sinew.solver.runtime.errors import BadInput
from sinew.solver.runtime.npz_reader import read_arrays


def placed(surface: tuple, x: float = 0.0, scale: float = 1.0) -> Surface:
    vertices, triangles = surface
    return Surface(scale * np.asarray(vertices, float) + [x, 0.0, 0.0], np.asarray(triangles, np.int32))


def wrapped(
    *surfaces: Surface, width: float = 0.2, voxel: float = 0.05, offset: float = 0.0, smoothing: float = 0.0
) -> WrapSurface:
    return wrap_surface(surfaces, WrapOptions(width, offset, smoothing, voxel))


def test_a_sphere_stays_a_sphere() -> None:
    found = [wrapped(placed(sphere(24)), voxel=voxel) for voxel in (0.2, 0.1)]
    errors = [np.abs(np.linalg.norm(each.vertices, axis=1) - 1.0).max() for each in found]
    # the mesh itself is 0.0014 inside of the sphere
    assert errors[1] < 0.006 and errors[1] < 0.45 * errors[0]
    assert all(find_manifold_defects(quad_triangles(each.quads)) is None for each in found)
    assert signed_volume(found[1].vertices, quad_triangles(found[1].quads)) == pytest.approx(
        4.0 / 3.0 * np.pi, rel=0.02
    )
    grown = wrapped(placed(sphere(24)), voxel=0.1, offset=0.05)
    assert np.linalg.norm(grown.vertices, axis=1).mean() == pytest.approx(1.05, abs=0.005)


@pytest.mark.parametrize("gap", [0.10, 0.16, 0.24])
def test_grooves_narrower_than_the_width_are_bridged_by_an_arc(gap: float) -> None:
    """A ball of radius r over a gap g sinks by r − √(r² − g² / 4)."""
    width, voxel = 0.2, 0.025
    found = wrapped(placed(cube(1)), placed(cube(1), 1.0 + gap), width=width, voxel=voxel)
    if gap > width:
        assert found.part_count == 2
        return
    assert found.part_count == 1
    middle = np.abs(found.vertices[:, 0] - 0.5 - 0.5 * gap) < 0.6 * voxel
    inner = np.abs(found.vertices[:, 1]) < 0.3
    top = found.vertices[middle & inner & (found.vertices[:, 2] > 0.0), 2]
    sag = 0.5 * width - np.sqrt(0.25 * width**2 - 0.25 * gap**2)
    # half a voxel was expected; at a gap of 0.16 it is 0.56, since cells round the crease of the grown set
    assert top.mean() == pytest.approx(0.5 - sag, abs=0.75 * voxel)


@pytest.mark.slow
def test_the_wrap_goes_around_overlaps_holes_and_hollows() -> None:
    ball = placed(sphere(16), scale=0.5)
    open_ball = Surface(ball.vertices, ball.triangles[5:])
    inside = placed(sphere(8), scale=0.2)
    overlapping = placed(sphere(16), 0.4, scale=0.5)
    hollow = Surface(inside.vertices, inside.triangles[:, ::-1])
    walls = Surface(
        np.concatenate([ball.vertices, hollow.vertices]),
        np.concatenate([ball.triangles, hollow.triangles + len(ball.vertices)]),
    )
    for surfaces in ((open_ball, overlapping), (walls,)):
        found = wrapped(*surfaces, voxel=0.05)
        assert found.part_count == 1
        triangles = quad_triangles(found.quads)
        assert find_manifold_defects(triangles) is None
        # one surface and no wall of a hollow: Euler's formula for a ball
        assert len(found.vertices) - len(found.quads) == 2 and found.tunnel_count == 0
        assert set(found.nearest) == set(range(len(surfaces)))
        assert found.distance.max() < 0.1


def test_smoothing_fills_creases_and_keeps_the_meshes_inside() -> None:
    surfaces = [placed(sphere(16), scale=0.2), placed(sphere(16), 0.3, scale=0.2)]
    sharp, smooth = (wrapped(*surfaces, width=0.05, voxel=0.02, smoothing=each) for each in (0.0, 0.04))
    volumes = [signed_volume(each.vertices, quad_triangles(each.quads)) for each in (sharp, smooth)]
    assert volumes[1] > 1.005 * volumes[0]
    bvh = build_bvh(smooth.vertices, quad_triangles(smooth.quads).astype(np.int32))
    points = np.concatenate([each.vertices for each in surfaces])
    is_outside = winding_numbers(bvh, points) < 0.5
    assert closest_points(bvh, points[is_outside]).distance.max(initial=0.0) < 0.1 * 0.02
    waist = np.abs(smooth.vertices[:, 0] - 0.15) < 0.01
    radius = np.linalg.norm(smooth.vertices[waist, 1:], axis=1).mean()
    assert (
        radius > np.linalg.norm(sharp.vertices[np.abs(sharp.vertices[:, 0] - 0.15) < 0.01, 1:], axis=1).mean() + 0.005
    )


def test_tunnels_are_counted() -> None:
    ring = Surface(*(np.asarray(each) for each in torus(24, 12)))
    assert wrapped(ring, voxel=0.1).tunnel_count == 1
    assert wrapped(ring, width=1.5, voxel=0.1).tunnel_count == 0


def test_too_fine_a_grid_is_refused() -> None:
    with pytest.raises(BadInput) as refusal:
        wrapped(placed(cube(1)), voxel=0.0005)
    assert refusal.value.kind == "wrap-too-fine"


def test_the_command_wraps_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from sinew.solver.__main__ import main

    vertices, triangles = cube(1)
    off = ["OFF", f"{len(vertices)} {len(triangles)} 0", *(" ".join(map(str, v)) for v in vertices)]
    off += [f"3 {a} {b} {c}" for a, b, c in triangles]
    (tmp_path / "cube.off").write_text("\n".join(off))
    out = tmp_path / "wrap.npz"
    assert main(["wrap", str(out), str(tmp_path / "cube.off"), "--width", "0.2", "--voxel", "0.1"]) == 0
    arrays = read_arrays(out)
    assert arrays["quads"].shape[1] == 4 and len(arrays["nearest"]) == len(arrays["vertices"])
    assert "1 parts" in capsys.readouterr().out
    assert main(["wrap", str(out), str(tmp_path / "cube.off"), "--width", "0"]) == 2


def test_holes_are_closed_by_fans() -> None:
    vertices, triangles = (np.asarray(each) for each in sphere(8))
    vertices = vertices.astype(float)
    z = vertices[triangles].mean(axis=1)[:, 2]
    middle = triangles[np.abs(z) < 0.6]
    caps = hole_caps(vertices, middle)
    assert len(caps.middles) == 2 and np.allclose(np.abs(caps.middles[:, 2]), 0.7, atol=0.2)
    # the sides of this sphere have vertices of their own: seams are no holes
    used = Surface(np.concatenate([vertices, caps.middles]), np.concatenate([middle, caps.triangles]))
    assert find_manifold_defects(weld(used)) is None and used.signed_volume > 0.0
    assert len(hole_caps(vertices, triangles).triangles) == 0
    # two holes that touch at one vertex stay two
    fan = np.array([[0, 1, 2], [0, 3, 4], [1, 5, 2], [3, 6, 4]])
    assert sorted(len(loop) for loop in _loops(fan)) == [4, 4]


def _loops(triangles: np.ndarray) -> list[np.ndarray]:
    from sinew.solver.mesh.geometry.hole_caps import open_loops

    return open_loops(triangles)
