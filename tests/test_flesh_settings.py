# SPDX-License-Identifier: GPL-3.0-or-later
"""What a scene may ask of flesh, what is painted on it, and what bakes of it say."""

from __future__ import annotations

import dataclasses
import shutil
import time as clock
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.flesh_scenes import bent, limb, write_limb
from fixtures.scenes import Run, block
from fixtures.tiny_bakes import baked
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.runtime.errors import BadInput, Cancelled, SolveFailed
from sinew.solver.runtime.event_text import residual_text
from sinew.solver.scene.flesh import FLESH_LAWS, Bone, Flesh
from sinew.solver.scene.scene import Collider, Fracture, Heat, Material, Meshing, Plasticity, Scene, Settings
from sinew.solver.scene.validation import check_scene

STILL = Settings(frame_end=4, substeps=1, gravity=(0.0, 0.0, 0.0))


def nothing(_: Any) -> None:
    """Hears an event."""


@pytest.mark.parametrize(
    ("flesh", "kind"),
    [
        (Flesh(motion="floating"), "flesh-motion"),
        (Flesh(law="hookean"), "flesh-law"),
        (Flesh(scheme="leapfrog"), "flesh-scheme"),
        (Flesh(attachment_paint=np.full(len(limb().vertices), np.nan)), "setting-out-of-range"),
    ],
)
def test_flesh_that_does_not_exist_is_refused(flesh: Flesh, kind: str):
    with pytest.raises(BadInput) as told:
        check_scene(Scene((limb(flesh=flesh),)))
    assert told.value.kind == kind and '"Limb"' in told.value.sentence


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"plasticity": Plasticity()}, "Plasticity"),
        ({"heat": Heat()}, "Heat"),
        ({"fracture": Fracture()}, "Fracture"),
    ],
)
def test_flesh_is_not_combined(more: dict[str, Any], words: str):
    with pytest.raises(BadInput) as told:
        check_scene(Scene((limb(**more),)))
    assert told.value.kind == "flesh-combined" and words in told.value.sentence and '"Limb"' in told.value.sentence


@pytest.mark.parametrize(
    "settings", [{"pose_tolerance": 0.0}, {"pose_tolerance": 1.0}, {"pose_iterations": 0}, {"preroll": -1}]
)
def test_settings_of_poses_have_ranges(settings: dict[str, Any]):
    with pytest.raises(BadInput) as told:
        check_scene(Scene((limb(),), (), Settings(**settings)))
    assert told.value.kind == "setting-out-of-range"


@pytest.mark.parametrize("law", FLESH_LAWS)
def test_every_law_bends(tmp_path: Path, law: str):
    run = Run(
        tmp_path,
        Scene((limb(flesh=Flesh(law=law)),), (), dataclasses.replace(STILL, gravity=(0.0, 0.0, -9.81))),
        body__limb__targets=(np.array([0.0, 1.0 / 24.0]), np.array([bent(limb(), 0.0), bent(limb(), 40.0)])),
    )
    run.advance()
    assert run.reports[0].converged and run.reports[0].inverted_tets == 0


def test_flesh_that_nothing_holds_is_refused_and_costs_no_bake(tmp_path: Path):
    scene = Scene((limb(),), (), STILL)
    write_limb(tmp_path, scene)
    run_bake(tmp_path, nothing)
    before = baked(tmp_path)
    loose = dataclasses.replace(limb(), pinned=np.zeros(0, np.int32), pin_weights=np.zeros(0))
    track = shutil.move(tmp_path / "scene" / "tracks" / "body.limb.targets", tmp_path / "targets")
    dataclasses.replace(scene, bodies=(loose,)).save(tmp_path / "scene")
    with pytest.raises(BadInput) as told:
        run_bake(tmp_path, nothing)
    assert told.value.kind == "flesh-loose" and '"Limb"' in told.value.sentence
    scene.save(tmp_path / "scene")
    shutil.move(track, tmp_path / "scene" / "tracks" / "body.limb.targets")
    assert baked(tmp_path) == before


def test_a_piece_that_nothing_holds_is_told(tmp_path: Path):
    body, apart = limb(), limb(at=(0.0, 2.0, 0.0))
    count = len(body.tet_nodes)
    both = dataclasses.replace(
        body,
        vertices=np.concatenate([body.vertices, apart.vertices]),
        triangles=np.concatenate([body.triangles, apart.triangles + len(body.vertices)]),
        tet_nodes=np.concatenate([body.tet_nodes, apart.tet_nodes]),
        tets=np.concatenate([body.tets, apart.tets + count]),
    )
    run = Run(tmp_path, Scene((both,), (), STILL))
    with pytest.raises(BadInput) as told:
        run.simulation.start()
    assert told.value.kind == "flesh-loose" and told.value.details["count"] == count


def test_flesh_that_is_let_go_is_told(tmp_path: Path):
    release = (np.array([0.0, 2.0 / 24.0]), np.array([100.0, 0.0]), "step")
    run = Run(tmp_path, Scene((limb(),), (), STILL), body__limb__pin_stiffness=release)
    run.advance()
    with pytest.raises(SolveFailed) as told:
        run.advance()
    assert (
        told.value.kind == "flesh-loose"
        and "Limb" in told.value.sentence
        and told.value.details["time"] == pytest.approx(0.083)
    )


def test_strict_stops_where_flesh_is_not_at_rest(tmp_path: Path):
    settings = dataclasses.replace(STILL, strict=True, pose_iterations=1, pose_tolerance=1e-8)
    write_limb(tmp_path, Scene((limb(),), (), settings), degrees=90.0)
    with pytest.raises(SolveFailed) as told:
        run_bake(tmp_path, nothing)
    assert told.value.kind == "pose-not-converged" and told.value.details["frame"] == 2


def test_what_is_not_at_rest_is_counted(tmp_path: Path):
    settings = dataclasses.replace(STILL, pose_iterations=1, pose_tolerance=1e-8)
    events: list[dict[str, Any]] = []
    write_limb(tmp_path, Scene((limb(),), (), settings), degrees=90.0)
    run_bake(tmp_path, events.append)
    frames = [event for event in events if event["event"] == "frame"]
    assert [frame["not_converged"] for frame in frames] == [0, 1, 1, 1]
    assert all(frame["pose_residual"] > 1e-8 for frame in frames[1:])
    assert events[-1]["event"] == "done" and events[-1]["not_converged"] == 3


def test_solving_is_told_now_and_then_and_can_be_cancelled(tmp_path: Path):
    """A sample that takes long says how far it is, at most five times a second, and ends when it is asked to."""
    settings = dataclasses.replace(STILL, pose_iterations=10000, pose_tolerance=1e-15)
    write_limb(tmp_path, Scene((limb(cells=(24, 8, 8), flesh=Flesh(law="stvk")),), (), settings), degrees=100.0)
    told: list[tuple[float, dict[str, Any]]] = []
    asked: list[float] = []

    def should_stop() -> bool:
        solving = [when for when, event in told if event["event"] == "solving"]
        if len(solving) >= 3 and not asked:
            asked.append(clock.monotonic())
        return bool(asked)

    with pytest.raises(Cancelled):
        run_bake(tmp_path, lambda event: told.append((clock.monotonic(), dict(event))), should_stop)
    assert clock.monotonic() - asked[0] < 5.0  # 0.7 s, but the machine may be busy
    solving = [(when, event) for when, event in told if event["event"] == "solving"]
    assert np.diff([when for when, _ in solving]).min() >= 0.19
    event = solving[-1][1]
    assert event["newton_iterations"] > 0 and event["residual"] > 0.0 and event["frame"] >= 1
    assert all("solving" not in path.read_text(errors="ignore") for path in tmp_path.glob("*.jsonl"))


def preroll_scene(**settings: Any) -> Scene:
    bodies = (limb(), block(at=(0.0, 4.0, 2.0), key="falls"))
    return Scene(bodies, (Collider("g", "G"),), Settings(frame_end=6, substeps=2, preroll=5, **settings))


def test_a_pre_roll_is_the_same_frames_begun_earlier(tmp_path: Path):
    """Frames from the first one on are those of a bake that begins so much earlier, shifted in time."""
    scene = preroll_scene()
    events: list[dict[str, Any]] = []
    write_limb(tmp_path / "rolled", scene)
    run_bake(tmp_path / "rolled", events.append)
    rolls = [event["fraction"] for event in events if event["event"] == "preroll"]
    assert rolls[-1] == 1.0 and sorted(rolls) == rolls
    earlier = dataclasses.replace(scene.settings, frame_end=11, preroll=0)
    write_limb(tmp_path / "earlier", dataclasses.replace(scene, settings=earlier))
    run_bake(tmp_path / "earlier", nothing)
    rolled, whole = CacheReader(tmp_path / "rolled"), CacheReader(tmp_path / "earlier")
    assert rolled.baked_range() == (1, 6)
    for frame in range(1, 7):
        shown, wanted = rolled.read_frame(frame).x, whole.read_frame(frame + 5).x
        np.testing.assert_allclose(shown, wanted, atol=1e-5)


@pytest.mark.slow
def test_a_pre_roll_is_never_done_again(tmp_path: Path):
    scene = preroll_scene()
    write_limb(tmp_path / "whole", scene)
    run_bake(tmp_path / "whole", nothing)
    write_limb(tmp_path / "parts", scene)
    frames: list[int] = []
    with pytest.raises(Cancelled):
        run_bake(
            tmp_path / "parts", lambda event: frames.append(event.get("frame", 0)), lambda: max(frames, default=0) >= 2
        )
    events: list[dict[str, Any]] = []
    run_bake(tmp_path / "parts", events.append, options=BakeOptions(resume=True))
    assert not [event for event in events if event["event"] == "preroll"]
    assert baked(tmp_path / "whole") == baked(tmp_path / "parts")


def test_a_pre_roll_can_be_cancelled(tmp_path: Path):
    write_limb(tmp_path, preroll_scene())
    asked: list[int] = []

    def should_stop() -> bool:
        asked.append(0)
        return len(asked) > 12

    with pytest.raises(Cancelled):
        run_bake(tmp_path, nothing, should_stop)
    assert CacheReader(tmp_path).last_frame() is None
    run_bake(tmp_path, nothing, options=BakeOptions(resume=True))
    assert CacheReader(tmp_path).is_done()


@pytest.mark.slow
def test_nothing_breaks_in_a_pre_roll(tmp_path: Path):
    given = block((2, 2, 2), key="breaks", fracture=Fracture(breaking_stress=10.0))
    falls = dataclasses.replace(given, meshing=Meshing("robust", tet_size=0.5), tet_nodes=None, tets=None)
    scene = Scene(
        (falls, limb(at=(0.0, 0.0, 3.0))), (Collider("g", "G"),), Settings(frame_end=3, substeps=2, preroll=4)
    )
    write_limb(tmp_path / "whole", scene)
    run_bake(tmp_path / "whole", nothing)
    reader = CacheReader(tmp_path / "whole")
    assert [line["bodies"]["breaks"]["pieces"] > 1 for line in reader.report()] == [False, True, True]
    assert not reader.integrity_problems()
    write_limb(tmp_path / "parts", scene)
    frames: list[int] = []
    with pytest.raises(Cancelled):
        run_bake(
            tmp_path / "parts", lambda event: frames.append(event.get("frame", 0)), lambda: max(frames, default=0) >= 2
        )
    run_bake(tmp_path / "parts", nothing, options=BakeOptions(resume=True))
    assert baked(tmp_path / "whole") == baked(tmp_path / "parts")


def test_elastic_bodies_alone_can_be_rolled_too(tmp_path: Path):
    """Without flesh a pre-roll is steps that are not written."""
    body = block(at=(0.0, 0.0, 10.0), material=Material(density=1000.0))
    Scene((body,), (), Settings(frame_end=2, preroll=24, substeps=2)).save(tmp_path / "scene")
    run_bake(tmp_path, nothing)
    fallen = 10.0 - CacheReader(tmp_path).read_frame(1).x[:, 2].min()
    assert fallen == pytest.approx(0.5 * 9.81 * 1.0**2, rel=0.05)


def test_residuals_are_said_of_what_there_was():
    """Steps, poses, both, or none where nothing had to be solved."""
    of_steps = {"residual": 2e-5, "solves": 4, "newton_iterations": 0, "pose_residual": 0.0}
    of_poses = {"residual": 0.0, "solves": 0, "newton_iterations": 3, "pose_residual": 5e-4}
    assert residual_text(of_steps) == "residual 2.0e-05"
    assert residual_text(of_poses) == "3 Newton iterations, pose residual 5.0e-04"
    both = residual_text({**of_steps, "newton_iterations": 3, "pose_residual": None})
    assert both == "residual 2.0e-05, 3 Newton iterations, pose residual infinite"


def bone(number: int, triangles: bool, stiffness: float | None) -> Bone:
    """Returns a bone in the middle of a limb: a triangle or a line."""
    vertices = np.array([[0.8, 0.2, 0.2], [1.2, 0.3, 0.2], [1.0, 0.2, 0.3]])
    faces = np.array([[0, 1, 2]] if triangles else np.zeros((0, 3)), np.int32).reshape(-1, 3)
    return Bone(f"b{number}", f"B{number}", vertices if triangles else vertices[:2], faces, 0.1, stiffness)
