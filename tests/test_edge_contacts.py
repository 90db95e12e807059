# SPDX-License-Identifier: GPL-3.0-or-later
"""Sharp edges meet each other between their points: which edges are sharp, when they meet, and what keeps them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.closed_surfaces import sphere
from fixtures.contact_scenes import NOTHING, held, surface_body
from fixtures.edge_contact_scenes import EdgesIn, box, crossed, on_collider, sharp_edges, tracks_of
from fixtures.scenes import Run, block, rotation
from sinew.solver.contact.surfaces import build_surfaces
from sinew.solver.contact.surfaces.edge_edge_narrow_phase import (
    MAX_SLANT_SINE,
    MIN_SKEW_SINE,
    EdgeCrossings,
    NearestEdges,
    closest_on_segments,
    find_edge_crossings,
    find_nearest_edges,
    interpolate_edges,
    is_in_front,
)
from sinew.solver.contact.surfaces.sharp_edges import NEGLIGIBLE_DEPTH, EdgeArrays, label_chains, mesh_sharp_edges
from sinew.solver.contact.surfaces.time_of_impact import BORDER_TOLERANCE, FRONT_TOLERANCE
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.arrays import indices
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.scene import Meshing, Scene, Settings

SIZE = 0.5  # of tets
BEAM = {"cells": (16, 2, 2), "lengths": (1.0, 0.1, 0.1)}


def wedge(rng) -> np.ndarray:
    """Returns the ends of an edge along x, and far corners of the two faces below it, moved a little, (4, 3)."""
    return np.array([[-1.0, 0, 0], [1, 0, 0], [0, 1, -1], [0, -1, -1]]) + rng.uniform(-0.2, 0.2, (4, 3))


def wedges(rng, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns vertices at both ends of a step of pairs of edges that fly about, and the edges, (2 count, 4)."""
    start, end = np.empty((2, 8 * count, 3))
    for c in range(count):
        turn = rotation(rng.normal(size=3), rng.uniform(0.0, 0.5))
        a = wedge(rng) * [1, 1, -1] @ rotation([0, 0, 1], rng.uniform(0.0, np.pi)).T + [0, 0, rng.uniform(-0.2, 0.6)]
        own = slice(8 * c, 8 * c + 8)
        start[own] = np.concatenate([a, wedge(rng)]) @ rotation(rng.normal(size=3), rng.uniform(0.0, np.pi)).T
        moved = start[own].copy()
        moved[:4] = moved[:4] @ turn.T + rng.uniform(-1.2, 1.2, 3)
        end[own] = moved
    return start, end, np.arange(8 * count, dtype=np.int32).reshape(-1, 4)


def slow_crossing(first: np.ndarray, last: np.ndarray, keeps: float):
    """Returns sign of n, time and place of the first crossing of two edges, (8, 3) each; None: they do not meet."""

    def parts(t):
        x = first + t * (last - first)
        return x, x[0] - x[4], x[1] - x[0], x[5] - x[4]

    lengths = [np.linalg.norm(np.cross(*parts(t)[2:])) for t in (0.0, 1.0)]
    best = None
    for sign in (1.0, -1.0):

        def height(t, sign=sign):
            _, r, e, f = parts(t)
            return sign * r @ np.cross(e, f) + FRONT_TOLERANCE * SIZE * (lengths[0] + t * (lengths[1] - lengths[0]))

        at = np.linspace(0.0, 1.0, 4)
        roots = np.roots(np.polyfit(at, [height(t) for t in at], 3))
        for t in sorted(roots[np.abs(roots.imag) < 1e-9].real):
            slope = (height(t + 1e-6) - height(t - 1e-6)) / 2e-6
            if not 0.0 <= t <= 1.0 or slope >= 0.0 or (best is not None and t >= best[1]):
                continue
            x, _, e, f = parts(t)
            s, u, d = slow_closest(x)
            n = sign * np.cross(e, f)
            if d <= BORDER_TOLERANCE * SIZE and slow_in_front(x, n, e, f):
                best = sign, t, (s, u)
                break
    if best is None and keeps > 0.0:
        x, _, e, f = parts(1.0)
        s, u, d = slow_closest(x)
        if d < keeps and 0.0 < s < 1.0 and 0.0 < u < 1.0:
            r = x[0] + s * e - x[4] - u * f
            n = np.cross(e, f) * np.sign(np.cross(e, f) @ r)
            if slow_in_front(x, n, e, f):
                best = np.sign(np.cross(e, f) @ r), 1.0, (s, u)
    return best


def slow_in_front(x, n, e, f) -> bool:
    if np.linalg.norm(n) <= MIN_SKEW_SINE * np.linalg.norm(e) * np.linalg.norm(f):
        return False
    n = n / np.linalg.norm(n)
    above = [(x[k] - x[0]) @ n / np.linalg.norm(x[k] - x[0]) for k in (2, 3)]
    below = [(x[k] - x[4]) @ n / np.linalg.norm(x[k] - x[4]) for k in (6, 7)]
    return min(above) >= -MAX_SLANT_SINE and max(below) <= MAX_SLANT_SINE


def slow_closest(x) -> tuple[float, float, float]:
    """Returns where on two edges they are nearest to each other and how near: inside, or at one of four ends."""
    e, f, r = x[1] - x[0], x[5] - x[4], x[4] - x[0]
    found = [tuple(np.linalg.lstsq(np.stack([e, -f], axis=1), r, rcond=None)[0])]
    found = [(s, u) for s, u in found if 0.0 <= s <= 1.0 and 0.0 <= u <= 1.0]
    for end in (0.0, 1.0):
        found.append((end, float(np.clip((x[0] + end * e - x[4]) @ f / (f @ f), 0.0, 1.0))))
        found.append((float(np.clip((x[4] + end * f - x[0]) @ e / (e @ e), 0.0, 1.0)), end))
    return min(((s, u, float(np.linalg.norm(x[0] + s * e - x[4] - u * f))) for s, u in found), key=lambda row: row[2])


def crossings(start, end, ends, keeps=0.0):
    count = len(ends) // 2
    a, b = indices(np.arange(count) * 2), indices(np.arange(count) * 2 + 1)
    edges = EdgeArrays(ends, np.full(len(ends), SIZE), np.zeros(0, np.int32), np.zeros(0, np.int64))
    out = EdgeCrossings.allocate(count)
    found = find_edge_crossings(a, b, start, end, edges, np.full(count, keeps), out)
    return {int(out.a[c]) // 2: (out.sign[c], out.time[c], out.place[c]) for c in range(found)}


@pytest.mark.parametrize("keeps", [0.0, 0.3])
def test_edges_meet_when_and_where_a_slow_search_says(keeps):
    start, end, ends = wedges(np.random.default_rng(3), 400)
    found, met = crossings(start, end, ends, keeps), 0
    for c in range(400):
        slow = slow_crossing(start[8 * c : 8 * c + 8], end[8 * c : 8 * c + 8], keeps)
        assert (slow is None) == (c not in found), c
        if slow is not None:
            met += 1
            assert slow[0] == found[c][0]
            assert found[c][1] == pytest.approx(slow[1], abs=1e-7)
            np.testing.assert_allclose(found[c][2], slow[2], atol=1e-5)
    assert met > 50


def test_edges_that_come_apart_or_pass_beside_do_not_meet():
    start, end, ends = wedges(np.random.default_rng(5), 300)
    first = np.arange(len(start)) // 4 * 4
    end = start + (end - start)[first]  # without turning
    met = crossings(start, end, ends)
    assert len(met) > 30 and not set(met) & set(crossings(end, start, ends))  # nothing goes in on the way back
    aside = np.arange(len(start)) % 8 < 4
    away = start + np.where(aside[:, None], [40.0, 0, 0], 0.0), end + np.where(aside[:, None], [40.0, 0, 0], 0.0)
    assert not crossings(*away, ends)


def test_edges_from_behind_do_not_meet():
    """Upper and lower wedge begin in each other and come apart, or go on: neither is a contact."""
    rng = np.random.default_rng(7)
    a, b = wedge(rng) * [1, 1, -1] @ rotation([0, 0, 1], 1.5).T, wedge(rng)
    ends = np.arange(8, dtype=np.int32).reshape(2, 4)
    inside = np.concatenate([a - [0, 0, 0.6], b])
    for way in (0.5, -0.5):
        assert not crossings(inside, inside + np.where(np.arange(8)[:, None] < 4, [0, 0, way], 0.0), ends)


def test_chains_are_nearest_where_all_pairs_say():
    rng, along = np.random.default_rng(2), np.linspace(-1.0, 1.0, 9)
    for _ in range(50):
        one = np.column_stack([along, 0.02 * rng.normal(size=9), 0.05 * along**2])
        other = np.column_stack([0.02 * rng.normal(size=9), along, 0.3 - 0.05 * along**2]) @ rotation([0, 0, 1], 0.3).T
        at = np.concatenate([one, other])
        begin = np.concatenate([np.arange(8), np.arange(9, 17)])
        ends = indices(np.stack([begin, begin + 1, begin, begin], axis=1))
        edges = EdgeArrays(ends, np.zeros(16), indices(np.arange(16) + 92), np.array([0, 8, 16]))
        out, down = NearestEdges.allocate(1), np.array([[0.0, 0.0, -1.0]])
        a, b, place, sign, is_kept = out
        chain_a, chain_b, triangle = (np.array([number], np.int32) for number in (0, 1, 103))
        find_nearest_edges(chain_a, chain_b, triangle, down, 0.0, 9.0, at, edges, out)
        now, out, best = np.empty((8, 3)), np.empty(2), []
        for i in range(8):
            for j in range(8, 16):
                interpolate_edges.py_func(0.0, at, at, ends, i, j, now)
                squared = closest_on_segments.py_func(now, out)
                assert np.sqrt(squared) == pytest.approx(slow_closest(now)[2], abs=1e-12)
                best.append((squared, i, j))
        interpolate_edges.py_func(0.0, at, at, ends, a[0], b[0], now)
        assert closest_on_segments.py_func(now, out) == pytest.approx(min(best)[0], abs=1e-15)
        np.testing.assert_allclose(place[0], out)
        assert is_kept[0] and sign[0] * np.cross(now[1] - now[0], now[5] - now[4])[2] < 0.0


def test_a_slanted_pair_is_not_in_front():
    now, normal = np.zeros((8, 3)), np.empty(3)
    now[:4] = np.array([[0, -1, 1], [0, 1, 1], [1, 0, 2], [-1, 0, 2]])
    now[4:] = np.array([[-1, 0, 0], [1, 0, 0], [0, 1, -1], [0, -1, -1]])
    assert [is_in_front.py_func(now, sign, MIN_SKEW_SINE, MAX_SLANT_SINE, normal) for sign in (1, -1)].count(True) == 1
    now[6, 2] = 0.5  # a face of the lower one above the plane
    assert not any(is_in_front.py_func(now, sign, MIN_SKEW_SINE, MAX_SLANT_SINE, normal) for sign in (1, -1))


def test_the_edges_of_a_box_are_sharp_and_chains():
    body = block((4, 4, 4))
    found = mesh_sharp_edges(body.vertices, body.triangles, 0.25, True)
    assert len(found.ends) == 48
    chain, is_end = label_chains(found.ends, body.vertices)
    assert len(np.unique(chain)) == 12 and is_end.sum() == 24
    normal = np.cross(*(np.diff(body.vertices[body.triangles[found.triangle]], axis=1).transpose(1, 0, 2)))
    beside = np.einsum("ei,ei->e", normal, body.vertices[found.ends[:, 2]] - body.vertices[found.ends[:, 0]])
    np.testing.assert_allclose(beside, 0.0, atol=1e-12)  # the triangle is one of the two beside the edge


def test_what_goes_in_is_not_sharp():
    """Two boxes side by side, one higher: the edge of the step's foot is hollow; from inside a shell it is sharp."""
    profile = np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2.0]])  # an L, its fourth corner is hollow
    vertices = np.concatenate([np.column_stack([profile, np.full(6, z)]) for z in (0.0, 1.0)])
    sides = [[i, (i + 1) % 6, 6 + (i + 1) % 6] for i in range(6)] + [[i, 6 + (i + 1) % 6, 6 + i] for i in range(6)]
    caps = [[0, 2, 1], [0, 3, 2], [0, 4, 3], [0, 5, 4]]
    triangles = np.array(sides + caps + [[6 + a, 6 + c, 6 + b] for a, b, c in caps], np.int32)
    found = mesh_sharp_edges(vertices, triangles, 1.0, True)
    upright = found.ends[(found.ends[:, 0] % 6) == (found.ends[:, 1] % 6)]
    assert sorted(upright[:, 0] % 6) == [0, 1, 2, 4, 5]
    assert 3 in mesh_sharp_edges(vertices, triangles, 1.0, False).ends[:, 0] % 6


def test_round_and_finely_divided_surfaces_have_no_sharp_edges():
    angle = np.linspace(0.0, 2.0 * np.pi, 17)[:-1]
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    vertices = np.concatenate([np.column_stack([ring, np.full(16, z)]) for z in (0.0, 1.0)])
    i = np.arange(16)
    sides = np.concatenate([np.column_stack([i, (i + 1) % 16, 16 + (i + 1) % 16]),
                            np.column_stack([i, 16 + (i + 1) % 16, 16 + i])]).astype(np.int32)  # fmt: skip
    assert not len(mesh_sharp_edges(vertices, sides, 1.0, True).ends)  # 22.5 degrees; its borders are no matter
    borders = mesh_sharp_edges(vertices, sides, 1.0, False)
    assert len(borders.ends) == 32 and (borders.ends[:, 2] == borders.ends[:, 3]).all()
    chain, is_end = label_chains(borders.ends, vertices)
    assert len(np.unique(chain)) == 2 and not is_end.any()
    cube = box(np.ones(3))
    assert len(mesh_sharp_edges(*cube, 1.0, True).ends) == 12
    assert not len(mesh_sharp_edges(*cube, 1.01 * 0.5 / NEGLIGIBLE_DEPTH, True).ends)


@pytest.mark.parametrize("speed", [0.0, 30.0])
def test_crossed_beams_keep_each_other_out(tmp_path, speed):
    scene = crossed(**BEAM, speed=speed, gap=0.002 + 0.06 * (speed > 0.0), is_held=speed == 0.0,
                    gravity=NOTHING if speed else (0.0, 0.0, -9.81))  # fmt: skip
    run = Run(tmp_path, scene, **tracks_of(scene))
    look, start = EdgesIn(run, 0.1), run.state.v.copy()
    for _ in range(2 if speed else 8):
        run.advance()
        look.look(run)
    assert look.most < (0.03 if speed else 0.01)
    middles = [np.linalg.norm(body.vertices[:, :2], axis=1) < 0.1 for body in scene.bodies]  # the ends fly on
    low, up = (run.render[body.key][near].mean(axis=0) for body, near in zip(scene.bodies, middles, strict=True))
    assert up[2] > low[2] + 0.05
    if speed:
        mass = run.built.model.mass
        np.testing.assert_allclose(mass @ run.state.v, mass @ start, atol=2e-3 * mass.sum() * speed)


@pytest.mark.parametrize("deforms", [False, True])
def test_a_beam_keeps_out_of_the_edge_of_a_collider(tmp_path, deforms):
    scene, tracks, mesh = on_collider(**BEAM, gap=0.002, deforms=deforms)
    other = block((1, 1, 1), at=(5.0, 5.0, 5.0), key="far")  # where bodies can meet, rigid colliders have edges too
    run = Run(tmp_path, replace(scene, bodies=(*scene.bodies, other)), **tracks)
    look = EdgesIn(run, 0.1, (mesh,))
    for _ in range(8):
        run.advance()
        look.look(run)
    assert look.most < 0.01
    force = run.reports[-1].colliders["edge"]
    weight = 9.81 * run.built.model.mass[run.built.model.bodies[0].nodes].sum()
    assert -3.0 * weight < force[2] < -0.2 * weight


def test_edges_keep_their_thickness(tmp_path):
    scene = crossed(**BEAM, gap=0.015, is_held=True)
    bodies = [replace(body, collision=replace(body.collision, thickness=0.005)) for body in scene.bodies]
    run = Run(tmp_path, replace(scene, bodies=tuple(bodies)), **tracks_of(scene))
    run.advance(6)
    (low, up), now, place = run.scene.bodies, np.empty((8, 3)), np.empty(2)
    least = np.inf
    for i, j in sharp_edges(low.vertices, low.triangles):
        for k, m in sharp_edges(up.vertices, up.triangles):
            now[[0, 1]], now[[4, 5]] = run.render["low"][[i, j]], run.render["up"][[k, m]]
            least = min(least, float(np.sqrt(closest_on_segments.py_func(now, place))))
    assert 0.009 < least < 0.0105


def test_a_contact_keeps_its_id_and_resumes_to_the_same_bytes(tmp_path):
    scene = crossed(**BEAM, gap=0.002)
    run = Run(tmp_path / "one", scene, **tracks_of(scene))
    run.advance(3)
    first = run.simulation.contacts.surfaces.first_edge_id

    def ids():
        return [int(i) - first for i in run.state.fields["contact.id"] if i >= first]

    before, saved = ids(), run.state.copy()
    assert len(before) == 1
    run.advance(2)
    assert ids() == before
    again = Run(tmp_path / "two", scene, **tracks_of(scene))
    again.simulation.state = State(**vars(saved))
    again.advance(2)
    assert again.state.x.tobytes() == run.state.x.tobytes()


def test_edges_that_stick_do_not_slide(tmp_path):
    """The upper beam lies across, pulled aside out of the notch that it dents: friction holds it."""
    moved = []
    for mu in (0.8, 0.0):
        scene = crossed(**BEAM, gap=0.0005)
        bodies = [replace(b, collision=replace(b.collision, friction=mu)) for b in scene.bodies]
        scene = replace(scene, bodies=tuple(bodies), settings=replace(scene.settings, gravity=(0.0, 6.0, -9.81)))
        run = Run(tmp_path / str(mu), scene, **tracks_of(scene))
        run.advance(6)
        up = run.built.model.bodies[1].nodes
        moved.append(float((run.state.x[up] - run.built.model.X[up])[:, 1].mean()))
    assert abs(moved[0]) < 0.2 * abs(moved[1])


def test_round_bodies_have_no_search_for_edges(tmp_path):
    ball = surface_body("ball", *sphere(16, 0.5), meshing=Meshing(divisions=6))
    run = Run(tmp_path, Scene((ball, replace(ball, key="other", vertices=ball.vertices + [0.0, 0.0, 1.2]))))
    assert run.built.contact_materials.surfaces.edges is None
    run.advance()
    assert run.simulation.contacts.surfaces.edges is None
    alone = block(collision=Collision(self_contact=True))
    assert Run(tmp_path, Scene((alone,))).built.contact_materials.surfaces.edges is None
    ignored = Scene((alone, block(key="other")), ignored_pairs=(("block", "other"),))
    assert Run(tmp_path, ignored).built.contact_materials.surfaces.edges is None


def test_what_broke_has_no_edges_and_the_others_keep_theirs(tmp_path):
    scene = crossed(**BEAM)
    skins = Run(tmp_path, scene, **tracks_of(scene)).built.contact_materials.surfaces
    more = np.array([0, 7, 7]), np.array([0, 5, 5])  # the first body has more vertices and triangles now
    before = skins.vertex_start, skins.triangle_start
    now = tuple(of + add for of, add in zip(before, more, strict=True))
    rest = np.concatenate([np.zeros((7, 3)), skins.rest])
    left = skins.edges.after_fracture([0], before, now, rest)
    own = skins.edges.surface == 1
    np.testing.assert_array_equal(left.ends, skins.edges.ends[own] + 7)
    np.testing.assert_array_equal(left.triangle, skins.edges.triangle[own] + 5)
    np.testing.assert_array_equal(rest[left.ends], skins.rest[skins.edges.ends[own]])
    assert left.chains == skins.edges.chains and (left.chain == skins.edges.chain[own]).all()


def test_what_slides_onto_a_table_is_not_caught_by_the_ends_of_upright_edges(tmp_path, monkeypatch):
    """A box that is a little deep in the level of a table comes over its rim with a corner ahead."""
    table = block((6, 6, 2), (1.2, 1.2, 0.4), at=(0.0, -0.6, -0.4), key="table", collision=Collision(0.0))
    slider = block(
        (3, 3, 3), (0.3, 0.3, 0.3), at=(-0.47, -0.15, -1.0e-4), turn=rotation([0, 0, 1], 0.785), key="slider",
        collision=Collision(0.0), initial_velocity=(1.0, 0.0, 0.0),
    )  # fmt: skip
    scene = Scene((held(table, lambda v: v[:, 2] < -0.39), slider), (), Settings(gravity=NOTHING))
    velocities = []
    for name in ("with", "without"):
        run = Run(tmp_path / name, scene, **tracks_of(scene))
        assert (run.built.contact_materials.surfaces.edges is None) == (name == "without")
        run.advance(6)
        velocities.append(run.state.v.copy())
        monkeypatch.setattr(build_surfaces, "_surface_edges", lambda *_: None)
    np.testing.assert_allclose(*velocities, atol=1e-6)
