# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs between bodies with a spring constant, damping and a breaking force."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sinew.solver.api as sinew
from fixtures.scenes import JELLY, block
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.attachment import Attachment
from sinew.solver.scene.scene import Body, Scene, Settings
from sinew.solver.simulation.simulation import Simulation

STIFF = replace(JELLY, youngs_modulus=1.0e9)
G = 9.81


def bodies(*, pinned: bool = True, **spring: float | None) -> tuple[Body, ...]:
    """Returns a block, and a smaller one below that hangs on it by a spring."""
    upper = block((2, 2, 2), (1.0, 1.0, 1.0), (0.0, 0.0, 1.0), key="upper", material=STIFF)
    if pinned:
        upper = replace(upper, pinned=np.flatnonzero(upper.vertices[:, 2] > 1.99).astype(np.int32))
    hung = block((1, 1, 1), (0.5, 0.5, 0.5), (0.25, 0.25, 0.45), key="hung", material=STIFF)
    return upper, replace(hung, attachments=(Attachment("upper", "spring", 2.0, **spring),))


def scene_of(*made: Body, gravity: float = G, frames: int = 40) -> Scene:
    return Scene(made, (), Settings(gravity=(0.0, 0.0, -gravity), frame_end=frames))


def mass_of(simulation: Simulation, number: int) -> float:
    model = simulation.built.model
    return float(model.mass[model.bodies[number].nodes].sum())


def centre(simulation: Simulation, number: int) -> np.ndarray:
    model = simulation.built.model
    nodes = model.bodies[number].nodes
    return model.mass[nodes] @ simulation.state.x[nodes] / model.mass[nodes].sum()


def momenta(simulation: Simulation) -> np.ndarray:
    """Returns momentum and angular momentum of all, (6,)."""
    m, state = simulation.built.model.mass[:, None], simulation.state
    return np.concatenate([(m * state.v).sum(axis=0), np.cross(state.x, m * state.v).sum(axis=0)])


@pytest.mark.slow
def test_a_weight_hangs_lower_by_m_g_over_k() -> None:
    weight = 125.0 * G  # of 1000 kg/m³
    simulation = Simulation(scene_of(*bodies(spring_constant=weight / 0.05, damping=2000.0), frames=120))
    before = centre(simulation, 1)
    sag = []
    for _ in range(119):
        simulation.advance()
        sag.append((before - centre(simulation, 1))[2])
    expected = mass_of(simulation, 1) * G / (weight / 0.05)
    assert sag[-1] == pytest.approx(expected, rel=1.0e-3)
    assert max(sag) < 1.6 * expected, "damping brakes it"


def test_a_spring_with_damping_keeps_both_momenta() -> None:
    made = bodies(pinned=False, spring_constant=5.0e3, damping=300.0)
    pushed = replace(made[1], initial_velocity=(2.0, 1.0, -3.0))
    simulation = Simulation(scene_of(made[0], pushed, gravity=0.0))
    simulation.start()
    before = momenta(simulation)
    energy = [float(0.5 * simulation.built.model.mass @ np.square(simulation.state.v).sum(axis=1))]
    for _ in range(20):
        simulation.advance()
        energy.append(float(0.5 * simulation.built.model.mass @ np.square(simulation.state.v).sum(axis=1)))
    change = momenta(simulation) - before
    scale = np.abs(before).max()
    assert np.abs(change[:3]).max() < 1.0e-9 * scale
    # implicit Euler's own: 0.021 of it without damping, and it falls with the step
    assert np.abs(change[3:]).max() < 0.005 * scale
    assert energy[-1] < 0.9 * energy[0]


@pytest.mark.parametrize("share", [0.8, 1.3])
def test_a_row_breaks_where_it_carries_more_than_its_force(share: float) -> None:
    weight = 125.0 * G
    spring = {"spring_constant": weight / 0.02, "damping": 12000.0, "breaking_force": share * weight}
    simulation = Simulation(scene_of(*bodies(**spring), frames=60))
    before = centre(simulation, 1)
    for _ in range(30):
        simulation.advance()
    fallen = (before - centre(simulation, 1))[2]
    assert fallen > 0.5 if share < 1.0 else fallen < 0.03
    assert ("broken.hung.0" in simulation.state.fields) == (share < 1.0)


def test_a_resumed_bake_of_what_broke_has_the_same_bytes(tmp_path: Path) -> None:
    weight = 125.0 * G
    scene = scene_of(*bodies(spring_constant=weight / 0.02, breaking_force=0.9 * weight), frames=12)
    whole = sinew.bake(scene, tmp_path / "whole.sinew")
    first = replace(scene, settings=replace(scene.settings, frame_end=10))
    sinew.bake(first, tmp_path / "parts.sinew")
    parts = sinew.bake(scene, tmp_path / "parts.sinew", resume=True)
    assert not whole.broken_attachments(1, "hung") and whole.broken_attachments(10, "hung") == {0}
    assert parts.broken_attachments(12, "hung") == {0} and not parts.broken_attachments(12, "upper")
    for frame in range(1, 13):
        assert np.array_equal(whole.read_frame(frame).x, parts.read_frame(frame).x)
    assert whole.play_path("hung").read_bytes() == parts.play_path("hung").read_bytes()


@pytest.mark.parametrize(
    ("kind", "attachment"),
    [
        ("binding-breaks", Attachment("upper", "fixed", 0.1, is_exact=True, breaking_force=1.0)),
        ("attachment-damped-target", Attachment("floor", "spring", 0.1, damping=1.0)),
    ],
)
def test_what_cannot_break_or_brake_is_named(kind: str, attachment: Attachment) -> None:
    upper, hung = bodies()
    with pytest.raises(BadInput) as caught:
        Simulation(scene_of(upper, replace(hung, attachments=(attachment,))))
    assert caught.value.kind == kind and '"' + hung.name + '"' in caught.value.sentence
