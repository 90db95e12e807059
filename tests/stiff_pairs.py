# SPDX-License-Identifier: GPL-3.0-or-later
"""Small and stiff bodies that meet each other at the default settings, and what is measured of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from contact_measures import deepest, energy
from contact_scenes import bent_block
from scenes import Run, rotation
from sinew.solver.collision import Collision
from sinew.solver.scene import Body, Collider, Material, Meshing, Scene, Settings
from stiff_drops import FRAME, GIVES_WAY, GRAVITY, SAGS, surface_of, volume_of

KINDS = ("meet", "on jelly", "on hard", "heap", "itself")
SHAPES = ("ball", "cube", "rock")
AFTER = 10  # frames after that of the first blow
JELLY = Material(2.0e4, 0.4, 1000.0)
IN_HEAP = 5
DIVISIONS = 4


@dataclass(frozen=True)
class Meeting:
    """One case: bodies of a size L [m] and E [Pa] that meet at a speed [m/s], with `substeps` steps in a frame.

    Attributes:
        kind: Of `KINDS`.
        phase: Which part of a frame goes by before the blow, 0 to 1.
        seed: Of how bodies are turned, and how far off centre they meet.
    """

    kind: str
    shape: str
    size: float
    youngs_modulus: float
    density: float
    speed: float
    substeps: int
    phase: float
    seed: int

    @property
    def is_stiff(self) -> bool:
        """Whether it is stiff enough to keep its volume to 5 % in the blow and where it comes to rest."""
        blow = self.speed * math.sqrt(self.density / self.youngs_modulus)
        height = IN_HEAP if self.kind == "heap" else 2
        return blow < GIVES_WAY and height * self.density * GRAVITY * self.size / self.youngs_modulus < SAGS


@dataclass(frozen=True)
class Outcome:
    """How a case went: the largest over all steps.

    Attributes:
        volume: |V / V₀ − 1| of what is stiff, at the end of a frame.
        depth: Of a vertex in another body or below the ground after the frame of the blow, over the size L.
        gain: How much more energy of motion, of height and of strain there is than at the start, over that of the blow.
        steps, unsettled, astray: Steps, those whose contacts were not settled, and those not converged.
        iterations, solves: Of the linear solver.
    """

    volume: float
    depth: float
    gain: float
    steps: int
    unsettled: int
    astray: int
    iterations: int
    solves: int


def random_meetings(seed: int, count: int) -> list[Meeting]:
    """Returns cases in turn of every kind, 0.3 mm to 10 cm, 1e5 to 1e11 Pa, at 0.3 to 5 m/s, with 1 to 16 substeps."""
    chance = np.random.default_rng(seed)
    return [
        Meeting(
            KINDS[number % len(KINDS)],
            SHAPES[int(chance.integers(len(SHAPES)))],
            10.0 ** chance.uniform(-3.5, -1.0),
            10.0 ** chance.uniform(5.0, 11.0),
            10.0 ** chance.uniform(2.9, 3.9),
            10.0 ** chance.uniform(-0.5, 0.7),
            2 ** int(chance.integers(5)),
            float(chance.uniform()),
            int(chance.integers(1 << 30)),
        )
        for number in range(count)
    ]


def run_of(folder: Path, meeting: Meeting) -> Run:
    """Returns a run that begins within a frame of the blow."""
    chance = np.random.default_rng(meeting.seed)
    L, before = meeting.size, (0.2 + meeting.phase) * FRAME
    stiff = Material(meeting.youngs_modulus, 0.3, meeting.density)
    ground = Collider("ground", "Ground")
    speed = max(meeting.speed - GRAVITY * before, 0.0)
    gap = speed * before + 0.5 * GRAVITY * before**2

    def piece(key: str, low: float, at=(0.0, 0.0), fall: float = speed) -> Body:
        """A body turned at random whose lowest point is at a height."""
        vertices, triangles = surface_of(meeting.shape)
        if meeting.shape != "cube" or chance.uniform() < 0.5:
            vertices = vertices @ rotation(chance.normal(size=3), chance.uniform(0.1, math.pi)).T
        vertices = L * vertices
        vertices = vertices + [*at, low - vertices[:, 2].min()]
        return Body(
            key, key.capitalize(), vertices, triangles, stiff, Meshing("smooth", divisions=DIVISIONS),
            initial_velocity=(0.0, 0.0, -fall),
        )  # fmt: skip

    def block_below(material: Material, size: float) -> Body:
        vertices, triangles = surface_of("cube")
        vertices = size * (vertices + [0.0, 0.0, 0.5])
        return Body("below", "Below", vertices, triangles, material, Meshing("smooth", divisions=DIVISIONS))

    off = tuple(float(each) for each in chance.uniform(-0.3, 0.3, 2) * L)
    colliders: tuple[Collider, ...] = (ground,)
    if meeting.kind == "meet":
        one = piece("one", 0.0, fall=-0.5 * meeting.speed)
        top = one.vertices[:, 2].max()
        bodies = (one, piece("other", top + meeting.speed * before, off, fall=0.5 * meeting.speed))
        colliders = ()
    elif meeting.kind in ("on jelly", "on hard"):
        size = 3.0 * L if meeting.kind == "on jelly" else 1.5 * L
        material = JELLY if meeting.kind == "on jelly" else stiff
        bodies = (block_below(material, size), piece("one", size + gap, off))
    elif meeting.kind == "heap":
        bodies, low = (), gap
        for number in range(IN_HEAP):
            at = tuple(float(each) for each in chance.uniform(-0.2, 0.2, 2) * L)
            bodies = (*bodies, piece(f"b{number}", low, at))
            low = float(bodies[-1].vertices[:, 2].max()) + 0.05 * L
    else:
        # most of a ring, which the blow closes or lets spring
        def ring(nodes: np.ndarray) -> np.ndarray:
            angle, radius = 1.94 * math.pi * (1.0 - nodes[:, 0]), L * (0.3 + 0.2 * nodes[:, 2])
            return np.column_stack([radius * np.cos(angle), 0.2 * L * nodes[:, 1], radius * np.sin(angle)])

        whole = bent_block("ring", (16, 1, 1), (1.0, 1.0, 1.0), ring, material=stiff)
        turn = rotation(chance.normal(size=3), chance.uniform(0.1, math.pi)).T
        raised = [0.0, 0.0, gap - (whole.vertices @ turn)[:, 2].min()]
        assert whole.tet_nodes is not None
        whole = replace(
            whole, vertices=whole.vertices @ turn + raised, tet_nodes=whole.tet_nodes @ turn + raised,
            initial_velocity=(0.0, 0.0, -speed), collision=Collision(self_contact=True),
        )  # fmt: skip
        bodies = (whole,)
    gravity = (0.0, 0.0, 0.0 if meeting.kind == "meet" else -GRAVITY)
    settings = Settings(1, 3 + AFTER, 24.0, meeting.substeps, gravity=gravity)
    return Run(folder, Scene(bodies, colliders, settings))


def outcome_of(run: Run, meeting: Meeting) -> Outcome:
    """Moves a run on to its end and returns how it went."""
    settings, built = run.scene.settings, run.built
    stiff = [body for body, asked in zip(built.bodies, run.scene.bodies, strict=True) if asked.material != JELLY]
    triangles = {body.key: body.triangles for body in run.scene.bodies}
    unit = dict.fromkeys(triangles, meeting.size)

    def volumes() -> np.ndarray:
        return np.array([volume_of(run.state.x[b.range.nodes], b.mesh.tets) for b in stiff])

    rest, start = volumes(), energy(run)
    falling = [b for b, asked in zip(built.bodies, run.scene.bodies, strict=True) if asked.key != "below"]
    mass = sum(float(built.model.mass[body.range.nodes].sum()) for body in falling)
    has = 0.5 * mass * (meeting.speed * (0.5 if meeting.kind == "meet" else 1.0)) ** 2
    volume = depth = gain = 0.0

    def weigh() -> None:
        nonlocal gain
        gain = max(gain, (energy(run) - start) / has)

    met = False
    for _ in range(settings.frame_end - settings.frame_start):
        run.advance(before_step=weigh)
        weigh()
        volume = max(volume, float(np.abs(volumes() / rest - 1.0).max()))
        if met:
            surfaces = {key: (run.render[key], triangles[key]) for key in triangles}
            depth = max(depth, deepest(surfaces, unit)[0])
            if run.scene.colliders:
                depth = max(depth, -min(float(x[:, 2].min()) for x in run.render.values()) / meeting.size)
        met = met or run.reports[-1].contacts > 0
    reports = run.reports
    return Outcome(
        volume, depth, gain, len(reports) * settings.substeps, sum(r.unsettled for r in reports),
        sum(r.not_converged for r in reports), sum(r.iterations for r in reports), sum(r.solves for r in reports),
    )  # fmt: skip
