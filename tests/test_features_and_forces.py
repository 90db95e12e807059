# SPDX-License-Identifier: GPL-3.0-or-later
"""What all features and forces promise: one place to register, fields with owners, energies that fit their forces."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from fixtures.bone_scenes import limb, rod
from fixtures.scenes import Run, block
from sinew.solver.constraints.force import Force, ForceStep, in_order_of_precedence
from sinew.solver.constraints.point_forces import PointForces
from sinew.solver.mechanics import state_fields
from sinew.solver.scene.constant_wind import Wind
from sinew.solver.scene.flesh import Bone, Flesh
from sinew.solver.scene.scene import Fracture, Heat, Plasticity, Scene, Settings
from sinew.solver.scene.tracks import NoTracks
from sinew.solver.simulation import assemble_bodies
from sinew.solver.simulation import build as build_module
from sinew.solver.simulation import forces as forces_module
from sinew.solver.simulation.features.feature import Feature
from sinew.solver.simulation.features.registry import FEATURES


def known_fields() -> list[str]:
    return [value for name, value in vars(state_fields).items() if name.isupper() and isinstance(value, str)]


def is_known(field: str) -> bool:
    prefixes = [name.partition("{key}")[0] for name in known_fields() if "{key}" in name or name.endswith(".")]
    return field in known_fields() or field.startswith(tuple(prefixes))


def busy_scene() -> Scene:
    """Returns a scene in which bodies are hot, flow, break, are pinned and blown at, and flesh hangs on a bone."""
    end = np.array([0, 1, 2, 3], np.int32)
    hot = block(key="hot", plasticity=Plasticity(), heat=Heat(), fracture=Fracture(1.0e3, most_pieces=4))
    pinned = block(key="pinned", at=(3.0, 0.0, 0.0), pinned=end, pin_weights=np.array([1.0, 1.0, 0.5, 0.5]))
    flesh = replace(limb((8, 3, 3), (4.0, 1.0, 1.0), at=(0.0, 5.0, 0.0)), flesh=Flesh())
    shape = rod(0.3, 1.7)
    holder = Bone("bone", "Bone", shape[0] + [0.0, 5.0, 0.0], shape[1], bodies=("limb",), stiffness=40.0)
    return Scene((hot, pinned, flesh), settings=Settings(frame_end=4), bones=(holder,), wind=Wind((1.0, 0.0, 0.0)))


@pytest.fixture(scope="module")
def busy(tmp_path_factory) -> Run:
    run = Run(tmp_path_factory.mktemp("busy"), busy_scene())
    run.advance(3)
    return run


def test_every_field_of_the_state_has_an_owner(busy):
    assert len(busy.state.fields) > 8
    assert [name for name in busy.state.fields if not is_known(name)] == []
    declared = [name for feature in FEATURES for name in feature.state_fields]
    assert len(set(declared)) == len(declared) and {*declared} <= {*known_fields()}


def test_forces_act_in_the_order_in_which_the_last_one_decides(busy):
    kinds = [force.kind for force in in_order_of_precedence(busy.built.forces)]
    assert kinds == ["bones", "pins", "wind"] and [f.kind for f in busy.built.forces] == ["pins", "bones", "wind"]


def test_the_force_of_every_force_is_the_slope_of_its_energy(busy):
    rng, model = np.random.default_rng(2), busy.built.model
    step = ForceStep(model, busy.state, busy.tracks, busy.state.time, busy.state.time + 0.01)
    for force in busy.built.forces:
        points = force.point_forces(step)
        assert len(points), force.kind
        way, v = rng.normal(size=(len(points), 3)), np.zeros((len(points), 3))
        slope = np.empty_like(way)
        for axis in range(3):
            nudge = 1.0e-4 * np.eye(3)[axis]
            slope[:, axis] = (points.energy(way + nudge) - points.energy(way - nudge)) / 2.0e-4
        assert points.force_after(way, v) == pytest.approx(-slope, rel=1e-6, abs=1e-6), force.kind
        assert np.linalg.eigvalsh(points.stiffness + points.damping).min() >= -1e-9, force.kind


def test_the_work_of_a_spring_is_that_of_its_force_at_the_end():
    points = PointForces(
        np.zeros(1, np.int32),
        np.array([[1.0, 0.0, 0.0, 0.0]]),
        np.array([[2.0, 0.0, 0.0]]),
        3.0 * np.eye(3)[None],
        0.5 * np.eye(3)[None],
    )
    x, tets = np.zeros((4, 3)), np.array([[0, 1, 2, 3]], np.int32)
    end, v = x + [0.2, 0.0, 0.0], x + [1.0, 0.0, 0.0]
    assert points.work(x, end, v, tets) == pytest.approx([0.2 * (2.0 - 3.0 * 0.2 - 0.5)])


@dataclass(frozen=True, eq=False)
class Lift(Force):
    """A force of its own: lifts one point of the first tet."""

    kind: ClassVar[str] = "lift"

    def point_forces(self, step: ForceStep) -> PointForces:
        nothing = np.zeros((1, 3, 3))
        weight = step.model.mass.sum() * 9.81
        return PointForces(
            np.zeros(1, np.int32), np.full((1, 4), 0.25), np.array([[0.0, 0.0, weight]]), nothing, nothing
        )


def test_a_force_is_registered_by_one_line(tmp_path, monkeypatch):
    added = forces_module.ForceKind(lambda inputs: [Lift()])
    monkeypatch.setattr(forces_module, "FORCES", (*forces_module.FORCES, added))
    run = Run(tmp_path, Scene((block(),), settings=Settings(frame_end=3)))
    run.advance(2)
    assert [force.kind for force in run.built.forces] == ["lift"]
    mass = run.built.model.mass
    assert mass @ run.state.v / mass.sum() == pytest.approx(np.zeros(3), abs=1e-6)


@dataclass(frozen=True, eq=False)
class Cooling(Feature):
    """A feature of its own: counts steps per node, and halves the moduli once it has taken four."""

    state_fields: ClassVar[tuple[str, ...]] = ("node.steps",)

    @classmethod
    def build(cls, inputs):
        inputs.state.fields["node.steps"] = np.zeros(inputs.model.node_count)
        return cls()

    def before_step(self, step):
        step.state.fields["node.steps"] = step.state.fields["node.steps"] + 1.0

    def current_model(self, model, state):
        return replace(model, mu=0.5 * model.mu) if state.fields["node.steps"][0] > 4.0 else model

    def report(self, model, unbroken_model, state):
        return {model.bodies[0].key: {"steps": float(state.fields["node.steps"].max())}}


def test_a_feature_is_registered_by_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(build_module, "FEATURES", (*FEATURES, Cooling))
    monkeypatch.setattr(assemble_bodies, "FEATURES", (*FEATURES, Cooling))
    body = block(fracture=Fracture(1.0), initial_velocity=(0.0, 0.0, 0.0))
    scene = Scene((body,), settings=Settings(frame_end=4, substeps=2))
    run = Run(tmp_path, scene)
    run.state.x *= 1.3  # breaks
    run.advance(3)
    assert run.reports[-1].bodies["block"]["steps"] == 6.0
    assert len(run.state.fields["node.steps"]) == run.built.model.node_count > run.built.unbroken.model.node_count


def test_a_scene_has_the_features_that_its_bodies_ask_for(busy):
    names = [type(feature).__name__ for feature in busy.built.features]
    assert names == ["Heat", "PlasticFlow", "Fracture", "FleshFeature"]
    plain = build_module.build(Scene((block(),)), NoTracks(), lambda *stage: None)
    assert [type(feature).__name__ for feature in plain.features] == ["PlasticFlow"] and plain.forces == ()
