# SPDX-License-Identifier: GPL-3.0-or-later
"""What a scene may ask of the method of a body: what there is, what each reads, and what goes together."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from fixtures.flesh_scenes import limb
from fixtures.formulation_choices import OTHER
from fixtures.scenes import Run, block
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.flesh import Flesh
from sinew.solver.scene.formulation import (
    DEFAULT_FORMULATION,
    FORMULATION_LABELS,
    FORMULATION_SWITCHES,
    FORMULATIONS,
    FRACTURE,
    GRAVITY_IN_SHAPE,
    HEAT,
    PLASTICITY,
    SWITCH_VALUES,
    FormulationSettings,
    unsupported_features,
    with_unread_defaults,
)
from sinew.solver.scene.scene import Fracture, Heat, Plasticity, Scene, Settings
from sinew.solver.scene.validation import check_scene

FEATURES: dict[str, dict[str, Any]] = {
    PLASTICITY: {"plasticity": Plasticity()},
    HEAT: {"heat": Heat()},
    FRACTURE: {"fracture": Fracture()},
    GRAVITY_IN_SHAPE: {"gravity_in_shape": True},
}


def scene_of(method: FormulationSettings, **more: Any) -> Scene:
    return Scene((dataclasses.replace(block(), method=method, **more),), settings=Settings(frame_end=2))


def test_tables_name_every_method_and_every_switch() -> None:
    assert set(FORMULATION_LABELS) == set(FORMULATION_SWITCHES) == set(FORMULATIONS)
    switches = {field.name for field in dataclasses.fields(FormulationSettings)} - {"name"}
    assert {switch for reads in FORMULATION_SWITCHES.values() for switch in reads} == switches == set(OTHER)
    for switch, known in SWITCH_VALUES.items():
        assert getattr(DEFAULT_FORMULATION, switch) == known[0] and OTHER[switch] in known
    assert all(set(unsupported_features(FormulationSettings(name))) <= set(FEATURES) for name in FORMULATIONS)


@pytest.mark.parametrize("name", FORMULATIONS)
def test_switches_that_a_method_does_not_read_are_as_by_default(name: str) -> None:
    read = with_unread_defaults(FormulationSettings(name, **OTHER))
    for switch, other in OTHER.items():
        assert getattr(read, switch) == (
            other if switch in FORMULATION_SWITCHES[name] else getattr(DEFAULT_FORMULATION, switch)
        )


def test_a_body_that_reads_no_other_switch_has_the_default_method(tmp_path: Path) -> None:
    run = Run(tmp_path, scene_of(FormulationSettings(levels=2, one_step=True)))
    assert run.built.model.methods == ()


@pytest.mark.parametrize(
    ("method", "kind", "words"),
    [
        (FormulationSettings("cauchy"), "method-unknown", '"cauchy"'),
        (FormulationSettings(rotation="newton"), "method-switch", "rotation"),
        (FormulationSettings("vertex-warp", network="cloth"), "method-switch", "network"),
        (FormulationSettings("hierarchical", coarse_solver="gauss"), "method-switch", "coarse_solver"),
        (FormulationSettings("green", scheme="leapfrog"), "method-switch", "scheme"),
        (FormulationSettings(rotations_every=0), "setting-out-of-range", "Update Rotations Every"),
        (FormulationSettings(rotations_every=2.5), "setting-out-of-range", "Update Rotations Every"),
        (FormulationSettings("hierarchical", levels=1.5), "setting-out-of-range", "Refinements"),
        (FormulationSettings("hierarchical", levels=9), "setting-out-of-range", "Refinements"),
    ],
)
def test_methods_that_do_not_exist_are_refused_by_name(method: FormulationSettings, kind: str, words: str) -> None:
    with pytest.raises(BadInput) as told:
        check_scene(scene_of(method))
    assert told.value.kind == kind and words in told.value.sentence and '"block"' in told.value.sentence.lower()


def test_what_is_not_read_is_not_checked() -> None:
    check_scene(scene_of(FormulationSettings("linear", rotation="newton", network="cloth")))
    check_scene(Scene((limb(flesh=Flesh(), method=FormulationSettings("cauchy")),), (), Settings(frame_end=2)))


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("name", FORMULATIONS)
def test_what_does_not_go_together_is_refused_by_name(name: str, feature: str) -> None:
    scene = scene_of(FormulationSettings(name), **FEATURES[feature])
    if feature not in unsupported_features(FormulationSettings(name)):
        check_scene(scene)
        return
    with pytest.raises(BadInput) as told:
        check_scene(scene)
    assert told.value.kind == "method-combined"
    assert FORMULATION_LABELS[name] in told.value.sentence and feature in told.value.sentence
    assert feature in told.value.next_step


def test_tets_that_refinements_make_are_counted_before_they_are_made(tmp_path: Path) -> None:
    enough = dataclasses.replace(block().meshing, memory_limit=len(block().tets) * 8 * 3000)
    run = Run(tmp_path / "one", scene_of(FormulationSettings("hierarchical"), meshing=enough))
    assert run.built.model.tet_count == 8 * len(block().tets)
    with pytest.raises(BadInput) as told:
        Run(tmp_path / "two", scene_of(FormulationSettings("hierarchical", levels=2), meshing=enough))
    assert told.value.kind == "too-many-refined" and f"{64 * len(block().tets):,}" in told.value.sentence
