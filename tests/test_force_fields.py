# SPDX-License-Identifier: GPL-3.0-or-later
"""Force fields on bodies: what each does, its derivatives, weights, absorption, energy, and the scene file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.closed_surfaces import sphere
from fixtures.scenes import Run, block, pose, rotation
from sinew.solver.constraints.fields.absorption import make_absorbers
from sinew.solver.constraints.fields.field_effect import ExposedPoints, FieldMoment, field_effect, interpolate
from sinew.solver.constraints.fields.field_kernels import FieldEffect
from sinew.solver.constraints.fields.field_sources import FieldPlacer, vertex_normals
from sinew.solver.constraints.point_forces import PointForces
from sinew.solver.runtime.counter_rng import uniform
from sinew.solver.runtime.errors import BadInput, SolveFailed
from sinew.solver.scene.force_fields import FIELD_KINDS, FieldWeights, ForceField, TextureGrid
from sinew.solver.scene.scene import Collider, Material, Scene, Settings
from sinew.solver.scene.self_weight_check import self_weight_strain
from sinew.solver.scene.tracks import MemoryTracks, NoTracks
from sinew.solver.simulation.build import build

TURNED = pose(rotation([1.0, 2.0, -1.0], 0.8), (0.4, -0.3, 0.2))
WEIGHTLESS = Settings(fps=25.0, substeps=2, frame_end=30, gravity=(0.0, 0.0, 0.0), tolerance=1e-8)
GRID = TextureGrid(np.full(3, -4.0), np.full(3, 2.0), np.random.default_rng(3).normal(size=(5, 5, 5, 3)))


def effect_on(own: ForceField, x, v=None, dt=0.0, absorbers=(), frame=1, **tracks) -> FieldEffect:
    """Returns what a field at `TURNED` does to points of the charge 0.5 and the size 0.3."""
    x = np.asarray(x, float)
    v = np.zeros_like(x) if v is None else v
    known = {f"field.{own.key}.matrix": ([0.0], TURNED[None])}
    moment = FieldMoment(MemoryTracks(known | tracks), 0.0, frame, 0.04, dt)
    ones, numbers = np.ones(len(x)), np.arange(len(x), dtype=np.int32)
    return field_effect(FieldPlacer(own), moment, ExposedPoints(x, v, ones, 0.5 * ones, 0.3 * ones, numbers), absorbers)


def some_points(count=40, seed=5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, 3)), rng.normal(size=(count, 3))


@pytest.mark.parametrize("kind", FIELD_KINDS)
def test_the_matrices_of_a_field_are_its_derivatives_or_less(kind):
    """D = −∂a/∂v but for what a magnetic field turns; D and K are symmetric positive semi-definite."""
    own = ForceField(kind=kind, strength=1.3, flow=0.4, damping=0.7, size=0.6, power=1.0, texture=GRID)
    x, v = some_points()
    found = effect_on(own, x, v)
    step, slope = 1.0e-6, np.empty((len(x), 3, 3))
    for axis in range(3):
        nudge = step * np.eye(3)[axis]
        slope[:, :, axis] = (effect_on(own, x, v + nudge).acceleration - effect_on(own, x, v - nudge).acceleration) / (
            2 * step
        )
    symmetric = 0.5 * (slope + slope.transpose(0, 2, 1))
    assert found.damping == pytest.approx(-symmetric, abs=1e-8)
    assert slope == pytest.approx(symmetric, abs=1e-8) or kind == "magnetic"
    for matrix in (found.damping, found.stiffness):
        assert matrix == pytest.approx(matrix.transpose(0, 2, 1)) and np.linalg.eigvalsh(matrix).min() >= -1e-12


@pytest.mark.parametrize(("kind", "strength"), [("harmonic", 2.0), ("charge", -2.0)])
def test_the_stiffness_of_a_spring_is_its_derivative(kind, strength):
    own = ForceField(kind=kind, strength=strength, size=0.5 if kind == "harmonic" else 0.0)
    x, _ = some_points()
    x = TURNED[:3, 3] + x / np.linalg.norm(x, axis=1, keepdims=True)  # beyond the rest length
    step, slope = 1.0e-6, np.empty((len(x), 3, 3))
    for axis in range(3):
        nudge = step * np.eye(3)[axis]
        slope[:, :, axis] = (effect_on(own, x + nudge).acceleration - effect_on(own, x - nudge).acceleration) / (
            2 * step
        )
    assert effect_on(own, x).stiffness == pytest.approx(-slope, abs=1e-8)


def test_a_magnetic_field_turns_without_work():
    """|v + Δt a| = |v|, whatever Δt, and the turn is that of the field for a short one."""
    own = ForceField(kind="magnetic", shape="plane", strength=30.0)
    x, v = some_points()
    for dt in (1e-4, 0.1, 10.0):
        after = v + dt * effect_on(own, x, v, dt).acceleration
        assert np.linalg.norm(after, axis=1) == pytest.approx(np.linalg.norm(v, axis=1))
    exact = np.cross(v, 30.0 * TURNED[:3, 2])
    assert effect_on(own, x, v, 1e-9).acceleration == pytest.approx(exact, abs=1e-5)


def test_many_sources_are_the_sum_of_single_ones():
    points = np.random.default_rng(1).normal(size=(7, 3))
    own = ForceField(shape="points", strength=2.0, power=2.0, use_distance_max=True, distance_max=2.0, vertices=points)
    x, v = some_points()
    world = points @ TURNED[:3, :3].T + TURNED[:3, 3]
    expected = np.zeros_like(x)
    for source in world:
        way = x - source
        d = np.linalg.norm(way, axis=1, keepdims=True)
        expected += np.where(d <= 2.0, 2.0 * way / d * (1.0 + d) ** -2.0, 0.0)
    assert effect_on(own, x, v).acceleration == pytest.approx(expected)


def test_units_scale_what_a_field_does():
    """In a scene of centimetres, all of a field is in centimetres."""
    own = ForceField(strength=3.0, power=1.5, unit=0.01)
    x, _ = some_points()
    way = (x - TURNED[:3, 3]) / 0.01
    d = np.linalg.norm(way, axis=1, keepdims=True)
    assert effect_on(own, x).acceleration == pytest.approx(0.01 * 3.0 * way / d * (1.0 + d) ** -1.5)


def test_normals_of_vertices_and_of_loose_ones():
    vertices, triangles = sphere(24)
    normals = vertex_normals(np.vstack([vertices, [[3.0, 0.0, 0.0]]]), triangles, np.array([1.0, 0.0, 0.0]))
    outward = vertices / np.linalg.norm(vertices, axis=1, keepdims=True)
    sign = np.sign(np.einsum("ki,ki->k", normals[:-1], outward).mean())
    assert sign * np.einsum("ki,ki->k", normals[:-1], outward).min() > 0.99
    assert normals[-1] == pytest.approx([1.0, 0.0, 0.0])


def test_noise_has_the_spread_of_blenders_numbers_and_another_one_on_each_frame():
    """± k A / (128 (1 + u)) with the sign of k > 64, k of 0 … 127, u of [0, 1)."""
    own = ForceField(kind="wind", shape="plane", strength=0.0, noise=2.0, seed=7)
    x = np.zeros((20000, 3))
    along = effect_on(own, x).acceleration @ TURNED[:3, 2]
    k = np.arange(128)
    sizes = 2.0 * np.where(k > 64, k, -k) / 128.0
    mean = sizes.mean() * np.log(2.0)  # ∫ du / (1 + u)
    square = (sizes**2).mean() * 0.5  # ∫ du / (1 + u)²
    assert along.mean() == pytest.approx(mean, abs=4 * np.sqrt(square / len(x)))
    assert (along**2).mean() == pytest.approx(square, rel=0.03)
    assert (effect_on(own, x).acceleration @ TURNED[:3, 2] == along).all()
    other = effect_on(own, x, frame=2).acceleration @ TURNED[:3, 2]
    assert abs(np.corrcoef(along, other)[0, 1]) < 0.03
    first, second = uniform(7, 1, np.arange(3), 0), uniform(7, 1, np.arange(3), 1)
    number = np.floor(first * 128)
    assert along[:3] == pytest.approx(np.where(number > 64, 1, -1) * number / (1 + second) * 2.0 / 128)


@pytest.mark.parametrize("shape", ["point", "points", "plane"])
def test_colliders_absorb_what_is_behind_them(shape):
    """A square between half of the points and the field lets 0.3 of it through; a ground the other way round too."""
    square = np.array([[-9.0, 0.1, -9.0], [9.0, 0.1, -9.0], [9.0, 0.1, 9.0], [-9.0, 0.1, 9.0]])
    wall = Collider("wall", "Wall", "mesh", square, np.array([[0, 1, 2], [0, 2, 3]], np.int32), absorption=0.7)
    own = ForceField(shape=shape, strength=1.0, is_absorbed=True, vertices=np.zeros((2, 3)))
    x, _ = some_points()
    free = effect_on(replace(own, is_absorbed=False), x, absorbers=make_absorbers([wall])).acceleration
    source = np.tile(TURNED[:3, 3], (len(x), 1))
    if shape == "plane":
        source = x - ((x - source) @ TURNED[:3, 2])[:, None] * TURNED[:3, 2]
    behind = (x[:, 1] < 0.1) != (source[:, 1] < 0.1)
    assert 5 < behind.sum() < 35
    for collider in (wall, Collider("wall", "Wall", "plane", absorption=0.7)):
        place = pose(rotation([1.0, 0.0, 0.0], -np.pi / 2), (0.0, 0.1, 0.0))  # z becomes y
        tracks = {"collider.wall.matrix": ([0.0], place[None])} if collider.shape == "plane" else {}
        found = effect_on(own, x, absorbers=make_absorbers([collider]), **tracks).acceleration
        assert found == pytest.approx(np.where(behind, 0.3, 1.0)[:, None] * free)
    inactive = {"collider.wall.active": ([0.0], [0.0])}
    assert effect_on(own, x, absorbers=make_absorbers([wall]), **inactive).acceleration == pytest.approx(free)


def test_a_grid_of_a_texture_is_linear_between_its_points():
    slope = np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0], [0.0, 1.0, 1.0]])
    at = np.stack(np.meshgrid(*[np.linspace(-1, 1, 4)] * 3, indexing="ij"), axis=-1)
    grid = TextureGrid(np.full(3, -1.0), np.full(3, 2.0 / 3.0), at @ slope.T)
    x = np.random.default_rng(0).uniform(-1, 1, (50, 3))
    assert interpolate(grid, x) == pytest.approx(x @ slope.T)
    assert interpolate(grid, [[5.0, 0.0, 0.0]]) == pytest.approx(np.array([[1.0, 0.0, 0.0]]) @ slope.T)


def run_with(folder, *fields: ForceField, body=None, settings=WEIGHTLESS, frames=5, **tracks) -> Run:
    run = Run(folder, Scene((body or block((2, 2, 2)),), settings=settings, force_fields=fields), **tracks)
    run.advance(frames)
    return run


def mean_velocity(run: Run):
    return run.built.model.mass @ run.state.v / run.built.model.mass.sum()


@pytest.mark.parametrize("density", [30.0, 3000.0])
@pytest.mark.parametrize("cells", [(1, 1, 1), (3, 3, 3)])
def test_a_field_accelerates_bodies_as_particles_of_the_mass_1(tmp_path, density, cells):
    """Neither density nor the number of tets changes how a wind that does not press moves a body."""
    body = block(cells, material=Material(youngs_modulus=1e6, density=density))
    run = run_with(tmp_path, ForceField(kind="wind", shape="plane", strength=2.5), body=body)
    assert mean_velocity(run) == pytest.approx([0.0, 0.0, 2.5 * 5 / 25.0], abs=1e-6)


def test_flow_ends_at_the_velocity_of_the_air(tmp_path):
    """With the flow φ, dv/dt = s − φ v: implicit Euler gives v_k = (s/φ)(1 − (1 + φ Δt)⁻ᵏ)."""
    run = run_with(tmp_path, ForceField(kind="wind", shape="plane", strength=2.0, flow=4.0), frames=10)
    expected = 0.5 * (1.0 - (1.0 + 4.0 * 0.02) ** -20.0)
    assert mean_velocity(run) == pytest.approx([0.0, 0.0, expected], abs=1e-6)


def test_a_wind_factor_presses_on_surfaces_instead(tmp_path):
    """½ ρ C A u² on a plate across the wind, whatever its mass; none where the factor is 0 on its sides."""
    body = block((2, 2, 1), (1.0, 1.0, 0.05), material=Material(youngs_modulus=1e6, density=50.0))
    wind = ForceField(kind="wind", shape="plane", strength=6.0, wind_factor=1.0)
    run = run_with(tmp_path, wind, body=body, frames=5)
    assert mean_velocity(run)[2] == pytest.approx(0.5 * 1.2 * 36.0 / 2.5 * 0.2, rel=1e-5)
    half = run_with(tmp_path / "half", replace(wind, wind_factor=0.5), body=body, frames=5)
    assert mean_velocity(half)[2] == pytest.approx((0.5 * 1.2 * 9.0 / 2.5 + 3.0) * 0.2, rel=1e-5)


def test_weights_of_a_body_and_keyed_ones(tmp_path):
    wind = ForceField(kind="wind", shape="plane", strength=1.0)
    for number, (weights, factor) in enumerate(
        [
            (FieldWeights(wind=0.5, all=0.5), 0.25),
            (FieldWeights(force=0.0), 1.0),
            (FieldWeights(all=0.0), 0.0),
            (FieldWeights(excluded=("field",)), 0.0),
        ]
    ):
        run = run_with(tmp_path / str(number), wind, body=block((1, 1, 1), field_weights=weights))
        assert mean_velocity(run) == pytest.approx([0.0, 0.0, 0.2 * factor], abs=1e-9)
    keyed = run_with(tmp_path / "keyed", wind, body__block__weight_wind=([0.0, 0.1, 0.1001], [1.0, 1.0, 0.0]))
    assert mean_velocity(keyed) == pytest.approx([0.0, 0.0, 0.1], abs=1e-9)
    stronger = run_with(tmp_path / "strength", wind, field__field__strength=([0.0], [3.0]))
    assert mean_velocity(stronger) == pytest.approx([0.0, 0.0, 0.6], abs=1e-9)


def test_the_weight_of_gravity(tmp_path):
    falling = replace(WEIGHTLESS, gravity=(0.0, 0.0, -10.0))
    light = run_with(tmp_path / "0", body=block((1, 1, 1), field_weights=FieldWeights(gravity=0.25)), settings=falling)
    assert mean_velocity(light) == pytest.approx([0.0, 0.0, -0.5], abs=1e-9)
    keys = ([0.0, 0.1, 0.1001], [1.0, 1.0, 0.5])
    keyed = run_with(tmp_path / "1", settings=falling, body__block__weight_gravity=keys)
    assert mean_velocity(keyed) == pytest.approx([0.0, 0.0, -1.5], abs=1e-9)


def test_a_body_weighs_as_much_as_its_weight_of_gravity_says():
    body, gravity = block(), np.array([0.0, 0.0, -9.81])
    light = replace(body, field_weights=FieldWeights(gravity=0.25))
    assert self_weight_strain(light, gravity) == pytest.approx(0.25 * self_weight_strain(body, gravity))


def test_a_simulated_size_makes_fields_stronger_as_it_does_gravity(tmp_path):
    body = block((1, 1, 1), simulated_scale=0.5)
    run = run_with(tmp_path, ForceField(kind="wind", shape="plane", strength=1.0), body=body)
    assert mean_velocity(run) == pytest.approx([0.0, 0.0, 0.4], abs=1e-9)


@pytest.mark.slow
def test_the_energy_of_a_body_in_a_still_harmonic_field_is_bounded(tmp_path):
    """Over 10,000 steps kinetic and field energy never exceed what they began with."""
    own = ForceField(kind="harmonic", strength=40.0, damping=0.0)
    settings = replace(WEIGHTLESS, substeps=40, frame_end=260)
    body = block((1, 1, 1), at=(1.0, 0.0, 0.0), initial_velocity=(0.0, 3.0, 1.0))
    run = Run(tmp_path, Scene((body,), settings=settings, force_fields=(own,)))
    energies = []

    def measure():
        m, x, v = run.built.model.mass, run.state.x, run.state.v
        energies.append(0.5 * float(m @ (v**2).sum(axis=1) + 40.0 * m @ (x**2).sum(axis=1)))

    run.advance(250, before_step=measure)
    assert len(energies) == 10000
    assert max(energies) <= energies[0] * (1.0 + 1e-6) and min(np.diff(energies)) < 0.0


@pytest.mark.slow
def test_the_energy_correction_counts_the_work_of_fields(tmp_path, monkeypatch):
    """Bodies that touch get their energy from the field, not from nothing; without that they would not be pushed."""

    def pushed(folder):
        first = block((2, 2, 2), at=(0.0, 0.0, 0.001), key="first")
        second = block((2, 2, 2), at=(1.01, 0.0, 0.001), key="second")
        settings = Settings(fps=50.0, substeps=2, frame_end=31, tolerance=1e-6)
        ice, blowing = Collider("ice", "Ice", friction=0.0), ForceField(kind="wind", shape="plane", strength=2.0)
        turn = pose(rotation([0.0, 1.0, 0.0], np.pi / 2))
        scene = Scene((first, second), (ice,), settings, force_fields=(blowing,))
        run = Run(folder, scene, field__field__matrix=([0.0], turn[None], "rigid"))
        run.advance(30)
        return mean_velocity(run)[0]

    assert pushed(tmp_path / "counted") == pytest.approx(2.0 * 0.6, rel=0.05)
    monkeypatch.setattr(PointForces, "work", lambda points, *motion: np.zeros(len(points)))
    assert pushed(tmp_path / "not") < 0.6


def test_a_scene_with_fields_is_saved_and_checked(tmp_path):
    own = ForceField(kind="texture", texture=GRID, vertices=np.eye(3), triangles=np.array([[0, 1, 2]], np.int32))
    scene = Scene((block(field_weights=FieldWeights(wind=0.5, excluded=("field",))),), force_fields=(own,))
    scene.save(tmp_path)
    loaded = Scene.load(tmp_path)
    assert loaded.digest() == scene.digest() and loaded.bodies[0].field_weights == scene.bodies[0].field_weights
    assert (loaded.force_fields[0].texture.values == GRID.values).all()
    with pytest.raises(BadInput, match="flow"):
        build(replace(scene, force_fields=(replace(own, flow=np.nan),)), NoTracks(), lambda *stage: None)


def test_without_fields_the_digest_is_that_of_earlier_scenes():
    scene = Scene((block(),))
    assert scene.digest() == replace(scene, force_fields=()).digest()
    changed = replace(scene, bodies=(block(field_weights=FieldWeights(gravity=0.5)),))
    assert len({scene.digest(), changed.digest(), replace(scene, force_fields=(ForceField(),)).digest()}) == 3


def test_an_animation_without_numbers_is_named():
    with pytest.raises(SolveFailed) as failed:
        effect_on(ForceField(name="Breeze"), np.zeros((1, 3)), **{"field.field.strength": ([0.0], [np.nan])})
    assert failed.value.kind == "force-field-not-finite" and failed.value.details["name"] == "Breeze"
