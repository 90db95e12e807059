# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies of any size and stiffness that fall on the ground at the default settings, and what is measured of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from contact_measures import elastic_energy, kinetic_energy
from scenes import Run
from sinew.solver.drop import drop_scene
from sinew.solver.geometry.surface import make_surface
from sinew.solver.scene import Material, Meshing, Settings

GRAVITY = 9.81  # [m/s²]
FRAME = 1.0 / 24.0  # [s]
AFTER = 12  # frames after the first blow
DIVISIONS = 4
SHAPES = ("ball", "cube", "rock")
GIVES_WAY = 0.02  # strain of the blow, v √(ρ/E), from which a volume is no longer asked for
SAGS = 0.01  # ρ g L / E, the same at rest


@dataclass(frozen=True)
class Drop:
    """One case: a body of a size L [m] and E [Pa] that falls by `fall` [m], with `substeps` steps in a frame.

    Attributes:
        phase: Which part of a frame goes by before the blow, 0 to 1.
        turn: Angles about x, y and z [rad].
    """

    shape: str
    size: float
    youngs_modulus: float
    density: float
    fall: float
    substeps: int
    phase: float
    turn: tuple[float, float, float]

    @property
    def speed(self) -> float:
        """At which it meets the ground [m/s]."""
        return math.sqrt(2.0 * GRAVITY * self.fall)

    @property
    def blow(self) -> float:
        """The strain of the blow, v √(ρ/E)."""
        return self.speed * math.sqrt(self.density / self.youngs_modulus)

    @property
    def sag(self) -> float:
        """The strain at rest, ρ g L / E."""
        return self.density * GRAVITY * self.size / self.youngs_modulus

    @property
    def is_stiff(self) -> bool:
        """Whether it is stiff enough to keep its volume to 5 % when it falls and when it stands."""
        return self.blow < GIVES_WAY and self.sag < SAGS


@dataclass(frozen=True)
class Outcome:
    """How a case went: the largest over all steps.

    Attributes:
        volume: |V / V₀ − 1|, at the end of a frame.
        depth: Below the ground after the frame of the blow, over the size.
        gain: Energy of motion, of height above the ground and of strain, over that of the start, less 1.
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


def random_drops(seed: int, count: int) -> list[Drop]:
    """Returns cases spread over 0.1 mm to 100 m, 1e3 to 1e11 Pa, falls of 0.1 to 10 m and 1 to 16 substeps."""
    chance = np.random.default_rng(seed)
    return [
        Drop(
            SHAPES[int(chance.integers(len(SHAPES)))],
            10.0 ** chance.uniform(-4.0, 2.0),
            10.0 ** chance.uniform(3.0, 11.0),
            10.0 ** chance.uniform(2.7, 3.9),
            10.0 ** chance.uniform(-1.0, 1.0),
            2 ** int(chance.integers(5)),
            float(chance.uniform()),
            tuple(float(angle) for angle in chance.uniform(0.0, 2.0 * math.pi, 3)),
        )
        for _ in range(count)
    ]


def surface_of(shape: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns vertices and triangles of a shape whose longest side is about 1."""
    import trimesh

    if shape == "ball":
        mesh = trimesh.creation.icosphere(2, 0.5)
    elif shape == "cube":
        mesh = trimesh.creation.box((1.0, 1.0, 1.0)).subdivide().subdivide()
    else:
        chance = np.random.default_rng(7)
        mesh = trimesh.convex.convex_hull(chance.normal(size=(14, 3)) * (1.0, 0.7, 0.5)).subdivide()
        mesh.apply_scale(1.0 / np.ptp(mesh.vertices, axis=0).max())
    return np.array(mesh.vertices), np.array(mesh.faces, np.int32)


def run_of(folder: Path, drop: Drop, divisions: int = DIVISIONS) -> Run:
    """Returns a run that begins within a frame of the blow, at the speed that the fall has brought."""
    from scipy.spatial.transform import Rotation

    vertices, triangles = surface_of(drop.shape)
    turn = Rotation.from_euler("xyz", drop.turn).as_matrix()
    if drop.shape == "cube":
        turn = np.eye(3) if drop.phase < 0.5 else turn
    vertices = drop.size * vertices @ turn.T
    before = (0.2 + drop.phase) * FRAME
    speed = max(drop.speed - GRAVITY * before, 0.0)
    height = speed * before + 0.5 * GRAVITY * before**2
    material = Material(drop.youngs_modulus, 0.3, drop.density)
    scene = drop_scene(
        "drop", make_surface(vertices, triangles, "drop"), material, Meshing("smooth", divisions=divisions), height,
        Settings(1, 3 + AFTER, 24.0, drop.substeps),
    )  # fmt: skip
    body = replace(scene.bodies[0], initial_velocity=(0.0, 0.0, -speed))
    return Run(folder, replace(scene, bodies=(body,)))


def outcome_of(run: Run, drop: Drop) -> Outcome:
    """Moves a run on to its end and returns how it went."""
    model, settings = run.built.model, run.scene.settings
    tets = model.tets
    rest = volume_of(run.state.x, tets)
    start = energy_of(run)
    volume = depth = gain = 0.0

    def weigh() -> None:
        nonlocal gain
        gain = max(gain, energy_of(run) / start - 1.0)

    has_met = 0
    for _ in range(settings.frame_end - settings.frame_start):
        run.advance(before_step=weigh)
        weigh()
        volume = max(volume, abs(volume_of(run.state.x, tets) / rest - 1.0))
        low = float(run.render["body"][:, 2].min())
        if has_met > 0:
            depth = max(depth, -low / drop.size)
        has_met += run.reports[-1].contacts > 0 or has_met > 0
    reports = run.reports
    return Outcome(
        volume, depth, gain, len(reports) * settings.substeps, sum(r.unsettled for r in reports),
        sum(r.not_converged for r in reports), sum(r.iterations for r in reports), sum(r.solves for r in reports),
    )  # fmt: skip


def energy_of(run: Run) -> float:
    """Returns the energy of motion, of height above the ground, and of strain [J]."""
    model, state = run.built.model, run.state
    height = GRAVITY * float(model.mass @ state.x[:, 2])
    return kinetic_energy(run) + height + elastic_energy(model, state.x)


def volume_of(x: np.ndarray, tets: np.ndarray) -> float:
    """Returns Σ V [m³]."""
    corners = x[tets]
    return float(np.linalg.det(corners[:, 1:] - corners[:, :1]).sum() / 6.0)
