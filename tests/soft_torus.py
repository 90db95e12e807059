# SPDX-License-Identifier: GPL-3.0-or-later
"""The soft torus of S07, figure 2.7: crushed flat by its own weight, then stiffened, it jumps and is itself again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scenes import Run
from sinew.solver.anatomy import Flesh
from sinew.solver.arrays import Floats, Indices
from sinew.solver.scene import Body, Collider, Material, Meshing, Scene, Settings

RING, TUBE = 0.5, 0.2  # radii [m]
FALL = 0.1  # [m]
SOFT, STIFF = 600.0, 5.0e4  # Young's moduli [Pa]; its weight alone presses with ρ g 2 TUBE = 3.9 kPa


def torus(around: int = 36, across: int = 18) -> tuple[Floats, Indices]:
    """Returns vertices [m] and triangles of a torus that lies above the ground."""
    u, v = np.meshgrid(*(2.0 * np.pi * np.arange(n) / n for n in (around, across)), indexing="ij")
    radius = RING + TUBE * np.cos(v)
    vertices = np.stack([radius * np.cos(u), radius * np.sin(u), TUBE * (1.0 + np.sin(v)) + FALL], axis=-1)
    a = np.arange(around * across).reshape(around, across)
    b, d = np.roll(a, -1, axis=0), np.roll(a, -1, axis=1)
    c = np.roll(b, -1, axis=1)
    squares = [np.stack(corners, axis=-1).reshape(-1, 3) for corners in ((a, b, c), (a, c, d))]
    return vertices.reshape(-1, 3), np.concatenate(squares).astype(np.int32)


def torus_run(folder: Path, youngs_modulus: float, damping: float, divisions: int, flesh: Flesh, state=None) -> Run:
    """Returns a run of the torus, from a state of another one where it is given."""
    vertices, triangles = torus()
    body = Body(
        "torus", "Torus", vertices, triangles, Material(youngs_modulus, 0.4, 1000.0, 0.0, damping),
        Meshing("robust", divisions=divisions), flesh=flesh,
    )  # fmt: skip
    ground = Collider("ground", "Ground", friction=0.0)  # so that where it comes to rest does not depend on its past
    run = Run(folder, Scene((body,), (ground,), Settings(frame_end=200, substeps=4)))
    if state is not None:
        run.simulation.state = state.copy()
        run.simulation.state.time = 0.0
    return run


@dataclass(frozen=True)
class Story:
    """What happened to the torus.

    Attributes:
        tets: How many it has.
        flat: Its height when crushed [m].
        most_inverted: Tets inside out then.
        leap: How far above the ground its lowest point came [m].
        height, never_crushed: Its height at the end, and that of one that was as stiff from the start [m].
        volume: At the end over that at rest.
        inverted: Tets inside out at the end.
        not_converged: Steps that did not, of all.
        steps: All.
    """

    tets: int
    flat: float
    most_inverted: int
    leap: float
    height: float
    never_crushed: float
    volume: float
    inverted: int
    not_converged: int
    steps: int


def soft_torus(folder: Path, divisions: int, frames: tuple[int, int], flesh: Flesh) -> Story:
    """Crushes the torus for so many frames, and lets it go for so many."""
    soft = torus_run(folder / "soft", SOFT, 0.02, divisions, flesh)
    flat = soft.advance(frames[0])
    stiff = torus_run(folder / "stiff", STIFF, 0.004, divisions, flesh, soft.state)
    lowest, last = 0.0, flat
    for _ in range(frames[1]):
        last = stiff.advance()
        lowest = max(lowest, float(last[:, 2].min()))
    other = torus_run(folder / "other", STIFF, 0.004, divisions, flesh)
    unharmed = other.advance(frames[1])
    model, x = stiff.built.model, stiff.state.x
    edges = x[model.tets[:, 1:]] - x[model.tets[:, :1]]
    filled = model.volume * np.linalg.det(model.Dm_inverse)
    reports = soft.reports + stiff.reports
    return Story(
        tets=model.tet_count,
        flat=float(np.ptp(flat[:, 2])),
        most_inverted=max(report.inverted_tets for report in soft.reports),
        leap=lowest,
        height=float(np.ptp(last[:, 2])),
        never_crushed=float(np.ptp(unharmed[:, 2])),
        volume=float((np.linalg.det(edges) * filled).sum() / model.volume.sum()),
        inverted=stiff.reports[-1].inverted_tets,
        not_converged=sum(report.not_converged for report in reports),
        steps=4 * len(reports),
    )
