# SPDX-License-Identifier: GPL-3.0-or-later
"""Heat sources warm what is near them, where it is by now, and say what is wrong with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.closed_surfaces import cube, sphere
from fixtures.scenes import Run, block, pose, rotation
from fixtures.tiny_bakes import baked
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.mechanics.heat import TEMPERATURE, temperature_extremes
from sinew.solver.mechanics.heat.approximate_distance import approximate_distances
from sinew.solver.mechanics.heat.heat_sources import build_source
from sinew.solver.mechanics.state import State
from sinew.solver.mesh.geometry.closest_point import closest_points
from sinew.solver.mesh.geometry.triangle_bvh import build_bvh
from sinew.solver.runtime.errors import BadInput, SolveFailed
from sinew.solver.scene.scene import Heat, HeatSource, Scene, Settings
from sinew.solver.scene.tracks import TrackReader, TrackWriter
from sinew.solver.scene.validation import check_scene
from test_heat_flow import STILL

WAX = Heat(20.0, 0.25, 2000.0, 0.0)
TORCH = HeatSource("torch", "Torch", 200.0, 0.5, 1.0e6)


def written(folder, **tracks):
    """Returns a reader of tracks given as name → (times, values, kind)."""
    writer = TrackWriter(folder)
    for name, samples in tracks.items():
        writer.append(name.replace("__", "."), *samples)
    writer.close()
    return TrackReader(folder)


def fall_off(distance, radius):
    return np.array([(1.0 - (d / radius) ** 2) ** 2 if d < radius else 0.0 for d in distance])


def distance_to(vertices, triangles, point):
    """Returns the distance of a point to a triangle mesh [m], the slow way: dense samples of every triangle."""
    steps = np.linspace(0.0, 1.0, 120)
    u, v = (grid.ravel() for grid in np.meshgrid(steps, steps))
    u, v = u[u + v <= 1.0 + 1e-12], v[u + v <= 1.0 + 1e-12]
    weights = np.column_stack([1.0 - u - v, u, v])
    return min(np.linalg.norm(weights @ vertices[t] - point, axis=1).min() for t in triangles)


def test_a_point_gives_heat_with_a_smooth_fall_off(tmp_path):
    move = np.array([0.3, -0.2, 1.0])
    tracks = written(tmp_path, heat__torch__matrix=([0.0], [pose(rotation([1, 2, 3], 1.0) * 2.5, move)], "rigid"))
    points = move + np.random.default_rng(0).normal(size=(200, 3)) * 0.4
    share = build_source(TORCH, tracks).share(tracks, 0.0, points)
    assert np.abs(share - fall_off(np.linalg.norm(points - move, axis=1), 0.5)).max() < 1e-12
    assert (share == 0.0).any() and share.max() > 0.5


@pytest.mark.parametrize("grows", [False, True])
def test_a_mesh_gives_heat_from_its_surface_and_inside(tmp_path, grows):
    """A closed cube, turned, moved and scaled, its scale animated or not."""
    vertices, triangles = cube(1, 1.0)
    source = replace(TORCH, vertices=vertices, triangles=triangles, radius=0.6)
    turn, move = rotation([1.0, 0.3, -2.0], 0.7), np.array([2.0, 0.0, 1.0])
    first = pose(turn * [1.0, 0.5, 2.0], move)
    last = pose(turn * [1.5, 0.8, 1.0], move + 0.5) if grows else pose(turn * [1.0, 0.5, 2.0], move + 0.5)
    tracks = written(tmp_path, heat__torch__matrix=([0.0, 1.0], [first, last], "rigid"))
    built = build_source(source, tracks)
    for time, matrix in ((0.0, first), (1.0, last)):
        points = matrix[:3, 3] + np.random.default_rng(1).normal(size=(60, 3))
        world = source.vertices @ matrix[:3, :3].T + matrix[:3, 3]
        inside = (np.abs(np.linalg.solve(matrix[:3, :3], (points - matrix[:3, 3]).T)) < 0.5).all(axis=0)
        distance = [0.0 if i else distance_to(world, triangles, p) for p, i in zip(points, inside, strict=True)]
        share = built.share(tracks, time, points)
        assert inside.sum() > 3 and (share[inside] == 1.0).all()
        assert np.abs(share - fall_off(distance, 0.6)).max() < 0.02
        assert 0.0 < share[~inside].max() and (share == 0.0).any()


def test_distances_are_at_most_a_fiftieth_too_large():
    vertices, triangles = sphere(12, 0.3)
    bvh = build_bvh(vertices, triangles)
    points = np.random.default_rng(5).normal(size=(2000, 3)) * 0.4
    exact, found = closest_points(bvh, points).distance, approximate_distances(bvh, points, 0.2)
    near = exact <= 0.2
    assert (found[near] >= exact[near] - 1e-15).all() and (found[near] <= 1.02 * exact[near]).all()
    assert (found[~near] > 0.2).all() and near.any() and not near.all()


def test_an_open_mesh_has_no_inside(tmp_path):
    vertices, triangles = cube(4, 1.0)
    sheet = replace(TORCH, vertices=vertices, triangles=triangles[vertices[triangles][:, :, 2].max(axis=1) < 0.2])
    tracks = written(tmp_path)
    middle = vertices.mean(axis=0)[None]
    assert build_source(replace(sheet, triangles=triangles, radius=0.1), tracks).share(tracks, 0.0, middle) == 1.0
    assert build_source(replace(sheet, radius=0.1), tracks).share(tracks, 0.0, middle) == 0.0


def test_the_heat_given_is_that_of_the_layer_that_the_source_heats(tmp_path):
    """In a step so short that nothing warms up, Σ C dT = Δt Σ exchange · V / r · share · (T_s − T)."""
    run = Run(tmp_path, Scene((block((6, 6, 6), heat=WAX),), (), Settings(1, 2, 1.0e7, 1, gravity=(0, 0, 0)), (TORCH,)))
    model = run.built.model
    share = fall_off(np.linalg.norm(model.X, axis=1), 0.5)
    run.advance()
    gained = float((model.mass * 2000.0) @ (run.state.fields[TEMPERATURE] - 20.0))
    expected = 1.0e-7 * 1.0e6 / 0.5 * float(share @ model.mass) / 1000.0 * 180.0
    assert expected > 0.0 and abs(gained - expected) < 1e-6 * expected


def test_the_heat_given_does_not_depend_on_the_tets(tmp_path):
    given = []
    for cells in (6, 12, 24):
        scene = Scene((block((cells,) * 3, heat=WAX),), (), replace(STILL, fps=1000.0), (TORCH,))
        run = Run(tmp_path / str(cells), scene, heat__torch__matrix=([0.0], [pose(None, (0.5, 0.5, 0.5))], "rigid"))
        run.advance()
        given.append(float(run.built.model.mass @ (run.state.fields[TEMPERATURE] - 20.0)))
    assert abs(given[0] / given[2] - 1.0) < 0.15 and abs(given[1] / given[2] - 1.0) < 0.05


def test_nothing_gets_hotter_than_the_source_or_colder_than_the_air(tmp_path):
    strong = replace(TORCH, exchange=1.0e9)
    heat = Heat(30.0, 50.0, 500.0, 1.0e4)
    run = Run(tmp_path, Scene((block((4, 4, 4), heat=heat),), (), Settings(gravity=(0, 0, 0)), (strong,)))
    for _ in range(20):
        run.advance()
        T = run.state.fields[TEMPERATURE]
        assert T.min() >= 20.0 - 1e-6 and T.max() <= 200.0 + 1e-6
    assert T.max() > 199.0 and T.min() < 26.0
    told = run.reports[-1].bodies["block"]
    assert told["hottest"] == T.max() and told["coldest"] == T.min()
    found = temperature_extremes(run.built.heat, run.built.model, run.state)["block"]
    assert found == {name: told[name] for name in ("coldest", "hottest")}


def test_what_moves_away_cools(tmp_path):
    """A block thrown past a source that stands still warms up near it and gives its heat to the air after."""
    heat = Heat(20.0, 2.0e3, 2000.0, 1.0e5)
    body = block((3, 3, 3), (0.2, 0.2, 0.2), at=(-0.1, -0.1, -0.1), heat=heat, initial_velocity=(1.0, 0.0, 0.0))
    run = Run(tmp_path, Scene((body,), (), STILL, (TORCH,)))
    hottest = []
    for _ in range(48):
        run.advance()
        hottest.append(run.reports[-1].bodies["block"]["hottest"])
    peak = int(np.argmax(hottest))
    assert 3 < peak < 24 and hottest[peak] > 30.0 and hottest[-1] < 20.0 + 0.6 * (hottest[peak] - 20.0)


@pytest.mark.slow
def test_an_animated_source_and_air_are_followed(tmp_path):
    off = ([0.0, 0.5, 0.51, 9.0], [300.0, 300.0, 20.0, 20.0], "linear")
    air = ([0.0, 9.0], [20.0, 920.0], "linear")
    scene = Scene(
        (block(heat=WAX), block(at=(9, 0, 0), key="far", heat=replace(WAX, exchange=1e5))), (), STILL, (TORCH,)
    )
    run = Run(tmp_path, scene, heat__torch__temperature=off, air_temperature=air)
    run.advance(12)
    hot = run.reports[-1].bodies["block"]["hottest"]
    run.advance(12)
    assert hot > 60.0 and run.reports[-1].bodies["block"]["hottest"] < hot - 5.0
    assert 60.0 < run.reports[-1].bodies["far"]["hottest"] < 120.0


def test_a_source_that_is_keyed_off_heats_no_more(tmp_path):
    scene = Scene((block(heat=WAX),), (), STILL, (TORCH,))
    off = ([0.0, 2.5 / STILL.fps, 9.0], [TORCH.exchange, 0.0, 0.0], "step")
    run, kept = Run(tmp_path / "off", scene, heat__torch__exchange=off), Run(tmp_path / "on", scene)
    run.advance(2)
    kept.advance(2)
    warm = run.reports[-1].bodies["block"]["hottest"]
    assert warm == kept.reports[-1].bodies["block"]["hottest"] > 20.0
    run.advance(1)
    after = run.reports[-1].bodies["block"]["hottest"]
    run.advance(9)
    kept.advance(10)
    assert run.reports[-1].bodies["block"]["hottest"] <= after
    assert kept.reports[-1].bodies["block"]["hottest"] > warm + 1.0


@pytest.mark.parametrize(
    "name", ["heat__torch__matrix", "heat__torch__temperature", "heat__torch__exchange", "air_temperature"]
)
def test_an_animation_without_numbers_is_named(tmp_path, name):
    broken = {"heat__torch__matrix": np.full((4, 4), np.nan)}.get(name, np.nan)
    good = {"heat__torch__matrix": np.eye(4)}.get(name, 50.0)
    run = Run(tmp_path, Scene((block(heat=WAX),), (), STILL, (TORCH,)), **{name: ([0.0, 0.1], [good, broken], "step")})
    run.advance(2)
    with pytest.raises(SolveFailed) as caught:
        run.advance(2)
    assert caught.value.kind == ("air-not-finite" if "air" in name else "heat-source-not-finite")
    assert "At 0.1" in caught.value.sentence and ("Torch" in caught.value.sentence or "Air" in caught.value.sentence)


@pytest.mark.parametrize(
    ("heat", "source", "words"),
    [
        (replace(WAX, heat_capacity=0.0), TORCH, "Heat Capacity"),
        (replace(WAX, conductivity=-1.0), TORCH, "Conductivity"),
        (replace(WAX, exchange=-1.0), TORCH, "Heat Transfer to Air"),
        (replace(WAX, temperature=np.nan), TORCH, "Temperature"),
        (replace(WAX, melting_point=np.inf), TORCH, "Melting Point"),
        (replace(WAX, softening=np.array([[20.0, -1.0, 1.0, 1.0]])), TORCH, "factor of Softening"),
        (replace(WAX, softening=np.array([[np.nan, 1.0, 1.0, 1.0]])), TORCH, "temperature of Softening"),
        (replace(WAX, softening=np.ones((2, 4))), TORCH, "do not increase"),
        (WAX, replace(TORCH, radius=0.0), "Radius"),
        (WAX, replace(TORCH, exchange=-5.0), "Heat Transfer"),
        (WAX, replace(TORCH, temperature=np.inf), "Temperature"),
    ],
)
def test_bad_input_is_refused_by_name(heat, source, words):
    with pytest.raises(BadInput) as caught:
        check_scene(Scene((block(heat=heat),), (), STILL, (source,)))
    assert words in caught.value.sentence
    assert '"Torch"' in caught.value.sentence or '"Block"' in caught.value.sentence


def test_a_flat_source_is_refused(tmp_path):
    vertices, triangles = sphere(6)
    source = replace(TORCH, vertices=vertices, triangles=triangles)
    with pytest.raises(BadInput) as caught:
        build_source(source, written(tmp_path, heat__torch__matrix=([0.0], [np.diag([1.0, 1.0, 0.0, 1.0])], "rigid")))
    assert caught.value.kind == "heat-source-flat"


def test_warnings_say_that_nothing_melts_or_that_a_source_is_too_small(tmp_path):
    melts = replace(WAX, melting_point=60.0)

    def kinds(heat, sources=(), air=20.0, **tracks):
        folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        run = Run(folder, Scene((block(heat=heat),), (), replace(STILL, air_temperature=air), sources), **tracks)
        return [warning.kind for warning in run.built.bodies[0].warnings]

    assert kinds(None, (TORCH,)) == ["heat-source-idle"] and kinds(None) == []
    assert kinds(melts) == ["melts-never"]
    assert kinds(melts, (replace(TORCH, temperature=50.0),)) == ["melts-never"]
    assert kinds(melts, (TORCH,)) == kinds(melts, air=70.0) == kinds(replace(melts, temperature=80.0)) == []
    assert kinds(melts, air_temperature=([0.0], [20.0], "linear")) == []
    assert kinds(melts, (replace(TORCH, radius=0.01),)) == ["heat-source-small"]


def test_a_resumed_bake_has_the_same_bytes(tmp_path):
    heat = replace(WAX, softening=np.array([[20.0, 1.0, 1.0, 1.0], [60.0, 0.2, 0.1, 3.0]]))
    body = block((2, 2, 2), (0.5, 0.5, 0.5), heat=heat, pinned=np.arange(4, dtype=np.int32), pin_weights=np.ones(4))
    scene = Scene((body,), (), Settings(1, 24, substeps=2), (TORCH,))
    matrices = [pose(None, (x, 0.0, 0.0)) for x in np.linspace(0.0, 1.0, 25)]
    for name in ("through", "stopped"):
        scene.save(tmp_path / name / "scene")
        written(tmp_path / name / "scene", heat__torch__matrix=(np.arange(25) / 24.0, matrices, "rigid"))
    run_bake(tmp_path / "through", lambda event: None)
    run_bake(tmp_path / "stopped", lambda event: None, options=BakeOptions(frame_end=13))
    run_bake(tmp_path / "stopped", lambda event: None, options=BakeOptions(resume=True))
    first, second = baked(tmp_path / "through"), baked(tmp_path / "stopped")
    assert {name for name in first if "resume" not in name} == {name for name in second if "resume" not in name}
    assert [name for name in first if first[name] != second.get(name, first[name])] == []
    with np.load(tmp_path / "stopped" / "resume" / "000024.npz") as stored:
        assert State.from_arrays(stored).fields[TEMPERATURE].max() > 40.0
