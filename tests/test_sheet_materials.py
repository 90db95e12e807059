# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets whose material has tracks: they are then as if they had been made of it, and keep their momentum."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.rigid_bodies import momenta, run_of
from fixtures.sheets import grid
from sinew.solver.scene.scene import Body, Meshing
from sinew.solver.scene.sheet_presets import SHEET_PRESETS
from sinew.solver.simulation.current_model import current_model

WEIGHTLESS = (0.0, 0.0, 0.0)
CHANGED = {"youngs_modulus": 4.0e5, "poisson_ratio": 0.2, "density": 700.0, "mass_damping": 3.0} | {
    "stiffness_damping": 0.02
}


def cloth(preset: str = "COTTON", **settings: object) -> Body:
    nodes, triangles = grid((6, 6), (0.3, 0.3))
    made = SHEET_PRESETS[preset]
    settings = {"material": made.material, "sheet": made.sheet, "key": "cloth", "name": "Cloth"} | settings
    return Body(nodes, triangles, meshing=Meshing("sheet"), **settings)


def tracks_to(body: Body, **values: float) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Returns tracks that have the material of a body at the start, and other values from 0.1 s on."""
    times = np.array([0.0, 0.1])
    return {
        f"body__{body.key}__{name}": (times, np.array([getattr(body.material, name), value]))
        for name, value in values.items()
    }


@pytest.mark.parametrize("preset", ["COTTON", "RUBBER"])
def test_a_changed_sheet_has_the_model_of_one_that_is_made_so(tmp_path: Path, preset: str) -> None:
    other = cloth("SILK", key="other", name="Other")
    body = cloth(preset, simulated_scale=2.0)
    run = run_of(tmp_path, other, body, gravity=WEIGHTLESS, frame_end=10, **tracks_to(body, **CHANGED))
    run.advance(6)
    found = current_model(run.built, run.state)
    made = run_of(tmp_path / "made", other, replace(body, material=replace(body.material, **CHANGED))).built.model
    assert found.sheets is not None and made.sheets is not None and run.built.model.sheets is not None
    for name in ("bending", "moduli"):
        wanted = getattr(made.sheets.hinges, name)
        np.testing.assert_allclose(getattr(found.sheets.hinges, name), wanted, rtol=1e-12)
        assert not np.allclose(getattr(run.built.model.sheets.hinges, name), wanted), "it was another one"
    np.testing.assert_allclose(found.sheets.flexibility.values, made.sheets.flexibility.values, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.sheets.density, made.sheets.density, rtol=1e-12)
    for name in ("mass", "mass_damping", "stiffness_damping", "density"):
        np.testing.assert_allclose(getattr(found, name), getattr(made, name), rtol=1e-12)


def test_a_sheet_that_gets_heavier_keeps_its_momentum(tmp_path: Path) -> None:
    body = cloth(initial_velocity=(1.0, 0.0, 0.5))
    run = run_of(tmp_path, body, gravity=WEIGHTLESS, frame_end=10, **tracks_to(body, density=900.0))
    before = momenta(run)[0]
    run.advance(6)
    now = current_model(run.built, run.state).mass @ run.state.v
    np.testing.assert_allclose(now, before, rtol=1e-9, atol=1e-12)
    assert run.state.v[:, 0].mean() == pytest.approx(body.material.density / 900.0, rel=1e-6)


@pytest.mark.slow
def test_a_strip_that_softens_sags_as_one_that_is_soft(tmp_path: Path) -> None:
    nodes, triangles = grid((10, 2), (0.2, 0.04))
    rubber = SHEET_PRESETS["RUBBER"]
    stiff = replace(rubber.material, mass_damping=2.0)
    soft = replace(stiff, youngs_modulus=0.2 * stiff.youngs_modulus)
    held = np.flatnonzero(nodes[:, 0] < 0.03).astype(np.int32)
    body = Body(nodes, triangles, stiff, meshing=Meshing("sheet"), sheet=rubber.sheet, pinned=held, key="cloth")
    sag = []
    for number, (material, tracks) in enumerate(
        ((stiff, {}), (stiff, tracks_to(body, youngs_modulus=soft.youngs_modulus)), (soft, {}))
    ):
        run = run_of(
            tmp_path / str(number), replace(body, material=material), frame_end=200, gravity=(0.0, 0.0, -0.01), **tracks
        )
        run.advance(120)
        sag.append(-run.render["cloth"][:, 2].min())
    assert sag[1] == pytest.approx(sag[2], rel=2e-3) and sag[2] > 1.2 * sag[0]
