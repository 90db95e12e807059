# SPDX-License-Identifier: GPL-3.0-or-later
"""Hinges of sheets that resist together: products with their stiffness, and Newton's method with it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from fixtures.sheets import CLOTH, EXACT, GRAVITY, grid, random_grid, sheet_model
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.newton import bending_correction
from sinew.solver.mechanics.model import Model
from sinew.solver.mechanics.sheets.coupled_bending import coupled_bending
from sinew.solver.mechanics.sheets.sheet_elements import rest_angles
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.arrays import Floats

USUAL_CORRECTIONS = bending_correction.MAX_CORRECTIONS
STIFF = dataclasses.replace(CLOTH, youngs_modulus=1.0e7, thickness=3.0e-3)


def bent_sheet() -> tuple[Model, Floats]:
    """Returns a sheet of any triangles, and where its nodes are when it is bent both ways [m]."""
    model = sheet_model(*random_grid((6, 4), (0.6, 0.4)), STIFF)
    x = model.X.copy()
    x[:, 2] = 0.05 * np.sin(5.0 * x[:, 0]) + 0.1 * x[:, 0] * x[:, 1]
    return model, x


def test_products_are_those_of_the_coupled_hinges_less_each_alone() -> None:
    """With J by differences of angles and F⁻¹ as a full matrix."""
    model, x = bent_sheet()
    sheets = model.sheets
    assert sheets is not None
    hinges, own = model.tets[sheets.tets], np.flatnonzero(sheets.flexibility.bends)
    J, h = np.empty((len(hinges), x.size)), 1.0e-6
    for k in range(x.size):
        moved = np.zeros(x.size)
        moved[k] = h
        there, back = (rest_angles(x + sign * moved.reshape(-1, 3), hinges) for sign in (1.0, -1.0))
        J[:, k] = (there - back) / (2.0 * h)
    stiffness = np.zeros((len(hinges), len(hinges)))
    unit = np.eye(len(hinges))
    for hinge in own:
        stiffness[:, hinge] = sheets.flexibility.moments(unit[hinge])
    assert np.allclose(stiffness, stiffness.T, atol=1e-9 * np.abs(stiffness).max())
    stiffness -= np.diag(sheets.hinges.bending)
    u = np.random.default_rng(0).normal(size=x.shape)
    found, wanted = coupled_bending(sheets, model.tets, x).times(u), J.T @ (stiffness @ (J @ u.ravel()))
    assert np.allclose(found.ravel(), wanted, atol=1e-5 * np.abs(wanted).max())


def solves_of_step(monkeypatch: pytest.MonkeyPatch, corrections: int) -> tuple[int, Floats]:
    """Returns Newton iterations of a step that bends a stiff sheet, and where it ends, for so many corrections."""
    monkeypatch.setattr(bending_correction, "MAX_CORRECTIONS", corrections)
    model = sheet_model(*grid((10, 10), (0.5, 0.5)), STIFF)
    held = model.X[:, 0] == 0.0
    state = State(model.X.copy(), np.zeros_like(model.X))
    forces = ExternalForces(GRAVITY, held, model.X.copy())
    report = step(model, state, forces, 0.04, dataclasses.replace(EXACT, tolerance=1.0e-6))
    assert report.converged
    return report.newton_iterations, state.x


def test_hinges_that_resist_together_take_fewer_iterations_to_the_same_end(monkeypatch: pytest.MonkeyPatch) -> None:
    alone, end = solves_of_step(monkeypatch, 0)
    together, same = solves_of_step(monkeypatch, USUAL_CORRECTIONS)
    print(f"Newton iterations of a stiff sheet: {together} instead of {alone}")
    assert together <= 0.7 * alone
    assert np.abs(same - end).max() < 1e-4 * np.abs(end - sheet_model(*grid((10, 10), (0.5, 0.5)), STIFF).X).max()
