# SPDX-License-Identifier: GPL-3.0-or-later
"""Hard scenes of Li et al. (2020), rebuilt small: no triangles intersect after any step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from fixtures.exact_contact_scenes import ExactRun, plate
from fixtures.posed_figures import CELL, figure
from fixtures.tet_meshes import bar
from harness.creature_mesh import creature_tets
from sinew.solver.integrators.exact_contact.bound_surfaces import PrescribedMotion
from sinew.solver.mesh.geometry.triangle_intersections import intersecting_triangles
from sinew.solver.runtime.arrays import Bools, Floats, Indices
from sinew.solver.scene.scene import Material

SOFT = 2.0e4  # stiffness of barriers [Pa]
STONE = Material(youngs_modulus=1.0e7, poisson_ratio=0.2, density=1000.0, stiffness_damping=0.002)
NO_GRAVITY = np.zeros(3)


def oriented(nodes: Floats, tets: Indices) -> tuple[Floats, Indices]:
    """Returns nodes and tets, which are mirrored where they are inside out."""
    is_inverted = np.linalg.det(nodes[tets[:, 1:]] - nodes[tets[:, :1]]) < 0.0
    return nodes, np.where(is_inverted[:, None], tets[:, [0, 1, 3, 2]], tets)


def turned(points: Floats, axis: int, angle: float) -> Floats:
    """Returns points turned about an axis through the origin by an angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    out, j, k = points.copy(), (axis + 1) % 3, (axis + 2) % 3
    out[:, j], out[:, k] = c * points[:, j] - s * points[:, k], s * points[:, j] + c * points[:, k]
    return out


def report_of(reach, name: str, run: ExactRun, steps: int) -> None:
    """Says what was found: intersections, what was let in, and how many iterations steps took."""
    assert max(report.pairs for report in run.reports) > 0, "something touches"
    tets, iterations = run.model.tet_count, sum(report.iterations for report in run.reports)
    line = f"exact: intersections, {name}, {tets} tets, {steps} steps"
    reach("Contact", line, run.intersections, 0, run.intersections == 0)
    let_in, cost = sum(report.let_in for report in run.reports), f"{1e3 * run.processor_seconds / steps:.0f} ms"
    line = f"exact: let in there, {iterations / steps:.1f} iterations and {cost} of processor time a step"
    reach("Contact", line, let_in, 0, let_in == 0)


def prescribed(run: ExactRun, is_fixed: Bools, target: Floats) -> PrescribedMotion:
    """Returns a motion of held nodes only."""
    return replace(run.at_rest, is_fixed=is_fixed, target=target)


def test_two_mats_twisted_by_four_turns_and_back(reach) -> None:
    mats = [bar((16, 6, 1), (1.0, 0.3, 0.02)) for _ in range(2)]
    mats = [(nodes + [-0.5, -0.15, at], tets) for (nodes, tets), at in zip(mats, (-0.026, 0.006), strict=True)]
    run = ExactRun(mats, [], self_contact=True, gravity=NO_GRAVITY, gap=2e-3, stiffness=SOFT)
    X = run.model.X
    is_fixed, steps = np.abs(X[:, 0]) > 0.499, 400
    for step in range(1, steps + 1):
        angle = 4.0 * np.pi * (1.0 - abs(2.0 * step / steps - 1.0))  # up to two turns at either end
        target = np.where(X[:, :1] > 0.0, turned(X, 0, angle), turned(X, 0, -angle))
        run.step(0.02, prescribed(run, is_fixed, target))
    report_of(reach, "two mats twisted by four turns and back", run, steps)


def needles(count: int = 6, height: float = 0.1, pitch: float = 0.05) -> tuple[Floats, Indices]:
    """Returns thin tetrahedra that stand on end: vertices and triangles."""
    base = np.array([[-1.0, -0.6, 0.0], [1.0, -0.6, 0.0], [0.0, 1.2, 0.0]]) * 0.1 * pitch
    one = np.concatenate([base, [[0.0, 0.0, height]]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
    places = [
        (pitch * (i - (count - 1) / 2), pitch * (j - (count - 1) / 2), 0.002) for i, j in np.ndindex(count, count)
    ]
    vertices = np.concatenate([one + np.array(place) for place in places])
    return vertices, np.concatenate([faces + 4 * n for n in range(len(places))]).astype(np.int32)


def test_a_ball_falls_on_a_mesh_of_needles(reach) -> None:
    nodes, tets = bar((9, 9, 9), (0.2, 0.2, 0.2))
    nodes = nodes - 0.1
    longest = np.abs(nodes).max(axis=1)
    nodes = nodes * (longest / np.maximum(np.linalg.norm(nodes, axis=1), 1e-9))[:, None]  # a cube blown up to a ball
    run = ExactRun([(nodes + [0.013, 0.007, 0.25], tets)], [needles(), plate()], gap=1e-3, stiffness=SOFT)
    steps = 400
    for _ in range(steps):
        run.step(0.01)
    report_of(reach, "a ball on a mesh of needles", run, steps)


def link(radius: float = 0.06, wall: float = 0.012, around: int = 10) -> tuple[Floats, Indices]:
    """Returns nodes and tets of a ring with a square section."""
    nodes, tets = bar((around, 1, 1), (1.0, 2 * wall, 2 * wall))
    angle, r = 2.0 * np.pi * nodes[:, 0], radius + nodes[:, 1] - wall
    ring = np.stack([r * np.cos(angle), r * np.sin(angle), nodes[:, 2] - wall], axis=1)
    _, first, number = np.unique(np.round(ring, 9), axis=0, return_index=True, return_inverse=True)
    return ring[first], number.ravel()[tets].astype(np.int32)


def test_a_chain_of_links_hangs_and_swings(reach) -> None:
    links, count = [], 5
    for number in range(count):
        nodes, tets = link()
        nodes = nodes[:, [0, 2, 1]] if number % 2 == 0 else nodes[:, [2, 0, 1]]
        links.append(oriented(nodes - [0.0, 0.0, 0.085 * number], tets))
    run = ExactRun(links, [], gap=1e-3, stiffness=1e5, friction=0.2)
    is_fixed = np.zeros(run.model.node_count, bool)
    first = run.model.bodies[0].nodes
    is_fixed[first] = run.model.X[first, 2] > 0.0
    steps = 600
    for step in range(1, steps + 1):
        run.step(0.01, prescribed(run, is_fixed, run.model.X + [0.1 * np.sin(0.1 * step), 0.0, 0.0]))
    report_of(reach, "a chain of five links that is swung", run, steps)
    lowest = [float(run.state.x[body.nodes, 2].min()) for body in run.model.bodies]
    holds = bool((np.diff(lowest) < 0.0).all())
    reach("Contact", "exact: links of it that still hang in order", sum(np.diff(lowest) < 0.0), count - 1, holds)


@pytest.mark.parametrize("speed", [10.0, 100.0])
def test_fast_points_and_edges(speed, reach) -> None:
    rng, shots = np.random.default_rng(7), []
    for number in range(8):
        nodes, tets = bar((1, 1, 1), (0.02, 0.02 if number % 2 else 0.2, 0.02))  # a grain, or a stick
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        turn *= np.sign(np.linalg.det(turn))
        shots.append(
            ((nodes - nodes.mean(axis=0)) @ turn.T + [0.25 * (number % 4) - 0.4, 0.3 * (number // 4), 0.3], tets)
        )
    plates = [plate(0.0, 1000.0), plate(0.6, 1000.0)]
    run = ExactRun(shots, plates, self_contact=True, gap=5e-4, stiffness=1e5, gravity=NO_GRAVITY)
    for body in run.model.bodies:
        direction = rng.normal(size=3)
        run.state.v[body.nodes] = speed * direction / np.linalg.norm(direction)
    steps = 500
    for _ in range(steps):
        run.step(0.005)
    report_of(reach, f"grains and sticks at {speed:g} m/s between two plates", run, steps)
    x = run.state.x[:, 2]
    reach(
        "Contact",
        "exact: of them outside of the plates",
        int((x < 0.0).sum() + (x > 0.6).sum()),
        0,
        0.0 < x.min() and x.max() < 0.6,
    )


def boxes_of_an_arch(count: int = 7, radius: float = 0.5, depth: float = 0.15) -> Iterator[tuple[Floats, Indices]]:
    """Yields the stones of an arch, each with a hair of room on both sides."""
    for number in range(count):
        nodes, tets = bar((2, 2, 2), (1.0, 0.2, depth))
        low, high = np.pi * (number + 0.004) / count, np.pi * (number + 0.996) / count
        angle = np.pi - (low + (high - low) * nodes[:, 0])
        r = radius + nodes[:, 2]
        yield oriented(np.stack([r * np.cos(angle), nodes[:, 1], r * np.sin(angle) + 0.002], axis=1), tets)


def test_an_arch_stands_by_friction(reach) -> None:
    stones = list(boxes_of_an_arch())
    run = ExactRun(stones, [plate()], material=STONE, gap=1e-3, stiffness=1e7, friction=0.6)
    start = [float(run.state.x[body.nodes, 2].mean()) for body in run.model.bodies]
    steps = 400
    for _ in range(steps):
        run.step(0.01)
    report_of(reach, "an arch of seven stones", run, steps)
    end = [float(run.state.x[body.nodes, 2].mean()) for body in run.model.bodies]
    sunk = max(one - other for one, other in zip(start, end, strict=True))
    reach("Contact", "exact: how far a stone of it sank", f"{1e3 * sunk:.0f} mm", "20 mm", sunk < 0.02)


CREATURE_SCALE = 0.4


def funnel(around: int = 24) -> tuple[Floats, Indices]:
    """Returns a funnel, open at both ends: vertices and triangles."""
    profile = np.array([[0.6, 0.3], [0.35, 0.0], [0.16, -0.3], [0.14, -0.6], [0.14, -0.9]])
    angle = 2.0 * np.pi * np.arange(around)[:, None] / around
    r, z = profile.T
    vertices = np.stack([r * np.cos(angle), r * np.sin(angle), np.broadcast_to(z, (around, len(z)))], axis=2)
    i, j = (each.ravel() for each in np.meshgrid(np.arange(around), np.arange(len(z) - 1), indexing="ij"))
    a, b = i * len(z) + j, (i + 1) % around * len(z) + j
    return vertices.reshape(-1, 3), np.concatenate([np.c_[a, b, b + 1], np.c_[a, b + 1, a + 1]]).astype(np.int32)


def test_a_creature_is_drawn_through_a_funnel(reach) -> None:
    mesh = creature_tets(16)
    nodes, tets = CREATURE_SCALE * (mesh.nodes - [0.0, 0.0, 0.1]), mesh.tets  # on its feet, in the funnel's upper half
    run = ExactRun([(nodes, tets)], [funnel()], self_contact=True, gap=1e-3, stiffness=1e5, gravity=NO_GRAVITY)
    is_fixed, steps = nodes[:, 2] < nodes[:, 2].min() + 0.03, 300
    for step in range(1, steps + 1):
        share = step / steps
        closer = 1.0 - 0.4 * min(1.0, 2.0 * share)
        target = nodes * [closer, closer, 1.0] - [0.0, 0.0, 1.7 * share]
        run.step(0.015, prescribed(run, is_fixed, target))
    report_of(reach, "a creature drawn through a funnel by its feet", run, steps)
    top = float(run.state.x[:, 2].max())
    reach("Contact", "exact: its highest point, below the mouth of the funnel", f"{top:.2f} m", "0 m", top < 0.0)


def test_an_arm_passes_into_its_own_torso(reach) -> None:
    nodes, tets = figure()
    run = ExactRun([(nodes, tets)], [], self_contact=True, gap=1e-3, stiffness=1e5, gravity=NO_GRAVITY, is_let_in=True)
    hand, steps = nodes[:, 0] > 6.5 * CELL, 240
    spine = (nodes[:, 1] > 0.5 * CELL) & (np.abs(nodes[:, 0]) < 2.5 * CELL)
    start = nodes[hand].mean(axis=0)
    path = np.array([start, [0.26, -0.3, 0.1], [0.05, -0.3, 0.1], [0.03, -0.06, 0.12], [0.05, -0.3, 0.1]])
    for step in range(1, steps + 1):
        place = np.array([np.interp(4.0 * step / steps, np.arange(5), path[:, axis]) for axis in range(3)])
        target = np.where(hand[:, None], nodes - start + place, nodes)
        run.step(0.02, prescribed(run, hand | spine, target))
    assert max(report.pairs for report in run.reports) > 0, "something touches"
    y = run.surfaces.positions(run.state.x, run.at_rest.end)
    found = len(intersecting_triangles(y, run.surfaces.mesh.triangles))
    reach("Contact", f"exact: intersections after an arm left its own torso, {len(tets)} tets", found, 0, found == 0)
    left = len(run.excluded)
    reach("Contact", "exact: what is still not kept apart then", left, 0, left == 0)


def test_two_cards_lean_on_each_other(reach) -> None:
    angle, cards = np.deg2rad(20.0), []
    for side in (1.0, -1.0):
        nodes, tets = bar((6, 4, 1), (0.3, 0.2, 0.01))
        height, across = nodes[:, 0], nodes[:, 2]
        x = -height * np.sin(angle) + across * np.cos(angle)
        z = height * np.cos(angle) + across * np.sin(angle)
        nodes = np.stack([side * (x - x.min() + 1e-3), nodes[:, 1], z + 1.2e-3], axis=1)
        cards.append(oriented(nodes, tets))
    run = ExactRun(cards, [plate()], material=STONE, gap=1e-3, stiffness=1e6, friction=0.5)
    top, steps = float(run.state.x[:, 2].max()), 300
    for _ in range(steps):
        run.step(0.01)
    report_of(reach, "two cards that lean on each other", run, steps)
    sunk = top - float(run.state.x[:, 2].max())
    reach("Contact", "exact: how far their top sank", f"{1e3 * sunk:.1f} mm", "10 mm", sunk < 0.01)
