# SPDX-License-Identifier: GPL-3.0-or-later
"""Heads of a muscle and its strength: which tets are whose, and how active they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.muscle import MuscleHead
from sinew.solver.scene.scene import Scene
from sinew.solver.scene.validation import check_scene
from sinew.solver.simulation.features.muscles import Muscles
from test_muscle_scene import LONG, SETTINGS, WIDE, muscle_block, ramp, run_of


def two_headed(**settings):
    """Returns a bar whose upper half is one head and whose lower half another, but for a middle without paint."""
    body = muscle_block(**settings)
    z = body.vertices[:, 2]
    upper, lower = np.clip(z / WIDE - 0.4, 0.0, 1.0), np.clip(0.4 - z / WIDE, 0.0, 1.0)
    heads = (MuscleHead(upper, 0.2), MuscleHead(lower, 0.7))
    return replace(body, muscle=replace(body.muscle, heads=heads))


def muscles_of(run) -> Muscles:
    return next(feature for feature in run.built.features if isinstance(feature, Muscles))


@pytest.mark.slow
def test_tets_belong_to_the_head_that_is_painted_most_there(tmp_path):
    run = run_of(tmp_path, two_headed(cells=(8, 5, 5), activation=0.5))
    found = muscles_of(run)
    centres = run.state.x[run.built.model.tets].mean(axis=1)[:, 2] / WIDE
    assert set(found.arrays.unit[centres > 0.61]) == {1}
    assert set(found.arrays.unit[centres < 0.39]) == {2}
    assert found.activations(run.state) == pytest.approx([0.5, 0.7, 1.0])


def test_heads_and_strength_follow_their_tracks(tmp_path):
    tracks = {"activation": ramp(4, 0.4), "muscle_strength": ramp(4, 0.5), "head__1__activation": ramp(4, 1.0)}
    run = run_of(tmp_path, two_headed(activation=0.5), **tracks)
    run.advance(2)
    assert run.state.fields["muscle.muscle.activation"] == pytest.approx(0.25 * np.array([0.2, 0.4, 0.7]))


@pytest.mark.slow
def test_one_active_head_bends_the_muscle_towards_it(tmp_path):
    body = two_headed(held="origin", activation=0.0)
    upper, lower = body.muscle.heads
    body = replace(
        body, muscle=replace(body.muscle, heads=(replace(upper, activation=0.3), replace(lower, activation=0.0)))
    )
    run = run_of(tmp_path, body)
    moved = run.advance(1) - body.vertices
    at_end = body.vertices[:, 0] > LONG - 1e-6
    assert moved[at_end, 2].mean() > 0.02 * LONG


def test_heads_survive_saving_and_change_the_digest(tmp_path):
    body = two_headed()
    scene = Scene((body,), settings=SETTINGS)
    scene.save(tmp_path)
    loaded = Scene.load(tmp_path)
    assert [head.activation for head in loaded.bodies[0].muscle.heads] == [0.2, 0.7]
    assert loaded.digest() == scene.digest()
    plain = Scene((replace(body, muscle=replace(body.muscle, heads=())),), settings=SETTINGS)
    assert plain.digest() != scene.digest()


@pytest.mark.parametrize(
    ("weights", "code"),
    [(np.zeros(0), "muscle-head-unpainted"), (None, "muscle-head-empty"), (np.zeros(3), "paint-without-vertices")],
)
def test_a_head_without_tets_is_told(tmp_path, weights, code):
    body = two_headed()
    first = body.muscle.heads[0]
    # painted as the first one, which comes before it
    other = replace(first, weights=first.weights if weights is None else weights)
    scene = Scene((replace(body, muscle=replace(body.muscle, heads=(first, other))),), settings=SETTINGS)
    with pytest.raises(BadInput) as caught:
        check_scene(scene)
        run_of(tmp_path, scene.bodies[0])
    assert caught.value.kind == code and "Biceps" in str(caught.value)


def test_a_muscle_takes_its_flexed_shape_as_it_gets_active(tmp_path):
    """Without fibres that pull, it would be wider by what its rest shape is."""
    body = muscle_block(held="origin", peak_stress=100.0)
    times, values = ramp(2)
    flexed = body.vertices * [1.0, 1.0, 1.3]
    rest = body.vertices + values[:, None, None] * (flexed - body.vertices)
    run = run_of(tmp_path, body, activation=(times, values), rest=(times, rest))
    shape = [run.advance() for _ in range(4)][-1]
    assert all(report.converged and not report.inverted_tets for report in run.reports)
    far = body.vertices[:, 0] > 0.5 * LONG
    assert np.ptp(shape[far, 2]) == pytest.approx(1.3 * WIDE, rel=0.02)
