# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets against exact solutions: cantilevered strips against Euler's elastica, hanging cloth against a finer one."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from fixtures.sheets import (
    CLOTH,
    crossed_grid,
    equilateral_strip,
    grid,
    random_grid,
    right_grid,
    settled,
    sheet_model,
    tips_of_strip,
)
from reference.elastica import elastica
from sinew.solver.mechanics.sheets.sheet_elements import SheetMaterial
from sinew.solver.runtime.arrays import Floats, Indices

LENGTH, WIDTH = 0.1, 0.005  # of strips to both sides of where they are held, and how wide they are [m]
Mesh = tuple[Floats, Indices]


def equilateral(cells: tuple[int, int], lengths: tuple[float, float]) -> Mesh:
    """Returns a strip of equilateral triangles, stretched by what it lacks, (n, 3) and (t, 3)."""
    across = cells[1]
    rows = 2 * round(lengths[0] / (np.sqrt(3.0) * lengths[1] / across))
    nodes, triangles = equilateral_strip((rows, across), lengths[1])
    return nodes * [lengths[0] / nodes[:, 0].max(), 1.0, 1.0], triangles


MESHES = {"right": right_grid, "alternating": grid, "crossed": crossed_grid, "random": random_grid}
MESHES["equilateral"] = equilateral


def tips(mesh: Mesh, material: SheetMaterial, name: str) -> tuple[Floats, float]:
    """Returns where the tips of a strip that is held in the middle come to rest, and how far off, over the length."""
    tip = tips_of_strip(mesh, material)
    length = 0.5 * mesh[0][:, 0].max()
    h, nu = material.thickness, material.poisson_ratio
    rigidity, load = material.youngs_modulus * h**3 / 12.0, material.density * 9.81 * h
    narrow, wide = (elastica(length, each, load) for each in (rigidity, rigidity / (1.0 - nu * nu)))
    off = float(np.linalg.norm(tip - narrow)) / length
    sags = -np.array([tip[1], narrow[1], wide[1]]) / length
    print(
        f"{name}, ν {nu:.2f}, {len(mesh[0])} nodes: sags by {sags[0]:.4f} l, elastica {sags[1]:.4f} l, of a wide plate "
        f"{sags[2]:.4f} l; off by {off:.2%} of l"
    )
    return tip / length, off


@pytest.mark.parametrize("poisson_ratio", [0.0, 0.3])
@pytest.mark.parametrize("name", list(MESHES))
def test_strips_of_any_triangles_bend_as_the_elastica(name: str, poisson_ratio: float) -> None:
    material = dataclasses.replace(CLOTH, poisson_ratio=poisson_ratio)
    for youngs_modulus in (1.0e6, 1.0e7):
        stiff = dataclasses.replace(material, youngs_modulus=youngs_modulus)
        assert tips(MESHES[name]((80, 2), (2.0 * LENGTH, WIDTH)), stiff, name)[1] < 0.01
    narrow = (40, 1), (2.0 * LENGTH, WIDTH)
    assert tips(MESHES[name](*narrow), material, f"{name}, one cell across")[1] < 0.01


@pytest.mark.parametrize("law", ["stvk", "stable-neo-hookean"])
@pytest.mark.parametrize("youngs_modulus", [1.0e6, 3.0e6, 1.0e7, 1.0e8])
def test_soft_and_stiff_strips_bend_as_the_elastica(youngs_modulus: float, law: str) -> None:
    material = dataclasses.replace(CLOTH, youngs_modulus=youngs_modulus, law=law)
    assert tips(equilateral((80, 2), (2.0 * LENGTH, WIDTH)), material, law)[1] < 0.01


@pytest.mark.parametrize("name", list(MESHES))
def test_wide_sheets_bend_as_plates(name: str) -> None:
    """As wide as long: with ν = 0 as the elastica, else between those of a strip and of a plate without end."""
    for poisson_ratio in (0.0, 0.3):
        stiff = dataclasses.replace(CLOTH, youngs_modulus=1.0e7, poisson_ratio=poisson_ratio)
        tip, off = tips(MESHES[name]((40, 20), (2.0 * LENGTH, LENGTH)), stiff, f"{name}, wide")
        rigidity, load = stiff.youngs_modulus * stiff.thickness**3 / 12.0, stiff.density * 9.81 * stiff.thickness
        narrow, wide = (elastica(LENGTH, rigidity / k, load)[1] / LENGTH for k in (1.0, 1.0 - poisson_ratio**2))
        assert off < 0.01 if poisson_ratio == 0.0 else narrow - 0.001 < tip[1] < wide + 0.001


def test_hanging_cloth_comes_nearer_to_a_finer_one() -> None:
    lows = []
    for cells in (8, 16, 32):
        nodes, triangles = grid((cells, cells), (0.3, 0.3))
        held = (nodes[:, 0] == 0.0) & ((nodes[:, 1] == 0.0) | (nodes[:, 1] == nodes[:, 1].max()))
        start = nodes + [0.0, 0.0, 1.0e-3] * np.sin(np.pi * nodes[:, 1:2] / 0.3)  # not flat, so that it can buckle
        x = settled(sheet_model(nodes, triangles, CLOTH, (2.0, 0.0)), held, start, 200)
        lows.append(x[:, 2].min())
        print(f"{cells}²: lowest point {lows[-1]:.5f} m")
    assert abs(lows[2] - lows[1]) < abs(lows[1] - lows[0]) and abs(lows[2] - lows[1]) < 0.02 * 0.3
