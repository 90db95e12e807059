# SPDX-License-Identifier: GPL-3.0-or-later
"""Muscles in scenes: they contract, bulge and keep their volume, follow keys, and say what they lack."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.scenes import Run, block
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.fibres import FibreCurves, Fibres
from sinew.solver.scene.flesh import DYNAMIC, Flesh
from sinew.solver.scene.material import Material
from sinew.solver.scene.muscle import FULL_MODEL, Muscle
from sinew.solver.scene.scene import Body, Scene, Settings
from sinew.solver.simulation.current_model import present_flesh
from sinew.solver.simulation.features.flesh import FleshFeature
from sinew.solver.simulation.features.muscles import Muscles
from sinew.solver.simulation.simulation import Simulation

LONG, WIDE = 0.2, 0.05
SETTINGS = Settings(fps=24.0, substeps=2, frame_end=40, gravity=(0.0, 0.0, 0.0))
MATERIAL = Material(youngs_modulus=2.0e4, poisson_ratio=0.45, density=1060.0, stiffness_damping=0.02)


def muscle_block(held: str = "both", cells=(8, 3, 3), **settings) -> Body:
    """Returns a bar of parallel fibres along x, whose origin, or both ends, are pinned."""
    body = block(
        cells, (LONG, WIDE, WIDE), key="muscle", material=MATERIAL, flesh=Flesh(settings.pop("motion", "quasistatic"))
    )
    x = body.vertices[:, 0]
    origin, insertion = (x < 1e-6).astype(float), (x > LONG - 1e-6).astype(float)
    pinned = np.flatnonzero(origin + insertion if held == "both" else origin).astype(np.int32)
    muscle = Muscle(origin=origin, insertion=insertion, **settings)
    return replace(body, name="Biceps", pinned=pinned, pin_weights=np.ones(len(pinned)), muscle=muscle)


def ramp(frames: int, most: float = 1.0):
    """Returns a track of an activation that rises evenly in so many frames and stays."""
    frame = np.arange(SETTINGS.frame_end + 1)
    return frame / SETTINGS.fps, most * np.minimum(frame / frames, 1.0)


def run_of(folder, body: Body, **tracks) -> Run:
    return Run(
        folder, Scene((body,), settings=SETTINGS), **{f"body__muscle__{n}": values for n, values in tracks.items()}
    )


def volume(run: Run) -> float:
    """Returns the volume of the tets over that at rest."""
    model, x = run.built.model, run.state.x
    return float(np.linalg.det(x[model.tets[:, 1:]] - x[model.tets[:, :1]]).sum() / 6.0 / model.volume.sum())


@pytest.mark.parametrize("model", ["simplified", FULL_MODEL])
def test_a_muscle_between_approaching_bones_bulges_and_keeps_its_volume(tmp_path, model):
    body = muscle_block(model=model)
    times = np.arange(SETTINGS.frame_end + 1) / SETTINGS.fps
    ends = np.repeat(body.vertices[body.pinned][None], len(times), axis=0)
    far = ends[0, :, 0] > 0.5 * LONG
    ends[:, far, 0] -= 0.2 * LONG * np.minimum(np.arange(len(times)) / 8.0, 1.0)[:, None]
    run = run_of(tmp_path, body, activation=ramp(8), targets=(times, ends))
    shapes = [run.advance() for _ in range(10)]
    assert all(report.converged and not report.inverted_tets for report in run.reports)
    assert abs(volume(run) - 1.0) < 0.015
    assert np.ptp(shapes[-1][:, 1]) > 1.1 * WIDE


def test_a_muscle_with_a_free_end_shortens(tmp_path):
    run = run_of(tmp_path, muscle_block(held="origin"), activation=ramp(6, 0.5))
    shapes = [run.advance() for _ in range(7)]
    lengths = [np.ptp(shape[:, 0]) for shape in shapes]
    assert lengths[-1] < 0.8 * LONG and all(b <= a + 1e-6 for a, b in zip(lengths, lengths[1:], strict=False))
    assert abs(volume(run) - 1.0) < 0.015


def test_a_relaxed_muscle_rests_as_it_is(tmp_path):
    body = muscle_block()
    run = run_of(tmp_path, body)
    assert run.advance(2) == pytest.approx(body.vertices, abs=1e-9)


@pytest.mark.slow
def test_keys_end_where_a_constant_activation_is(tmp_path):
    keyed = run_of(tmp_path / "keyed", muscle_block(held="origin"), activation=ramp(4, 0.05))
    constant = run_of(tmp_path / "constant", muscle_block(held="origin", activation=0.05))
    there, here = keyed.advance(6), constant.advance(1)
    assert np.ptp(here[:, 0]) < 0.95 * LONG
    assert here == pytest.approx(there, abs=1e-3 * LONG)


def test_parallel_fibres_between_clamped_ends_pull_without_moving(tmp_path):
    """Their stress is T along x everywhere, which has no divergence and no traction on the sides."""
    body = muscle_block(activation=0.6)
    assert run_of(tmp_path, body).advance(1) == pytest.approx(body.vertices, abs=1e-9)


@pytest.mark.slow
def test_a_muscle_that_jiggles_comes_to_rest_where_it_would_in_a_pose(tmp_path):
    # slanted fibres: parallel ones between clamped ends are in equilibrium where they are
    slanted = Fibres("curves", curves=FibreCurves([[0.0, 0.0, 0.5 * WIDE], [LONG, WIDE, 0.5 * WIDE]], [2], "Strands"))
    pose = run_of(tmp_path / "pose", muscle_block(activation=0.6, fibres=slanted))
    moving = run_of(tmp_path / "moving", muscle_block(activation=0.6, fibres=slanted, motion=DYNAMIC))
    there, here = pose.advance(1), moving.advance(12)
    assert all(report.converged for report in moving.reports)
    assert np.abs(there - muscle_block().vertices).max() > 0.02 * WIDE
    assert np.abs(here - there).max() < 0.02 * WIDE


def test_a_muscle_keeps_its_bulk_modulus_where_its_stiffness_is_keyed(tmp_path):
    times = np.arange(SETTINGS.frame_end + 1) / SETTINGS.fps
    run = run_of(tmp_path, muscle_block(activation=1.0), youngs_modulus=(times, np.linspace(2.0e4, 4.0e4, len(times))))
    run.advance(3)
    flesh = present_flesh(run.built, run.state)
    part = flesh.quasistatic
    kappa = part.model.lam + 2.0 / 3.0 * part.model.mu
    assert kappa == pytest.approx(33.0 * 3.0e5) and part.model.mu[0] > 1.02 * run.built.model.mu[0]
    assert part.law.anisotropic_term is not None and abs(volume(run) - 1.0) < 0.015


def test_tendon_stays_as_long_as_it_is(tmp_path):
    run = run_of(tmp_path, muscle_block(insertion_tendon=0.08, cells=(16, 3, 3)), activation=ramp(4))
    body = run.scene.bodies[0]
    moved = run.advance(6)[:, 0] - body.vertices[:, 0]
    start = body.vertices[:, 0]
    # the belly draws the end of the tendon towards it, which gives by a few per cent
    at_end_of_belly = np.abs(start - (LONG - 0.08)) < 0.007
    assert 0.0 < -moved[at_end_of_belly].mean() + 0.05 * 0.08
    assert np.abs(moved[at_end_of_belly]).max() < 0.1 * 0.08


@pytest.mark.slow
def test_tendon_of_the_full_model_has_shear_moduli_of_its_own(tmp_path):
    def shear(**settings) -> tuple[np.ndarray, np.ndarray]:
        run = run_of(tmp_path / str(len(list(tmp_path.iterdir()))), muscle_block(cells=(16, 3, 3), **settings))
        arrays = run.built.feature(Muscles).arrays
        return arrays.shear, arrays.tendon[:, None]

    found, tendon = shear(model=FULL_MODEL, insertion_tendon=0.08, along_shear=800.0, cross_shear=9.0e4)
    assert tendon.min() == 0.0 and tendon.max() == 1.0
    assert found == pytest.approx(np.hstack([800.0 + tendon * (5.0e4 - 800.0), 9.0e4 + 0.0 * tendon]))
    found, _ = shear(model=FULL_MODEL, fibres=Fibres(tendon_only=True), along_shear=800.0)
    assert found == pytest.approx(np.tile([800.0, 500.0], (len(found), 1))), "what is only tendon has its own values"
    assert not shear(insertion_tendon=0.08)[0].any()


def test_a_resumed_muscle_has_the_activation_of_its_state(tmp_path):
    run = run_of(tmp_path, muscle_block(held="origin"), activation=ramp(4, 0.05))
    run.advance(3)
    assert run.state.fields["muscle.muscle.activation"] == pytest.approx([0.05 * 3 / 4])


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda body: replace(body, flesh=None), "muscle-not-flesh"),
        (
            lambda body: replace(body, muscle=replace(body.muscle, origin=0.0 * body.muscle.origin)),
            "muscle-end-missing",
        ),
        (lambda body: replace(body, muscle=replace(body.muscle, insertion=body.muscle.origin)), "muscle-ends-overlap"),
        (lambda body: replace(body, muscle=replace(body.muscle, origin_tendon=1.0)), "tendon-without-muscle"),
    ],
)
def test_what_a_muscle_lacks_is_told_with_its_name(tmp_path, change, code):
    with pytest.raises(BadInput) as caught:
        run_of(tmp_path, change(muscle_block()))
    assert caught.value.kind == code and "Biceps" in str(caught.value)


def test_scenes_keep_muscles_and_digests_see_them(tmp_path):
    body = muscle_block(peak_stress=2.0e5)
    scene = Scene((body,), settings=SETTINGS)
    scene.save(tmp_path)
    loaded = Scene.load(tmp_path).bodies[0].muscle
    assert loaded.peak_stress == 2.0e5 and np.array_equal(loaded.origin, body.muscle.origin)
    other = Scene((replace(body, muscle=replace(body.muscle, activation=0.5)),), settings=SETTINGS)
    assert scene.digest() != other.digest() != Scene((replace(body, muscle=None),), settings=SETTINGS).digest()


@pytest.mark.slow
def test_muscles_of_different_sizes_have_their_own_ends():
    """Tets are numbered body by body; the ends of a later muscle were looked for among other tets."""
    large = replace(muscle_block(cells=(8, 3, 3)), key="large", name="Large")
    small = replace(muscle_block(cells=(5, 2, 2)), key="small", name="Small")
    for bodies in ((large, small), (small, large)):
        built = Simulation(Scene(bodies, settings=SETTINGS)).built
        for number, body in enumerate(built.bodies):
            arrays = built.feature(Muscles).to_arrays(number)
            x = body.mesh.nodes[:, 0]
            assert x[arrays["is_origin"]].max() < 0.5 * LONG < x[arrays["is_insertion"]].min()


def test_contact_of_the_full_model_is_as_stiff_as_its_shear():
    """Its law has no shear modulus, so what it touches was felt by nothing."""
    one, other = (replace(muscle_block(cells=(5, 2, 2)), key=key, name=key) for key in ("one", "other"))

    def stiffness(**settings) -> np.ndarray:
        bodies = (replace(one, muscle=replace(one.muscle, **settings)), other)
        contact = Simulation(Scene(bodies, settings=SETTINGS)).built.feature(FleshFeature).bodies.quasistatic.contact
        return contact.stiffness[contact.points.tet < contact.model.bodies[0].tets.stop]

    full = replace(one.muscle, model=FULL_MODEL)
    shear = max(full.along_shear, full.cross_shear)
    assert stiffness(model=FULL_MODEL) / stiffness() == pytest.approx(3.0 * shear / MATERIAL.youngs_modulus, rel=0.05)
