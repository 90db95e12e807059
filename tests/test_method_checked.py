# SPDX-License-Identifier: GPL-3.0-or-later
"""What a scene may ask of the method of a body: what there is, what each reads, and what goes together."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from flesh_scenes import limb
from method_choices import OTHER
from scenes import Run, block
from sinew.solver.anatomy import Flesh
from sinew.solver.checks import check_scene
from sinew.solver.errors import BadInput
from sinew.solver.method import (
    DEFAULT,
    FRACTURE,
    HEAT,
    LABELS,
    METHODS,
    PLASTICITY,
    SAG,
    SWITCHES,
    WORDS,
    Method,
    as_read,
    not_for,
)
from sinew.solver.scene import Fracture, Heat, Plasticity, Scene, Settings
from sinew.solver.warm_scene import everything, features, small

FEATURES: dict[str, dict[str, Any]] = {
    PLASTICITY: {"plasticity": Plasticity()},
    HEAT: {"heat": Heat()},
    FRACTURE: {"fracture": Fracture()},
    SAG: {"gravity_in_shape": True},
}


def scene_of(method: Method, **more: Any) -> Scene:
    return Scene((dataclasses.replace(block(), method=method, **more),), settings=Settings(frame_end=2))


def test_tables_name_every_method_and_every_switch() -> None:
    assert set(LABELS) == set(SWITCHES) == set(METHODS)
    switches = {field.name for field in dataclasses.fields(Method)} - {"name"}
    assert {switch for reads in SWITCHES.values() for switch in reads} == switches == set(OTHER)
    for switch, known in WORDS.items():
        assert getattr(DEFAULT, switch) == known[0] and OTHER[switch] in known
    assert all(set(not_for(Method(name))) <= set(FEATURES) for name in METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_switches_that_a_method_does_not_read_are_as_by_default(name: str) -> None:
    read = as_read(Method(name, **OTHER))
    for switch, other in OTHER.items():
        assert getattr(read, switch) == (other if switch in SWITCHES[name] else getattr(DEFAULT, switch))


def test_a_body_that_reads_no_other_switch_has_the_default_method(tmp_path: Path) -> None:
    run = Run(tmp_path, scene_of(Method(levels=2, one_step=True)))
    assert run.built.model.methods == ()


@pytest.mark.parametrize(
    ("method", "kind", "words"),
    [
        (Method("cauchy"), "method-unknown", '"cauchy"'),
        (Method(rotation="newton"), "method-switch", "rotation"),
        (Method("vertex-warp", network="cloth"), "method-switch", "network"),
        (Method("hierarchical", coarse_solver="gauss"), "method-switch", "coarse_solver"),
        (Method("green", scheme="leapfrog"), "method-switch", "scheme"),
        (Method(rotations_every=0), "setting-out-of-range", "New Rotations Every"),
        (Method(rotations_every=2.5), "setting-out-of-range", "New Rotations Every"),
        (Method("hierarchical", levels=1.5), "setting-out-of-range", "Refinements"),
        (Method("hierarchical", levels=9), "setting-out-of-range", "Refinements"),
    ],
)
def test_methods_that_do_not_exist_are_refused_by_name(method: Method, kind: str, words: str) -> None:
    with pytest.raises(BadInput) as told:
        check_scene(scene_of(method))
    assert told.value.kind == kind and words in told.value.sentence and '"block"' in told.value.sentence.lower()


def test_what_is_not_read_is_not_checked() -> None:
    check_scene(scene_of(Method("linear", rotation="newton", network="cloth")))
    check_scene(Scene((limb(flesh=Flesh(), method=Method("cauchy")),), (), Settings(frame_end=2)))


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("name", METHODS)
def test_what_does_not_go_together_is_refused_by_name(name: str, feature: str) -> None:
    scene = scene_of(Method(name), **FEATURES[feature])
    if feature not in not_for(Method(name)):
        check_scene(scene)
        return
    with pytest.raises(BadInput) as told:
        check_scene(scene)
    assert told.value.kind == "method-combined"
    assert LABELS[name] in told.value.sentence and feature in told.value.sentence
    assert feature in told.value.next_step


def test_the_kernels_of_a_method_are_compiled_for_scenes_that_have_it() -> None:
    plain = features(scene_of(DEFAULT))
    known = {plain}
    for name in METHODS:
        for switch in ("", *(switch for switch in SWITCHES[name] if switch != "levels")):
            method = Method(name, **({switch: OTHER[switch]} if switch else {}))
            scene = scene_of(method)
            if method != DEFAULT:
                assert features(scene) not in known, method
                known.add(features(scene))
            assert small(scene).bodies[0].method == method
            check_scene(small(scene))
    assert features(scene_of(Method("polar", levels=2))) == plain, "not read"
    deep = scene_of(Method("hierarchical", levels=3))
    assert features(deep) == features(scene_of(Method("hierarchical"))), "the same kernels for more tets"
    assert small(deep).bodies[0].method.levels == 1
    assert features(scene_of(Method(rotations_every=3))) == features(scene_of(Method(rotations_every=4)))
    assert {body.method for body in everything().bodies} == {DEFAULT}


def test_a_small_scene_has_only_what_each_method_is_made_for() -> None:
    sagging, other = block(gravity_in_shape=True), block(key="other", method=Method("green"))
    made = small(Scene((sagging, other), settings=Settings(frame_end=2)))
    check_scene(made)
    assert {body.method.name: body.gravity_in_shape for body in made.bodies} == {"polar": True, "green": False}


def test_tets_that_refinements_make_are_counted_before_they_are_made(tmp_path: Path) -> None:
    enough = dataclasses.replace(block().meshing, memory_limit=len(block().tets) * 8 * 3000)
    run = Run(tmp_path / "one", scene_of(Method("hierarchical"), meshing=enough))
    assert run.built.model.tet_count == 8 * len(block().tets)
    with pytest.raises(BadInput) as told:
        Run(tmp_path / "two", scene_of(Method("hierarchical", levels=2), meshing=enough))
    assert told.value.kind == "too-many-refined" and f"{64 * len(block().tets):,}" in told.value.sentence
