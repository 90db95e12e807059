# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear, polar and QR bodies in scenes: hung up they flow, melt and break, lie on the ground and on each other."""

from dataclasses import replace

import numpy as np
import pytest

from fixtures.scenes import Run, block
from sinew.solver.mechanics.state import State
from sinew.solver.scene.formulation import HIGHAM, FormulationSettings
from sinew.solver.scene.scene import Collider, Fracture, Heat, Material, Plasticity, Scene, Settings
from sinew.solver.simulation.simulation import Simulation

pytestmark = pytest.mark.slow

POLAR = FormulationSettings("polar")
OTHERS = {
    "linear": FormulationSettings("linear"),
    "Higham": FormulationSettings("polar", rotation=HIGHAM),
    "held": FormulationSettings("polar", rotations_every=3),
    "QR": FormulationSettings("qr"),
    "QR, stale": FormulationSettings("qr", is_stale=True),
    "QR, matrix-free": FormulationSettings("qr", is_matrix_free=True),
}
others = pytest.mark.parametrize("method", OTHERS.values(), ids=OTHERS)
FIRM = Material(2.0e5, 0.3, 1000.0, stiffness_damping=0.01)


def hanging(method, material=FIRM, **settings):
    """A bar that hangs by its upper end."""
    body = block((2, 2, 6), (0.3, 0.3, 1.0), method=method, material=material, **settings)
    top = np.flatnonzero(body.vertices[:, 2] > 0.999).astype(np.int32)
    return replace(body, pinned=top, pin_weights=np.ones(len(top)))


def pieces(run):
    return run.reports[-1].bodies["block"]["pieces"]


def run_of(folder, body, *more, frames=15, colliders=(), **settings):
    folder.mkdir(exist_ok=True)
    run = Run(folder, Scene((body, *more), colliders, Settings(**settings)))
    run.advance(frames)
    return run


@others
def test_a_bar_that_bears_less_than_its_weight_breaks(tmp_path, method):
    """At the first stress beyond what it bears, as the polar one does: near its upper end, where 9.8 kPa pull."""
    found = {}
    for name, each in (("own", method), ("polar", POLAR)):
        run = Run(tmp_path / name, Scene((hanging(each, fracture=Fracture(6.0e3, scatter=0.0)),)))
        for _ in range(30):
            run.advance()
            if pieces(run) > 1:
                break
        found[name] = run.frame, run.reports[-1].bodies["block"]["largest_stress"]
        assert pieces(run) > 1, name
        run.advance(8)
        assert np.isfinite(run.state.x).all() and run.state.x[:, 2].min() < -0.05
    assert abs(found["own"][0] - found["polar"][0]) <= 1
    assert found["own"][1] == pytest.approx(found["polar"][1], rel=0.15)
    whole = run_of(tmp_path / "whole", hanging(method, fracture=Fracture(6.0e4, scatter=0.0)))
    assert pieces(whole) == 1


@others
@pytest.mark.parametrize("law", ("multiplicative", "additive"))
def test_a_bar_flows_under_its_weight_as_a_polar_one_does(tmp_path, method, law):
    plasticity = Plasticity(law, yield_strain=0.005, flow=5.0)
    ends = {}
    for name, each in (("own", method), ("polar", POLAR), ("elastic", method)):
        body = hanging(each, plasticity=None if name == "elastic" else plasticity)
        run = run_of(tmp_path / name, body, frames=20)
        ends[name] = -run.state.x[:, 2].min()
        if name == "own":
            assert run.reports[-1].bodies["block"]["largest_plastic_strain"] > 0.01
    assert ends["own"] > ends["elastic"] + 0.02
    assert ends["own"] == pytest.approx(ends["polar"], rel=0.1)


@others
def test_a_bar_melts_as_a_polar_one_does(tmp_path, method):
    heat = Heat(temperature=100.0, melting_point=60.0)
    ends = {}
    for name, each in (("own", method), ("polar", POLAR), ("cold", method)):
        body = hanging(each, heat=None if name == "cold" else heat, plasticity=Plasticity(yield_strain=0.5))
        ends[name] = -run_of(tmp_path / name, body, frames=20).state.x[:, 2].min()
    assert ends["own"] > ends["cold"] + 0.05
    assert ends["own"] == pytest.approx(ends["polar"], rel=0.15)


@others
def test_blocks_rest_on_the_ground_and_on_each_other(tmp_path, method):
    lower = block((2, 2, 2), (0.5, 0.5, 0.5), (0.0, 0.0, 0.01), key="lower", method=method, material=FIRM)
    upper = block((2, 2, 2), (0.4, 0.4, 0.4), (0.05, 0.05, 0.53), key="upper", method=method, material=FIRM)
    run = run_of(tmp_path, lower, upper, frames=40, colliders=(Collider("floor", "Floor", "plane"),))
    first, second = (run.state.x[body.nodes] for body in run.built.model.bodies)
    assert -0.02 < first[:, 2].min() < 0.02 and first[:, 2].max() > 0.45
    assert second[:, 2].min() > first[:, 2].max() - 0.05
    assert np.abs(run.state.v).max() < 0.15


@others
def test_half_a_simulation_goes_on_with_the_same_bits(tmp_path, method):
    floor = (Collider("floor", "Floor", "plane"),)
    body = hanging(method, plasticity=Plasticity(yield_strain=0.005, flow=5.0))
    body = replace(body, pin_weights=np.full(len(body.pinned), 0.5))
    whole = run_of(tmp_path / "whole", body, frames=10, colliders=floor)
    half = run_of(tmp_path / "half", body, frames=4, colliders=floor)
    state = State.from_arrays(half.state.to_arrays())
    half.simulation = Simulation(half.scene, half.tracks, half.built, state)
    half.advance(6)
    assert np.array_equal(whole.state.x, half.state.x) and np.array_equal(whole.state.v, half.state.v)


@others
def test_beside_a_body_of_newtons_method_all_move_as_without(tmp_path, method):
    """The steps of such scenes have another system; what is solved for is the same."""
    ends = []
    for other in ("green", "polar"):
        body = block((2, 2, 2), (0.4, 0.4, 0.4), (3.0, 0.0, 0.0), key="other", method=FormulationSettings(other))
        tight = Settings(tolerance=1e-9, max_iterations=3000)
        run = Run(tmp_path, Scene((hanging(method), body), (), tight))
        run.advance(6)
        ends.append(run.state.x[run.built.model.bodies[0].nodes])
    assert np.abs(ends[0] - ends[1]).max() < 1e-7


@others
@pytest.mark.parametrize("strain", (0.02, 0.002))
def test_a_shape_under_stress_at_rest_is_in_balance(tmp_path, method, strain):
    """Gravity Already in Shape: to round-off, and by QR but for squares of the strain, which it measures otherwise."""
    body = hanging(method, gravity_in_shape=True, material=replace(FIRM, youngs_modulus=9.81e3 / strain))
    run = run_of(tmp_path, body, frames=1)
    moved = np.abs(run.state.x - run.built.model.X).max()
    assert moved < (strain**2 if method.name == "qr" else 1e-12)
