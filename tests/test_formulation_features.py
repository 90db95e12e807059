# SPDX-License-Identifier: GPL-3.0-or-later
"""Methods with what else a body may do: bodies of every method break, flow and melt, touch those of others, resume."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.formulation_choices import CHOICES, resisting, words
from fixtures.fracture_bake import breaking_scene, write_breaking
from fixtures.scenes import JELLY
from fixtures.tet_meshes import bar
from fixtures.tiny_bakes import baked, box_of_tets
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.errors import Cancelled
from sinew.solver.scene.formulation import (
    DEFAULT_FORMULATION,
    EULER,
    FORMULATIONS,
    FRACTURE,
    HEAT,
    FormulationSettings,
    unsupported_features,
)
from sinew.solver.scene.scene import Body, Collider, Material, Meshing, Scene, Settings

pytestmark = pytest.mark.slow

# those whose records or rotations are others, not those that solve or step in another way
BREAKING = [
    method
    for method in CHOICES
    if FRACTURE not in set(unsupported_features(method))
    and method != DEFAULT_FORMULATION
    and method.scheme == EULER
    and method.keeps_momentum
    and not method.is_matrix_free
]
STIFF = Material(youngs_modulus=2.0e6, density=JELLY.density, poisson_ratio=0.3, stiffness_damping=0.01)


def halved(cache: Path, frame: int) -> list[dict[str, Any]]:
    """Bakes a scene up to a frame, then the rest, and returns the events of the rest."""
    frames: list[int] = []
    with pytest.raises(Cancelled):
        run_bake(cache, lambda e: frames.append(e.get("frame", 0)), lambda: max(frames, default=0) >= frame)
    events: list[dict[str, Any]] = []
    run_bake(cache, events.append, options=BakeOptions(resume=True))
    return events


@pytest.mark.parametrize("method", BREAKING, ids=words)
def test_it_breaks_flows_melts_and_resumes(method: FormulationSettings, tmp_path: Path) -> None:
    scene = breaking_scene()
    melts = HEAT not in set(unsupported_features(method))
    bodies = tuple(resisting(body if melts else dataclasses.replace(body, heat=None), method) for body in scene.bodies)
    scene = dataclasses.replace(scene, bodies=bodies)
    for name in ("whole", "parts"):
        write_breaking(tmp_path / name, scene)
    events: list[dict[str, Any]] = []
    run_bake(tmp_path / "whole", events.append)
    (broken,) = events[-1]["results"]
    assert broken["key"] == "pulled" and broken["pieces"] >= 2 and broken["broken_faces"] > 0
    cube = [event["bodies"]["cube"] for event in events if event["event"] == "frame"][-1]
    assert cube["largest_plastic_strain"] > 0.0
    assert not melts or 20.0 < cube["hottest"] < 36.0
    halved(tmp_path / "parts", 12)
    assert baked(tmp_path / "parts") == baked(tmp_path / "whole")


def tower(order: list[str]) -> Scene:
    """Returns cubes of all methods that drop onto each other, the first one on the ground."""
    bodies = []
    for number, name in enumerate(order):
        nodes, tets, faces = box_of_tets()
        nodes = nodes + [0.0, 0.0, 0.01 + 1.03 * number]
        given = Meshing(method="given")
        body = Body(nodes, faces, STIFF, given, f"cube-{number}", name.title(), tet_nodes=nodes, tets=tets)
        bodies.append(resisting(body, FormulationSettings(name)))
    return Scene(tuple(bodies), (Collider("ground", "Ground"),), Settings(1, 16, substeps=4))


@pytest.mark.parametrize("order", [list(FORMULATIONS), list(FORMULATIONS)[::-1]], ids=["up", "down"])
def test_bodies_of_all_methods_stand_on_each_other(order: list[str], tmp_path: Path) -> None:
    scene = tower(order)
    for name in ("whole", "parts"):
        scene.save(tmp_path / name / "scene")
    events: list[dict[str, Any]] = []
    run_bake(tmp_path / "whole", events.append)
    assert events[-1]["event"] == "done" and events[-1]["not_converged"] == 0
    files = [tmp_path / "whole" / "play" / f"{body.key}.pc2" for body in scene.bodies]
    count = len(scene.bodies[0].vertices)
    last = [np.frombuffer(file.read_bytes()[32:], np.float32).reshape(-1, count, 3)[-1] for file in files]
    assert np.isfinite(last).all()
    for number, (points, below) in enumerate(zip(last, [None, *last[:-1]], strict=True)):
        floor = 0.0 if below is None else below[:, 2].max()
        assert abs(points[:, 2].min() - floor) < 0.12, f"{order[number]} stands on what is below it"
    halved(tmp_path / "parts", 7)
    assert baked(tmp_path / "parts") == baked(tmp_path / "whole")


def spun(*others: FormulationSettings) -> np.ndarray:
    """Returns where a free bar of warped vertices is that was turning and stretched, beside bars of other methods."""
    nodes, tets = bar((4, 2, 2), (2.0, 1.0, 1.0))
    soft = Material(1.0e5, 0.3, stiffness_damping=0.0)
    methods = (FormulationSettings("vertex-warp"), *others)
    model = make_model([Part(str(n), nodes, tets, np.ones(len(tets)), soft, method=m) for n, m in enumerate(methods)])
    own = model.bodies[0].nodes
    state = State(model.X.copy(), np.zeros_like(model.X))
    arms = nodes - nodes.mean(axis=0)
    state.v[own] = np.cross([0.0, 3.0, 5.0], arms) + arms * [2.0, 0.0, 0.0]
    for _ in range(20):
        assert step(model, state, ExternalForces(), 0.01, Settings(tolerance=1e-7, max_iterations=3000)).converged
    return state.x[own]


@pytest.mark.parametrize("name", ["green", "hybrid", "hierarchical"])
def test_the_ghost_force_is_taken_out_in_steps_by_newtons_method_too(name: str) -> None:
    """A neighbour that it does not touch and that is stepped so changes nothing."""
    assert np.abs(spun(FormulationSettings(name)) - spun()).max() < 1e-4
