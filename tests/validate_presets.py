# SPDX-License-Identifier: GPL-3.0-or-later
"""What the presets do at the size of a statue: one metre high, set down, and dropped by a metre.

Blows are looked at in steps that see them: sound needs 0.2 ms through a metre of glass, 0.5 ms through plaster and
3.5 ms through chocolate, and a crack gets on by about a tet in a step. In the 10 ms of 4 substeps per frame all three
crack at the edge that they fall on, and stay in one piece. In `FINE` steps they lose chips there, of half a cell of the
lattice and more; what is softened by f and weaker by √f, under the same blow in its own measure, breaks up. Glass as
it is loses one, whether its steps are solved to 1e-4 or to 1e-8; two came off where they ended at the cap of 400
iterations.

python -m pytest -s tests/validate_presets.py
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.claim_table import reach
from fixtures.scenes import Run, block, rotation
from sinew.solver.scene.material_presets import MATERIAL_PRESETS, MaterialPreset
from sinew.solver.scene.scene import Collider, Meshing, Scene, Settings
from sinew.solver.scene.settings.fracture_settings import NEW_BODY_CRACK_ADVANCES

SECTION = "Presets at the size of a statue"
FALL = 1.0  # [m]
TILT = 0.9  # [rad]
SOFT_LANDING = 0.05  # [m]
FINE = 64  # substeps per frame, of 0.65 ms each
COARSE, STEPS = 16, 4  # substeps per frame, and how many of them sound takes through what is softened for them
BREAKS = {"GLASS": (2, 1000), "PLASTER": (3, 1000), "CHOCOLATE": (3, 1000), "TEARING_RUBBER": (1, 1)}
DENTS = {"CLAY": (0.05, 2.0), "WAX": (0.0, 0.1)}


def dropped(folder: Path, preset: MaterialPreset, height: float, tilt: float, frames: int, substeps: int = 4) -> Run:
    """Returns a slender block of one metre that fell from a height [m], turned by a tilt [rad], after its impact."""
    shown = {part: getattr(preset, part) for part in preset.features if part not in ("heat", "brittle")}
    turn = rotation((1.0, 0.6, 0.2), tilt) if tilt else None
    body = block((4, 4, 10), (0.4, 0.4, 1.0), turn=turn, material=preset.material, **shown)
    lifted = [0.0, 0.0, 0.002 - body.vertices[:, 2].min()]
    body = replace(
        body,
        vertices=body.vertices + lifted,
        meshing=Meshing("robust", 0.1),
        tet_nodes=None,
        tets=None,
        initial_velocity=(0.0, 0.0, -float(np.sqrt(2.0 * 9.81 * height))),
    )
    settings = Settings(frame_end=1 + frames, substeps=substeps)
    run = Run(folder, Scene((body,), (Collider("ground", "Ground"),), settings))
    run.advance(frames)
    return run


def softened(preset: MaterialPreset) -> tuple[MaterialPreset, float]:
    """Returns what can break softer by f and weaker by √f, so that sound takes `STEPS` steps through it; and f."""
    material, fracture = preset.material, preset.fracture
    assert fracture is not None and fracture.toughness is not None
    sound = float(np.sqrt(material.youngs_modulus / material.density))
    f = max(1.0, (sound * STEPS / (24.0 * COARSE)) ** 2)
    weaker = replace(
        fracture,
        breaking_stress=fracture.breaking_stress / np.sqrt(f),
        toughness=fracture.toughness / np.sqrt(f),
    )
    return replace(preset, material=replace(material, youngs_modulus=material.youngs_modulus / f), fracture=weaker), f


@pytest.mark.parametrize("key", BREAKS)
def test_what_breaks(key: str, tmp_path: Path) -> None:
    least, most = BREAKS[key]
    bound = f"{least} to {most}" if most > least else str(least)
    preset = MATERIAL_PRESETS[key]
    label = preset.label
    stood = dropped(tmp_path / "stood", preset, SOFT_LANDING, 0.0, 12).reports[-1].bodies["block"]
    reach(
        SECTION, f"{label}: set down from {SOFT_LANDING} m", f"{stood['pieces']:.0f} pieces", "1", stood["pieces"] == 1
    )
    soft, f = softened(preset)
    for name, shown, substeps in (("as it is", preset, FINE), (f"softer by {f:.0f}", soft, COARSE)):
        fell = dropped(tmp_path / name, shown, FALL, TILT, 3, substeps).reports[-1].bodies["block"]
        holds = least <= fell["pieces"] <= most
        line = f"{label}, {name}, {substeps} substeps: falls from {FALL} m on an edge"
        reach(SECTION, line, f"{fell['pieces']:.0f} pieces", bound, holds)


def test_cracks_run_through_chocolate_in_default_steps(tmp_path: Path) -> None:
    preset = MATERIAL_PRESETS["CHOCOLATE"]
    assert preset.fracture is not None
    for advances, least, most in ((1, 1, 1), (NEW_BODY_CRACK_ADVANCES, 2, 1000)):
        shown = replace(preset, fracture=replace(preset.fracture, crack_advances=advances))
        fell = dropped(tmp_path / str(advances), shown, FALL, TILT, 6).reports[-1].bodies["block"]
        line = f"Chocolate, 4 substeps, {advances} Crack Advances: falls from {FALL} m on an edge"
        bound = f"{least} to {most}" if most > least else str(least)
        reach(SECTION, line, f"{fell['pieces']:.0f} pieces", bound, least <= fell["pieces"] <= most)


@pytest.mark.parametrize("key", DENTS)
def test_what_dents(key: str, tmp_path: Path) -> None:
    least, most = DENTS[key]
    fell = dropped(tmp_path, MATERIAL_PRESETS[key], FALL, TILT, 18)
    strain = fell.reports[-1].bodies["block"]["largest_plastic_strain"]
    line = f"{MATERIAL_PRESETS[key].label}: largest lasting strain after a fall from {FALL} m"
    reach(SECTION, line, strain, f"{least} to {most}", least <= strain <= most)
    inverted = max(report.inverted_tets for report in fell.reports)
    reach(SECTION, f"{MATERIAL_PRESETS[key].label}: tets inside out meanwhile", inverted, 0, inverted == 0)
