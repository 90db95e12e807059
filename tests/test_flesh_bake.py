# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh that follows a pose, from the scene to the cache."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.flesh_scenes import bending, bent, limb, write_limb
from fixtures.scenes import JELLY, Run, block
from fixtures.tiny_bakes import baked
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import hyperelastic
from sinew.solver.quasistatic.equilibrium import solve
from sinew.solver.quasistatic.equilibrium_problem import EquilibriumProblem
from sinew.solver.quasistatic.fixed_nodes import FixedNodes
from sinew.solver.runtime.errors import Cancelled
from sinew.solver.scene.flesh import Flesh
from sinew.solver.scene.scene import Collider, Fracture, Scene, Settings
from sinew.solver.scene.tracks import TrackWriter
from sinew.solver.simulation.advance_frame import advance_frame, begin_frame
from sinew.solver.simulation.pose_step import FAILED_BODIES_FIELD, equilibrate_flesh

STILL = Settings(frame_end=6, substeps=2, gravity=(0.0, 0.0, 0.0))


def nothing(_: Any) -> None:
    """Hears an event."""


def limb_run(folder: Path, settings: Settings = STILL, degrees: float = 60.0, first: float = 0.0, **more: Any) -> Run:
    body = limb(**more)
    return Run(folder, Scene((body,), (), settings), body__limb__targets=bending(body, settings, degrees, first))


def equilibrium(run: Run, x: np.ndarray, gravity: float = 0.0) -> np.ndarray:
    """Returns where the only body is at rest under neo-Hooke, held where the nodes that pins hold are in x."""
    model, nodes = run.built.model, run.built.pins[0].fixed_nodes
    load = model.mass[:, None] * np.array([0.0, 0.0, -gravity])
    law = hyperelastic(model, "neo-hookean")
    return solve(EquilibriumProblem(model, law, FixedNodes(nodes, x[nodes]), load=load), x, 1e-9).x


def test_every_sample_is_an_equilibrium(tmp_path: Path):
    settings = dataclasses.replace(STILL, gravity=(0.0, 0.0, -9.81), samples_per_frame=2, pose_tolerance=1e-6)
    run = limb_run(tmp_path, settings, flesh=Flesh(law="neo-hookean"))
    told = run.simulation.start().report
    assert told.converged and told.newton_iterations > 0 and told.pose_residual <= 1e-6
    drawn: list[tuple[np.ndarray, np.ndarray]] = []
    for frame in (2, 3, 4):
        take = lambda positions: drawn.append((positions["limb"], run.state.x.copy()))  # noqa: E731
        run.reports.append(advance_frame(run.simulation, frame, take))
    assert len(drawn) == 6
    for _, x in drawn:
        np.testing.assert_allclose(x, equilibrium(run, x, 9.81), atol=1e-5)
    assert all(report.converged and report.pose_residual <= 1e-6 for report in run.reports)
    assert all(report.bodies["limb"]["pose_residual"] == report.pose_residual for report in run.reports)
    # what the pins want is met, and it sags between them
    np.testing.assert_allclose(drawn[-1][0][run.scene.bodies[0].pinned], bent(run.scene.bodies[0], 36.0), atol=1e-9)


def test_velocities_are_what_nodes_moved_in_a_sample(tmp_path: Path):
    run = limb_run(tmp_path)
    run.simulation.start()
    assert not run.state.v.any()
    run.advance(2)
    before = run.state.x.copy()
    run.advance()
    np.testing.assert_allclose(run.state.v, (run.state.x - before) * run.scene.settings.fps, rtol=1e-12)


@pytest.mark.parametrize("law", ["neo-hookean", "stable-neo-hookean"])
@pytest.mark.parametrize("squash", [-1.0, 0.0, 0.01])
def test_tets_that_are_crushed_by_what_holds_them_spoil_nothing(tmp_path: Path, law: str, squash: float):
    """The end of a limb is held turned inside out, or flat: the rest comes to rest, and it is told."""
    body = limb(flesh=Flesh(law=law))
    targets = np.array([bent(body, 0.0)] * 3)
    far = body.vertices[body.pinned][:, 0] > 1.75
    targets[1:, far, 1] = 0.25 + squash * (targets[1:, far, 1] - 0.25)
    run = Run(tmp_path, Scene((body,), (), STILL), body__limb__targets=(np.arange(3) / 24.0, targets))
    model, pins = run.built.model, run.built.pins[0]
    run.simulation.start()
    run.advance(2)
    is_held = np.zeros(model.node_count, bool)
    is_held[pins.fixed_nodes] = True
    turned = np.linalg.det(run.state.x[model.tets[:, 1:]] - run.state.x[model.tets[:, :1]]) <= 1e-12
    assert run.reports[-1].converged and run.reports[-1].newton_iterations < 60
    if squash < 0.0:
        assert turned.any() and run.reports[-1].inverted_tets >= turned.sum()


def test_weak_pins_are_springs(tmp_path: Path):
    """A block on springs sinks by its weight over their stiffness, and where forces are zero energy is least."""
    body = block((2, 2, 2), key="limb", material=dataclasses.replace(JELLY, youngs_modulus=1e7), flesh=Flesh())
    body = dataclasses.replace(
        body, pinned=np.arange(len(body.vertices), dtype=np.int32), pin_weights=np.full(len(body.vertices), 0.5)
    )
    settings = Settings(frame_end=2, gravity=(0.0, 0.0, -10.0), pose_tolerance=1e-6)
    stiffness = (np.array([0.0]), np.array([100.0]), "step")
    run = Run(tmp_path, Scene((body,), (), settings), body__limb__pin_stiffness=stiffness)
    told = run.simulation.start().report
    assert told.converged
    mean = np.average(run.state.x - run.built.model.X, axis=0, weights=run.built.model.mass)
    np.testing.assert_allclose(mean, [0.0, 0.0, -10.0 / (0.5 * 100.0)], atol=5e-3)


def test_the_frame_after_a_bad_frame_recovers(tmp_path: Path):
    """Whatever a frame leaves behind, the next is the one that would have been."""
    run, good = (limb_run(tmp_path / name, first=20.0) for name in ("bad", "good"))
    run.simulation.start(), good.simulation.start()
    good.advance(2)
    rng = np.random.default_rng(1)
    run.state.x = run.state.x + rng.normal(0.0, 0.5, run.state.x.shape)
    few = dataclasses.replace(run.scene, settings=dataclasses.replace(run.scene.settings, pose_iterations=2))
    run.simulation.scene = few
    run.advance()
    assert (
        not run.reports[0].converged
        and run.reports[0].not_converged == 1
        and run.state.fields[FAILED_BODIES_FIELD].all()
    )
    run.simulation.scene = run.scene
    run.advance()
    assert (
        run.reports[1].converged
        and run.reports[1].inverted_tets == 0
        and not run.state.fields[FAILED_BODIES_FIELD].any()
    )
    np.testing.assert_allclose(run.state.x, good.state.x, atol=1e-3)


def test_a_twist_that_a_bad_frame_left_is_undone(tmp_path: Path):
    """A limb twisted by a full turn is at rest, too; after a bad frame the equilibrium of lower energy is taken."""
    run = limb_run(tmp_path, dataclasses.replace(STILL, pose_tolerance=1e-5), degrees=0.0, cells=(16, 3, 3))
    model = run.built.model
    share = np.clip((model.X[:, 0] - 0.3) / 1.4, 0.0, 1.0)
    angle, arm = 2.0 * np.pi * share, model.X[:, 1:] - 0.25
    c, s = np.cos(angle), np.sin(angle)
    twisted = model.X.copy()
    twisted[:, 1:] = np.column_stack([c * arm[:, 0] - s * arm[:, 1], s * arm[:, 0] + c * arm[:, 1]]) + 0.25
    run.state.x = twisted.copy()
    run.simulation.start()  # nothing says that anything is wrong: it stays
    assert np.abs(run.state.x - model.X).max() > 0.1 and not run.state.fields[FAILED_BODIES_FIELD].any()
    run.state.fields[FAILED_BODIES_FIELD][:] = True
    equilibrate_flesh(run.simulation, 0.0, 1.0 / 24.0)
    np.testing.assert_allclose(run.state.x, model.X, atol=1e-4)


def test_other_bodies_move_as_if_flesh_were_not_there(tmp_path: Path):
    settings = Settings(frame_end=6, substeps=2)
    body, falls = limb(at=(0.0, 0.0, 3.0)), block(at=(0.0, 4.0, 0.02), key="falls")
    ground, targets = (Collider("g", "G"),), bending(body, settings, 60.0)
    both = Run(tmp_path / "a", Scene((body, falls), ground, settings), body__limb__targets=targets)
    alone = Run(tmp_path / "b", Scene((falls,), ground, settings))
    flesh = Run(tmp_path / "c", Scene((body,), ground, settings), body__limb__targets=targets)
    for run in (both, flesh):
        run.simulation.start()
    for run in (both, alone, flesh):
        run.advance(5)
    n = flesh.built.model.node_count
    np.testing.assert_array_equal(both.state.x[:n], flesh.state.x)
    np.testing.assert_array_equal(both.state.v[:n], flesh.state.v)
    # where bodies may touch, rotations follow within a step
    np.testing.assert_allclose(both.state.x[n:], alone.state.x, atol=1e-5)
    assert both.reports[-1].solves > 0 and flesh.reports[-1].solves == 0
    assert both.reports[-1].contacts == alone.reports[-1].contacts > 0


def test_flesh_stays_itself_where_another_body_breaks(tmp_path: Path):
    """Nodes that split come before those of the flesh, which move to other rows then."""
    settings = Settings(frame_end=4, substeps=2)
    body = limb(at=(0.0, 0.0, 3.0))
    breaks = block(at=(0.0, 4.0, 0.02), key="breaks", fracture=Fracture(breaking_stress=10.0))
    ground, targets = (Collider("g", "G"),), bending(body, settings, 60.0)
    run = Run(tmp_path / "a", Scene((breaks, body), ground, settings), body__limb__targets=targets)
    alone = Run(tmp_path / "b", Scene((body,), ground, settings), body__limb__targets=targets)
    run.simulation.start(), alone.simulation.start()
    run.advance(3), alone.advance(3)
    n = alone.built.model.node_count
    assert run.built.unbroken is not None and run.built.model.node_count > run.built.unbroken.model.node_count
    np.testing.assert_array_equal(run.state.x[-n:], alone.state.x)
    np.testing.assert_array_equal(run.built.model.mass[-n:], alone.built.model.mass)


def bake(cache: Path, scene: Scene, degrees: float = 90.0, first: float = 0.0, **more: Any) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    write_limb(cache, scene, degrees, first)
    run_bake(cache, events.append, options=BakeOptions(**more))
    return events


def test_the_first_written_frame_is_in_its_pose(tmp_path: Path):
    body = limb()
    events = bake(tmp_path / "a", Scene((body,), (), dataclasses.replace(STILL, frame_end=2)), 40.0, 40.0)
    first = next(event for event in events if event["event"] == "frame")
    assert first["newton_iterations"] > 0 and first["pose_residual"] <= 1e-3
    line = json.loads((tmp_path / "a" / "report.jsonl").read_text().splitlines()[0])
    assert line["newton_iterations"] == first["newton_iterations"]
    shown = CacheReader(tmp_path / "a").read_samples("limb", 0)[0]
    np.testing.assert_allclose(shown[body.pinned], bent(body, 40.0), atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_the_same_bytes_with_any_number_of_threads_and_after_a_stop(tmp_path: Path, threads: int):
    body = limb(cells=(16, 5, 5))
    scene = Scene((body, block(at=(0.0, 4.0, 0.02), key="falls")), (Collider("g", "G"),), STILL)
    bake(tmp_path / "whole", scene, threads=2)
    with pytest.raises(Cancelled):
        seen: list[int] = []
        write_limb(tmp_path / "parts", scene)
        run_bake(
            tmp_path / "parts",
            lambda event: seen.append(event.get("frame", 0)),
            lambda: max(seen, default=0) >= 3,
            options=BakeOptions(threads=threads),
        )
    run_bake(tmp_path / "parts", nothing, options=BakeOptions(resume=True, threads=threads))
    assert baked(tmp_path / "whole") == baked(tmp_path / "parts")


def test_only_what_is_lost_is_begun_anew(tmp_path: Path):
    """A bad frame of one limb changes nothing of another in the same scene."""
    settings = dataclasses.replace(STILL, pose_tolerance=1e-6)
    one, other = limb("one"), limb("other", (0.0, 3.0, 0.0))
    targets = {f"body__{body.key}__targets": bending(body, settings, 60.0) for body in (one, other)}
    run, good = (Run(tmp_path / name, Scene((one, other), (), settings), **targets) for name in ("bad", "good"))
    for each in (run, good):
        each.simulation.start()
        each.advance()
    own = run.built.model.bodies[0].nodes
    run.state.x[own] += np.random.default_rng(2).normal(0.0, 0.5, run.state.x[own].shape)
    run.state.fields[FAILED_BODIES_FIELD][:] = [True, False]
    run.advance(), good.advance()
    assert run.reports[-1].converged and not run.state.fields[FAILED_BODIES_FIELD].any()
    np.testing.assert_allclose(run.state.x, good.state.x, atol=1e-5)


def halting(body: Any, settings: Settings, moving: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns times [s] and targets [m] of a limb that bends, and stays bent from so many frames on."""
    times, targets = bending(body, settings, 150.0)
    targets[moving:] = targets[moving]
    return times, targets


def test_a_pose_that_did_not_come_to_rest_is_not_tried_again_while_nothing_moves(tmp_path: Path):
    settings = dataclasses.replace(STILL, pose_iterations=3, pose_tolerance=1e-9)
    body = limb()
    times, targets = halting(body, settings, 2)
    targets[5] += [0.0, 0.0, 0.01]
    run = Run(tmp_path, Scene((body,), (), settings), body__limb__targets=(times, targets))
    run.simulation.start()
    run.advance(2)
    first, stopped = run.reports[-1], run.state.x.copy()
    assert not first.converged and first.newton_iterations >= 6  # both tries
    run.advance(2)
    for told in run.reports[-2:]:
        assert not told.converged and told.not_converged == 1 and told.newton_iterations == 0
        assert told.pose_residual == first.pose_residual and told.inverted_tets == first.inverted_tets
    np.testing.assert_array_equal(run.state.x, stopped)
    assert not run.state.v.any() and run.state.fields[FAILED_BODIES_FIELD].all()
    run.advance()  # it is held elsewhere
    assert run.reports[-1].newton_iterations > 0 and np.abs(run.state.x - stopped).max() > 1e-3


def test_a_pre_roll_goes_on_where_nothing_moves(tmp_path: Path):
    settings = dataclasses.replace(STILL, pose_iterations=2, pose_tolerance=1e-6, preroll=12)
    body = limb()
    times, targets = halting(body, settings, 1)
    run = Run(tmp_path, Scene((body,), (), settings), body__limb__targets=(times, targets))
    begin_frame(run.simulation)
    told = [advance_frame(run.simulation, settings.frame_start - 12 + k, None) for k in range(1, 13)]
    assert not told[0].converged and told[1].newton_iterations > 0
    assert told[-1].pose_residual < told[0].pose_residual


def change_gravity(run: Run) -> None:
    run.simulation.scene = dataclasses.replace(
        run.scene, settings=dataclasses.replace(run.scene.settings, gravity=(0.0, 0.0, -9.81))
    )


def change_place(run: Run) -> None:
    run.state.x[len(run.state.x) // 2] += 1e-3


def change_patience(run: Run) -> None:
    run.simulation.scene = dataclasses.replace(
        run.scene, settings=dataclasses.replace(run.scene.settings, pose_iterations=100)
    )


@pytest.mark.parametrize("change", [change_gravity, change_place, change_patience])
def test_what_changes_without_a_target_is_followed(tmp_path: Path, change: Any):
    settings = dataclasses.replace(STILL, pose_iterations=3, pose_tolerance=1e-9)
    body = limb()
    run = Run(tmp_path, Scene((body,), (), settings), body__limb__targets=halting(body, settings, 1))
    run.simulation.start()
    run.advance(2)
    assert run.reports[-1].newton_iterations == 0
    change(run)
    run.advance()
    assert run.reports[-1].newton_iterations > 0


def test_springs_that_stay_are_not_tried_again(tmp_path: Path):
    """Their force depends on where the flesh is; what counts is where they pull it."""
    settings = dataclasses.replace(STILL, pose_iterations=3, pose_tolerance=1e-9)
    body = limb()
    body = dataclasses.replace(body, pin_weights=np.full(len(body.pinned), 0.5))
    times, targets = halting(body, settings, 2)
    targets[5] += [0.0, 0.0, 0.01]
    run = Run(tmp_path, Scene((body,), (), settings), body__limb__targets=(times, targets))
    run.simulation.start()
    run.advance(5)
    assert [told.newton_iterations > 0 for told in run.reports] == [True, True, False, False, True]
    assert not run.reports[-2].converged


def test_a_pose_that_stays_has_the_same_bytes_when_resumed(tmp_path: Path):
    body = limb()
    scene = Scene((body,), (), dataclasses.replace(STILL, pose_iterations=3, pose_tolerance=1e-9))

    def write(cache: Path) -> None:
        scene.save(cache / "scene")
        tracks = TrackWriter(cache / "scene")
        tracks.append("body.limb.targets", *halting(body, scene.settings, 2))
        tracks.close()

    told: list[dict[str, Any]] = []
    write(tmp_path / "whole"), write(tmp_path / "parts")
    run_bake(tmp_path / "whole", told.append)
    run_bake(tmp_path / "parts", nothing, options=BakeOptions(frame_end=4))
    run_bake(tmp_path / "parts", nothing, options=BakeOptions(resume=True))
    assert [e["newton_iterations"] > 0 for e in told if e["event"] == "frame"][2:] == [True, False, False, False]
    assert baked(tmp_path / "whole") == baked(tmp_path / "parts")
