# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies too soft to stand: let fall, or lifted by their top, and how much of their volume they keep."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from scenes import Run, block
from sinew.solver.scene import Body, Collider, Material, Scene, Settings

DENSITY = 1000.0


@dataclass(frozen=True)
class Volumes:
    """What became of the volume of a body in a run.

    Attributes:
        least, last: Σ fill · volume of its tets over that at rest, the smallest of all frames and that of the last.
        inverted, inverted_at_last: Tets inside out, the most in a step and after the last frame.
        energy: Motion and height at the last frame, over weight times height at the first.
        height: At the last frame [m].
        tets: How many there are.
    """

    least: float
    last: float
    inverted: int
    inverted_at_last: int
    energy: float
    height: float
    tets: int


def soft_cube(strain: float, poisson_ratio: float = 0.45, cells: int = 4, length: float = 1.0, **settings) -> Body:
    """Returns a cube whose foot would be strained by ρ g L / E = `strain`, a quarter of its length above the ground."""
    material = Material(DENSITY * 9.81 * length / strain, poisson_ratio, DENSITY, 0.0, 0.005)
    return cube_of(material, length, cells, **settings)


def cube_of(material: Material, length: float, cells: int = 4, **settings) -> Body:
    """Returns a cube of a material, a quarter of its length above the ground."""
    settings.setdefault("at", (0.0, 0.0, 0.25 * length))
    return block((cells,) * 3, (length,) * 3, material=material, **settings)


def fall(folder: Path, body: Body, frames: int) -> Volumes:
    """Returns what becomes of a body that falls on the ground."""
    run = Run(folder, Scene((body,), (Collider("ground", "Ground"),), Settings(frame_end=1 + frames)))
    return watch(run, frames)


def press_and_lift(folder: Path, body: Body, frames: int, pressed: float, lifted: float) -> Volumes:
    """Returns what becomes of a body that is held by its top, pressed by a share of its height, and lifted by that."""
    high, low = body.vertices[:, 2].max(), body.vertices[:, 2].min()
    top = np.flatnonzero(body.vertices[:, 2] > high - 1.0e-6).astype(np.int32)
    body = replace(body, pinned=top, pin_weights=np.ones(len(top)))
    places, size = body.vertices[top], high - low
    down, up = (places + [0.0, 0.0, way * size] for way in (-pressed, lifted))
    end = frames / 24.0
    targets = np.array([0.0, 0.2, 0.3, 0.7]) * end, np.stack([places, down, down, up])
    scene = Scene((body,), (Collider("ground", "Ground"),), Settings(frame_end=1 + frames))
    return watch(Run(folder, scene, **{f"body__{body.key}__targets": targets}), frames)


def press_by_plate(folder: Path, body: Body, frames: int, left: float) -> Volumes:
    """Returns what becomes of a body that a plate presses to a share of its height and leaves again."""
    low, size = body.vertices[:, 2].min(), np.ptp(body.vertices[:, 2])
    poses = np.tile(np.diag([1.0, -1.0, -1.0, 1.0]), (4, 1, 1))  # it looks down
    poses[:, 2, 3] = [low + 1.02 * size, left * size, left * size, low + 2.0 * size]
    scene = Scene((body,), (Collider("ground", "Ground"), Collider("plate", "Plate")), Settings(frame_end=1 + frames))
    times = np.array([0.0, 0.2, 0.3, 0.7]) * frames / 48.0
    return watch(Run(folder, scene, collider__plate__matrix=(times, poses)), frames)


def fall_and_float(folder: Path, body: Body, frames: tuple[int, int]) -> tuple[Volumes, Volumes]:
    """Returns what becomes of a body that falls and lies for so many frames, and without weight for so many more."""
    scene = Scene((body,), (Collider("ground", "Ground"),), Settings(frame_end=1 + sum(frames)))
    times = np.array([0.0, frames[0], frames[0] + 1]) / 24.0
    run = Run(folder, scene, gravity=(times, np.outer([1.0, 1.0, 0.0], [0.0, 0.0, -9.81])))
    return watch(run, frames[0]), watch(run, frames[1])


def watch(run: Run, frames: int) -> Volumes:
    """Moves a scene of one body on by so many frames and returns what becomes of the volume."""
    model, state = run.built.model, run.simulation.state
    whole, weighs = float(model.volume.sum()), 9.81 * model.mass
    at_first, least = float(weighs @ model.X[:, 2]), 1.0
    for _ in range(frames):
        run.advance()
        least = min(least, volume_of(run) / whole)
    energy = float(weighs @ state.x[:, 2] + 0.5 * model.mass @ np.einsum("ni,ni->n", state.v, state.v))
    inverted = [report.inverted_tets for report in run.reports]
    height = float(np.ptp(state.x[:, 2]))
    return Volumes(
        least, volume_of(run) / whole, max(inverted), inverted[-1], energy / at_first, height, model.tet_count
    )


def volume_of(run: Run) -> float:
    """Returns Σ fill · signed tet volume [m³], with the shape at rest of the first frame."""
    model = run.built.model
    here, rest = (corners[:, 1:] - corners[:, :1] for corners in (run.state.x[model.tets], model.X[model.tets]))
    return float((model.volume * np.linalg.det(here) / np.linalg.det(rest)).sum())
