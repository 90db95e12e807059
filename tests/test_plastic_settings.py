# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked of plastic bodies arrives: keyed, painted, refused, told, resumed, compiled ahead."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from fixtures.plastic_bodies import CLAY, FLOWS, PULL, clay_block
from fixtures.scenes import Run, block
from fixtures.tiny_bakes import baked, tiny_scene, write_scene
from reference import plastic_flow as twin
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.mechanics.plasticity import flow, plastic_norm
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.errors import BadInput, SolveFailed
from sinew.solver.scene.scene import Collider, Scene
from sinew.solver.scene.validation import check_scene
from sinew.solver.simulation.current_model import current_model


def test_frames_tell_the_largest_plastic_strain_of_each_body(tmp_path):
    bodies = (clay_block(FLOWS, key="one"), clay_block(None, key="two", at=(2.0, 0.0, 0.0)))
    run = Run(tmp_path, Scene(bodies, (Collider("ground", "Ground"),)))
    run.advance(3)
    told, norm = run.reports[-1].bodies, plastic_norm(run.built.model, run.state)
    assert (
        set(told) == {"one"} and told["one"]["largest_plastic_strain"] == pytest.approx(norm.max()) and norm.max() > 0
    )
    own = run.built.bodies[0].range.tets
    assert (norm[own.stop :] == 0.0).all() and norm[own].max() == norm.max()
    largest = max(map(twin.norm_of_shape, run.state.fields["tet.Fp_inverse"]))
    assert norm.max() == pytest.approx(largest)


@pytest.mark.parametrize(("name", "value"), [("yield_strain", 1.0), ("flow", 0.0), ("maximum_strain", 0.0)])
def test_values_are_keyframed(name, value, tmp_path):
    """Until the key it does not flow, or not far; then it does."""
    times = np.array([0.0, 5 / 24 + 1e-3])
    track = {f"body__block__{name}": (times, np.array([value, getattr(FLOWS, name)]), "step")}
    run = Run(tmp_path, Scene((clay_block(FLOWS),), (Collider("ground", "Ground"),)), **track)
    run.advance(5)
    assert plastic_norm(run.built.model, run.state).max() < 1e-12
    run.advance(3)
    assert plastic_norm(run.built.model, run.state).max() > 1e-3


def test_a_key_that_is_no_number_is_named(tmp_path):
    track = {"body__block__flow": ([0.0, 1.0], np.array([np.nan, np.nan]), "step")}
    run = Run(
        tmp_path,
        Scene(
            (clay_block(FLOWS),),
        ),
        **track,
    )
    with pytest.raises(SolveFailed, match='Flow Rate of "Block"') as caught:
        run.advance()
    assert caught.value.kind == "plastic-not-finite"


@pytest.mark.parametrize(("name", "stays"), [("yield_paint", 1e6), ("flow_paint", 0.0), ("maximum_paint", 0.0)])
def test_values_are_painted(name, stays, tmp_path):
    """The left half keeps its shape, the right one flows; inside, what is nearest on the surface holds."""
    body = block((6, 2, 2), (0.6, 0.2, 0.2), material=CLAY)
    paint = np.where(body.vertices[:, 0] < 0.25, stays, 1.0)
    asked = dataclasses.replace(FLOWS, **{name: paint}, yield_strain=1e-4)
    run = Run(tmp_path, Scene((dataclasses.replace(body, plasticity=asked),), (Collider("ground", "Ground"),)))
    run.advance(4)
    model = run.built.model
    middle = model.X[model.tets].mean(axis=1)[:, 0]
    norm = plastic_norm(model, run.state)
    assert norm[middle < 0.2].max() < 1e-12 and norm[middle > 0.35].min() > 1e-3
    limits = run.built.plastic[0].limits(run.tracks, 0.0)
    assert all(len(values) == model.tet_count for values in limits)


def test_the_same_bytes_after_a_resume(tmp_path):
    """What was saved and read goes on as what ran through."""
    bodies = (
        clay_block(dataclasses.replace(FLOWS, yield_strain=0.01, hardening=0.2, maximum_strain=0.2), key="one"),
        clay_block(dataclasses.replace(FLOWS, law="additive"), key="two", at=(2.0, 0.0, 0.0)),
    )
    run = Run(tmp_path, Scene(bodies, (Collider("ground", "Ground"),)))
    run.advance(6)
    np.savez(tmp_path / "point.npz", **run.state.to_arrays())
    run.advance(6)
    with np.load(tmp_path / "point.npz") as stored:
        again = Run(tmp_path / "again", run.scene)
        again.simulation.state = State.from_arrays(stored)
    again.advance(6)
    one, other = run.state.to_arrays(), again.state.to_arrays()
    assert set(one) == set(other) and {"field.tet.Fp_inverse", "field.tet.plastic_strain"} <= set(one)
    for name in one:
        assert one[name].tobytes() == other[name].tobytes(), name


def test_simulated_size_changes_neither_strain_nor_rate(tmp_path):
    """Twice as large and, as it is simulated, the same: the same plastic strain after the same time."""
    norms = []
    for scale, name in ((1.0, "real"), (2.0, "twice")):
        material = dataclasses.replace(CLAY, youngs_modulus=CLAY.youngs_modulus)
        body = block((3, 3, 3), 3 * (0.3 * scale,), material=material, plasticity=FLOWS, simulated_scale=1.0 / scale)
        pulled = State(body.tet_nodes @ PULL.T, np.zeros_like(body.tet_nodes))
        run = Run(tmp_path / name, Scene((body,)))
        for _ in range(4):
            flow(run.built.plastic, run.built.model, run.built.model, pulled, run.tracks, 0.02)
        norms.append(plastic_norm(run.built.model, pulled))
    np.testing.assert_allclose(norms[0], norms[1], rtol=1e-9)
    assert norms[0].min() > 0.05


BAD = [
    ({"yield_strain": -0.1}, "Yield"),
    ({"flow": -1.0}, "Flow"),
    ({"maximum_strain": -1.0}, "Max Plastic Strain"),
    ({"hardening": -0.5}, "Hardening"),
    ({"flow": np.nan}, "Flow"),
    ({"law": "liquid"}, "liquid"),
    ({"yield_paint": np.array([1.0, 2.0])}, "Yield"),
    ({"flow_paint": np.full(56, -1.0)}, "Flow"),
    ({"maximum_paint": np.full(56, np.nan)}, "Max Plastic Strain"),
]


@pytest.mark.parametrize(("wrong", "named"), BAD)
def test_settings_that_mean_nothing_are_named(wrong, named):
    body = clay_block(dataclasses.replace(FLOWS, **wrong))
    assert len(body.vertices) == 56
    with pytest.raises(BadInput) as caught:
        check_scene(Scene((body,)))
    assert '"Block"' in caught.value.sentence and named in caught.value.sentence


def test_a_model_without_plastic_strain_is_the_one_that_was_built(tmp_path):
    run = Run(tmp_path, Scene((clay_block(FLOWS),)))
    assert current_model(run.built, run.state) is run.built.model


def plastic_bake(cache: Path, frame_end: int) -> Scene:
    """Writes the scene of two cubes, one with each law; the second law is flowing when it is stopped."""
    scene = tiny_scene(frame_end)
    laws = (dataclasses.replace(FLOWS, yield_strain=0.01, hardening=0.1), dataclasses.replace(FLOWS, law="additive"))
    bodies = (dataclasses.replace(body, plasticity=law) for body, law in zip(scene.bodies, laws, strict=True))
    scene = dataclasses.replace(scene, bodies=tuple(bodies))
    write_scene(cache, scene)
    return scene


def test_a_bake_that_was_stopped_and_resumed_has_the_same_bytes(tmp_path):
    through, stopped = tmp_path / "through", tmp_path / "stopped"
    for cache in (through, stopped):
        plastic_bake(cache, 14)
    run_bake(through, lambda event: None)
    run_bake(stopped, lambda event: None, options=BakeOptions(frame_end=7))
    run_bake(stopped, lambda event: None, options=BakeOptions(resume=True))
    one, other = baked(through), baked(stopped)
    assert one["frames/000014.npz"] == other["frames/000014.npz"] and one["play/falls.pc2"] == other["play/falls.pc2"]
    told = [[line["bodies"] for line in CacheReader(cache).report()] for cache in (through, stopped)]
    assert told[0] == told[1] and told[0][-1]["falls"]["largest_plastic_strain"] > 0.01
