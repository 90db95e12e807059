# SPDX-License-Identifier: GPL-3.0-or-later
"""Line 1: a dynamic step against MuJoCo at equal error, and against SciPy's conjugate gradients."""

from __future__ import annotations

import importlib.util
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from harness.result import Result
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.solver_context import SolverContext
from sinew.solver.integrators.step_report import StepReport
from sinew.solver.linalg.block_system import BlockSystem, StoppingCriteria
from sinew.solver.linalg.multigrid.hierarchy import hierarchy_of
from sinew.solver.linalg.multigrid.hierarchy_reuse import MultigridWorkspace, ReusedHierarchy
from sinew.solver.linalg.multigrid.lattice_multigrid import LatticeMultigrid
from sinew.solver.linalg.multigrid.numeric_setup import numeric_setup
from sinew.solver.linalg.pcg import solve
from sinew.solver.mechanics.model import Model, Part, make_model
from sinew.solver.mesh.shapes import box_tets
from sinew.solver.runtime.arrays import Floats
from sinew.solver.scene.scene import AUTO_SOLVER, JACOBI, Material, Settings
from speed.baseline_mujoco import SETTINGS_TEXT, MujocoFlex, make_flex
from speed.baseline_scipy import ITERATIONS, ScipyConjugateGradients
from speed.beams import CELLS, DT, GRAVITY, TETS_PER_TURN, external_forces, repeats_per_turn, rest_state
from speed.benchmark import NO_TARGET, Benchmark, Row, bound_row, missing_peer_row
from speed.timing import interleaved_times, medians, repeat

# 1 m × 0.25 m × 0.25 m: with 50 iterations MuJoCo's error is about 0.025 at 10K tets and 0.13 at 100K
BEAM_SIZE = (0.25, 0.25, 1.0)
YOUNGS_MODULUS, POISSON_RATIO, DENSITY = 1.0e6, 0.33, 1000.0
# tets, error, speedup
TARGETS = (("10K", 0.025, 5.0), ("10K", 5.0e-4, 10.0), ("100K", 0.15, 8.0))
SOLUTION_TOLERANCE = 1.0e-9  # difference of two converged solutions of one system, energy norm
CONVERGED_RESIDUAL = 1.0e-12
MAX_TRIED_ITERATIONS = 1000
EXACT_SETTINGS = Settings(tolerance=CONVERGED_RESIDUAL, max_iterations=MAX_TRIED_ITERATIONS)
SUBSTEPS = Settings().substeps
# linear solvers of the steps; the automatic one may switch to multigrid
SOLVERS = {"block Jacobi": JACOBI, "multigrid": AUTO_SOLVER}


@dataclass
class Beam:
    """The beam with the linear system of its first step.

    Attributes:
        model: Of Sinew.
        values: Blocks of M + Δt² K at rest, (b, 9).
        goal: Velocities after that step if the system is solved to round-off [m/s], (n, 3).
        twin: The same model, for reference solutions that leave the levels of `model` alone.
    """

    model: Model
    values: Floats
    goal: Floats
    twin: Model

    def first_step(self, settings: Settings, context: SolverContext | None = None) -> Floats:
        """Returns the velocities after the first step [m/s], (n, 3)."""
        state = rest_state(self.model)
        step(self.model, state, external_forces(self.model), DT, settings, context=context)
        return np.asarray(state.v)

    def error(self, settings: Settings) -> float:
        """Returns the largest error of the steps of a frame, each against the solution of its system."""
        state, acts, errors = rest_state(self.model), external_forces(self.model), []
        context = SolverContext(ReusedHierarchy())
        for _ in range(SUBSTEPS):
            solved = state.copy()
            step(self.twin, solved, acts, DT, EXACT_SETTINGS)
            step(self.model, state, acts, DT, settings, context=context)
            values = context.workspace(self.model).values  # at the state that both start from
            errors.append(energy_norm_error(self.model, values, np.asarray(state.v), np.asarray(solved.v)))
        return max(errors)

    def steps(self, settings: Settings) -> TimedSteps:
        """Returns the timed steps of the beam."""
        return TimedSteps(self.model, settings)


class TimedSteps:
    """Steps of a beam: each call starts at rest and steps `TETS_PER_TURN` tets in all."""

    def __init__(self, model: Model, settings: Settings) -> None:
        """Prepares forces and work space."""
        self.model, self.settings, self.acts = model, settings, external_forces(model)
        self.count, self.context = repeats_per_turn(model), SolverContext(ReusedHierarchy())
        self.reports: list[StepReport] = []

    def __call__(self) -> None:
        """Takes the steps of one turn."""
        state = rest_state(self.model)
        for number in range(self.count):
            if number % SUBSTEPS == 0:
                self.context.drop_multigrid_levels()
            self.reports.append(step(self.model, state, self.acts, DT, self.settings, context=self.context))

    @property
    def iterations(self) -> str:
        """The iterations of the steps: "47", or "40 to 47"."""
        counts = [report.iterations for report in self.reports]
        return f"{max(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"

    @property
    def before(self) -> float:
        """Median time of a step before its solve: records of tets and assembly [ms]."""
        stages = ("elements", "assembly")
        return statistics.median(sum(report.milliseconds[name] for name in stages) for report in self.reports)


def make_beam(cells: tuple[int, int, int]) -> Beam:
    """Returns the beam of `cells` cubes of five tets."""
    nodes, tets = box_tets(cells, BEAM_SIZE)
    material = Material(YOUNGS_MODULUS, POISSON_RATIO, DENSITY, 0.0, 0.0)
    model, twin = (make_model([Part("beam", nodes, tets, np.ones(len(tets)), material)]) for _ in range(2))
    beam = Beam(model, np.zeros(0), np.zeros(0), twin)
    context = SolverContext()
    beam.goal = beam.first_step(EXACT_SETTINGS, context)
    beam.values = context.workspace(model).values
    return beam


def system_with_masses(beam: Beam, mass: Floats) -> Floats:
    """Returns the blocks of M + Δt² K with other masses [kg], (n,), if these are not zero."""
    values = beam.values.copy()
    for k in (0, 4, 8):
        values[beam.model.pattern.diagonal, k] += np.where(mass > 0.0, mass - beam.model.mass, 0.0)
    return values


def energy_norm_error(model: Model, values: Floats, v: Floats, goal: Floats) -> float:
    """Returns ‖v − goal‖ / ‖goal‖ in the energy norm ‖u‖² = uᵀ A u of the blocks of A."""
    import scipy.sparse

    pattern = model.pattern
    blocks = (values.reshape(-1, 3, 3), pattern.column.astype(np.int64), pattern.row_start.astype(np.int64))
    matrix = scipy.sparse.bsr_matrix(blocks)
    away, whole = (v - goal).ravel(), goal.ravel()
    return float(np.sqrt((away @ (matrix @ away)) / (whole @ (matrix @ whole))))


def fewest_iterations(reaches: Callable[[int], bool]) -> int | None:
    """Returns the fewest iterations that reach the target, or None if `MAX_TRIED_ITERATIONS` do not."""
    end = 1
    while not reaches(end):
        if end >= MAX_TRIED_ITERATIONS:
            return None
        end = min(2 * end, MAX_TRIED_ITERATIONS)
    begin = end // 2  # this many are too few
    while end - begin > 1:
        middle = (begin + end) // 2
        begin, end = (begin, middle) if reaches(middle) else (middle, end)
    return end


def solver_settings(beam: Beam, largest: float) -> dict[str, Settings]:
    """Returns by solver the settings that bring all steps of a frame to an error in the fewest iterations."""
    found = {}
    for way, solver in SOLVERS.items():
        asked = Settings(tolerance=CONVERGED_RESIDUAL, linear_solver=solver)
        count = fewest_iterations(lambda n, asked=asked: beam.error(replace(asked, max_iterations=n)) <= largest)
        if count is not None:
            found[way] = replace(asked, max_iterations=count)
    return found


class MujocoBeam:
    """MuJoCo's beam."""

    def __init__(self, beam: Beam) -> None:
        model, self.beam = beam.model, beam
        is_free = model.X[:, 2] != 0.0
        mass = DENSITY * float(np.prod(BEAM_SIZE))
        self.flex: MujocoFlex = make_flex(
            model.X, model.tets, is_free, YOUNGS_MODULUS, POISSON_RATIO, mass, GRAVITY, DT
        )
        self.values = system_with_masses(beam, self.flex.mass)
        self.goal = np.zeros_like(model.X)
        impulse = np.outer(self.flex.mass, np.multiply(DT, GRAVITY))
        solve(
            BlockSystem(model.pattern, self.values, impulse, is_free),
            self.goal,
            StoppingCriteria(CONVERGED_RESIDUAL, MAX_TRIED_ITERATIONS),
            preconditioner=LatticeMultigrid(model.X),
        )

    def error(self, iterations: int) -> float:
        """Returns the error of the first step with `iterations` iterations, for MuJoCo's masses."""
        self.flex.start_again(iterations)
        self.flex.step()
        return energy_norm_error(self.beam.model, self.values, self.flex.velocities(), self.goal)


def compare_with_mujoco(sizes: dict[str, tuple[int, int, int]], rounds: int, values: dict[str, float]) -> Iterator[Row]:
    """Compares steps at equal error."""
    beams = {name: make_beam(cells) for name, cells in sizes.items()}
    for name, beam in beams.items():
        peer = MujocoBeam(beam)
        away = peer.error(MAX_TRIED_ITERATIONS)
        values[f"mujoco.{name}.away"] = away
        yield Row(
            f"{name} tets: MuJoCo's converged first step against Sinew's with MuJoCo's masses, energy norm", NO_TARGET,
            f"{away:.0e}", remark="" if away < SOLUTION_TOLERANCE else "The two do not solve the same system.",
        )  # fmt: skip
        for size, largest, factor in TARGETS:
            if size == name:
                yield from _at_equal_error(beam, peer, name, largest, factor, rounds, values)


def _at_equal_error(
    beam: Beam, peer: MujocoBeam, name: str, largest: float, factor: float, rounds: int, values: dict[str, float]
) -> Iterator[Row]:
    theirs = fewest_iterations(lambda n: peer.error(n) <= largest)
    asked = solver_settings(beam, largest)
    if theirs is None or not asked:
        yield Row(f"{name} tets, error {largest:g}", NO_TARGET, f"not reached in {MAX_TRIED_ITERATIONS} iterations")
        return
    peer.flex.start_again(theirs)
    steps = {way: beam.steps(settings) for way, settings in asked.items()}
    taken = step_times({"MuJoCo": repeat(peer.flex.step, repeats_per_turn(beam.model)), **steps}, rounds, beam.model)
    best = min(asked, key=lambda way: taken[way])
    ratio = taken["MuJoCo"] / taken[best]
    key = f"mujoco.{name}.{largest:g}"
    values |= {f"{key}.ratio": ratio, f"{key}.mujoco": 1e3 * taken["MuJoCo"], f"{key}.mujoco iterations": theirs}
    values |= {f"{key}.{way}": 1e3 * taken[way] for way in asked}
    values |= {f"{key}.{way} iterations": s.max_iterations for way, s in asked.items()}
    told = ", ".join(f"{way} {1e3 * taken[way]:.3g} ms ({steps[way].iterations} iterations)" for way in asked)
    yield bound_row(
        f"{name} tets, a step at error {largest:g}: times faster than MuJoCo", f"at least {factor:g}",
        f"{ratio:.1f}: {told}; MuJoCo {1e3 * taken['MuJoCo']:.3g} ms ({theirs} iterations)", ratio >= factor,
        _shortfall_note(1e3 * taken["MuJoCo"] / factor, steps[best].before, multigrid_setup_ms(beam, rounds)), 1,
    )  # fmt: skip


def multigrid_setup_ms(beam: Beam, rounds: int) -> float:
    """Returns the median time to set up multigrid for the matrix of a beam [ms]."""
    pattern, is_free = beam.model.pattern, beam.model.X[:, 2] != 0.0
    levels = hierarchy_of(pattern, beam.model.X)
    arrays = MultigridWorkspace()
    call = repeat(lambda: numeric_setup(levels, pattern, beam.values, is_free, arrays), repeats_per_turn(beam.model))
    return 1e3 * step_times({"set-up": call}, rounds, beam.model)["set-up"]


def _shortfall_note(asked: float, before: float, multigrid: float) -> str:
    """Returns why a step misses its target of `asked` [ms]."""
    return (
        f"A step would have to take {asked:.3g} ms; records of tets and assembly alone take {before:.3g} ms. With "
        "block Jacobi, conjugate gradients need as many iterations here as in MuJoCo, so that the time of an iteration "
        "decides. Multigrid needs a tenth of them; each reads the matrix once in 64 bits and twice in 16 bits, and the "
        f"coarser matrices. Once in {SUBSTEPS} steps Sinew sets up its levels, which takes {multigrid:.3g} ms."
    )


def step_times(steps: dict[str, Callable[[], object]], rounds: int, model: Model) -> dict[str, float]:
    """Returns the time of a step by name [s]; each call steps `TETS_PER_TURN` tets."""
    return {
        way: seconds / repeats_per_turn(model) for way, seconds in medians(interleaved_times(steps, rounds)).items()
    }


def compare_with_scipy(sizes: dict[str, tuple[int, int, int]], rounds: int, values: dict[str, float]) -> Iterator[Row]:
    """Compares a whole step of 20 iterations with 20 iterations of SciPy."""
    for name, cells in sizes.items():
        beam = make_beam(cells)
        model = beam.model
        peer = ScipyConjugateGradients(model.pattern, beam.values, model.X[:, 2] != 0.0)
        b = np.outer(model.mass, np.multiply(DT, GRAVITY))
        settings = Settings(tolerance=CONVERGED_RESIDUAL, max_iterations=ITERATIONS, linear_solver=JACOBI)
        both = {
            "SciPy": repeat(lambda p=peer, b=b: p.solve(b), repeats_per_turn(model)),
            "Sinew": beam.steps(settings),
        }
        taken = step_times(both, rounds, model)
        theirs = energy_norm_error(model, beam.values, peer.solve(b), beam.goal)
        mine = energy_norm_error(model, beam.values, beam.first_step(settings), beam.goal)
        values |= {f"scipy.{name}.scipy": 1e3 * taken["SciPy"], f"scipy.{name}.sinew": 1e3 * taken["Sinew"]}
        told = f"{1e3 * taken['Sinew']:.3g}; SciPy's iterations alone {1e3 * taken['SciPy']:.3g}"
        remark = f"Sinew's error is {mine:.2g}, SciPy's {theirs:.2g}."
        yield Row(f"{name} tets, a whole step with {ITERATIONS} iterations [ms]", NO_TARGET, told, remark=remark)


def run(quick: bool) -> Result:
    """Compares steps; quick: only of a beam of 450 tets."""
    names = ("10K", "100K")
    sizes = {name: CELLS["450" if quick else name] for name in (names[:1] if quick else names)}
    rounds = 1 if quick else 7
    values: dict[str, float] = {}
    if importlib.util.find_spec("mujoco") is None:
        rows = [
            missing_peer_row(f"{n} tets, a step at error {e:g}", f"at least {f:g}", "MuJoCo", 1) for n, e, f in TARGETS
        ]
    else:
        rows = list(compare_with_mujoco(sizes, rounds, values))
    rows += compare_with_scipy(sizes, rounds, values)
    return Result(rows, values=values)


BENCHMARK = Benchmark(
    lines=(1,),
    title="A dynamic step at equal error",
    what="A beam of cubes of five tets, 1 m × 0.25 m × 0.25 m (9 × 9 × 25 and 20 × 20 × 50 cubes), E = 1e6 Pa, "
    "ν = 0.33, 1000 kg/m³, undamped, is clamped at one end and falls under gravity across it, Δt = 10 ms. The error "
    "of a step is the error of its velocities in the energy norm of M + Δt² K, against the solution of its linear "
    f"system. MuJoCo runs {SETTINGS_TEXT}. It spreads mass evenly over its vertices; its error is that of its first "
    f"step, with these masses. Sinew's error is the largest of the {SUBSTEPS} steps of a frame, which share the "
    "multigrid levels of the first step, as in a bake. For each program the benchmark finds the fewest iterations that "
    "reach an error, for Sinew with block Jacobi alone and with multigrid allowed. Then it times steps with these "
    f"iterations, in turns of {TETS_PER_TURN:,} tets, medians of seven turns, and takes the faster of Sinew's two "
    "solvers. SciPy runs conjugate gradients with block Jacobi on CSR or BSR, whichever is faster. At 10K tets two "
    "threads gain only if they share a cache. On the virtual machine of 2026-11-23 a cache line took 46 ns from one "
    "processor to the other, or 163 ns for minutes at a time; a step of 20 iterations on both then took 1.2 or 1.9 ms, "
    "as long as on one. So the three rows were 10.9, 6.9 and 15.0 in the run of all benchmarks, then 6.7, 6.8 and "
    "15.9, then as shown.",
    run=run,
)
