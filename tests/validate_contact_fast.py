# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing passes through, however fast: `make validate`, or

python -m pytest -s tests/validate_contact_fast.py
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.claim_table import reach
from fixtures.contact_scenes import NOTHING, pairs
from fixtures.energy_measures import kinetic_energy
from fixtures.penetration_measures import depths, size_of
from fixtures.rigid_fit import turned
from fixtures.scenes import Run, block
from sinew.solver.scene.scene import Material, Scene, Settings
from test_collider_contact import sheet

SECTION = "Contact"


class Pair:
    """Two bodies of a run that fly at each other, the ones numbered 2 i and 2 i + 1.

    They have passed through each other if one has come to the far side of the other, nearer to it than both are thick,
    and has not come back. Sides go along with a body that turns: two that cling to each other and go around are on
    theirs, and what bends around another and springs back, so that their middles pass for a moment, is so in the end.
    How near they were is told in space: around a body that spins, as seen from there, what is far away goes in circles,
    with chords that come near.
    """

    def __init__(self, run, number: int) -> None:
        """Measures them at the start."""
        self.bodies = run.scene.bodies[2 * number : 2 * number + 2]
        self.nodes = [body.nodes for body in run.built.model.bodies[2 * number : 2 * number + 2]]
        way = np.array(self.bodies[0].initial_velocity)
        self.way = way / np.linalg.norm(way)
        self.size = min(size_of(body.vertices) for body in self.bodies)
        self.thick = sum(inner_radius(body) for body in self.bodies)
        self.start = [run.state.x[nodes].copy() for nodes in self.nodes]
        self.apart, self.seen, self.is_beyond, self.deepest = *self.see(run), [False, False], 0.0
        closing = self.way @ np.subtract(self.bodies[0].initial_velocity, self.bodies[1].initial_velocity)
        self.meets_after = (self.way @ self.seen[0]) / closing  # [s], at the latest

    @property
    def has_passed(self) -> bool:
        """Whether they have passed through each other by now."""
        return any(self.is_beyond)

    def see(self, run) -> tuple[np.ndarray, list[np.ndarray]]:
        """Returns how far from the first body the second is, and that as seen from each, which has turned [m]."""
        first, second = (run.state.x[nodes].mean(axis=0) for nodes in self.nodes)
        turns = (turned(X, run.state.x[nodes]) for X, nodes in zip(self.start, self.nodes, strict=True))
        return second - first, [(second - first) @ turn for turn in turns]

    def follow(self, run) -> None:
        """Looks whether they have changed sides since this was looked at, nearer to each other than they are thick.

        That is to be done after every step: in a frame a body may turn by half.
        """
        was_apart, before = self.apart, self.seen
        self.apart, self.seen = self.see(run)
        way = self.apart - was_apart
        share = np.clip(-(was_apart @ way) / max(way @ way, 1e-30), 0.0, 1.0)
        was_near = bool(np.linalg.norm(was_apart + share * way) < self.thick)
        for i in range(2):
            ahead, behind = before[i] @ self.way, self.seen[i] @ self.way
            if ahead >= 0.0 > behind:
                self.is_beyond[i] = was_near
            elif behind >= 0.0:
                self.is_beyond[i] = False

    def look(self, run) -> None:
        """Looks where they are, and how deep in each other, at the end of a frame."""
        self.follow(run)
        a, b = self.bodies
        depth = max(
            depths(run.render[a.key], run.render[b.key], b.triangles).max(),
            depths(run.render[b.key], run.render[a.key], a.triangles).max(),
        )
        self.deepest = max(self.deepest, float(depth) / self.size)


def advance(run, look_at) -> None:
    """Moves a run on by a frame, and follows some pairs in it step by step."""
    run.advance(before_step=lambda: [pair.follow(run) for pair in look_at])


def inner_radius(body) -> float:
    """Returns how deep in a body one can be [m]."""
    return float(depths(body.tet_nodes[body.tets].mean(axis=1), body.vertices, body.triangles).max())


@pytest.mark.parametrize(
    ("E", "fastest", "most"), [((1.0e8, 1.0e9), 100.0, 0.01), ((1.0e5, 1.0e7), 30.0, 0.2)], ids=["hard", "soft"]
)
def test_pairs_do_not_pass_through(tmp_path, E, fastest, most):
    """Ten scenes of ten pairs: a step that goes astray is halved for all that is in its scene.

    The soft ones are hit at up to three times the speed of sound in them, and crumple.
    """
    everything, look_at, quickest, energy = pairs(100, fastest, E), [], 0.0, 0.0
    for scene in range(10):
        bodies = everything.bodies[20 * scene : 20 * scene + 20]
        run = Run(tmp_path / str(scene), replace(everything, bodies=bodies))
        now, start = [Pair(run, i) for i in range(10)], kinetic_energy(run)
        for _ in range(int(24 * max(pair.meets_after for pair in now)) + 3):
            advance(run, now)
            quickest = max(quickest, float(np.linalg.norm(run.state.v, axis=1).max()))
            energy = max(energy, kinetic_energy(run) / start)
            for pair in now:
                pair.look(run)
        look_at += now
    passed = [i for i, pair in enumerate(look_at) if pair.has_passed]
    name = f"100 random pairs at up to {fastest:g} m/s, E {E[0]:.0e} to {E[1]:.0e} Pa"
    value = f"{len(passed)} {passed[:5] if passed else ''}".strip()
    reach(SECTION, f"{name}: pairs that passed through each other", value, "0", not passed)
    deep = np.array([pair.deepest for pair in look_at])
    value = (
        f"{deep.max():.2%} (pair {deep.argmax()}), {(deep > 0.01).sum()} beyond 1 %, half of all {np.median(deep):.2%}"
    )
    reach(SECTION, f"{name}: deepest vertex in the other, of the size", value, f"{most:.0%}", deep.max() < most)
    reach(SECTION, f"{name}: fastest node", f"{quickest:.0f} m/s", f"{1.5 * fastest:g} m/s", quickest < 1.5 * fastest)
    line = f"{name}: energy of motion, over that of the start"
    reach(SECTION, line, f"{energy:.4f}", "1.001", energy < 1.001)


def test_pairs_that_do_not_feel_each_other_pass(tmp_path):
    """What the measure above says without contact."""
    scene = pairs(20, 100.0, (1.0e8, 1.0e9))
    keys = [(f"a{i}", f"b{i}") for i in range(20)]
    run = Run(tmp_path, replace(scene, ignored_pairs=tuple(keys)))
    look_at = [Pair(run, i) for i in range(20)]
    for _ in range(int(24 * max(pair.meets_after for pair in look_at)) + 3):
        advance(run, look_at)
        for pair in look_at:
            pair.look(run)
    found = sum(pair.has_passed for pair in look_at)
    reach(SECTION, "20 pairs that ignore each other: pairs that passed through", found, 20, found == 20)


@pytest.mark.parametrize("sides", ["auto", "front"])
def test_a_fast_body_stays_above_a_sheet(tmp_path, sides):
    lowest = np.inf
    for number, height in enumerate((0.5, 1.3, 2.9, 4.4)):
        body = block(
            (3, 3, 3), (0.4,) * 3, at=(-0.2, -0.2, height), material=Material(1.0e8, 0.3, stiffness_damping=0.002),
            initial_velocity=(0.0, 0.0, -100.0),
        )  # fmt: skip
        run = Run(tmp_path / str(number), Scene((body,), (sheet(sides=sides),), Settings(gravity=NOTHING)))
        lowest = min(lowest, *(float(run.advance()[:, 2].min()) for _ in range(12)))
    value = f"{1e3 * lowest:.1f} mm"
    reach(SECTION, f"box of 0.4 m at 100 m/s onto a thin sheet ({sides}): lowest", value, "-4 mm", lowest > -4e-3)
