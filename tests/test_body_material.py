# SPDX-License-Identifier: GPL-3.0-or-later
"""What is painted of a material, and what tracks change of it, in bodies of every kind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.formulation_choices import CHOICES, words
from fixtures.scenes import JELLY, Run, block
from sinew.solver.mechanics.elastic_moduli import lame_moduli
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.errors import BadInput, SolveFailed
from sinew.solver.scene.flesh import Flesh
from sinew.solver.scene.formulation import FORMULATIONS, FormulationSettings
from sinew.solver.scene.material import MaterialPaint
from sinew.solver.scene.rest_scale import RestScale
from sinew.solver.scene.scene import Body, Collider, Fracture, Heat, HeatSource, Material, Scene, Settings
from sinew.solver.scene.validation import check_scene
from sinew.solver.simulation.current_model import current_model

FPS = 24.0
FLESH = {"pose": Flesh(), "jiggle": Flesh("dynamic"), "newmark": Flesh("dynamic", scheme="newmark")}
KINDS: dict[str, dict[str, Any]] = {
    **{name: {"method": FormulationSettings(name)} for name in FORMULATIONS},
    **{name: {"flesh": flesh} for name, flesh in FLESH.items()},
}
ALL_KINDS: dict[str, dict[str, Any]] = {
    **{words(method): {"method": method} for method in CHOICES},
    **{name: {"flesh": flesh} for name, flesh in FLESH.items()},
}
PAINTS = ("youngs_modulus", "poisson_ratio", "density", "mass_damping", "stiffness_damping")
CELLS, LENGTH, WIDTH = (2, 2, 20), 1.0, 0.1


def hung_bar(**settings: Any) -> Body:
    """Returns a bar of height LENGTH whose top is held."""
    body = block(CELLS, (WIDTH, WIDTH, LENGTH), **settings)
    top = np.flatnonzero(body.vertices[:, 2] > LENGTH - 1e-9).astype(np.int32)
    return replace(body, pinned=top, pin_weights=np.ones(len(top)))


def half_and_half(body: Body, below: float, above: float = 1.0) -> np.ndarray:
    return np.where(body.vertices[:, 2] < 0.5 * LENGTH - 1e-9, below, above)


@pytest.mark.parametrize("kind", KINDS)
def test_paint_changes_moduli_masses_and_damping_inward(kind: str, tmp_path: Path) -> None:
    """The model is that of a body in two halves, each with its own material."""
    plain = hung_bar(simulated_scale=2.0, material=replace(JELLY, mass_damping=0.5), **KINDS[kind])
    factors = dict(zip(PAINTS, (0.25, 0.5, 2.0, 3.0, 0.75), strict=True))
    paint = MaterialPaint(**{name: half_and_half(plain, factor) for name, factor in factors.items()})
    model = Run(tmp_path, Scene((replace(plain, material_paint=paint),))).built.model
    unpainted = make_model([Part("x", model.X, model.tets, np.ones(model.tet_count), plain.material)])
    centre, h = model.X[model.tets].mean(axis=1)[:, 2], LENGTH / CELLS[2]
    low, high = centre < 0.5 * LENGTH - h, centre > 0.5 * LENGTH
    for side, share in ((low, factors), (high, dict.fromkeys(PAINTS, 1.0))):
        E, nu = plain.material.youngs_modulus / 4.0 * share["youngs_modulus"], 0.3 * share["poisson_ratio"]
        mu, lam = lame_moduli(E, nu)
        np.testing.assert_allclose(model.mu[side], mu)
        np.testing.assert_allclose(model.lam[side], lam)
        np.testing.assert_allclose(model.density[side], 1000.0 * share["density"])
        np.testing.assert_allclose(model.stiffness_damping[side], 0.01 * share["stiffness_damping"])
    below, above = model.X[:, 2] < 0.5 * LENGTH - 1.5 * h, model.X[:, 2] > 0.5 * LENGTH + 0.5 * h
    np.testing.assert_allclose(model.mass[below], 2.0 * unpainted.mass[below])
    np.testing.assert_allclose(model.mass[above], unpainted.mass[above])
    np.testing.assert_allclose(model.mass_damping[below], 1.5)
    np.testing.assert_allclose(model.mass_damping[above], 0.5)
    # between them: as much force as what the tets around a node say together
    alpha = 0.5 * np.where(low, 3.0, 1.0)
    edge = ~(low | high)
    alpha[edge] = 0.5 * model.density[edge] / 500.0 - 0.5  # 2 is to 1 as 3 to 1, linear between
    share = 0.25 * model.density * model.volume
    force = np.bincount(model.tets.ravel(), np.repeat(share * alpha, 4), model.node_count)
    np.testing.assert_allclose(model.mass * model.mass_damping, force)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_hung_bar_whose_half_is_painted_sags_as_the_one_dimensional_solution(kind: str, tmp_path: Path) -> None:
    """With ν = 0: u(0) = −∫ ρ g z / (E p(z)) dz, p the paint along the bar, linear between vertices; within 2 %."""
    E, rho, g = 4.0e6, 1000.0, 9.81
    # heavily damped: they come to rest within a second
    material = Material(E, 0.0, rho, mass_damping=40.0, stiffness_damping=0.001)
    body = hung_bar(material=material, **KINDS[kind])
    body = replace(body, material_paint=MaterialPaint(half_and_half(body, 0.1)))
    run = Run(tmp_path, Scene((body,), (), Settings(tolerance=1e-8, pose_tolerance=1e-6, substeps=2)))
    low = body.vertices[:, 2] < 1e-9
    for _ in range(4):
        x = run.advance(12)
    h = LENGTH / CELLS[2]
    held = run.built.model.X[run.built.pins[0].fixed_nodes, 2].min(initial=LENGTH)  # whole tets
    z = np.linspace(0.0, held, 100001)
    p = np.interp(z, [0.5 * LENGTH - h, 0.5 * LENGTH], [0.1, 1.0])
    wanted = -float(np.sum(rho * g * z / (E * p)) * (z[1] - z[0]))
    assert abs(wanted) > 2.0 * rho * g * LENGTH**2 / (2 * E)  # what it would sag without paint
    assert (x - body.vertices)[low, 2].mean() == pytest.approx(wanted, rel=0.02)
    assert np.abs(run.state.v).max() < 1e-5
    assert run.reports[-1].converged


def test_paint_of_zero_leaves_enough_to_be_solved_for(tmp_path: Path) -> None:
    body = hung_bar()
    nothing = half_and_half(body, 0.0)
    run = Run(
        tmp_path, Scene((replace(body, material_paint=MaterialPaint(nothing, nothing, nothing, nothing, nothing)),))
    )
    assert (run.built.model.mass > 0.0).all() and (run.built.model.mu > 0.0).all()
    run.advance()
    assert run.reports[0].converged


@pytest.mark.parametrize(
    ("paint", "kind"),
    [
        (MaterialPaint(np.ones(3)), "paint-without-vertices"),
        (MaterialPaint(density=np.full(len(hung_bar().vertices), -1.0)), "setting-out-of-range"),
        (MaterialPaint(stiffness_damping=np.full(len(hung_bar().vertices), np.nan)), "setting-out-of-range"),
    ],
)
def test_paint_that_means_nothing_is_named(paint: MaterialPaint, kind: str) -> None:
    with pytest.raises(BadInput) as told:
        check_scene(Scene((hung_bar(material_paint=paint),)))
    assert told.value.kind == kind and '"Block"' in told.value.sentence


VALUES = {
    "youngs_modulus": 2.0e4, "poisson_ratio": 0.1, "density": 2000.0, "mass_damping": 3.0, "stiffness_damping": 0.03,
}  # fmt: skip


def keyed(name: str, before: float, after: float, frame: int) -> dict[str, Any]:
    """Returns the track of a value that jumps at a frame."""
    return {f"body__block__{name}": (np.array([0.0, (frame - 1) / FPS]), np.array([before, after]), "step")}


def joined(folder: Path, scene: Scene, name: str, frame: int, until: int) -> State:
    """Returns the last state of a bake up to the frame before a key, and of another from there with the new value."""
    first = Run(folder / "first", scene)
    first.advance(frame - 2)
    body = scene.bodies[0]
    material = replace(body.material, **{name: VALUES[name]})
    second = Run(folder / "second", replace(scene, bodies=(replace(body, material=material),)))
    state = first.state.copy()
    if name == "density" and body.flesh != FLESH["pose"]:
        state.v = state.v * (body.material.density / material.density)  # momentum is kept
        if "bdf2.length" in state.fields:
            state.fields["bdf2.length"][:] = 0.0
    second.simulation.state = state
    second.simulation._is_started = True
    second.advance(until - frame + 1)
    return second.state


def is_quick(kind: str, name: str) -> bool:
    """Whether a case is no slow one: variants of the hierarchical method take long, so few of them run each time."""
    return kind == "hierarchical" or not kind.startswith("hierarchical") or (name == "density" and "levels" not in kind)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        pytest.param(kind, name, marks=() if is_quick(kind, name) else pytest.mark.slow)
        for kind in ALL_KINDS
        for name in VALUES
    ],
)
def test_a_key_gives_the_bits_of_two_bakes_joined(kind: str, name: str, tmp_path: Path) -> None:
    body = block((2, 2, 3), (0.2, 0.2, 0.3), material=replace(JELLY, mass_damping=0.5), **ALL_KINDS[kind])
    side = np.flatnonzero(body.vertices[:, 0] < 1e-9).astype(np.int32)
    body = replace(body, pinned=side, pin_weights=np.where(body.vertices[side, 2] > 0.15, 1.0, 0.5))
    scene = Scene((body,), (), Settings(substeps=1, tolerance=1e-6))
    run = Run(tmp_path, scene, **keyed(name, getattr(body.material, name), VALUES[name], 4))
    run.advance(5)
    other = joined(tmp_path, scene, name, 4, 6)
    assert run.state.x.tobytes() == other.x.tobytes() and run.state.v.tobytes() == other.v.tobytes()
    unkeyed = Run(tmp_path / "unkeyed", scene)
    unkeyed.advance(5)
    damps = "damping" in name and "flesh" in ALL_KINDS[kind] and ALL_KINDS[kind]["flesh"] == FLESH["pose"]
    assert damps == (np.abs(unkeyed.state.x - run.state.x).max() < 1e-9)  # what is at rest is not damped


def test_a_falling_body_that_gets_heavier_keeps_its_momentum_and_falls_as_fast_after(tmp_path: Path) -> None:
    """Twice the mass: half the velocity, and gravity accelerates it as before."""
    run = Run(tmp_path, Scene((block((2, 2, 2)),), (), Settings(substeps=1)), **keyed("density", 1000.0, 2000.0, 6))
    model, g, dt = run.built.model, 9.81, 1 / FPS
    run.advance(4)
    momentum = model.mass @ run.state.v
    assert momentum[2] == pytest.approx(-4 * g * dt * model.mass.sum())
    run.advance(1)
    now = current_model(run.built, run.state)
    assert now.mass.sum() == pytest.approx(2.0 * model.mass.sum())
    assert (now.mass @ run.state.v)[2] == pytest.approx(momentum[2] - g * dt * now.mass.sum())
    np.testing.assert_allclose(run.state.v[:, 2], -(4 / 2 + 1) * g * dt, rtol=1e-6)


def test_a_hanging_body_sags_by_its_weight(tmp_path: Path) -> None:
    """On springs by mass it sags as far as before; held exactly, twice as far with twice the density."""
    material = Material(4.0e5, 0.0, 1000.0, mass_damping=40.0)
    body = hung_bar(material=material)
    low = body.vertices[:, 2] < 1e-9
    for name, weights, which, ratio in (("exact", 1.0, low, 2.0), ("springs", 0.5, body.pinned, 1.0)):
        held = replace(body, pin_weights=np.full(len(body.pinned), weights))
        scene = Scene((held,), (), Settings(tolerance=1e-8))
        tracks = {**keyed("density", 1000.0, 2000.0, 49), "body__block__pin_stiffness": ([0.0], [1.0e5])}
        run = Run(tmp_path / name, scene, **tracks)
        before, after = ((run.advance(count) - body.vertices)[which, 2].mean() for count in (47, 49))
        assert after / before == pytest.approx(ratio, rel=0.02)


def test_a_source_heats_by_volume_where_the_density_is_painted(tmp_path: Path) -> None:
    """Twice as dense, half as fast: what a source gives goes by the volume, and its warmth by the mass."""
    body = block((2, 2, 2), heat=Heat(20.0, 0.0, 1000.0, 0.0))
    heavy = replace(body, material_paint=MaterialPaint(density=np.full(len(body.vertices), 2.0)))
    source = HeatSource("s", "Source", 50.0, 10.0, 100.0)
    settings = Settings(air_temperature=20.0, gravity=(0.0, 0.0, 0.0))
    warmer = []
    for each in (body, heavy):
        run = Run(tmp_path / str(len(warmer)), Scene((each,), (), settings, (source,)))
        run.advance(2)
        warmer.append(run.state.fields["node.temperature"] - 20.0)
    np.testing.assert_allclose(warmer[1], 0.5 * warmer[0], rtol=1e-3)


def test_pieces_of_a_painted_body_are_as_heavy_as_it_was(tmp_path: Path) -> None:
    body = block((6, 2, 2), (0.6, 0.2, 0.2), fracture=Fracture(50.0))
    body = replace(body, material_paint=MaterialPaint(density=np.where(body.vertices[:, 0] < 0.3, 3.0, 1.0)))
    run = Run(tmp_path, Scene((replace(body, initial_velocity=(0.0, 0.0, -3.0)),), (Collider("g", "Ground"),)))
    whole = run.built.model.mass.sum()
    run.advance(4)
    assert run.built.model.node_count > run.built.unbroken.model.node_count
    assert run.built.model.mass.sum() == pytest.approx(whole)


def test_a_track_between_keys_is_sampled_in_every_step(tmp_path: Path) -> None:
    times, values = np.array([0.0, 1.0]), np.array([1.0e5, 3.0e5])
    scene = Scene((block((2, 2, 2)),), (), Settings(substeps=2))
    run = Run(tmp_path, scene, body__block__youngs_modulus=(times, values))
    for number in range(1, 4):
        run.simulation.step()
        E = 1.0e5 + 2.0e5 * number / (2 * FPS)
        assert run.state.fields["material.block"][0] == pytest.approx(E, rel=1e-12)
        np.testing.assert_allclose(current_model(run.built, run.state).mu, E / 2.6)
    assert (run.built.model.mu == 1.0e5 / 2.6).all()


@pytest.mark.parametrize(("name", "value"), [("density", np.nan), ("poisson_ratio", 0.5), ("youngs_modulus", -1.0)])
def test_a_key_that_means_nothing_is_named(name: str, value: float, tmp_path: Path) -> None:
    track = keyed(name, 0.3, value, 2)
    run = Run(tmp_path, Scene((block((2, 2, 2)),), (), Settings(substeps=1)), **track)
    with pytest.raises(SolveFailed) as told:
        run.advance()
    assert told.value.kind == "animated-value" and '"Block"' in told.value.sentence


def test_a_resumed_simulation_has_the_same_bits(tmp_path: Path) -> None:
    body = hung_bar()
    times = np.linspace(0.0, 1.0, 5)
    tracks = {
        "body__block__youngs_modulus": (times, np.array([1.0e5, 3.0e5, 5.0e4, 1.0e5, 1.0e5])),
        "body__block__density": (times, np.array([1000.0, 500.0, 2000.0, 1000.0, 1000.0])),
    }
    run = Run(tmp_path, Scene((body,), ()), **tracks)
    run.advance(6)
    stored = State.from_arrays(run.state.to_arrays())
    run.advance(6)
    again = Run(tmp_path / "again", run.scene, **tracks)
    again.simulation.state = stored
    again.simulation._is_started = True
    again.advance(6)
    one, other = run.state.to_arrays(), again.state.to_arrays()
    assert set(one) == set(other) and all(one[name].tobytes() == other[name].tobytes() for name in one)


def test_a_body_without_keys_keeps_the_model_that_was_built(tmp_path: Path) -> None:
    run = Run(tmp_path, Scene((hung_bar(),)))
    run.advance()
    assert current_model(run.built, run.state) is run.built.model and "material.block" not in run.state.fields


def resumed(folder: Path, run: Run, scene: Scene, **tracks: Any) -> Run:
    """Returns a run of a changed scene that goes on from the state of another."""
    again = Run(folder, scene, **tracks)
    again.simulation.state = State.from_arrays(run.state.to_arrays())
    again.simulation._is_started = True
    return again


def test_a_resumed_simulation_has_the_present_value_of_what_has_no_key(tmp_path: Path) -> None:
    """As a body without any keys does, whose velocities stay, too."""
    scene, key = Scene((block((2, 2, 2)),), ()), keyed("youngs_modulus", 1.0e5, 2.0e5, 3)
    run = Run(tmp_path / "first", scene, **key)
    run.advance(3)
    heavier = replace(scene.bodies[0], material=replace(scene.bodies[0].material, density=2000.0))
    again = resumed(tmp_path / "again", run, replace(scene, bodies=(heavier,)), **key)
    v = again.state.v[:, 2].mean()
    again.simulation.step()
    np.testing.assert_allclose(current_model(again.built, again.state).density, 2000.0)
    dt = 1.0 / FPS / scene.settings.substeps
    assert again.state.v[:, 2].mean() == pytest.approx(v - 9.81 * dt, rel=1e-6)


def test_a_resumed_simulation_has_the_rest_scale_of_a_body_that_lost_its_keys(tmp_path: Path) -> None:
    scene = Scene((block((2, 2, 2)),), ())
    run = Run(tmp_path / "first", scene, **keyed("rest_scale", 1.0, 1.5, 2))
    run.advance(2)
    smaller = replace(scene.bodies[0], rest_scale=RestScale(scale=1.25))
    again = resumed(tmp_path / "again", run, replace(scene, bodies=(smaller,)))
    again.simulation.step()
    np.testing.assert_allclose(current_model(again.built, again.state).volume, 1.25**3 * again.built.model.volume)
