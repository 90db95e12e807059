# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces of impacts: Hertz's law, the curvature of surfaces, the mass that a place has."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize

from fixtures.scenes import rotation
from sinew.solver.brittle.hertz_contact import approach_factor, hertz_stiffness, reduced_modulus, relative_radii
from sinew.solver.brittle.hertz_impact import HertzImpact, mass_from_impulse
from sinew.solver.brittle.rigid_mass import RigidMotion, rigid_mass_of_tets
from sinew.solver.mesh.geometry.principal_curvatures import SurfaceCurvature
from sinew.solver.mesh.geometry.triangle_surface import Surface
from sinew.solver.mesh.shapes import box, box_tets, sphere, torus

GLASS = (7.0e10, 0.22, 2500.0)


def integrated(impact: HertzImpact, end: float) -> scipy.integrate.OdeSolution:
    """Returns m δ̈ = −K δ^(3/2) integrated from the touch on."""

    def derivative(_: float, state: np.ndarray) -> tuple[float, float]:
        return state[1], -impact.stiffness / impact.mass * max(state[0], 0.0) ** 1.5

    def parts(_: float, state: np.ndarray) -> float:
        return state[0] if state[1] < 0.0 else 1.0

    parts.terminal = True  # type: ignore[attr-defined]
    scale = impact.largest_approach
    return scipy.integrate.solve_ivp(
        derivative, (0.0, end), (0.0, impact.speed), events=parts, rtol=1e-10, atol=1e-12 * scale, max_step=end / 500
    )


@pytest.mark.parametrize("speed", [0.05, 3.1, 40.0])
def test_duration_and_peak_force_are_those_of_the_equation_of_motion(speed: float) -> None:
    impact = HertzImpact(hertz_stiffness(reduced_modulus(7e10, 0.22, 3e10, 0.3), 0.03), 0.7, speed)
    found = integrated(impact, 2.0 * impact.duration)
    assert found.t_events[0][0] == pytest.approx(impact.duration, rel=1e-5)
    forces = impact.stiffness * np.maximum(found.y[0], 0.0) ** 1.5
    assert forces.max() == pytest.approx(impact.peak_force, rel=1e-4)
    assert scipy.integrate.trapezoid(forces, found.t) == pytest.approx(2.0 * impact.mass * speed, rel=1e-4)


def test_a_kilogram_of_glass_touches_for_a_quarter_of_a_millisecond() -> None:
    youngs_modulus, poisson_ratio, density = GLASS
    radius = (0.75 / (math.pi * density)) ** (1.0 / 3.0)  # of 1 kg
    modulus = reduced_modulus(youngs_modulus, poisson_ratio, youngs_modulus, poisson_ratio)
    impact = HertzImpact(hertz_stiffness(modulus, radius), 1.0, 3.1)
    assert impact.duration == pytest.approx(0.26e-3, rel=0.1)
    # closed form of Johnson (1985), equation 11.24
    assert impact.duration == pytest.approx(2.87 * (1.0 / (radius * modulus**2 * 3.1)) ** 0.2, rel=2e-3)


def test_two_equal_spheres_are_half_as_round_and_half_as_heavy_as_one_on_a_flat() -> None:
    vertices, triangles = sphere(0.05, 16)
    curvature = SurfaceCurvature(Surface(vertices, triangles))
    place = vertices[triangles[0]].mean(axis=0)
    tensor, normal = curvature.tensor_at(0, place, 1e-3)
    both = relative_radii(tensor, tensor, normal, 1e-4, 10.0)
    flat = relative_radii(tensor, np.zeros((3, 3)), normal, 1e-4, 10.0)
    assert both == pytest.approx((0.025, 0.025), rel=0.02)
    assert flat == pytest.approx((0.05, 0.05), rel=0.02)


def test_an_impact_goes_on_where_it_is_taken_up_again() -> None:
    impact = HertzImpact(1e9, 0.4, 2.0)
    later = impact.at_force(0.5 * impact.peak_force)
    found = integrated(impact, 0.5 * impact.duration)
    before = np.searchsorted(impact.stiffness * np.maximum(found.y[0], 0.0) ** 1.5, 0.5 * impact.peak_force)
    assert later.speed == pytest.approx(np.interp(later.approach, found.y[0], found.y[1]), rel=1e-3)
    assert before > 10
    assert later.peak_force == pytest.approx(impact.peak_force, rel=1e-12)
    assert later.on_part(1.0, 0.1).peak_force < impact.peak_force
    assert later.on_part(0.6, 0.0).peak_force == pytest.approx(0.3 * impact.peak_force, rel=1e-12)


def test_a_load_rises_for_half_of_the_time_wherever_it_is_taken_up() -> None:
    impact = HertzImpact(1e9, 0.4, 2.0)
    found = integrated(impact, impact.duration)
    assert found.t[np.argmax(found.y[0])] == pytest.approx(impact.rise_time, rel=5e-3)
    assert impact.at_force(0.4 * impact.peak_force).rise_time == pytest.approx(impact.rise_time, rel=1e-12)
    assert HertzImpact(1e9, 0.4, 0.0).rise_time == 0.0


def test_the_peak_is_reached_and_not_passed() -> None:
    impact = HertzImpact(1e9, 0.4, 2.0)
    end = impact.at_force(2.0 * impact.peak_force)
    assert (end.speed, end.approach) == pytest.approx((0.0, impact.largest_approach), abs=1e-6)


def test_the_impulse_of_a_step_gives_the_mass_that_it_stopped() -> None:
    assert mass_from_impulse(1.3 * 0.4 * 2.0, 2.0, 0.3) == pytest.approx(0.4)


@pytest.mark.parametrize("ratio", [1.5, 5.0, 40.0])
def test_elliptical_contacts_come_as_near_as_the_pressure_of_an_ellipse_presses(ratio: float) -> None:
    """The pressure p₀ √(1 − x²/a² − y²/b²) lets a half-space give way by ∬ p / (π E* r): looked at along both axes."""
    R_small, modulus, force = 0.02, 5e10, 300.0
    R_large = ratio * R_small
    depth = (force / hertz_stiffness(modulus, R_small, R_large)) ** (2.0 / 3.0)

    def shape(a: float, b: float) -> tuple[float, float, float]:
        """Returns the depth in the middle and at an eighth of each half axis, from the middle."""
        peak = 1.5 * force / (math.pi * a * b)

        def given(x: float, y: float) -> float:
            # π/2 · p₀ ∫ (1 − L)/√… : the potential of an ellipsoid, by one integral
            def density(w: float) -> float:
                return (1.0 - x * x / (a * a + w) - y * y / (b * b + w)) / math.sqrt((a * a + w) * (b * b + w) * w)

            whole = scipy.integrate.quad(lambda s: 2.0 * s * density(s * s), 0.0, 100.0 * a, limit=400)[0]
            return peak * a * b / (2.0 * modulus) * (whole + 2.0 / (100.0 * a))

        middle = given(0.0, 0.0)
        return middle, middle - given(a / 8.0, 0.0), middle - given(0.0, b / 8.0)

    def misses(logs: np.ndarray) -> list[float]:
        a, b = np.exp(logs)
        _, along, across = shape(a, b)
        return [along / ((a / 8.0) ** 2 / (2.0 * R_large)) - 1.0, across / ((b / 8.0) ** 2 / (2.0 * R_small)) - 1.0]

    c = (0.75 * force * math.sqrt(R_small * R_large) / modulus) ** (1.0 / 3.0)
    guess = np.log([c * ratio**0.33, c * ratio**-0.33])
    a, b = np.exp(scipy.optimize.fsolve(misses, guess))
    assert shape(a, b)[0] == pytest.approx(depth, rel=1e-3)


def test_a_nearly_round_contact_is_as_a_round_one() -> None:
    assert approach_factor(1.0) == 1.0
    assert approach_factor(1.0 + 1e-6) == pytest.approx(1.0, abs=1e-6)
    factors = [approach_factor(ratio) for ratio in (1.0, 1.01, 2.0, 10.0, 1e3, 1e6)]
    assert (np.diff(factors) < 0.0).all()


def test_a_torus_is_curved_as_its_tube_and_its_ring() -> None:
    ring, tube = 0.7, 0.3
    vertices, triangles = torus(ring, tube, 64, 64)
    turn = rotation((1.0, 2.0, 0.5), 0.7)
    curvature = SurfaceCurvature(Surface(vertices @ turn.T, triangles))
    middles = vertices[triangles].mean(axis=1)
    outer, inner = np.argmax(np.hypot(*middles[:, :2].T)), np.argmin(np.hypot(*middles[:, :2].T))
    for triangle, along in ((outer, 1.0 / (ring + tube)), (inner, -1.0 / (ring - tube))):
        tensor, normal = curvature.tensor_at(int(triangle), turn @ middles[triangle], 1e-3)
        values = np.sort(np.linalg.eigvalsh(tensor + 1e3 * np.outer(normal, normal)))[:2]
        assert values == pytest.approx(sorted([along, 1.0 / tube]), rel=0.05)


def test_faces_of_a_cube_are_flat_and_its_edges_as_round_as_one_says() -> None:
    vertices, triangles = box()
    curvature = SurfaceCurvature(Surface(vertices, triangles))
    middle = vertices[triangles[0]].mean(axis=0)
    tensor, normal = curvature.tensor_at(0, middle, 1e-3)
    assert np.abs(tensor).max() < 1e-9
    assert np.abs(normal).max() == pytest.approx(1.0)
    edge = int(np.argmax(curvature.is_sharp[curvature.edges.edge[:3]]))
    on_edge = vertices[np.stack([triangles[0], np.roll(triangles[0], -1)])[:, edge]].mean(axis=0)
    values = np.linalg.eigvalsh(curvature.tensor_at(0, on_edge, 1e-3)[0])
    assert values == pytest.approx([0.0, 0.0, 1e3], abs=1e-6)
    values = np.linalg.eigvalsh(curvature.tensor_at(0, vertices[triangles[0, 0]], 1e-3)[0])
    assert values == pytest.approx([0.0, 1e3, 1e3], abs=1e-6)


def test_radii_stay_between_an_edge_and_a_flat() -> None:
    normal = np.array([0.0, 0.0, 1.0])
    assert relative_radii(np.zeros((3, 3)), -np.eye(3), normal, 1e-3, 0.3) == pytest.approx((0.3, 0.3))
    assert relative_radii(np.diag([1e5, 20.0, 0.0]), np.zeros((3, 3)), normal, 1e-3, 0.3) == pytest.approx((1e-3, 0.05))


def test_a_place_is_as_heavy_as_what_moves_when_it_is_pushed() -> None:
    nodes, tets = box_tets((2, 2, 2), (0.1, 0.2, 0.5))
    volume = np.abs(np.linalg.det(nodes[tets[:, 1:]] - nodes[tets[:, :1]])) / 6.0
    body = rigid_mass_of_tets(nodes, tets, 2500.0 * volume)
    assert body.mass == pytest.approx(25.0)
    assert body.centre == pytest.approx([0.05, 0.1, 0.25])
    a, b, c = 0.1, 0.2, 0.5
    assert body.inertia == pytest.approx(25.0 / 12.0 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b]))
    place, direction = np.array([0.02, 0.17, 0.5]), np.array([0.6, 0.0, -0.8])
    still = RigidMotion(np.zeros(3), np.zeros(3))
    after = body.pushed(still, place, 2.0 * direction)
    gained = body.velocity_at(after, place) @ direction
    assert gained == pytest.approx(2.0 * body.inverse_effective_mass(place, direction))
    assert body.kinetic_energy(after) == pytest.approx(0.5 * 2.0 * gained)
    momentum, turn = body.momenta(after, place)
    assert momentum == pytest.approx(2.0 * direction)
    assert turn == pytest.approx(np.zeros(3), abs=1e-12)
