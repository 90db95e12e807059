# SPDX-License-Identifier: GPL-3.0-or-later
"""Heat flows inside bodies and through their surface as the equations say, and none is lost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.closed_surfaces import sphere
from fixtures.scenes import Run, block
from fixtures.tet_meshes import bar
from sinew.solver.mechanics.heat import TEMPERATURE, advance_heat, make_heat
from sinew.solver.mechanics.heat.conduction import conduction
from sinew.solver.mechanics.heat.implicit_conduction import ConductionRows, NodeHeat, conduct_heat
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mechanics.state import State
from sinew.solver.scene.scene import Body, Heat, HeatSource, Material, Meshing, Scene, Settings
from sinew.solver.scene.thermal_diffusion_length import diffusion_length, speed_to_diffuse, thermal_diffusivity
from sinew.solver.scene.tracks import TrackReader

STILL = Settings(gravity=(0.0, 0.0, 0.0))
INSULATED = Heat(conductivity=2.0e4, exchange=0.0)


def heat_of(run):
    """Returns heat content of the bodies over that at 0 °C [J], by capacities that this test sums itself."""
    total = 0.0
    for body, part in zip(run.scene.bodies, run.built.bodies, strict=True):
        tets, nodes = part.mesh.tets, part.mesh.nodes
        corners = nodes[tets]
        volume = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6.0 * part.mesh.fill
        T = run.state.fields[TEMPERATURE][part.range.nodes]
        total += float((volume * T[tets].mean(axis=1)).sum()) * body.material.density * body.heat.heat_capacity
    return total


def only_heat(run, steps, dt):
    """Moves nothing but the temperatures."""
    for _ in range(steps):
        time = run.state.time
        advance_heat(run.built.heat, run.built.model, run.state, run.tracks, run.scene, time, time + dt)
        run.state.time = time + dt


def slow_conduction(X, tets, k):
    """Returns the conduction matrix [W/K], dense, tet by tet, by solving for each shape function."""
    K = np.zeros((len(X), len(X)))
    for tet, n in enumerate(tets):
        corners = np.column_stack([X[n], np.ones(4)])
        gradients = np.linalg.inv(corners)[:3].T
        volume = abs(np.linalg.det(corners)) / 6.0
        K[np.ix_(n, n)] += k[tet] * volume * gradients @ gradients.T
    return K


def model_of(cells=(3, 2, 2), seed=0):
    nodes, tets = bar(cells, (0.6, 0.4, 0.4))
    nodes = nodes + np.random.default_rng(seed).uniform(-0.03, 0.03, nodes.shape)
    return make_model([Part("bar", nodes, tets, np.ones(len(tets)), Material())])


def dense_flows(model, flows):
    """Returns the flows w of a model as a dense matrix, without its diagonal."""
    pattern = model.pattern
    W = np.zeros((model.node_count, model.node_count))
    rows = np.repeat(np.arange(model.node_count), np.diff(pattern.row_start.astype(np.int64)))
    W[rows, pattern.column.astype(np.int64)] = flows.conductance
    np.fill_diagonal(W, 0.0)
    return W


def test_conduction_is_that_of_linear_elements():
    model = model_of()
    k = np.random.default_rng(1).uniform(0.5, 2.0, model.tet_count)
    none = np.zeros(0, np.int32), np.zeros((0, 4)), np.zeros(0)
    W = dense_flows(model, conduction(model, k, *none))
    K = slow_conduction(model.X, model.tets, k)
    assert np.abs(np.diag(W.sum(axis=1)) - W - K).max() < 1e-12 * np.abs(K).max()
    assert (W == W.T).all()  # to the bit: what one node loses the other gets


@pytest.mark.parametrize("conductivity", [0.2, 2.0e4, 1.0e7])
def test_the_kernel_solves_what_its_slow_twin_solves(conductivity):
    model, rng = model_of(), np.random.default_rng(2)
    none = np.zeros(0, np.int32), np.zeros((0, 4)), np.zeros(0)
    flows = conduction(model, np.full(model.tet_count, conductivity), *none)
    n, dt = model.node_count, 0.02
    T, capacity = rng.uniform(0.0, 100.0, n), 2000.0 * model.mass
    gain = rng.uniform(0.0, 1.0, n) * capacity * (rng.uniform(size=n) > 0.5)
    given = gain * rng.uniform(-50.0, 50.0, n)
    change = np.empty(n)
    pattern = model.pattern
    rows = ConductionRows(0, pattern.row_start, pattern.column, flows.conductance)
    conduct_heat(rows, NodeHeat(capacity, gain, given, T), dt, 1e-12, 2000, np.empty((4, n)), change)
    K = slow_conduction(model.X, model.tets, np.full(model.tet_count, conductivity))
    expected = np.linalg.solve(np.diag(capacity + gain) + dt * K, given - dt * K @ T)
    assert np.abs(change - expected).max() < 1e-8 * np.abs(expected).max()


def test_heat_is_kept_without_sources(tmp_path):
    hot = block((3, 3, 6), (0.3, 0.3, 0.6), heat=INSULATED)
    run = Run(tmp_path, Scene((hot,), (), STILL))
    T = run.state.fields[TEMPERATURE]
    T[:] = np.random.default_rng(0).uniform(-50.0, 400.0, len(T))
    before, spread = heat_of(run), np.ptp(T)
    only_heat(run, 300, 0.05)
    assert abs(heat_of(run) - before) < 1e-12 * abs(before)
    assert np.ptp(run.state.fields[TEMPERATURE]) < 0.01 * spread


def test_an_even_temperature_stays_to_the_bit(tmp_path):
    run = Run(tmp_path, Scene((block(heat=replace(INSULATED, temperature=33.3)),), (), STILL))
    only_heat(run, 20, 0.05)
    assert (run.state.fields[TEMPERATURE] == 33.3).all()


def test_a_cosine_mode_fades_as_the_heat_equation_says(tmp_path):
    """T = 20 + 10 cos(πz/L) exp(−α (π/L)² t) in an insulated bar; its order is in validate_heat.py."""
    bar_body = block((2, 2, 16), (0.1, 0.1, 1.0), heat=Heat(20.0, 2.0e5, 2000.0, 0.0))
    run = Run(tmp_path, Scene((bar_body,), (), STILL))
    mode = np.cos(np.pi * run.built.model.X[:, 2])
    run.state.fields[TEMPERATURE] = 20.0 + 10.0 * mode
    only_heat(run, 100, 0.01)
    expected = 10.0 * mode * np.exp(-0.1 * np.pi**2)
    assert np.abs(run.state.fields[TEMPERATURE] - 20.0 - expected).max() < 0.02 * np.abs(expected).max()


@pytest.mark.parametrize("method", ["smooth", "robust"])
def test_the_air_touches_the_area_of_the_surface_not_that_of_tets(tmp_path, method):
    vertices, triangles = sphere(24, 0.5)
    heat = Heat(100.0, 1.0e5, 2000.0, 50.0)
    body = Body(vertices, triangles, meshing=Meshing(method, divisions=6), key="ball", name="Ball", heat=heat)
    run = Run(tmp_path, Scene((body,), (), STILL))
    corners = vertices[triangles]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum()
    surface = run.built.heat.conduction(run.built.model).surface
    assert surface.min() >= 0.0 and abs(surface.sum() - 50.0 * area) < 1e-9 * surface.sum()
    # conducting so well, it cools evenly: T − air falls as exp(−h A t / (m c))
    rate = 50.0 * area / (run.built.model.mass.sum() * 2000.0)
    steps, dt = 200, 0.01 / rate
    only_heat(run, steps, dt)
    T = run.state.fields[TEMPERATURE]
    assert np.ptp(T) < 1.0
    assert abs(T.mean() - 20.0 - 80.0 * (1.0 + rate * dt) ** -steps) < 0.5


def test_a_large_face_gives_heat_all_over(tmp_path):
    """A box of twelve triangles: its inner nodes on faces exchange as much as the area around them."""
    body = block((4, 4, 4), heat=Heat(exchange=10.0))
    corners = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
    sides = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    triangles = np.concatenate([sides[:, [0, 1, 2]], sides[:, [0, 2, 3]]]).astype(np.int32)
    body = replace(body, vertices=corners, triangles=triangles)
    run = Run(tmp_path, Scene((body,), (), STILL))
    surface, X = run.built.heat.conduction(run.built.model).surface, run.built.model.X
    outside = ((X < 1e-9) | (X > 1.0 - 1e-9)).any(axis=1)
    assert (surface[outside] > 0.0).all() and (surface[~outside] < 1e-12).all()
    top = (X[:, 2] > 1.0 - 1e-9) & ((X[:, :2] > 0.1) & (X[:, :2] < 0.9)).all(axis=1)
    assert surface[top].min() > 0.4 * 10.0 / 16 and surface[top].max() < 1.6 * 10.0 / 16


def test_simulated_size_is_the_size_that_heat_sees(tmp_path):
    """A body twice as large, simulated at half its size, has the temperatures of the small one."""
    heat = Heat(150.0, 3.0e3, 2000.0, 40.0)
    source = HeatSource("s", "S", 400.0, 0.4, 3.0e4)
    small = block((3, 3, 3), (0.5, 0.5, 0.5), heat=heat)
    large = block((3, 3, 3), (1.0, 1.0, 1.0), heat=heat, simulated_scale=0.5)
    runs = []
    for body, radius in ((small, 0.4), (large, 0.8)):
        run = Run(tmp_path / str(radius), Scene((body,), (), STILL, (replace(source, radius=radius),)))
        only_heat(run, 50, 0.02)
        runs.append(run.state.fields[TEMPERATURE])
    assert np.ptp(runs[0]) > 1.0
    assert np.abs(runs[0] - runs[1]).max() < 1e-9


def test_bodies_do_not_disturb_each_other(tmp_path):
    """To the bit; one without heat keeps the temperature of the air."""
    hot = block((3, 3, 3), heat=Heat(90.0, 5.0e3))
    others = (block(key="cold", at=(5.0, 0.0, 0.0)), block(key="warm", at=(9.0, 0.0, 0.0), heat=Heat(40.0, 80.0)))
    source = (HeatSource("s", "S", 300.0, 0.7, 1.0e4),)
    alone = Run(tmp_path / "alone", Scene((hot,), (), STILL, source))
    beside = Run(tmp_path / "beside", Scene((others[0], hot, others[1]), (), STILL, source))
    for run in (alone, beside):
        only_heat(run, 30, 0.02)
    T = beside.state.fields[TEMPERATURE]
    ranges = beside.built.model.bodies
    assert (T[ranges[1].nodes] == alone.state.fields[TEMPERATURE]).all()
    assert (T[ranges[0].nodes] == 20.0).all() and T[ranges[2].nodes].max() < 40.0


def test_no_heat_crosses_a_crack(tmp_path):
    """Two halves whose nodes have split keep their own heat, to the bit and to round-off."""
    nodes, tets = bar((4, 2, 2), (0.8, 0.4, 0.4))
    right = nodes[tets].mean(axis=1)[:, 0] > 0.4
    shared = np.intersect1d(tets[right], tets[~right])
    origin = np.sort(np.concatenate([np.arange(len(nodes)), shared]))
    first = np.searchsorted(origin, np.arange(len(nodes)))
    is_split = np.isin(np.arange(len(nodes)), shared)
    split = np.where(right[:, None] & is_split[tets], first[tets] + 1, first[tets]).astype(np.int32)
    body = Body(nodes, tets[:, :3], key="b", name="B", heat=INSULATED)
    scene = Scene((body,), (), STILL)
    models = [
        make_model([Part("b", X, t, np.ones(len(t)), Material())]) for X, t in ((nodes, tets), (nodes[origin], split))
    ]
    tracks = TrackReader(tmp_path)
    heat = make_heat(scene, models[0], [(np.zeros(0, np.int32), np.zeros((0, 4)), np.zeros(0))], tracks, np.zeros(3))
    T = np.random.default_rng(3).uniform(0.0, 100.0, len(nodes))
    state = State(models[1].X, np.zeros_like(models[1].X), fields={TEMPERATURE: T[origin]})
    on_right = np.zeros(len(origin), bool)
    on_right[split[right]] = True
    whole = float(models[0].mass @ T)
    halves = [float(models[1].mass[side] @ T[origin][side]) for side in (on_right, ~on_right)]
    assert abs(sum(halves) - whole) < 1e-12 * whole  # splitting alone changes no heat
    state.fields[TEMPERATURE][~on_right] = 55.5
    for step in range(100):
        advance_heat(heat, models[1], state, tracks, scene, 0.05 * step, 0.05 * (step + 1))
    T = state.fields[TEMPERATURE]
    assert (T[~on_right] == 55.5).all()
    assert abs(float(models[1].mass[on_right] @ T[on_right]) - halves[0]) < 1e-12 * halves[0]


def test_heat_speed_is_a_time_scale(tmp_path):
    """With Heat Speed 40, a step has the temperatures of one that is 40 times as long, to the bit."""
    source = HeatSource("s", "S", 400.0, 0.6, 3.0e4)
    heat = Heat(150.0, 3.0e2, 2000.0, 40.0)
    found = []
    for speed, dt in ((40.0, 0.25), (1.0, 10.0)):
        scene = Scene((block((4, 4, 4), heat=replace(heat, speed=speed)),), (), STILL, (source,))
        run = Run(tmp_path / str(speed), scene)
        only_heat(run, 20, dt)
        found.append(run.state.fields[TEMPERATURE])
    assert np.ptp(found[0]) > 10.0
    assert (found[0] == found[1]).all()


def test_heat_speed_0_lets_no_heat_flow(tmp_path):
    source = HeatSource("s", "S", 400.0, 0.6, 3.0e4)
    run = Run(tmp_path, Scene((block(heat=Heat(150.0, 3.0e2, 2000.0, 40.0, speed=0.0)),), (), STILL, (source,)))
    only_heat(run, 3, 0.1)
    assert (run.state.fields[TEMPERATURE] == 150.0).all()


def test_no_heat_is_lost_at_any_heat_speed(tmp_path):
    """Between nodes none; and what air and a source give, each speed · Δt times its watts, is what the body gains."""
    speed, dt = 5.0e4, 0.01
    heat = Heat(20.0, 0.25, 2000.0, 0.0, speed=speed)
    run = Run(tmp_path / "alone", Scene((block((3, 3, 6), (0.3, 0.3, 0.6), heat=heat),), (), STILL))
    T = run.state.fields[TEMPERATURE]
    T[:] = np.random.default_rng(0).uniform(-50.0, 400.0, len(T))
    before, spread = heat_of(run), np.ptp(T)
    only_heat(run, 300, dt)
    assert abs(heat_of(run) - before) < 1e-12 * abs(before)
    assert np.ptp(run.state.fields[TEMPERATURE]) < 0.5 * spread
    # implicit: the watts of a step are those of the temperatures at its end
    source = HeatSource("s", "S", 400.0, 0.6, 300.0)
    scene = Scene((block((4, 4, 4), heat=replace(heat, exchange=15.0)),), (), STILL, (source,))
    run = Run(tmp_path / "exchanging", scene)
    before = heat_of(run)
    only_heat(run, 1, dt)
    model, T = run.built.model, run.state.fields[TEMPERATURE]
    air = run.built.heat.conduction(model).surface @ (20.0 - T)
    share = run.built.heat.sources[0].share(run.tracks, dt, model.X)
    given = (300.0 / 0.6 * share * model.mass / 1000.0) @ (400.0 - T)
    gained = heat_of(run) - before
    assert given > 0.0 > air
    assert abs(gained - speed * dt * (air + given)) < 1e-9 * gained


def test_heat_gets_as_deep_as_the_diffusion_length(tmp_path):
    """From a hot half into a cold one, T = 50 erfc(z / √(4 α t)): erfc(1) = 15.73 %, Heat Speed and all."""
    heat, dt, steps = Heat(0.0, 0.25, 2200.0, 0.0, speed=2.0e4), 0.01, 200
    bar_body = block((2, 2, 64), (0.05, 0.05, 1.0), heat=heat)
    run = Run(tmp_path, Scene((bar_body,), (), STILL))
    z = run.built.model.X[:, 2] - 0.5
    run.state.fields[TEMPERATURE] = np.where(np.abs(z) < 1e-9, 50.0, 100.0 * (z < 0.0))
    only_heat(run, steps, dt)
    diffusivity = thermal_diffusivity(bar_body.material, heat)
    depth, order = diffusion_length(diffusivity, steps * dt), np.argsort(z)
    found = np.interp(depth, z[order], run.state.fields[TEMPERATURE][order])
    assert 0.1 < depth < 0.2 and abs(found - 50.0 * 0.1573) < 0.15
    assert speed_to_diffuse(depth, diffusivity / heat.speed, steps * dt) == pytest.approx(heat.speed)
