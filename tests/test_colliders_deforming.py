# SPDX-License-Identifier: GPL-3.0-or-later
"""Colliders that deform: where a track says they are, and how bodies meet them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures import closed_surfaces as shapes
from fixtures.rigid_fit import away_from_rest
from fixtures.scenes import Run, block, pose, rotation
from sinew.solver.contact.colliders.deforming_collider import build_deforming, interpolate_corners
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.contact import SIDES_BOTH, SIDES_FRONT
from sinew.solver.scene.scene import Collider, Material, Scene, Settings
from test_collider_contact import sheet
from test_collider_sides_and_teleports import FRAME, SMALL, written

pytestmark = pytest.mark.slow

SETTINGS = Settings()


def moved(collider: Collider, shapes_of_time, frames: int) -> dict[str, tuple]:
    """Returns the track of a collider whose vertices are a function of themselves and of the time [s]."""
    times = FRAME * np.arange(frames + 1)
    vertices = np.array([shapes_of_time(collider.vertices, time) for time in times])
    return {f"collider__{collider.key}__vertices": (times, vertices)}


def ball(**settings) -> Collider:
    vertices, triangles = shapes.sphere(16)
    return Collider("ball", "Ball", "mesh", 0.5 * vertices, triangles, **settings)


def still(vertices, time):
    return vertices


def sagging(vertices, time):
    """A sheet that sags by 0.3 m in half a second, deepest in the middle."""
    depth = 0.3 * min(time / 0.5, 1.0)
    return vertices - np.c_[np.zeros((len(vertices), 2)), depth * np.exp(-(vertices[:, :2] ** 2).sum(axis=1))]


def test_vertices_lie_linearly_between_samples(tmp_path):
    collider = sheet(cells=3)
    tracks = written(tmp_path, **moved(collider, sagging, 4))
    built = build_deforming(collider, tracks, SETTINGS)
    first, last = (sagging(collider.vertices, FRAME * k) for k in (2, 3))
    assert np.allclose(built.vertices_at(tracks, 2.25 * FRAME), 0.75 * first + 0.25 * last)
    start, end = built.vertices_at_ends(tracks, 2.25 * FRAME, 2.5 * FRAME)
    assert np.allclose(end - start, 0.25 * (last - first))
    corners, weights = collider.triangles[[0, 4]], np.array([[0.2, 0.3, 0.5], [0.0, 0.5, 0.5]])
    expected = [w @ start[c] for w, c in zip(weights, corners, strict=True)]
    assert np.allclose(interpolate_corners(start, corners, weights), expected)


@pytest.mark.parametrize(
    ("collider", "is_one_sided", "is_outward"),
    [
        (ball(), True, True),
        (ball(sides=SIDES_FRONT), True, True),
        (ball(sides=SIDES_BOTH), False, True),
        (sheet(), False, True),
        (sheet(sides=SIDES_FRONT), True, True),
    ],
)
def test_sides(tmp_path, collider, is_one_sided, is_outward):
    tracks = written(tmp_path, **moved(collider, still, 1))
    assert build_deforming(collider, tracks, SETTINGS).is_one_sided == is_one_sided
    turned = replace(collider, triangles=np.ascontiguousarray(collider.triangles[:, ::-1]))
    built = build_deforming(turned, tracks, SETTINGS)
    turns_back = collider.key == "ball" and collider.sides != SIDES_FRONT  # a closed mesh is outward, whatever it was
    assert np.array_equal(built.triangles, collider.triangles) == turns_back


def test_what_jumps_stays_until_it_is_elsewhere(tmp_path):
    collider = ball()
    tracks = written(tmp_path, **moved(collider, lambda v, t: v + [9.0 if t > 3.5 * FRAME else t, 0.0, 0.0], 8))
    built = build_deforming(collider, tracks, SETTINGS)
    ends = [built.vertices_at_ends(tracks, FRAME * k / 4, FRAME * (k + 1) / 4) for k in range(10, 20)]
    places = [(start.mean(axis=0)[0], end.mean(axis=0)[0]) for start, end in ends]
    last = 3 * FRAME
    assert np.allclose(places[:2], [(last - FRAME / 2, last - FRAME / 4), (last - FRAME / 4, last)])
    assert np.allclose(places[2:5], last) and np.allclose(places[5:], 9.0)


@pytest.mark.parametrize(
    ("kind", "collider", "vertices"),
    [
        ("collider-of-another-mesh", ball(), np.zeros((2, 5, 3))),
        ("collider-not-finite", ball(), np.full((2, len(ball().vertices), 3), np.nan)),
        ("collider-plane-deforms", Collider("ball", "Ball"), np.zeros((2, 0, 3))),
    ],
)
def test_a_bad_track_is_named(tmp_path, kind, collider, vertices):
    with pytest.raises(BadInput) as caught:
        Run(
            tmp_path,
            Scene((block(at=(0.0, 0.0, 9.0)),), (collider,)),
            collider__ball__vertices=([0.0, 1.0], vertices),
        )
    assert caught.value.kind == kind and '"Ball"' in caught.value.sentence and caught.value.next_step


def test_a_vertex_that_is_lost_is_named_with_its_frame(tmp_path):
    collider = ball()

    def lost(vertices, time):
        return np.where(np.arange(len(vertices))[:, None] == 3, np.nan, vertices) if time > 4.5 * FRAME else vertices

    run = Run(tmp_path, Scene((block(at=(0.0, 0.0, 0.7)),), (collider,)), **moved(collider, lost, 8))
    run.advance(3)
    with pytest.raises(BadInput) as caught:
        run.advance(3)
    assert caught.value.kind == "collider-not-finite" and "frame 6" in caught.value.sentence


# ---- bodies meet them


def test_a_body_rests_on_what_would_deform(tmp_path):
    collider = sheet(cells=6)
    run = Run(tmp_path, Scene((block(**SMALL, at=(-0.25, -0.25, 0.02)),), (collider,)), **moved(collider, still, 2))
    tet = run.built.bodies[0].mesh.report.tet_size
    lowest = [run.advance()[:, 2].min() for _ in range(36)]
    assert min(lowest) > -0.03 * tet and abs(lowest[-1]) < 0.01 * tet


@pytest.mark.parametrize("sides", ["auto", SIDES_FRONT])
def test_what_begins_a_rounding_behind_stays(tmp_path, sides):
    collider = sheet(cells=6, sides=sides)
    run = Run(tmp_path, Scene((block(**SMALL, at=(-0.25, -0.25, -1e-9)),), (collider,)), **moved(collider, still, 2))
    assert min(run.advance()[:, 2].min() for _ in range(24)) > -0.01


def test_a_body_follows_a_sheet_that_sags(tmp_path):
    """It lies in the hollow in the end, and nowhere below it."""
    collider = sheet(size=4.0, cells=16, friction=0.5)
    body = block((3, 3, 2), (0.6, 0.6, 0.3), at=(-0.3, -0.3, 0.01), material=Material(2e4, 0.4, stiffness_damping=0.02))
    run = Run(tmp_path, Scene((body,), (collider,)), **moved(collider, sagging, 30))
    deepest = 0.0
    for frame in range(1, 41):
        out = run.advance()
        now = sagging(collider.vertices, frame * FRAME)
        below = -0.3 * min(frame * FRAME / 0.5, 1.0) * np.exp(-(out[:, :2] ** 2).sum(axis=1))
        deepest = max(deepest, (below - out[:, 2]).max())
        assert now is not None
    assert deepest < 0.02  # of which facets make 0.005
    assert out[:, 2].min() < -0.25
    assert np.abs(run.state.v).max() < 0.2


def test_a_ball_that_grows_pushes_a_body_away(tmp_path):
    collider = ball()
    grows = moved(collider, lambda v, t: v * (1.0 + min(2.0 * t, 1.0)), 20)
    body = block((3, 3, 3), (0.4, 0.4, 0.4), at=(0.55, -0.2, -0.2))
    run = Run(tmp_path, Scene((body,), (collider,), Settings(gravity=(0.0, 0.0, 0.0))), **grows)
    for frame in range(1, 25):
        out = run.advance()
        radius = 0.5 * (1.0 + min(2.0 * frame * FRAME, 1.0))
        assert np.linalg.norm(out, axis=1).min() > 0.97 * radius
    assert out[:, 0].min() > 0.95


@pytest.mark.parametrize(("sides", "passes"), [("auto", False), (SIDES_FRONT, True)])
def test_what_comes_from_behind(tmp_path, sides, passes):
    collider = sheet(cells=6, sides=sides)
    body = block(**SMALL, at=(-0.25, -0.25, -0.8), initial_velocity=(0.0, 0.0, 4.0))
    settings = Settings(gravity=(0.0, 0.0, 0.0))
    run = Run(tmp_path, Scene((body,), (collider,), settings), **moved(collider, still, 2))
    highest = [run.advance()[:, 2].max() for _ in range(24)]
    assert (run.render["block"][:, 2].min() > 1.0) if passes else (max(highest) < 0.03)


def test_what_is_switched_off_is_not_felt(tmp_path):
    collider = sheet(cells=6)
    body = block(**SMALL, at=(-0.25, -0.25, 0.0))
    run = Run(
        tmp_path,
        Scene((body,), (collider,)),
        **moved(collider, still, 2),
        collider__sheet__active=(FRAME * np.array([0.0, 12.0, 13.0]), [1.0, 1.0, 0.0]),
    )
    assert run.advance(12)[:, 2].min() > -0.02
    run.advance(12)
    assert run.state.x[:, 2].mean() == pytest.approx(0.25 - 0.5 * 9.81 * 0.5 * (0.5 + FRAME / 4), abs=0.02)


def test_what_jumps_into_a_body_pushes_it_out_gently(tmp_path):
    collider = ball()
    jumps = moved(collider, lambda v, t: v + [-0.6 if t > 3.5 * FRAME else -5.0, 0.0, 0.0], 8)
    body = block((3, 3, 3), (0.6, 0.6, 0.6), at=(-0.3, -0.3, -0.3), material=Material(3e4, 0.4, stiffness_damping=0.01))
    run = Run(tmp_path, Scene((body,), (collider,), Settings(gravity=(0.0, 0.0, 0.0))), **jumps)
    fastest = 0.0
    for _ in range(30):
        out = run.advance()
        fastest = max(fastest, np.linalg.norm(run.state.v.mean(axis=0)))
    assert fastest < 3.0 and np.isfinite(out).all()
    assert run.reports[-1].inverted_tets == 0


def around(run: Run, centre) -> float:
    """Returns how deep points of the body are in a ball of half a metre [m]."""
    return 0.5 - float(np.linalg.norm(run.render["block"] - centre, axis=1).min())


def test_what_jumps_around_points_lets_them_out(tmp_path):
    """A block of which a part is inside from one frame to the next has come out after a second."""
    collider = ball(friction=0.0)
    jumps = moved(collider, lambda v, t: v + [-0.6 if t > 3.5 * FRAME else -5.0, 0.0, 0.0], 8)
    body = block((3, 3, 3), (0.6, 0.6, 0.6), at=(-0.3, -0.3, -0.3), material=Material(3e4, 0.4, stiffness_damping=0.01))
    run = Run(tmp_path, Scene((body,), (collider,), Settings(gravity=(0.0, 0.0, 0.0))), **jumps)
    run.advance(4)
    before, fastest = around(run, [-0.6, 0.0, 0.0]), 0.0
    for _ in range(26):
        run.advance()
        fastest = max(fastest, np.linalg.norm(run.state.v, axis=1).max())
    assert before > 0.15 and around(run, [-0.6, 0.0, 0.0]) < 0.03
    assert fastest < 5.0 and max(report.inverted_tets for report in run.reports) == 0


def test_what_is_switched_on_around_points_lets_them_out(tmp_path):
    collider = ball(friction=0.0)
    times, values = FRAME * np.array([0.0, 3.0, 4.0]), [0.0, 0.0, 1.0]
    body = block((3, 3, 3), (0.6, 0.6, 0.6), at=(0.3, -0.3, -0.3), material=Material(3e4, 0.4, stiffness_damping=0.01))
    scene = Scene((body,), (collider,), Settings(gravity=(0.0, 0.0, 0.0)))
    run = Run(tmp_path, scene, **moved(collider, still, 1), collider__ball__active=(times, values))
    run.advance(4)
    assert around(run, [0.0, 0.0, 0.0]) > 0.15 and np.abs(run.state.v).max() < 1e-9
    fastest = 0.0
    for _ in range(26):
        run.advance()
        fastest = max(fastest, np.linalg.norm(run.state.v, axis=1).max())
    assert around(run, [0.0, 0.0, 0.0]) < 0.03 and fastest < 5.0


def test_what_starts_partly_inside_is_let_out_and_what_is_swallowed_is_named(tmp_path):
    collider = ball(friction=0.0)
    body = block((4, 4, 4), at=(0.3, -0.5, -0.5), material=Material(3e4, 0.4, stiffness_damping=0.01))
    settings = Settings(gravity=(0.0, 0.0, 0.0))
    run = Run(tmp_path / "partly", Scene((body,), (collider,), settings), **moved(collider, still, 1))
    fastest = 0.0
    for _ in range(30):
        run.advance()
        fastest = max(fastest, np.linalg.norm(run.state.v, axis=1).max())
    assert around(run, [0.0, 0.0, 0.0]) < 0.03 and fastest < 5.0
    large = block((4, 4, 4), (2.0, 2.0, 2.0), at=(-1.0, -1.0, -1.0))
    with pytest.raises(BadInput) as caught:
        Run(tmp_path / "in", Scene((large,), (collider,), settings), **moved(collider, still, 1))
    assert caught.value.kind == "collider-in-body" and '"Ball"' in caught.value.sentence
    ignored = Scene((large,), (collider,), settings, ignored_pairs=(("block", "ball"),))
    Run(tmp_path / "ignored", ignored, **moved(collider, still, 1))


@pytest.mark.parametrize("least", [0.2, 0.0])
@pytest.mark.parametrize("kind", ["plane", "box", "deforming"])
def test_plates_that_close_do_no_harm(tmp_path, kind, least):
    """To a fifth of the thickness, and altogether: no explosion, and back to rest shape after."""
    down, up = np.linspace(1.0, least, 25), np.linspace(least, 1.05, 13)
    heights = [*down, *([least] * 11), *up]
    times = FRAME * np.arange(len(heights))
    vertices, triangles = shapes.cube(1)
    lower = Collider("lower", "Lower", "mesh", vertices * [6, 6, 1] - [0, 0, 0.5], triangles)
    upper = replace(lower, key="upper", name="Upper", vertices=vertices * [6, 6, 1] + [0, 0, 0.5])
    if kind == "deforming":
        track = {"collider__upper__vertices": (times, np.array([upper.vertices + [0, 0, z] for z in heights]))}
    else:
        over = rotation([1, 0, 0], np.pi) if kind == "plane" else None
        track = {"collider__upper__matrix": (times, [pose(over, (0.0, 0.0, z)) for z in heights], "rigid")}
    if kind == "plane":
        lower, upper = Collider("lower", "Lower"), Collider("upper", "Upper")
    body = block((4, 4, 4), at=(-0.5, -0.5, 0.0), material=Material(1e5, 0.4, 1000.0, stiffness_damping=0.01))
    run = Run(tmp_path, Scene((body,), (lower, upper)), **track)
    fastest = 0.0
    for frame in range(1, 120 if least > 0.0 else 160):  # what was crushed tumbles first
        out = run.advance()
        fastest = max(fastest, np.abs(run.state.v).max())
        if least > 0.0:
            assert out[:, 2].min() > -0.01 and out[:, 2].max() < heights[min(frame, len(heights) - 1)] + 0.01
    assert fastest < (2.0 if least > 0.0 else 20.0)  # the plates move at 0.8 and 2.1 m/s
    # of which its weight makes 0.026; what is crushed altogether may come out turned, and rests where friction holds it
    assert away_from_rest(run.built.model.X, run.state.x) < (0.05 if least > 0.0 else 0.15)
    assert run.reports[-1].inverted_tets == 0 and np.abs(run.state.v).max() < 0.3


def test_a_resumed_run_has_the_same_bytes(tmp_path):
    collider = sheet(size=4.0, cells=8, friction=0.5)
    body = block((2, 2, 2), (0.5, 0.5, 0.5), at=(-0.3, -0.2, 0.01), initial_velocity=(0.5, 0.0, 0.0))
    scene, tracks = Scene((body,), (collider,)), moved(collider, sagging, 20)
    through = Run(tmp_path / "through", scene, **tracks)
    through.advance(6)
    stored = through.state.to_arrays()
    resumed = Run(tmp_path / "resumed", scene, **tracks)
    resumed.simulation.state = State.from_arrays(stored)
    assert through.advance(5).tobytes() == resumed.advance(5).tobytes()
