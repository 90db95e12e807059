# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets of muscle fill in the settings, turn to Custom when one is edited, and hold what their tooltips say."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from fixtures.export_scenes import exported
from sinew.addon.properties.muscle_preset_filling import preset_values
from sinew.solver.scene.flesh import Flesh
from sinew.solver.scene.material import Material
from sinew.solver.scene.muscle_presets import MUSCLE_PRESETS
from test_export_muscle import muscle_box
from test_muscle_scene import LONG, muscle_block, run_of


@pytest.mark.parametrize("key", MUSCLE_PRESETS)
def test_a_preset_arrives_in_the_scene(tmp_path: Path, key: str) -> None:
    scene, obj = muscle_box()
    obj.sinew.muscle_preset = key
    body, tissue = exported(scene, tmp_path / "c.sinew")[0].bodies[0], MUSCLE_PRESETS[key].tissue
    assert obj.sinew.muscle_preset == key, "its own values change nothing"
    assert body.material.youngs_modulus == pytest.approx(tissue.youngs_modulus)
    assert body.material.poisson_ratio == pytest.approx(tissue.poisson_ratio, rel=1e-6)
    assert (body.flesh.law, body.muscle.model) == (tissue.law, tissue.model)
    assert body.muscle.bulk_modulus == pytest.approx(tissue.bulk_ratio * tissue.peak_stress)
    assert body.muscle.fibres.tendon_only == tissue.tendon_only and body.muscle.along_shear == tissue.along_shear


SETTINGS_OF_LITERATURE = (
    "peak_stress",
    "tendon_stiffness",
    "bulk_ratio",
    "along_shear",
    "cross_shear",
    "fascia_stiffness",
)
SOURCE = re.compile(r"(Zajac|Blemker|Sifakis)[^()]*, (1989|2005|2007)")
VALUE = re.compile(r"\d (k|G)?Pa\b")


@pytest.mark.parametrize("key", MUSCLE_PRESETS)
def test_the_tooltip_of_a_preset_tells_its_source_and_values(key: str) -> None:
    _, obj = muscle_box()
    tooltip = obj.sinew.bl_rna.properties["muscle_preset"].enum_items[key].description
    assert SOURCE.search(tooltip), tooltip
    assert VALUE.search(tooltip) or "As Tendon" in tooltip, tooltip


def test_the_tooltips_of_settings_tell_where_their_values_come_from() -> None:
    _, obj = muscle_box()
    properties = obj.sinew.bl_rna.properties
    tooltips = [properties[name].description for name in SETTINGS_OF_LITERATURE]
    tooltips += [item.description for item in properties["muscle_model"].enum_items]
    assert [text for text in tooltips if not SOURCE.search(text)] == []


@pytest.mark.parametrize(
    ("name", "value"), [("youngs_modulus", 1.0e4), ("flesh_law", "COROTATED"), ("bulk_ratio", 9.0)]
)
def test_an_edited_value_turns_the_menu_to_custom(name: str, value: object) -> None:
    _, obj = muscle_box()
    obj.sinew.muscle_preset = "MUSCLE"
    setattr(obj.sinew, name, preset_values("MUSCLE")[name])
    assert obj.sinew.muscle_preset == "MUSCLE"
    setattr(obj.sinew, name, value)
    assert obj.sinew.muscle_preset == "CUSTOM"


@pytest.mark.parametrize(("key", "low", "high"), [("MUSCLE", 0.99, 1.01), ("MUSCLE_SIFAKIS", 1.28, 1.38)])
def test_how_much_the_belly_swells_at_a_held_length(tmp_path: Path, key: str, low: float, high: float) -> None:
    tissue, body = MUSCLE_PRESETS[key].tissue, muscle_block(activation=1.0)
    muscle = replace(body.muscle, peak_stress=tissue.peak_stress, bulk_ratio=tissue.bulk_ratio)
    material = Material(tissue.youngs_modulus, tissue.poisson_ratio, 1060.0)
    run = run_of(tmp_path, replace(body, material=material, flesh=Flesh(law=tissue.law), muscle=muscle))
    run.advance()
    model, x = run.built.model, run.state.x
    volume = np.linalg.det(x[model.tets[:, 1:]] - x[model.tets[:, :1]]) / 6.0
    is_belly = np.abs(model.X[model.tets].mean(axis=1)[:, 0] / LONG - 0.5) < 0.15
    assert low < volume[is_belly].sum() / model.volume[is_belly].sum() < high
