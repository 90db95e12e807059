# SPDX-License-Identifier: GPL-3.0-or-later
"""The count of tets that the panel shows, and what is refused before any work."""

from __future__ import annotations

import ctypes
import sys

import numpy as np
import pytest

from fixtures.closed_surfaces import cube, sphere, torus
from sinew.solver.mesh.formats.surface_files import read_surface
from sinew.solver.mesh.geometry.triangle_surface import Surface
from sinew.solver.mesh.tetrahedralize import tetrahedralize
from sinew.solver.mesh.tetrahedralize.estimate import TET_MEAN_WIDTH, TET_SURFACE_AREA, check_estimate, estimate_tets
from sinew.solver.runtime import free_memory
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.scene import Meshing


def estimate(surface: Surface, meshing: Meshing, is_volume_known: bool = True) -> int:
    lower, upper = surface.bounds
    volume = surface.signed_volume if is_volume_known else None
    return estimate_tets(upper - lower, surface.area, volume, meshing)


def shape(name: str) -> Surface:
    vertices, triangles = {"sphere": sphere(16), "torus": torus(), "cube": cube(2), "plate": cube(2)}[name]
    if name == "plate":  # tilted: how many tets one along the lattice touches depends on its very place
        turn = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
        vertices = vertices * [1, 1, 0.05] @ turn
    return Surface(vertices, triangles)


@pytest.mark.parametrize("divisions", [8, 20])
@pytest.mark.parametrize("method", ["smooth", "robust"])
@pytest.mark.parametrize("name", ["sphere", "torus", "cube"])
def test_the_estimate_is_within_a_quarter(name, method, divisions):
    meshing = Meshing(method, divisions=divisions)
    count = len(tetrahedralize(shape(name), meshing, name).tets)
    assert estimate(shape(name), meshing) == pytest.approx(count, rel=0.25)
    assert count / 4 < estimate(shape(name), meshing, is_volume_known=False) < 2.5 * count


@pytest.mark.parametrize("size", [1e-12, 1e-160, 1e-300, 5e-324])
@pytest.mark.parametrize("method", ["smooth", "robust"])
def test_a_tet_size_whose_cube_is_no_number_is_refused_as_too_small(method, size):
    surface = shape("sphere")
    lower, upper = surface.bounds
    with pytest.raises(BadInput, match="GB") as refused:
        check_estimate(upper - lower, surface.area, surface.signed_volume, Meshing(method, tet_size=size), "ball")
    assert refused.value.kind == "too-many-tets" and refused.value.details["tet_size"] == f"{size:.3g}"
    assert 0.0 < float(refused.value.details["fitting_size"]) < 1.0


@pytest.mark.parametrize("divisions", [8, 20])
def test_thin_things_are_estimated_too(divisions):
    sheet = Surface(np.array([[0, 0, 0], [1, 0, 0.2], [1, 1, 0.5], [0, 1, 0.3]]), np.array([[0, 1, 2], [0, 2, 3]]))
    for surface in (shape("plate"), sheet):
        meshing = Meshing("robust", divisions=divisions)
        count = len(tetrahedralize(surface, meshing, "thin").tets)
        assert estimate(surface, meshing) == pytest.approx(count, rel=0.25)


@pytest.mark.parametrize("interior_size", [2, 4])
def test_larger_tets_inside_are_estimated_too(interior_size):
    meshing = Meshing("smooth", divisions=32, interior_size=interior_size)
    count = len(tetrahedralize(shape("sphere"), meshing, "sphere").tets)
    assert estimate(shape("sphere"), meshing) == pytest.approx(count, rel=0.35)


@pytest.mark.parametrize("divisions", [12, 20, 32])
@pytest.mark.parametrize("name", ["torus", "cube"])
def test_adaptive_tets_are_estimated_roughly(name, divisions):
    meshing = Meshing("adaptive", divisions=divisions)
    count = len(tetrahedralize(shape(name), meshing, name).tets)
    assert count / 2 < estimate(shape(name), meshing) < 2 * count


@pytest.mark.parametrize("name", ["cat_low.obj", "spot_low.obj", "koala_low.obj", "featuretype.STL"])
def test_estimates_of_files(shared, name):
    surface = read_surface(shared / "testdata" / "surface" / name)
    for method in ("smooth", "robust"):
        meshing = Meshing(method, divisions=20)
        count = len(tetrahedralize(surface, meshing, name).tets)
        assert estimate(surface, meshing) == pytest.approx(count, rel=0.25)


def test_the_width_and_area_of_a_lattice_tet():
    """The mean width of a body is the mean, over all directions, of its extent along them."""
    tet = np.array([[0, 0, 0], [1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5]])
    directions = np.random.default_rng(1).normal(size=(200_000, 3))
    extents = np.ptp(tet @ (directions / np.linalg.norm(directions, axis=1, keepdims=True)).T, axis=0)
    assert extents.mean() == pytest.approx(TET_MEAN_WIDTH, rel=1e-3)
    faces = [np.delete(tet, i, axis=0) for i in range(4)]
    assert sum(np.linalg.norm(np.cross(f[1] - f[0], f[2] - f[0])) / 2 for f in faces) == pytest.approx(TET_SURFACE_AREA)


def test_nonsense_gives_a_number_all_the_same():
    assert estimate_tets((0.0, 0.0, 0.0), 0.0, None, Meshing(divisions=16)) == 1
    assert estimate_tets((1.0, 1.0, 1.0), 6.0, 1.0, Meshing(tet_size=0.0)) == 1
    assert estimate_tets((1.0, 1.0, 1.0), 6.0, -1e30, Meshing(divisions=10)) < 20_000
    assert estimate_tets((1.0, 1.0, 1.0), 6.0, 1.0, Meshing(tet_size=1e-30)) == 10**15


def test_what_does_not_fit_is_refused_with_numbers_and_a_size_that_fits():
    with pytest.raises(BadInput) as refused:
        check_estimate((1, 1, 1), 6.0, 1.0, Meshing(tet_size=0.001, memory_limit=2 * 10**9), "Cube")
    assert refused.value.kind == "too-many-tets"
    size = float(refused.value.details["fitting_size"])
    assert check_estimate((1, 1, 1), 6.0, 1.0, Meshing(tet_size=size, memory_limit=2 * 10**9), "Cube") > 100_000


def test_a_thin_diagonal_sheet_counts_the_lattice_around_it():
    with pytest.raises(BadInput):
        check_estimate((1, 1, 1), 0.1, 0.0, Meshing("robust", divisions=2000, memory_limit=10**12), "Sheet")


def test_free_memory_is_what_this_machine_has():
    free = free_memory.free_memory()
    assert free is None or 10**7 < free < 10**14


def test_free_memory_on_other_systems(monkeypatch, tmp_path):
    is_windows = sys.platform == "win32"
    monkeypatch.setattr(sys, "platform", "darwin")
    if is_windows:
        assert free_memory.free_memory() is None  # it has no os.sysconf
    else:
        assert free_memory.free_memory() > 10**7
    monkeypatch.setattr(sys, "platform", "win32")
    if not is_windows:
        assert free_memory.free_memory() is None

    class Kernel:
        @staticmethod
        def GlobalMemoryStatusEx(status):
            status._obj.available = 5 * 10**9
            return status._obj.length == 64

    monkeypatch.setattr(ctypes, "windll", type("Dlls", (), {"kernel32": Kernel}), raising=False)
    if ctypes.sizeof(ctypes.c_ulong) == 8:  # on Windows it has four bytes
        monkeypatch.setattr(ctypes, "c_ulong", ctypes.c_uint32)
    assert free_memory.free_memory() == 5 * 10**9
