# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid colliders: which sides bodies are kept on, when they are felt, and what happens where they jump."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures import closed_surfaces as shapes
from fixtures.scenes import Run, block, pose, rotation
from sinew.solver.contact.colliders.deforming_collider import is_active
from sinew.solver.contact.detection.rigid_collider_contacts import collider_poses
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.contact import COLLIDER_SIDES, SIDES_BOTH, SIDES_FRONT
from sinew.solver.scene.scene import Collider, Material, Scene, Settings
from sinew.solver.scene.tracks import TrackReader, TrackWriter
from test_collider_contact import sheet, slab

FRAME = 1.0 / 24.0
SMALL = {"cells": (2, 2, 2), "lengths": (0.5, 0.5, 0.5)}


def flipped(collider: Collider) -> Collider:
    return replace(collider, triangles=np.ascontiguousarray(collider.triangles[:, ::-1]))


def written(folder, **tracks) -> TrackReader:
    writer = TrackWriter(folder)
    for name, samples in tracks.items():
        writer.append(name.replace("__", "."), *samples)
    writer.close()
    return TrackReader(folder)


def heights(run: Run, frames: int) -> np.ndarray:
    """Returns lowest and greatest height after every frame [m], (frames, 2)."""
    out = [run.advance() for _ in range(frames)]
    return np.array([[positions[:, 2].min(), positions[:, 2].max()] for positions in out])


@pytest.mark.parametrize("sides", COLLIDER_SIDES)
def test_what_comes_from_the_front_is_stopped_whatever_the_sides(tmp_path, sides):
    body = block(**SMALL, at=(-0.25, -0.25, 0.3), initial_velocity=(0.0, 0.0, -10.0))
    for name, collider in (("sheet", sheet(sides=sides)), ("slab", slab(sides=sides))):
        run = Run(tmp_path / name, Scene((body,), (collider,)))
        assert heights(run, 24)[:, 0].min() > -0.02


def test_what_rests_on_a_front_goes_on_resting(tmp_path):
    """It begins a rounding below it."""
    run = Run(tmp_path, Scene((block(**SMALL, at=(-0.25, -0.25, -1e-8)),), (sheet(sides=SIDES_FRONT),)))
    assert heights(run, 24)[:, 0].min() > -0.01


@pytest.mark.parametrize("sides", COLLIDER_SIDES)
@pytest.mark.parametrize("turn", [None, rotation([0.3, 1.0, 0.0], 0.1), rotation([1.0, 0.4, 0.0], 0.13)])
def test_what_begins_on_a_sheet_stays_on_its_side(tmp_path, sides, turn):
    """Rounding puts some of its points behind the sheet, and some before it."""
    body = block((3, 3, 3), (0.5, 0.5, 0.5), at=(-0.25, -0.25, -1e-9), turn=turn)
    collider = sheet(sides=sides, friction=1.0)
    run = Run(tmp_path, Scene((body,), (collider,)), collider__sheet__matrix=([0.0], [pose(turn)], "rigid"))
    up = pose(turn)[:3, 2]
    assert min((run.advance() @ up).min() for _ in range(24)) > -0.01


def test_what_begins_on_a_sheet_may_leave_it(tmp_path):
    body = block(**SMALL, at=(-0.25, -0.25, -1e-9), initial_velocity=(0.0, 0.0, 3.0))
    run = Run(tmp_path, Scene((body,), (sheet(),)))
    run.advance(2)
    assert run.state.v[:, 2].mean() == pytest.approx(3.0 - 9.81 * 2 * FRAME, rel=1e-3)


@pytest.mark.parametrize("begin", [0.0, -0.02])
def test_a_plane_that_jumps_throws_nothing(tmp_path, begin):
    """The ground is a metre higher from one frame to the next: bodies are let out of it, not shot."""
    body = block(**SMALL, at=(-0.25, -0.25, 0.0))
    matrices = [pose(move=(0.0, 0.0, z)) for z in [begin] * 4 + [1.0] * 4]
    track = (FRAME * np.arange(8), matrices, "rigid")
    run = Run(tmp_path, Scene((body,), (Collider("ground", "Ground"),)), collider__ground__matrix=track)
    fastest = 0.0
    for _ in range(40):
        run.advance()
        fastest = max(fastest, run.state.v[:, 2].max())
    assert fastest < 5.0 and run.render["block"][:, 2].min() > 0.9


@pytest.mark.parametrize(("sides", "passes"), [("auto", False), (SIDES_BOTH, False), (SIDES_FRONT, True)])
def test_what_comes_from_behind_passes_a_front_only(tmp_path, sides, passes):
    body = block(**SMALL, at=(-0.25, -0.25, -0.8), initial_velocity=(0.0, 0.0, 4.0))
    run = Run(tmp_path, Scene((body,), (sheet(sides=sides),), Settings(gravity=(0.0, 0.0, 0.0))))
    found = heights(run, 24)
    assert (found[-1, 0] > 1.0) if passes else (found[:, 1].max() < 0.02)
    if passes:  # as if nothing were there
        assert sum(report.contacts for report in run.reports) == 0


def test_a_box_that_faces_inwards_holds_what_is_in_it(tmp_path):
    vertices, triangles = shapes.cube(2)
    room = Collider("room", "Room", "mesh", 2.0 * vertices, triangles)
    body = block(**SMALL, at=(-0.25, -0.25, -0.25), initial_velocity=(3.0, 0.0, 0.0))
    for sides, collider in (("front", flipped(room)), ("both", room)):
        run = Run(tmp_path / sides, Scene((body,), (replace(collider, sides=sides),)))
        for _ in range(36):
            assert np.abs(run.advance()).max() < 1.02
    with pytest.raises(BadInput) as caught:  # of a solid box it would be in the material
        Run(tmp_path / "auto", Scene((body,), (flipped(room),)))
    assert caught.value.kind == "body-in-collider"


def test_bottles_keep_what_is_outside_out(tmp_path):
    body = block(**SMALL, at=(-0.25, -0.25, 0.3))
    run = Run(tmp_path, Scene((body,), (slab(sides=SIDES_BOTH),)))
    assert heights(run, 30)[:, 0].min() > -0.02


@pytest.mark.parametrize(
    "collider", [Collider("slab", "Slab"), slab(), sheet(sides=SIDES_FRONT)], ids=["plane", "box", "sheet"]
)
def test_what_is_switched_off_is_not_felt(tmp_path, collider):
    """A body lies on it for a second, falls as soon as it is switched off, and passes it."""
    times, values = FRAME * np.array([0.0, 24.0, 25.0]), [1.0, 1.0, 0.0]
    body = block(**SMALL, at=(-0.25, -0.25, 0.0))
    run = Run(tmp_path, Scene((body,), (collider,)), **{f"collider__{collider.key}__active": (times, values)})
    assert heights(run, 24)[:, 0].min() > -0.01
    run.advance(13)
    fallen = 13 * FRAME  # from the last sample at which it was on
    assert run.state.x[:, 2].mean() == pytest.approx(0.25 - 0.5 * 9.81 * fallen * (fallen + FRAME / 4), abs=0.01)
    assert not run.reports[-1].contacts


def test_what_is_switched_on_is_felt_from_that_sample_on(tmp_path):
    times, values = FRAME * np.array([0.0, 12.0, 13.0]), [0.0, 0.0, 1.0]
    body = block(**SMALL, at=(-0.25, -0.25, 4.0))
    run = Run(tmp_path, Scene((body,), (Collider("ground", "Ground"),)), collider__ground__active=(times, values))
    assert heights(run, 48)[-1, 0] > -0.02


def test_a_collider_that_is_off_may_begin_inside_a_body(tmp_path):
    body, collider = block(**SMALL, at=(-0.25, -0.25, -0.25)), slab()
    run = Run(tmp_path, Scene((body,), (collider,)), collider__slab__active=([0.0], [0.0]))
    run.advance(2)
    assert not run.reports[-1].contacts


@pytest.mark.parametrize("kind", ["linear", "step"])
def test_samples_before_and_after_decide(tmp_path, kind):
    tracks = written(tmp_path, collider__a__active=(np.arange(5.0), [1.0, 1.0, 0.0, 1.0, 1.0], kind))
    begins, ends = [0.0, 0.5, 1.0, 1.25, 1.75, 2.0, 2.75, 3.0, 9.0], [0.5, 1.0, 1.25, 1.5, 2.0, 2.25, 3.0, 3.5, 9.5]
    felt = [is_active("a", tracks, begin, end) for begin, end in zip(begins, ends, strict=True)]
    assert felt == [True, True, False, False, False, False, False, True, True]
    assert is_active("b", tracks, 0.0, 1.0)


# ---- jumps


def jumping(folder, collider, moves, **settings):
    """Returns a run in which the collider is moved by moves [m], (k, 3), one per frame."""
    matrices = [pose(move=move) for move in moves]
    times = FRAME * np.arange(len(moves))
    body = block((3, 3, 3), (0.6, 0.6, 0.6), at=(-0.3, -0.3, -0.3), material=Material(3e4, 0.4, stiffness_damping=0.01))
    scene = Scene((body,), (collider,), Settings(gravity=(0.0, 0.0, 0.0), **settings))
    return Run(folder, scene, **{f"collider__{collider.key}__matrix": (times, matrices, "rigid")})


def ball(**settings) -> Collider:
    vertices, triangles = shapes.sphere(12)
    return Collider("ball", "Ball", "mesh", 0.3 * vertices, triangles, **settings)


@pytest.mark.parametrize("samples", [1, 2])
def test_what_jumps_over_a_body_does_not_hit_it(tmp_path, samples):
    """The same way in many frames pushes it along."""
    there, gone = [-3.0, 0.0, 0.0], [3.0, 0.0, 0.0]
    run = jumping(tmp_path / "jump", ball(), [there] * 5 + [gone] * 5, samples_per_frame=samples)
    run.advance(12)
    assert np.abs(run.state.x - run.built.model.X).max() < 1e-9
    way = np.linspace(there, gone, 13)
    pushed = jumping(tmp_path / "go", ball(), [there] * 3 + list(way) + [gone] * 3)
    pushed.advance(20)
    assert pushed.state.x[:, 0].mean() > 1.0


@pytest.mark.slow
def test_what_jumps_into_a_body_pushes_it_out_gently(tmp_path):
    """Bounded speed: no more than a tet in a few steps."""
    run = jumping(tmp_path, ball(), [[-3.0, 0.0, 0.0]] * 4 + [[-0.35, 0.0, 0.0]] * 4)
    fastest = 0.0
    for _ in range(24):
        run.advance()
        fastest = max(fastest, np.linalg.norm(run.state.v.mean(axis=0)))
    depth = 0.3 - np.linalg.norm(run.render["block"] + [0.35, 0.0, 0.0], axis=1).min()
    assert depth < 0.03 and fastest < 3.0
    assert max(report.inverted_tets for report in run.reports) == 0


def test_ends_of_a_step_where_it_jumps(tmp_path):
    """It stays where it was until the sample at which it is elsewhere."""
    run = jumping(tmp_path, ball(), [[0.1 * k, 0.0, 9.0] for k in range(4)] + [[9.0, 0.0, 9.0]] * 2)
    ends = []
    for step in range(10, 20):
        (place,) = collider_poses(run.built.colliders, run.tracks, FRAME * step / 4, FRAME * (step + 1) / 4)
        ends.append((place.pose[3, 0], place.pose[7, 0]))
    assert np.allclose(ends[:2], [(0.25, 0.275), (0.275, 0.3)])
    assert np.allclose(ends[2:5], 0.3) and np.allclose(ends[5:], 9.0)


SIZE = np.sqrt(12.0) * 0.3  # of the ball


@pytest.mark.parametrize(
    ("places", "seen", "jumps"),
    [
        ([0, 0, 0, 1.2, 1.2, 1.2], None, True),  # farther than its size
        ([0, 0, 0, 1.2, 1.2, 1.2], 2.0, True),  # even where it was seen on its way
        ([0, 0, 0, 0.5, 0.5, 0.5], None, True),  # from rest to rest
        ([0, 0, 0, 0.5, 0.5, 0.5], 1.0, True),
        ([0, 0, 0, 0.5, 0.5, 0.5], 2.0, False),  # a blow within a frame
        ([0, 0, 0, 0.25, 0.5, 0.5], None, False),  # one within two frames
        ([0, 0, 0.05, 0.5, 0.55, 0.55], None, False),
        ([-0.1, -0.05, 0, 0.5, 0.55, 0.6], None, False),  # in the middle of a slow move
        ([-0.1, -0.05, 0, 0.5, 0.55, 0.6], 1.0, True),  # a cut there
        ([0, 0, 0, 0.04, 0.04, 0.04], 1.0, False),  # a tick carries what lies on it
    ],
)
def test_what_is_a_jump(tmp_path, places, seen, jumps):
    """Places in sizes of the ball, frame by frame; from the third to the fourth it may jump."""
    run = jumping(tmp_path, ball(), [[SIZE * x, 0.0, 9.0] for x in places])
    if seen is not None:
        writer = TrackWriter(tmp_path / "seen")
        writer.append("collider.ball.matrix", *matrices_of(SIZE * np.array(places)))
        writer.append("collider.ball.cuts", FRAME * np.array([0.0, 3.0, 4.0]), [0.0, seen, 0.0], "step")
        writer.close()
        run.tracks = TrackReader(tmp_path / "seen")
    for step in range(8, 12):
        (place,) = collider_poses(run.built.colliders, run.tracks, FRAME * step / 4, FRAME * (step + 1) / 4)
        assert np.array_equal(place.pose[:4], place.pose[4:]) == jumps
    for step in [*range(8), *range(12, 20)]:
        (place,) = collider_poses(run.built.colliders, run.tracks, FRAME * step / 4, FRAME * (step + 1) / 4)
        still = places[step // 4] == places[step // 4 + 1]
        assert np.array_equal(place.pose[:4], place.pose[4:]) == still


def matrices_of(places):
    """Returns times and matrices of what goes along x, one place [m] per frame."""
    return FRAME * np.arange(len(places)), [pose(move=(x, 0.0, 9.0)) for x in places], "rigid"


@pytest.mark.parametrize(("degrees", "jumps"), [((0, 0, 90, 90), True), ((0, 45, 90, 135), False)])
def test_what_turns_at_once_jumps(tmp_path, degrees, jumps):
    """A door that is open from one frame to the next hits nobody; one that turns all the time does."""
    vertices, triangles = shapes.cube(2)
    door = Collider("ball", "Ball", "mesh", vertices * [2.0, 0.1, 2.0], triangles)
    run = jumping(tmp_path, door, [[0.0, 0.0, 9.0]])
    turned = [pose(rotation((0, 0, 1), np.radians(angle)), (0.0, 0.0, 9.0)) for angle in degrees]
    writer = TrackWriter(tmp_path / "turned")
    writer.append("collider.ball.matrix", FRAME * np.arange(4), turned, "rigid")
    writer.close()
    tracks = TrackReader(tmp_path / "turned")
    for step in range(4, 8):
        (place,) = collider_poses(run.built.colliders, tracks, FRAME * step / 4, FRAME * (step + 1) / 4)
        assert np.array_equal(place.pose[:4], place.pose[4:]) == jumps


@pytest.mark.slow
def test_what_jumps_a_little_way_into_a_body_pushes_it_out_gently(tmp_path):
    """By less than its size; the same way on its way is a blow."""
    fastest = {}
    for name, moves in (("cut", [[-0.9, 0.0, 0.0]] * 4 + [[-0.4, 0.0, 0.0]] * 8),
                        ("blow", [[x, 0.0, 0.0] for x in (-0.9, -0.9, -0.9, -0.65, -0.4, -0.4)])):  # fmt: skip
        run = jumping(tmp_path / name, ball(), moves)
        fastest[name] = 0.0
        for _ in range(20):
            run.advance()
            fastest[name] = max(fastest[name], np.linalg.norm(run.state.v, axis=1).max())
        depth = 0.3 - np.linalg.norm(run.render["block"] - [-0.4, 0.0, 0.0], axis=1).min()
        assert depth < 0.03
    assert fastest["cut"] < 3.0 < fastest["blow"]


def test_what_is_fast_all_the_time_does_not_jump(tmp_path):
    run = jumping(tmp_path, ball(), [[2.0 * k, 0.0, 9.0] for k in range(6)])
    for step in range(20):
        (place,) = collider_poses(run.built.colliders, run.tracks, FRAME * step / 4, FRAME * (step + 1) / 4)
        assert place.pose[7, 0] - place.pose[3, 0] == pytest.approx(0.5)


# ---- what is no number


def test_a_place_that_is_not_a_number_is_named_with_its_frame(tmp_path):
    moves = [[0.0, 0.0, 9.0]] * 3 + [[np.nan, 0.0, 9.0]] * 2
    run = jumping(tmp_path, ball(), moves)
    run.advance()
    with pytest.raises(BadInput) as caught:
        run.advance(3)
    assert caught.value.kind == "collider-not-finite"
    assert '"Ball"' in caught.value.sentence and "frame 4" in caught.value.sentence


@pytest.mark.parametrize(
    ("kind", "collider"),
    [
        ("collider-sides", ball(sides="left")),
        ("collider-shape", replace(ball(), shape="cone")),
        ("setting-out-of-range", ball(friction=-1.0)),
        ("setting-out-of-range", ball(thickness=np.inf)),
    ],
)
def test_a_bad_setting_is_named(tmp_path, kind, collider):
    with pytest.raises(BadInput) as caught:
        Run(tmp_path, Scene((block(at=(0.0, 0.0, 9.0)),), (collider,)))
    assert caught.value.kind == kind and '"Ball"' in caught.value.sentence and caught.value.next_step
