# SPDX-License-Identifier: GPL-3.0-or-later
"""Tets cut by any triangles: every closed development surface carved out of lattices and cut, and how long it takes.

Run by `make validate`; takes some minutes.
"""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.claim_table import reach
from fixtures.closed_surfaces import sphere
from fixtures.cutters import concatenated, square, wavy_sheet
from fixtures.relative_time import RelativeTime
from fixtures.tet_meshes import kuhn_bar, lattice_bar
from sinew.solver.mesh.cut_cells.carve import carve_tets
from sinew.solver.mesh.cut_cells.cut import cut_tets
from sinew.solver.mesh.cut_cells.piece_surfaces import enclosed_volumes, is_closed
from sinew.solver.mesh.formats.surface_files import read_surface
from sinew.solver.mesh.geometry.manifold_defects import find_manifold_defects
from sinew.solver.mesh.geometry.triangle_intersections import intersecting_triangles
from validate_cutting import merged

SECTION = "Any blade cuts tets"
VOLUME = 1.0e-9  # of the whole
BLADE_SECONDS = 1.0


def lattice_around(vertices, cells):
    """Returns body-centred tets around a surface, with so many cells along its longest side."""
    lower, upper = vertices.min(axis=0), vertices.max(axis=0)
    size = (upper - lower).max() / cells
    counts = np.ceil((upper - lower) / size).astype(int) + 1
    nodes, tets = lattice_bar(tuple(counts.tolist()), tuple((counts * size).tolist()))
    return nodes + (lower + upper - counts * size) / 2, tets


def spiral(middle, size):
    """Returns a helicoid of two turns around a vertical axis."""
    turn = np.linspace(0, 4 * np.pi, 25)
    inner = np.column_stack([0.05 * np.cos(turn), 0.05 * np.sin(turn), turn / (4 * np.pi) - 0.5])
    outer = np.column_stack([np.cos(turn), np.sin(turn), turn / (4 * np.pi) - 0.5])
    a = np.arange(24)
    triangles = np.r_[np.c_[a, a + 25, a + 1], np.c_[a + 1, a + 25, a + 26]].astype(np.int32)
    return middle + size * np.concatenate([inner, outer]), triangles


def cutters(vertices, seed):
    """Returns two random planes, a ball and a spiral that all cross a surface and each other."""
    rng = np.random.default_rng(seed)
    middle, size = vertices.mean(axis=0), float(np.ptp(vertices, axis=0).max())
    planes = [square(rng.normal(size=3), middle + rng.normal(size=3) * 0.1 * size, 3 * size) for _ in range(2)]
    ball, triangles = sphere(6, 0.3 * size)
    return concatenated([*planes, (ball + middle + 0.05 * size, triangles), spiral(middle, 0.6 * size)])


def test_every_closed_surface_is_carved_and_cut(shared):
    worst, wrong, pieces, count = 0.0, [], 0, 0
    for path in sorted((shared / "testdata" / "surface").iterdir()):
        surface = read_surface(path)
        if path.suffix.lower() == ".stl":
            surface = merged(surface)
        vertices, triangles = surface.vertices, surface.triangles
        if find_manifold_defects(triangles) is not None or len(intersecting_triangles(vertices, triangles)):
            continue
        count += 1
        volume = np.linalg.det(vertices[triangles] - vertices.mean(axis=0)).sum() / 6
        for cells in (3, 6, 11):
            nodes, tets = lattice_around(vertices, cells)
            found = carve_tets(nodes, tets, (vertices, triangles), cutters(vertices, cells))
            volumes = np.bincount(found.piece, found.volume)
            enclosed = enclosed_volumes(found.surfaces, found.surface_piece)
            off = max(abs(volumes.sum() / volume - 1.0), float(np.abs(enclosed - volumes).max()) / volume)
            worst, pieces = max(worst, off), pieces + len(volumes)
            if not is_closed(found.surfaces, found.surface_piece).all():
                wrong.append(f"{path.stem}, {cells} cells")
        print(f"{path.stem:20} {len(triangles):6} triangles, {len(volumes):3} pieces, volumes {worst:.1e} off")
    reach(SECTION, f"{count} surfaces at three sizes, {pieces} pieces: open ones", len(wrong), 0, not wrong)
    reach(SECTION, "their volumes, together and one by one", f"{worst:.1e} off", VOLUME, worst <= VOLUME)
    print("\n".join(wrong))


@pytest.mark.timed
def test_a_blade_of_a_thousand_triangles_through_a_hundred_thousand_tets():
    nodes, tets = kuhn_bar((26, 26, 26), (1.0, 1.0, 1.0))
    blade = wavy_sheet(23, -0.2, 1.2)
    cut_tets(nodes, tets, nodes, *blade)  # kernels are compiled
    seconds, cut = RelativeTime().time(lambda: cut_tets(nodes, tets, nodes, *blade))
    line = (
        f"{len(blade[1])} triangles through {len(tets)} tets, {len(cut.tets) - len(tets)} more after, by the reference"
    )
    reach(SECTION, line, f"{seconds:.2f} s", f"{BLADE_SECONDS} s", seconds <= BLADE_SECONDS)
