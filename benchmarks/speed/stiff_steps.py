# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of stiff bodies with the settings of a new scene, beside block Jacobi alone."""

from __future__ import annotations

import numpy as np

from harness.result import Result
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.solver_context import SolverContext
from sinew.solver.linalg.multigrid.hierarchy_reuse import ReusedHierarchy
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mesh.shapes import box_tets
from sinew.solver.scene.scene import JACOBI, Material, Settings
from speed.beams import CELLS, GRAVITY, rest_state
from speed.benchmark import NO_TARGET, Benchmark, Row
from speed.timing import interleaved_times, medians

SIZES = ("10K", "100K")
STIFFNESSES = (1.0e5, 1.0e6, 1.0e8)  # foam, rubber, hard plastic [Pa]
FPS = 24
ROUNDS = 5
SETTINGS = Settings()
JACOBI_SETTINGS = Settings(linear_solver=JACOBI)


class SwingingBeam:
    """A beam that swings, frame by frame.

    Attributes:
        iterations: Of the last frame's steps.
        converged: Whether all steps reached the tolerance.
    """

    def __init__(self, cells: tuple[int, int, int], youngs_modulus: float, settings: Settings) -> None:
        self.settings = settings
        nodes, tets = box_tets(cells, (0.25, 0.25, 1.0))
        material = Material(youngs_modulus, 0.45, 1000.0, 0.0, 0.0)
        self.model = make_model([Part("beam", nodes, tets, np.ones(len(tets)), material)])
        self.state, self.context = rest_state(self.model), SolverContext(ReusedHierarchy())
        self.acts = ExternalForces(np.array(GRAVITY), self.model.X[:, 2] == 0.0, self.model.X)
        self.iterations: list[int] = []
        self.converged = True

    def __call__(self) -> None:
        """Takes the steps of the next frame."""
        self.context.drop_multigrid_levels()
        dt = 1.0 / FPS / SETTINGS.substeps
        taken = [
            step(self.model, self.state, self.acts, dt, self.settings, context=self.context)
            for _ in range(SETTINGS.substeps)
        ]
        self.iterations = [report.iterations for report in taken]
        self.converged = self.converged and all(report.converged for report in taken)

    def told(self, seconds: float) -> str:
        """Returns the time of a frame and its iterations."""
        ended = "" if self.converged else ", not converged"
        return f"{1e3 * seconds:.3g} ({' / '.join(map(str, self.iterations))} iterations{ended})"


def compare(name: str, cells: tuple[int, int, int], youngs_modulus: float, rounds: int) -> tuple[Row, dict[str, float]]:
    """Compares frames of two equal beams, one with block Jacobi alone."""
    ours, alone = (SwingingBeam(cells, youngs_modulus, settings) for settings in (SETTINGS, JACOBI_SETTINGS))
    taken = medians(interleaved_times({"ours": ours, "alone": alone}, rounds))
    row = Row(
        f"{name} tets, E = {youngs_modulus:g} Pa, ms per frame", NO_TARGET,
        f"{ours.told(taken['ours'])}; block Jacobi alone {alone.told(taken['alone'])}",
    )  # fmt: skip
    key = f"{name}, {youngs_modulus:g} Pa"
    return row, {f"{key} [ms]": 1e3 * taken["ours"], f"{key}, block Jacobi alone [ms]": 1e3 * taken["alone"]}


def run(quick: bool) -> Result:
    """Compares all beams; quick: only a beam of 450 tets."""
    rows, values = [], {}
    for name in ("450",) if quick else SIZES:
        for youngs_modulus in STIFFNESSES:
            row, found = compare(name, CELLS[name], youngs_modulus, 1 if quick else ROUNDS)
            rows.append(row)
            values |= found
    return Result(rows, values=values)


BENCHMARK = Benchmark(
    lines=(),
    title="Stiff bodies at the default tolerance",
    what="A beam of 1 m × 0.25 m × 0.25 m, ν = 0.45, 1000 kg/m³, undamped, is clamped at one end and swings under "
    f"gravity with the settings of a new scene: {FPS} frames a second, {SETTINGS.substeps} steps a frame, tolerance "
    f"{SETTINGS.tolerance:g}, at most {SETTINGS.max_iterations} iterations. Sinew may switch to "
    "multigrid; a second beam always uses block Jacobi. The beams take turns frame by frame; the first frame does not "
    f"count. Times are medians of {ROUNDS} frames, iterations those of the last frame.",
    run=run,
)
