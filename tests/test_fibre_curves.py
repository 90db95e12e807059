# SPDX-License-Identifier: GPL-3.0-or-later
"""Fibres from drawn strands, on both sides of an aponeurosis, and their corrections."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.tet_meshes import lattice_bar
from sinew.solver.mechanics.muscle.fibres.build_fibres import (
    CurveSource,
    FibreCorrection,
    TendonSource,
    build_fibres,
)
from sinew.solver.mechanics.muscle.fibres.curve_fibres import curve_fibres, strand_points
from sinew.solver.mechanics.muscle.fibres.fibre_adjustments import blend_directions, rotate_towards
from sinew.solver.mechanics.muscle.fibres.muscle_region import MuscleRegion, muscle_region
from sinew.solver.runtime.errors import BadInput

PENNATION = np.radians(20.0)
UP = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def block() -> tuple[MuscleRegion, np.ndarray]:
    """Returns a block of 1 × 0.4 × 1 m with ends at z = 0 and 1, and which tets are a sheet in the plane x = 0.5."""
    nodes, tets = lattice_bar((10, 4, 10), (1.0, 0.4, 1.0))
    region = muscle_region("Gastrocnemius", nodes, tets, nodes[:, 2] < 1e-9, nodes[:, 2] > 1.0 - 1e-9)
    return region, np.abs(region.centroids[:, 0] - 0.5) < 0.06


def angles(directions: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Returns the angles between lines [degrees]."""
    return np.degrees(np.arccos(np.clip(np.abs(np.einsum("ki,ki->k", directions, others)), 0.0, 1.0)))


def pennate(x: np.ndarray) -> np.ndarray:
    """Returns fibres that run up towards the sheet, (k, 3)."""
    side = np.sign(0.5 - x[:, 0])
    return np.stack([side * np.sin(PENNATION), 0.0 * side, np.full(len(x), np.cos(PENNATION))], axis=1)


def test_strands_drawn_in_opposite_directions_do_not_cancel():
    points = strand_points([UP - [0.1, 0.0, 0.0], UP[::-1] + [0.1, 0.0, 0.0]], 0.1, "Biceps")
    directions, is_defined = curve_fibres(points, np.array([[0.0, 0.0, 0.5]]), np.zeros(1), 0.1)
    assert is_defined.all() and abs(directions[0, 2]) > 1.0 - 1e-12
    on_strand = curve_fibres(strand_points([UP], 1.0, "Biceps"), np.array([[0.0, 0.0, 0.5]]), np.zeros(1), 0.1)
    assert abs(on_strand[0][0, 2]) > 1.0 - 1e-12
    across = UP[:, [2, 1, 0]] - [0.5, 0.0, -0.5]
    crossing = strand_points([UP - [0.0, 0.1, 0.0], across + [0.0, 0.1, 0.0]], 0.1, "Biceps")
    assert not curve_fibres(crossing, np.array([[0.0, 0.0, 0.5]]), np.zeros(1), 0.1)[1].any()
    for nothing in ([], [UP[:1], UP[[0, 0]]]):
        with pytest.raises(BadInput, match="Biceps"):
            strand_points(nothing, 0.1, "Biceps")
    with pytest.raises(BadInput, match="8.51 m away"):
        build_fibres(block()[0], CurveSource([UP - [0.0, 9.0, 0.0], UP + [9.5, 0.0, 0.0]]))


def test_a_sheet_hides_the_strands_behind_it():
    region, is_sheet = block()
    rng = np.random.default_rng(1)
    middle = rng.uniform([0.0, 0.0, 0.0], [1.0, 0.4, 1.0], (80, 3))
    half = np.minimum(0.1, np.abs(middle[:, 0] - 0.5) / np.sin(PENNATION))[:, None] * pennate(middle)
    strands = CurveSource([np.array([at - line, at + line]) for at, line in zip(middle, half, strict=True)])
    painted = TendonSource(painted=1.0 * is_sheet)
    fibres = build_fibres(region, strands, painted)
    off = angles(fibres.direction, pennate(region.centroids))
    assert off[~is_sheet].max() < 1e-5
    assert (fibres.tendon == is_sheet).all() and (fibres.direction[:, 2] > 0.0).all()
    assert angles(fibres.direction, np.tile(UP[1], (len(off), 1)))[is_sheet].max() < 3.0
    unhidden = build_fibres(region, strands).direction
    assert angles(unhidden, pennate(region.centroids))[~is_sheet].max() > 5.0


def test_pennation_turns_fibres_towards_the_sheet_and_leaves_it():
    region, is_sheet = block()
    pennation = FibreCorrection(pennation=PENNATION)
    fibres = build_fibres(region, None, TendonSource(painted=1.0 * is_sheet), pennation)
    assert angles(fibres.direction, pennate(region.centroids))[~is_sheet].max() < 1.0
    assert angles(fibres.direction, np.tile(UP[1], (len(is_sheet), 1)))[is_sheet].max() < 3.0
    with pytest.raises(BadInput, match="Gastrocnemius"):
        build_fibres(region, correction=pennation)
    outwards = np.tile([3.0, 0.0, 1.0], (len(region.tets), 1))
    turned = build_fibres(region, correction=FibreCorrection(pennation=PENNATION, towards=outwards)).direction
    assert np.abs(turned - [np.sin(PENNATION), 0.0, np.cos(PENNATION)]).max() < 1e-5


def test_corrections_of_directions():
    f, oblique = np.tile(UP[1], (4, 1)), np.array([np.sin(np.radians(60.0)), 0.0, 0.5])
    painted = np.array([2.0 * oblique, -2.0 * oblique, 0.0 * oblique, oblique])
    blended = blend_directions(f, painted, np.array([0.5, 0.5, 1.0, 1.0]))
    assert np.allclose(angles(blended, f), [30.0, 30.0, 0.0, 60.0]) and (blended[:, 2] > 0.0).all()
    towards = np.array([[0.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 1.0, 5.0], [0.0, -1.0, 5.0]])
    turned = rotate_towards(f, towards, np.full(4, 0.1))
    assert np.allclose(turned[:2], f[:2]) and np.allclose(turned[2:, 1], [np.sin(0.1), -np.sin(0.1)])
