# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies whose adaptive tets change their sizes: what is kept when they do, when they do, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sinew.solver.api as sinew
from fixtures.closed_surfaces import sphere
from fixtures.scenes import JELLY, Run, block
from sinew.solver.bake.attributes.attribute_fields import attribute_values, body_values
from sinew.solver.bake.cache.pc2 import read_samples
from sinew.solver.live.live_run import LiveRun
from sinew.solver.mechanics.state import State
from sinew.solver.mesh.embedding import Binding, interpolate
from sinew.solver.mesh.mesh_npz import from_arrays, to_arrays
from sinew.solver.runtime.errors import BadInput
from sinew.solver.runtime.threads.thread_count import using_threads
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.flesh import Flesh
from sinew.solver.scene.formulation import FormulationSettings
from sinew.solver.scene.material import MaterialPaint, Plasticity
from sinew.solver.scene.meshing import Meshing
from sinew.solver.scene.rest_scale import RestScale
from sinew.solver.scene.scene import Body, Fracture, Scene, Settings
from sinew.solver.scene.surface_detail import SurfaceDetail
from sinew.solver.scene.tracks import NoTracks
from sinew.solver.simulation.advance_frame import render_positions
from sinew.solver.simulation.build import build
from sinew.solver.simulation.dynamic_refinement.elastic_energy import elastic_body, tet_energies
from sinew.solver.simulation.dynamic_refinement.mass_moments import masses_with_moments, moments
from sinew.solver.simulation.dynamic_refinement.split_criteria import deformation_variation
from sinew.solver.simulation.dynamic_refinement.switch_levels import apply_levels, switch_levels
from sinew.solver.simulation.simulation import Simulation

SWITCHED = Meshing("adaptive", divisions=12, refines_dynamically=True)
GROUND = Collider("ground", "Ground")
STILL = replace(JELLY, stiffness_damping=0.0)
WEIGHTLESS = Settings(frame_end=80, gravity=(0.0, 0.0, 0.0), tolerance=1e-12)


def ball(height: float = 1.05, **more: Any) -> Body:
    vertices, triangles = sphere(12)
    settings = {"material": JELLY, "meshing": SWITCHED, "key": "ball", "name": "Ball"} | more
    return Body(vertices + [0.0, 0.0, height], triangles, **settings)


def moving(folder: Path, stretch: float = 0.15) -> Run:
    """Returns a free ball that is unevenly stretched, turns, and whose nodes have uneven velocities."""
    run = Run(folder, Scene((ball(material=STILL),), settings=WEIGHTLESS))
    switch_levels(run.simulation, {0: some_split(run, 7, 0.5)})
    x = run.state.x
    r = x - x.mean(axis=0)
    run.state.x = x + stretch * np.stack([r[:, 1] * r[:, 2], np.sin(r[:, 0]), r[:, 0] ** 2], axis=1)
    run.state.v = np.cross([1.0, -2.0, 0.5], r) + [0.3, 0.1, -0.2] + np.sin(3.0 * r[:, [2, 0, 1]])
    run.built.model.bound.interpolate(run.state.x)
    run.built.model.bound.interpolate(run.state.v)
    return run


def momenta(run: Run) -> np.ndarray:
    mass, x, v = run.built.model.mass, run.state.x, run.state.v
    return np.concatenate([mass @ v, mass @ np.cross(x, v)])


def drawn_velocities(run: Run) -> np.ndarray:
    """Returns the velocities of the vertices [m/s], (n, 3)."""
    body = run.built.bodies[0]
    out = np.empty((len(body.binding.tet), 3))
    interpolate(run.state.v, run.built.model.tets[body.range.tets], body.binding, out)
    return out


def energies(run: Run) -> tuple[float, float]:
    """Returns kinetic and elastic energy of the first body [J]."""
    model, body = run.built.model, run.built.levels[0]
    which = np.arange(len(body.leaves.cell))
    stored = tet_energies(elastic_body(model, 0), body.leaves, which, run.state.x).sum()
    return 0.5 * float(model.mass @ (run.state.v**2).sum(axis=1)), float(stored)


def some_split(run: Run, seed: int, share: float = 0.3) -> np.ndarray:
    """Returns tets of which a share of the leaves is split and a share of those split is not, (c,)."""
    body = run.built.levels[0]
    levels, random = body.levels, np.random.default_rng(seed)
    is_split = body.is_split.copy()
    leaves = np.flatnonzero(levels.is_leaf(is_split) & ~levels.is_finest)
    whole = np.flatnonzero(levels.is_reached(is_split) & is_split)
    is_split[leaves[random.random(len(leaves)) < share]] = True
    is_split[whole[random.random(len(whole)) < 0.2 * share]] = False
    return is_split


def test_smaller_tets_go_on_as_the_larger_ones_were(tmp_path: Path) -> None:
    run = moving(tmp_path)
    drawn, before, (kinetic, stored) = run.simulation.positions()["ball"], momenta(run), energies(run)
    field, speeds = run.built.model.tet_count, drawn_velocities(run)
    switch_levels(run.simulation, {0: some_split(run, 1) | run.built.levels[0].is_split})
    assert run.built.model.tet_count > 1.2 * field
    assert np.abs(run.simulation.positions()["ball"] - drawn).max() < 1e-13
    assert np.abs(drawn_velocities(run) - speeds).max() < 0.01 * np.abs(speeds).max()  # masses differ a little
    assert np.abs(momenta(run) / before - 1.0).max() < 1e-10
    now = energies(run)
    assert now[0] <= kinetic * (1.0 + 1e-12) and now[0] > 0.98 * kinetic
    assert now[1] == pytest.approx(stored, rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_larger_tets_keep_the_momenta_and_gain_no_energy(seed: int, tmp_path: Path) -> None:
    run = moving(tmp_path, 0.02)
    switch_levels(run.simulation, {0: some_split(run, seed) | run.built.levels[0].is_split})
    fine = run.built.model.tet_count
    before, energy = momenta(run), sum(energies(run))
    drawn = run.simulation.positions()["ball"]
    switch_levels(run.simulation, {0: some_split(run, seed + 10, 0.5)})
    assert run.built.model.tet_count != fine
    assert np.abs(momenta(run) / before - 1.0).max() < 1e-10
    assert sum(energies(run)) <= energy * (1.0 + 1e-12)
    assert np.abs(run.simulation.positions()["ball"] - drawn).max() < 0.02


def test_a_rigid_motion_stays_one_whatever_tets_it_has(tmp_path: Path) -> None:
    """Also its energy stays: masses at the corners of large tets do not make it turn more slowly."""
    run = Run(tmp_path, Scene((ball(material=STILL),), settings=WEIGHTLESS))
    spin, away = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.1, -0.2])
    run.state.v = np.cross(spin, run.state.x) + away
    kinetic, before = energies(run)[0], momenta(run)
    for seed in range(3):
        switch_levels(run.simulation, {0: some_split(run, seed)})
        assert np.abs(run.state.v - np.cross(spin, run.state.x) - away).max() < 1e-9
        assert energies(run)[0] == pytest.approx(kinetic, rel=1e-10)
        assert np.abs(momenta(run) / before - 1.0).max() < 1e-10
    assert energies(run)[1] < 1e-18 * run.built.model.mass.sum() * JELLY.youngs_modulus


def test_masses_get_the_moments_wanted() -> None:
    random = np.random.default_rng(3)
    x, other = (random.normal(size=(count, 3)) * [1.0, 2.0, 0.5] + 5.0 for count in (400, 300))
    mass, start = random.random(400) + 0.5, np.full(300, 400.0 / 300.0)
    middle = mass @ x / mass.sum()
    found = masses_with_moments(start, other, moments(mass, x, middle, 1.5), middle, 1.5)
    assert found is not None and found.min() > 0.0
    assert np.allclose(found @ other, mass @ x, rtol=1e-12)
    assert np.allclose((found[:, None] * other).T @ other, (mass[:, None] * x).T @ x, rtol=1e-12)
    assert masses_with_moments(start, other, 30.0 * moments(mass, x, middle, 1.5), middle, 1.5) is None


def test_energy_is_that_of_singular_values(tmp_path: Path) -> None:
    run = moving(tmp_path)
    model = run.built.model
    corners = run.state.x[model.tets]
    F = np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2) @ model.Dm_inverse
    e = np.linalg.svd(F, compute_uv=False) - 1.0
    wanted = model.volume * (model.mu * (e * e).sum(axis=1) + 0.5 * model.lam * e.sum(axis=1) ** 2)
    which = np.arange(model.tet_count)
    found = tet_energies(elastic_body(model, 0), run.built.levels[0].leaves, which, run.state.x)
    assert np.allclose(found, wanted, rtol=1e-9, atol=1e-12 * wanted.max())


def test_variation_is_none_in_an_affine_motion_and_halves_with_the_size(tmp_path: Path) -> None:
    run = moving(tmp_path)
    affine = run.built.model.X @ np.array([[1.1, 0.2, 0.0], [0.0, 0.9, 0.1], [0.3, 0.0, 1.0]])
    assert deformation_variation(run.built.model, affine, 0)[1].max() < 1e-12

    def bent(is_split: np.ndarray) -> float:
        run = Run(tmp_path, Scene((ball(material=STILL),), settings=WEIGHTLESS))
        switch_levels(run.simulation, {0: is_split})
        model, X = run.built.model, run.built.model.X
        places = X + 0.1 * np.stack([X[:, 1] * X[:, 2], X[:, 0] ** 2, X[:, 1] ** 2], axis=1)
        inside = np.linalg.norm(X[model.tets].mean(axis=1) - X.mean(axis=0), axis=1) < 0.5
        return float(np.median(deformation_variation(model, places, 0)[1][inside]))

    levels = run.built.levels[0].levels
    number = np.arange(len(levels.parent))
    found = [bent(number < first) for first in levels.level_start[:-1]]
    ratios = np.array(found[1:]) / found[:-1]
    assert len(ratios) == 2 and (ratios > 0.4).all() and (ratios < 0.6).all()


def test_at_rest_nothing_is_switched(tmp_path: Path) -> None:
    """A ball that hangs at rest keeps the tets that it has come to have."""
    body = ball(pinned=np.flatnonzero(ball().vertices[:, 2] > 1.8).astype(np.int32))
    soft = replace(JELLY, youngs_modulus=4e4, stiffness_damping=0.1, mass_damping=5.0)
    run = Run(tmp_path, Scene((replace(body, material=soft),), settings=Settings(frame_end=200)))
    start = run.built.model.tet_count
    run.advance(60)
    built = run.built
    assert built.model.tet_count > start
    for _ in range(20):
        run.advance()
        assert run.built is built


@pytest.mark.slow
def test_a_bake_resumed_and_one_that_ran_through_have_the_same_bytes(tmp_path: Path) -> None:
    scene = Scene((ball(1.15, initial_velocity=(0.0, 0.0, -2.0)),), (GROUND,), Settings(frame_end=16))
    whole = sinew.bake(scene, tmp_path / "whole.sinew")
    sinew.bake(replace(scene, settings=replace(scene.settings, frame_end=11)), tmp_path / "parts.sinew")
    parts = sinew.bake(scene, tmp_path / "parts.sinew", resume=True)
    assert whole.play_path("ball").read_bytes() == parts.play_path("ball").read_bytes()
    frames = [(cache.folder / "frames" / "000016.npz").read_bytes() for cache in (whole, parts)]
    assert frames[0] == frames[1]


@pytest.mark.slow
def test_lost_samples_are_drawn_again_from_frames(tmp_path: Path) -> None:
    scene = Scene((ball(1.15, initial_velocity=(0.0, 0.0, -2.0)),), (GROUND,), Settings(frame_end=11))
    cache = sinew.bake(scene, tmp_path / "c.sinew")
    drawn = read_samples(cache.play_path("ball"), 0, 11)
    with cache.play_path("ball").open("r+b") as file:
        file.truncate(cache.play_path("ball").stat().st_size // 2)
    sinew.bake(replace(scene, settings=replace(scene.settings, frame_end=12)), cache.folder, resume=True)
    again = read_samples(cache.play_path("ball"), 0, 12)
    assert np.abs(drawn[10] - drawn[0]).max() > 0.1
    assert np.abs(again[:11] - drawn).max() < 1e-6  # frames are float32


def test_attributes_are_those_of_the_tets_of_the_moment(tmp_path: Path) -> None:
    body = ball(1.1, initial_velocity=(0.0, 0.0, -2.0), attributes=("principal_stress",))
    run = Run(tmp_path, Scene((body,), (GROUND,), Settings(frame_end=8)))
    start = run.built.model.tet_count
    run.advance(5)
    values = body_values(run.simulation, 0, attribute_values(run.simulation, {"principal_stress"}))
    assert (
        len(values["principal_stress"]) == run.built.model.tet_count > start
        and values["principal_stress"].max() > 100.0
    )


def test_stored_levels_come_back_and_damaged_ones_are_named() -> None:
    mesh = Simulation(Scene((ball(),))).built.stored.bodies[0].mesh
    binding = Binding(
        np.zeros(len(ball().vertices), np.int32), np.tile([1.0, 0.0, 0.0, 0.0], (len(ball().vertices), 1))
    )
    arrays = {name: np.asarray(values) for name, values in to_arrays(ball(), mesh, binding).items()}
    again = from_arrays(arrays)[0].levels
    assert again is not None and mesh.levels is not None
    for name in ("origin", "corners", "parent", "fill", "is_split_at_start"):
        assert getattr(again, name).tobytes() == getattr(mesh.levels, name).tobytes()
    assert (again.spacing, again.counts, again.level_start) == (
        mesh.levels.spacing,
        mesh.levels.counts,
        mesh.levels.level_start,
    )
    damages = {
        "levels_parent": arrays["levels_parent"][::-1].copy(),
        "levels_corners": arrays["levels_corners"] + 10**9,
        "levels_level_start": arrays["levels_level_start"][::-1].copy(),
        "levels_is_split_at_start": arrays["levels_is_split_at_start"][:-1],
    }
    for name, values in damages.items():
        with pytest.raises(ValueError, match="levels_"):
            from_arrays(arrays | {name: values})


def test_any_number_of_threads_gives_the_same_bytes(tmp_path: Path) -> None:
    found = []
    for count in (1, 2):
        with using_threads(count):
            run = Run(
                tmp_path, Scene((ball(1.1, initial_velocity=(0.0, 0.0, -2.0)),), (GROUND,), Settings(frame_end=8))
            )
            start = run.built.model.tet_count
            run.advance(5)
            found.append((run.state.x.tobytes(), run.state.v.tobytes(), run.built.model.mass.tobytes()))
            assert run.built.model.tet_count > start
    assert found[0] == found[1]


def test_stored_nodes_draw_the_body_where_it_is(tmp_path: Path) -> None:
    run = moving(tmp_path)
    stored = run.built.stored
    x = run.built.stored_positions(run.state.x)
    assert len(x) == stored.model.node_count > len(run.state.x)
    drawn = render_positions(stored, State(x, np.zeros_like(x)))["ball"]
    assert np.abs(drawn - run.simulation.positions()["ball"]).max() < 1e-13


def test_a_state_gives_a_scene_its_tets_again(tmp_path: Path) -> None:
    run = moving(tmp_path)
    fresh = Run(tmp_path, Scene((ball(material=STILL),), settings=WEIGHTLESS)).built
    again = apply_levels(fresh, run.state).model
    for name in ("X", "tets", "mass", "volume", "Dm_inverse"):
        assert getattr(again, name).tobytes() == getattr(run.built.model, name).tobytes()


@pytest.mark.parametrize(
    ("feature", "more"),
    [
        ("Flesh", {"flesh": Flesh(motion="dynamic")}),
        ("the Method QR", {"method": FormulationSettings("qr")}),
        ("other rotations", {"method": FormulationSettings(rotations_every=2)}),
        ("BDF2", {"method": FormulationSettings(scheme="bdf2")}),
        ("Plasticity", {"plasticity": Plasticity()}),
        ("painted materials", {"material_paint": MaterialPaint(density=np.ones(len(sphere(12)[0])))}),
        ("Rest Scale", {"rest_scale": RestScale(1.1)}),
        ("Surface Detail", {"surface_detail": SurfaceDetail()}),
    ],
)
def test_what_cannot_go_on_is_named(feature: str, more: dict[str, Any]) -> None:
    with pytest.raises(BadInput) as raised:
        build(Scene((ball(**more),)), NoTracks(), lambda *_: None)
    assert raised.value.kind == "levels-combined" and feature in str(raised.value)


def test_what_another_body_cannot_have_beside_it_is_named() -> None:
    for feature, more in (("Fracture", {"fracture": Fracture()}), ("Flesh", {"flesh": Flesh(motion="dynamic")})):
        other = ball(4.0, key="other", name="Other", meshing=Meshing(divisions=6), **more)
        with pytest.raises(BadInput) as raised:
            build(Scene((ball(), other)), NoTracks(), lambda *_: None)
        assert raised.value.kind == "levels-beside" and feature in str(raised.value) and "Other" in str(raised.value)


def test_live_runs_refuse_it_by_name() -> None:
    with pytest.raises(BadInput) as raised:
        LiveRun(Scene((ball(),)), NoTracks())
    assert raised.value.kind == "levels-live" and "Ball" in str(raised.value)


@pytest.mark.slow
def test_others_touch_it_while_it_has_other_tets(tmp_path: Path) -> None:
    """A block falls on a ball; what contacts remember goes on, and the block stays on top."""
    top = block((3, 3, 2), (0.9, 0.9, 0.6), (-0.45, -0.45, 2.2))
    soft = replace(JELLY, youngs_modulus=5e4)
    run = Run(tmp_path, Scene((ball(material=soft), top), (GROUND,), Settings(frame_end=60)))
    counts = []
    for _ in range(20):
        run.advance()
        counts.append(len(run.built.bodies[0].mesh.tets))
    assert len(set(counts)) > 3 and all(report.not_converged == 0 for report in run.reports)
    assert run.render["block"][:, 2].min() > run.render["ball"][:, 2].max() - 0.15
