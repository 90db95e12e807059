# SPDX-License-Identifier: GPL-3.0-or-later
"""Stretch limits: energy and derivatives, the curve of a hung bar, paint, keys, and bytes where they are off."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.scenes import Run, block
from fixtures.tet_meshes import bar
from sinew.solver.constraints.force import ForceStep
from sinew.solver.constraints.rest_shape_animation.rest_scale import RestStretch, with_rest_scales
from sinew.solver.constraints.stretch_limit import LAST_FLOOR, STRETCH_FLOOR, StretchLimits
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import hyperelastic
from sinew.solver.mechanics.model import Model, Part, make_model
from sinew.solver.mechanics.stretch_limit.limit_kernels import (
    LIMIT_MARGIN,
    LIMIT_STRESS,
    floor_derivatives,
    limit_derivatives,
)
from sinew.solver.mechanics.stretch_limit.limit_potential import NO_EXCESS, LimitPotential, make_limit_potential
from sinew.solver.quasistatic.equilibrium import solve
from sinew.solver.quasistatic.equilibrium_problem import EquilibriumProblem
from sinew.solver.quasistatic.fixed_nodes import FixedNodes
from sinew.solver.quasistatic.stretch_limit_forces import LimitForces
from sinew.solver.runtime.errors import BadInput, SolveFailed
from sinew.solver.scene.flesh import Flesh
from sinew.solver.scene.formulation import FORMULATIONS, FormulationSettings
from sinew.solver.scene.goal import Goal
from sinew.solver.scene.scene import Body, Material, Scene, Settings
from sinew.solver.scene.stretch_limit import StretchLimit
from sinew.solver.scene.validation import check_scene

MODULUS = 1.0e4
SETTINGS = Settings(fps=24.0, substeps=2, frame_end=100, tolerance=1e-8)


def one_tet() -> Model:
    nodes = np.array([[0.0, 0.0, 0.0], [1.1, 0.1, 0.0], [0.2, 0.9, -0.1], [0.0, 0.3, 1.2]])
    return make_model([Part("tet", nodes, np.array([[0, 1, 2, 3]], np.int32), np.ones(1), Material(MODULUS, 0.3))])


def stretched(model: Model, stretches: list[float], seed: int) -> np.ndarray:
    """Returns positions of one tet with F of these principal stretches along random axes."""
    draw = np.random.default_rng(seed)
    U, V = (np.linalg.qr(draw.normal(size=(3, 3)))[0] for _ in range(2))
    U, V = U * np.linalg.det(U), V * np.linalg.det(V)
    return model.X @ (U @ np.diag(stretches) @ V.T).T + draw.normal(size=3)


def potential_of(model: Model, limit: float = 1.5) -> LimitPotential:
    return make_limit_potential(model, np.full(model.tet_count, limit))


STRETCHES = (
    [1.7, 0.9, 0.8],
    [1.9, 1.6, 0.7],
    [2.0, 2.0, 2.0],
    [1.7, 1.5, 1.5],
    [2.2, 0.4, -0.3],
    [2.0, 1.8, -1.6],
    [1.6, 1.0e-9, 0.0],
)


@pytest.mark.parametrize("stretches", STRETCHES)
def test_forces_and_stiffness_are_the_derivatives_of_the_energy(stretches: list[float]) -> None:
    model = one_tet()
    potential, x, step = potential_of(model), stretched(model, stretches, 3), 1e-5
    energies, found = potential.forces_at(x)
    energy = energies.sum()
    psi = sum(limit_derivatives(abs(s), 1.5, MODULUS)[0] for s in stretches)
    assert energy == pytest.approx(model.volume[0] * psi, rel=1e-9)
    force, K = found.force[0], found.stiffness[0].transpose(0, 2, 1, 3).reshape(12, 12)
    size, stiff = np.abs(force).max(), np.abs(K).max()
    for place in range(12):
        moved = np.zeros(12)
        moved[place] = step
        ahead, behind = (potential.forces_at(x + sign * moved.reshape(4, 3)) for sign in (1.0, -1.0))
        assert -(ahead[0].sum() - behind[0].sum()) / (2 * step) == pytest.approx(force.flat[place], abs=1e-4 * size)
        slope = -(ahead[1].force[0] - behind[1].force[0]).ravel() / (2 * step)
        # p' has a kink at the limit, where the difference is of half its slope
        assert slope == pytest.approx(K[place], abs=2e-4 * stiff)
    assert pytest.approx(K.T, abs=1e-9 * stiff) == K
    assert np.linalg.eigvalsh(K).min() > -1e-9 * stiff, "convex, without any clamping"


def chord_end(potential: LimitPotential, x: np.ndarray, before: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Returns the forces of the one tet at `end` by those at x and the stiffness of chords, (4, 3)."""
    _, found, _ = potential.chord_forces_at(x, before)
    K = found.stiffness[0].transpose(0, 2, 1, 3).reshape(12, 12)
    return np.asarray(found.force[0] - (K @ (end - x).ravel()).reshape(4, 3))


def test_a_chord_leads_to_the_stress_of_the_last_linear_solve() -> None:
    model = one_tet()
    potential = potential_of(model)

    def at(excess: float) -> np.ndarray:
        return stretched(model, [1.5 + excess, 1.0, 0.9], 3)

    first, second = at(0.2), at(0.05)
    rest = potential.excess_at(at(-0.1))
    size = np.abs(potential.forces_at(first)[1].force).max()
    assert not rest.any()
    assert np.abs(chord_end(potential, first, rest, at(0.0))).max() < 1e-9 * size, "where there was no stress, to none"
    # the linear solve from 0.2 to 0.05 gave it κ E 0.2 · 0.05 / w², which it bears at an excess of 0.1
    _, found, now = potential.chord_forces_at(first, rest)
    borne = potential.forces_at(at(0.1))[1].force[0]
    end = chord_end(potential, second, potential.of_all_tets(found, now), at(0.1))
    assert end == pytest.approx(borne, abs=1e-9 * size)
    at_rest, tangent = potential.excess_at(first), potential.forces_at(first)[1]
    assert np.array_equal(potential.chord_forces_at(first, at_rest)[1].stiffness, tangent.stiffness)


class TangentLimits(LimitForces):
    """Limits whose stiffness is that of tangents at all positions."""

    def begin_step(self) -> None:
        self._before = NO_EXCESS


def test_chords_save_newton_iterations_where_a_start_is_beyond_the_limit() -> None:
    X, tets = bar((6, 2, 2), (0.6, 0.2, 0.2))
    model = make_model([Part("bar", X, tets, np.ones(len(tets)), Material(1e5, 0.3))])
    held = np.flatnonzero(X[:, 0] < 1e-9).astype(np.int32)
    potential, start, found = potential_of(model, 1.1), X * [1.5, 1.0, 1.0], {}
    for kind in (LimitForces, TangentLimits):
        forces = [kind(model, potential, X)]
        if kind is TangentLimits:
            forces[0].begin_step()
        problem = EquilibriumProblem(model, hyperelastic(model), FixedNodes(held, X[held]), None, forces)
        found[kind] = solve(problem, start, 1e-6)
        assert found[kind].converged and np.abs(found[kind].x - X).max() < 1e-6
    assert found[LimitForces].newton_iterations + 3 <= found[TangentLimits].newton_iterations


def test_nothing_within_the_limit() -> None:
    model = one_tet()
    for stretches in ([1.499999, 1.4, 0.1], [1.0, 1.0, 1.0], [1.4999, -1.4, 0.2]):
        energies, found = potential_of(model).forces_at(stretched(model, stretches, 5))
        energy = energies.sum()
        assert energy == 0.0 and not len(found)
    assert len(potential_of(model).forces_at(stretched(model, [1.500001, 1.0, 1.0], 5))[1]) == 1
    assert not len(potential_of(model, np.inf).forces_at(stretched(model, [9.0, 9.0, 9.0], 5))[1])


PRESSED = ([1.2, 0.9, 0.5], [1.7, 0.55, 0.4], [1.3, 0.3, -0.2], [0.5, 0.5, 0.4], [1.9, 1.8, -1.7])


@pytest.mark.parametrize("stretches", PRESSED)
def test_forces_below_the_floor_are_the_derivative_of_the_energy(stretches: list[float]) -> None:
    nodes = np.concatenate([np.zeros((1, 3)), np.eye(3)])  # x of the last three nodes are the columns of F
    model = make_model([Part("tet", nodes, np.array([[0, 1, 2, 3]], np.int32), np.ones(1), Material(MODULUS, 0.3))])
    potential = make_limit_potential(model, np.array([1.5]), np.array([STRETCH_FLOOR]))
    x, step = stretched(model, stretches, 3), 1e-5
    energies, found = potential.forces_at(x)
    energy = energies.sum()
    psi = sum(
        limit_derivatives(abs(s), 1.5, MODULUS)[0] + floor_derivatives(s, STRETCH_FLOOR, MODULUS)[0] for s in stretches
    )
    assert energy == pytest.approx(model.volume[0] * psi, rel=1e-9) and energy > 0.0
    force, K = found.force[0, 1:].ravel(), found.stiffness[0, 1:, 1:].transpose(0, 2, 1, 3).reshape(9, 9)
    slopes = np.empty((9, 9))
    for place in range(9):
        moved = np.zeros(12)
        moved[place + 3] = step
        ahead, behind = (potential.forces_at(x + sign * moved.reshape(4, 3)) for sign in (1.0, -1.0))
        slope = -(ahead[0].sum() - behind[0].sum()) / (2 * step)
        assert slope == pytest.approx(force[place], abs=1e-4 * np.abs(force).max())
        slopes[place] = -(ahead[1].force[0, 1:] - behind[1].force[0, 1:]).ravel() / (2 * step)
    values, axes = np.linalg.eigh(0.5 * (slopes + slopes.T))
    nearest = (axes * np.maximum(values, 0.0)) @ axes.T  # among semi-definite matrices
    assert pytest.approx(nearest, abs=1e-3 * np.abs(K).max()) == K


def test_nothing_above_the_floor() -> None:
    model = one_tet()
    potential = make_limit_potential(model, np.array([1.5]), np.array([STRETCH_FLOOR]))
    for stretches, count in (([1.4, 0.7, 0.600001], 0), ([1.4, 0.7, 0.599999], 1), ([1.4, 0.7, -0.7], 1)):
        assert len(potential.forces_at(stretched(model, stretches, 5))[1]) == count
    assert not len(potential_of(model).forces_at(stretched(model, [1.0, 0.5, -0.3], 5))[1]), "no floor"


@pytest.mark.parametrize("stretch", [1.5, 1.53, 1.6, 1.8])
def test_a_drawn_bar_pulls_by_the_stress_of_the_curve(stretch: float) -> None:
    body = hung_bar(None)
    model = make_model([Part("bar", body.tet_nodes, body.tets, np.ones(len(body.tets)), Material(MODULUS, 0.3))])
    x = model.X * [1.0, 1.0, stretch]
    force = potential_of(model).forces_at(x)[1].nodal_forces(np.zeros_like(x), model.tets)
    stress = LIMIT_STRESS * MODULUS * ((stretch - 1.5) / LIMIT_MARGIN) ** 2
    pull = force[model.X[:, 2] > 0.79].sum(axis=0)
    assert pull == pytest.approx([0.0, 0.0, -stress * 0.1**2], abs=1e-9 * MODULUS)


def test_stress_starts_at_the_limit_and_grows_without_a_kink() -> None:
    energy, stress, slope = limit_derivatives(1.5, 1.5, MODULUS)
    assert (energy, stress, slope) == (0.0, 0.0, 0.0)
    assert limit_derivatives(1.5 + LIMIT_MARGIN, 1.5, MODULUS)[1] == pytest.approx(LIMIT_STRESS * MODULUS)


def test_stretch_is_that_beside_rest_scale_and_plastic_strain() -> None:
    model = one_tet()
    x = stretched(model, [1.8, 1.0, 1.0], 7)
    scaled = with_rest_scales(model, {0: (RestStretch(np.ones(1), np.zeros((0, 3))), 1.25)})
    assert not len(potential_of(scaled).forces_at(x)[1]), "1.8 / 1.25 is within 1.5"
    # a strain of 0.3 in all directions has flowed: 1.8 / 1.3
    flowed = replace(model, initial_strain=np.array([[0.3, 0.3, 0.3, 0.0, 0.0, 0.0]]))
    assert not len(potential_of(flowed).forces_at(x)[1])
    along = replace(model, initial_strain=np.array([[0.0, 0.0, 0.0, 0.1, 0.0, 0.0]]))
    assert len(potential_of(along).forces_at(x)[1]) == 1


def hung_bar(limit: StretchLimit | None, modulus: float = 2.0e3, **settings: Any) -> Body:
    """Returns a bar without lateral contraction that hangs from its top, drawn out by its weight."""
    material = Material(modulus, 0.0, 1000.0, mass_damping=4.0, stiffness_damping=0.05)
    body = block((1, 1, 8), (0.1, 0.1, 0.8), material=material, stretch_limit=limit, **settings)
    return replace(body, pinned=np.flatnonzero(body.vertices[:, 2] > 0.79).astype(np.int32))


def layer_stretches(run: Run) -> np.ndarray:
    """Returns the stretch of the layers of the bar, from the top down, but for the first one, which pins hold."""
    z, rest = run.state.x[:, 2], run.built.model.X[:, 2]
    heights = [z[np.isclose(rest, 0.1 * k)].mean() for k in range(9)]
    return (np.diff(heights) / 0.1)[-2::-1]


def layer_stresses(run: Run) -> np.ndarray:
    """Returns the stress in the same layers: the weight of the nodes below over the area [Pa]."""
    model = run.built.model
    below = [model.mass[model.X[:, 2] < 0.1 * k - 0.05].sum() for k in range(7, 0, -1)]
    return 9.81 * np.array(below) / 0.1**2


def analytic_stretch(stress: np.ndarray, limit: float, modulus: float) -> np.ndarray:
    """Returns s with E (s − 1) + κ E ((s − L) / w)² = stress, where the latter counts beyond L."""
    free = 1.0 + stress / modulus
    k = LIMIT_STRESS / LIMIT_MARGIN**2  # k d² + d = free − L, d = s − L
    d = (np.sqrt(1.0 + 4.0 * k * np.maximum(free - limit, 0.0)) - 1.0) / (2.0 * k)
    return np.where(free > limit, limit + d, free)


def test_a_hung_bar_stretches_along_the_curve(tmp_path: Path) -> None:
    """Each layer bears the weight of what is below; beyond the limit the curve rises steeply."""
    run = Run(tmp_path, Scene((hung_bar(StretchLimit(1.5)),), settings=SETTINGS))
    run.advance(60)
    wanted = analytic_stretch(layer_stresses(run), 1.5, 2.0e3)
    assert (wanted > 1.5).sum() == 6 and wanted.max() < 1.5 + LIMIT_MARGIN
    # beside the pins and near the end, where the four edges of five-tet cells bear unequal weights, by 3 %
    assert layer_stretches(run)[1:5] == pytest.approx(wanted[1:5], rel=0.003)
    assert layer_stretches(run) == pytest.approx(wanted, rel=0.03)
    assert all(report.converged and report.unsettled == 0 for report in run.reports)


def test_a_painted_limit(tmp_path: Path) -> None:
    """Twice as far beyond its length where ½ is painted, and as without a limit where 0 is."""
    body = hung_bar(None)
    ends = {}
    for paint in (1.0, 0.5, 0.0):
        limit = StretchLimit(1.5, np.full(len(body.vertices), paint))
        run = Run(tmp_path / str(paint), Scene((replace(body, stretch_limit=limit),), settings=SETTINGS))
        run.advance(60)
        ends[paint] = layer_stretches(run).max()
    stress = layer_stresses(run)
    assert ends[1.0] == pytest.approx(analytic_stretch(stress, 1.5, 2.0e3).max(), rel=0.003)
    assert ends[0.5] == pytest.approx(analytic_stretch(stress, 2.0, 2.0e3).max(), rel=0.003)
    free = Run(tmp_path / "free", Scene((body,), settings=SETTINGS))
    free.advance(60)
    assert ends[0.0] == layer_stretches(free).max() > 4.0


def test_a_keyed_limit(tmp_path: Path) -> None:
    keys = (np.array([0.0, 1.5]), np.array([1.2, 1.6]), "step")
    run = Run(tmp_path, Scene((hung_bar(StretchLimit()),), settings=SETTINGS), body__block__stretch_limit=keys)
    run.advance(34)
    assert 1.2 < layer_stretches(run).max() < 1.2 + LIMIT_MARGIN
    run.advance(46)
    assert 1.6 < layer_stretches(run).max() < 1.6 + LIMIT_MARGIN
    wrong = (np.array([0.0, 0.1]), np.array([1.5, 0.5]), "step")
    run = Run(
        tmp_path / "wrong", Scene((hung_bar(StretchLimit()),), settings=SETTINGS), body__block__stretch_limit=wrong
    )
    with pytest.raises(SolveFailed) as failed:
        run.advance(4)
    assert failed.value.kind == "animated-value"


def test_bytes_and_digest_without_a_limit_or_within_it(tmp_path: Path) -> None:
    stiff = hung_bar(None, 1.0e5)
    scene = Scene((stiff,), settings=SETTINGS)
    limited = Scene((replace(stiff, stretch_limit=StretchLimit()),), settings=SETTINGS)
    without, within = Run(tmp_path / "a", scene), Run(tmp_path / "b", limited)
    assert without.advance(6).tobytes() == within.advance(6).tobytes()
    assert scene.digest() != limited.digest()
    keyed = Scene((replace(stiff, stretch_limit=StretchLimit(1.4)),), settings=SETTINGS)
    assert keyed.digest() != limited.digest()


def test_values_that_make_no_sense() -> None:
    for wrong in (StretchLimit(0.9), StretchLimit(1.5, np.ones(3)), StretchLimit(np.nan)):
        with pytest.raises(BadInput):
            check_scene(Scene((hung_bar(wrong),)))


KINDS = [
    *({"method": FormulationSettings(name)} for name in FORMULATIONS),
    {"flesh": Flesh("dynamic")},
    {"flesh": Flesh("dynamic", scheme="newmark")},
    {"flesh": Flesh("quasistatic", law="mooney-rivlin")},
]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(next(iter(kind.values()))).partition("(")[2][:30])
def test_every_kind_of_body_stays_within_its_limit(kind: dict[str, Any], tmp_path: Path) -> None:
    run = Run(tmp_path, Scene((hung_bar(StretchLimit(1.5), **kind),), settings=replace(SETTINGS, tolerance=1e-5)))
    run.advance(40)
    assert 1.5 < layer_stretches(run).max() < 1.5 + LIMIT_MARGIN
    assert all(report.converged and report.unsettled == 0 for report in run.reports)


def test_what_is_held_takes_hierarchical_bodies_along(tmp_path: Path) -> None:
    """One step of a light bar whose upper half is held and moves: linear forces see where it ends."""
    body = hung_bar(None, 1.0e5, method=FormulationSettings("hierarchical"))
    none = np.zeros(0, np.int32)
    paint = (body.vertices[:, 2] > 0.35).astype(float)
    body = replace(body, pinned=none, pin_weights=np.zeros(0), goal=Goal(1.0, paint))
    body = replace(body, material=replace(body.material, density=1.0, mass_damping=0.0))
    shift = np.array([0.01, 0.0, 0.02])
    targets = body.vertices + np.array([0.0, 1.0])[:, None, None] * shift
    settings = Settings(fps=24.0, substeps=1, tolerance=1e-8)
    run = Run(tmp_path, Scene((body,), settings=settings), body__block__goal__targets=([0.0, 1.0 / 24.0], targets))
    run.advance()
    moved = run.state.x - run.built.model.X
    assert moved == pytest.approx(np.broadcast_to(shift, moved.shape), abs=2e-4)


@pytest.mark.parametrize(("law", "least"), [("stvk", STRETCH_FLOOR), ("stable-neo-hookean", LAST_FLOOR)])
def test_poses_have_the_floor_of_their_law_where_there_is_a_limit(law: str, least: float, tmp_path: Path) -> None:
    body = block((2, 2, 2), flesh=Flesh(law=law))
    paint = (body.vertices[:, 2] > 0.3).astype(float)
    run = Run(tmp_path, Scene((replace(body, stretch_limit=StretchLimit(1.5, paint)),), settings=SETTINGS))
    (limits,) = (force for force in run.built.forces if isinstance(force, StretchLimits))
    step = ForceStep(run.built.model, run.state, run.tracks, 0.0, 0.0, is_static=True)
    found = limits.potential(step)
    assert (found.floor == np.where(found.limit < np.inf, least, 0.0)).all() and 0.0 < found.floor.mean() < least
    assert not limits.potential(replace(step, is_static=False)).has_floor


def test_a_pose_of_stvk_turns_no_tet_inside_out(tmp_path: Path) -> None:
    """A beam that is held at one end and bends under its weight: without a floor, 12 tets below the hold turn."""
    material, flesh = Material(1.0e4, 0.4, 1000.0), Flesh(law="stvk")
    beam = block((12, 2, 2), (1.2, 0.2, 0.2), material=material, flesh=flesh, stretch_limit=StretchLimit(1.5))
    beam = replace(beam, pinned=np.flatnonzero(beam.vertices[:, 0] < 1e-6).astype(np.int32))
    run = Run(tmp_path, Scene((beam,), settings=SETTINGS))
    run.advance()
    model, x = run.built.model, run.state.x
    edges = np.stack([x[model.tets[:, k]] - x[model.tets[:, 0]] for k in (1, 2, 3)], axis=2)
    F = edges @ model.Dm_inverse
    stretches = np.linalg.svd(F, compute_uv=False)
    assert run.reports[-1].poses_not_converged == 0 and np.linalg.det(F).min() > 0.0
    assert STRETCH_FLOOR - LIMIT_MARGIN < stretches.min() < stretches.max() < 1.5 + LIMIT_MARGIN
