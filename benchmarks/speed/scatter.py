# SPDX-License-Identifier: GPL-3.0-or-later
"""A body returns to its rest shape from randomly scattered free nodes (S07, figure 3.1)."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness import creature_mesh, machine
from harness import quasistatic_scenes as scenes
from harness.result import Result
from sinew.solver.mechanics.model import Model
from sinew.solver.mesh.formats.surface_files import read_surface
from sinew.solver.mesh.tetrahedralize import tetrahedralize
from sinew.solver.quasistatic import initial_guesses
from sinew.solver.quasistatic.equilibrium import Equilibrium, solve
from sinew.solver.quasistatic.equilibrium_problem import EquilibriumProblem
from sinew.solver.quasistatic.fixed_nodes import FixedNodes
from sinew.solver.scene.scene import Meshing
from speed.benchmark import NO_TARGET, Benchmark, Row, bound_row
from speed.stream_triad import triad_bandwidth
from speed.timing import seconds

TESTDATA = Path(__file__).resolve().parents[3] / "shared" / "testdata"
REFERENCE_TRIAD = {10: 222.0, 240: 85.0}  # on two threads, by size in MB [GB/s]
CUBE_SIDES = 10.0  # edge of the cube over the longest side of the body
TOLERANCE = 1.0e-6
LARGE_DIVISIONS = 70
SEEDS = 10
REPLACED_SEEDS = 3  # all replaced starts give the same result
MIN_RECOVERED_SHARE = 0.9  # of the seeds
MAX_MEDIAN_ITERATIONS = 80.0  # Newton iterations, as in S07
LIMIT_NOTE = "Each Newton iteration makes a pass over all tets and a multigrid solve, which are bound by memory here."
TWISTED_NOTE = "The others ended twisted or did not converge, and the solve reports it."


@dataclass(frozen=True)
class ScatteredBody:
    """A body, its held nodes, and its target on the reference machine [s], or None."""

    name: str
    make: Callable[[], Model]
    hold: Callable[..., FixedNodes] = scenes.three_regions
    seconds: float | None = None


@dataclass(frozen=True)
class ScatterRuns:
    """Seconds and Newton iterations of each seed, and how many seeds returned to rest without inverted tets."""

    seconds: list[float]
    iterations: list[int]
    back: int

    @property
    def median(self) -> float:
        """The median time [s]."""
        return statistics.median(self.seconds)


def run(quick: bool) -> Result:
    """Scatters and solves."""
    if not TESTDATA.is_dir():
        return Result([Row("random scatter", "shared/testdata", "is not there")])
    gb = {size: triad_bandwidth(size, 2, 2 if quick else 7) for size in ([10] if quick else REFERENCE_TRIAD)}
    slower = max(1.0, min(REFERENCE_TRIAD[size] / found for size, found in gb.items()))
    is_busy = not quick and machine.is_busy()
    rows, values = [], {"slower than the reference machine": slower}
    for body in SMALL_BODIES if quick else BODIES:
        model = body.make()
        held = body.hold(model.X)
        kept = run_scatters(body.name, model, held, 2 if quick else SEEDS, keeps_start=True)
        replaced = run_scatters(body.name, model, held, 1 if quick else REPLACED_SEEDS, keeps_start=False)
        named = f"{body.name}, {model.tet_count} tets"
        rows += [_seconds(named, body.seconds, kept, slower, is_busy), *_rows(named, kept, replaced)]
        values |= {
            f"{body.name}: seconds, median": kept.median,
            f"{body.name}: Newton iterations, median": statistics.median(kept.iterations),
            f"{body.name}: back, share": kept.back / len(kept.seconds),
            f"{body.name}: seconds, median, start replaced": replaced.median,
        }
    told = " and ".join(f"{each:.1f} GB/s over {size} MB" for size, each in gb.items())
    note = (
        f"The targets hold for a reference machine whose triad reaches 222 GB/s over 10 MB and 85 GB/s over 240 MB on "
        f"two threads; here it reaches {told}. The benchmark multiplies them by {slower:.2f}, the smaller ratio."
    )
    busy = "Other programs used the processor during the run, so that its times mean nothing and are not judged."
    return Result(rows, values=values, notes=[busy] if is_busy else [note])


def run_scatters(name: str, model: Model, held: FixedNodes, seeds: int, keeps_start: bool) -> ScatterRuns:
    """Solves from `seeds` scatters, with compiled kernels and the cached data of the mesh."""
    law = scenes.law_of(model, "neo-hookean")

    def one(seed: int, most: int = 300) -> Equilibrium:
        x = initial_guesses.scattered(model.X, held, CUBE_SIDES, seed)
        return solve(EquilibriumProblem(model, law, held), x, TOLERANCE, most, keeps_start=keeps_start)

    one(0, 1)
    spent, iterations, back = [], [], 0
    for seed in range(seeds):
        ends: list[Equilibrium] = []
        spent.append(seconds(lambda seed=seed, ends=ends: ends.append(one(seed))))
        iterations.append(ends[0].newton_iterations)
        is_back = scenes.is_back(model, ends[0])
        back += is_back
        start = "kept" if keeps_start else "replaced"
        told = f"{name}, {start}, seed {seed}: {iterations[-1]} iterations, {spent[-1]:.1f} s, back: {is_back}"
        print(told, file=sys.stderr, flush=True)
    return ScatterRuns(spent, iterations, back)


def _seconds(name: str, wanted: float | None, kept: ScatterRuns, slower: float, is_busy: bool) -> Row:
    quantity = f"{name}, start kept, median of {len(kept.seconds)} seeds [s]"
    spent = _range_text(kept.seconds, ".2f")
    if wanted is None:
        return Row(quantity, NO_TARGET, spent)
    if is_busy:
        return Row(quantity, f"≤ {wanted:g} on the reference machine", spent, line=5)
    here = wanted * slower
    return bound_row(
        quantity, f"≤ {here:.1f} ({wanted:g} on the reference machine)", spent, kept.median <= here, LIMIT_NOTE, 5
    )


def _rows(name: str, kept: ScatterRuns, replaced: ScatterRuns) -> list[Row]:
    count, middle = len(kept.seconds), statistics.median(kept.iterations)
    return [
        bound_row(
            f"{name}: Newton iterations, median",
            f"≤ {MAX_MEDIAN_ITERATIONS:g}",
            _range_text(kept.iterations, "g"),
            middle <= MAX_MEDIAN_ITERATIONS,
            "Disorder in thin limbs takes many iterations to resolve.",
            5,
        ),
        bound_row(
            f"{name}: back at rest within {scenes.outcome_classification.SAME_POSITION_TOLERANCE:g} of the size, "
            "none inverted",
            f"≥ {MIN_RECOVERED_SHARE * count:g} of {count}",
            f"{kept.back} of {count}",
            kept.back >= MIN_RECOVERED_SHARE * count,
            TWISTED_NOTE,
            5,
        ),
        Row(
            f"{name}, start replaced by a harmonic (Laplace) solve [s]",
            NO_TARGET,
            f"{_range_text(replaced.seconds, '.2f')}; {statistics.median(replaced.iterations):g} Newton iterations, "
            f"{replaced.back} of {len(replaced.seconds)} back",
        ),
    ]


def _range_text(numbers: list[float] | list[int], how: str) -> str:
    """Returns the median, with the minimum and the maximum in brackets."""
    return f"{statistics.median(numbers):{how}} ({min(numbers):{how}}–{max(numbers):{how}})"


def _file(name: str) -> Model:
    return scenes.model_of_file(TESTDATA / "tet" / name)


def _creature() -> Model:
    filled = creature_mesh.creature_tets()
    return scenes.model_of(filled.nodes, filled.tets)


def _large() -> Model:
    surface = read_surface(TESTDATA / "wild" / "suzanne.ply")
    filled = tetrahedralize(surface, Meshing(method="robust", divisions=LARGE_DIVISIONS), "suzanne")
    return scenes.model_of(filled.nodes, filled.tets)


SMALL_BODIES = (ScatteredBody("bar", lambda: _file("polyfem_bar-2523.msh"), seconds=1.5),)
BODIES = (
    ScatteredBody("bunny", lambda: _file("polyfem_bunny.msh")),
    ScatteredBody("creature", _creature, creature_mesh.hands_and_feet),
    ScatteredBody("dinosaur", lambda: _file("polyfem_dinosaur.msh"), seconds=1.5),
    ScatteredBody("half a million", _large, seconds=10.0),
)

BENCHMARK = Benchmark(
    lines=(5,),
    title="Random scatter",
    what="The benchmark scatters all free nodes in a cube of ten longest sides. The creature is held at its hands and "
    "feet, the other bodies within a tenth of the longest side of three distant points. The law is neo-Hookean, "
    "ν = 0.3, with constant stress below a stretch of 0.7; solves end at a relative residual of 1e-6. Dinosaur and "
    "bunny are polyfem_dinosaur.msh and polyfem_bunny.msh of shared/testdata/tet; the creature is "
    f"benchmarks/harness/creature_mesh.py, a lattice of {creature_mesh.DIVISIONS} divisions in capsules with four "
    f"limbs; half a million is the lattice of {LARGE_DIVISIONS} divisions in Suzanne. If Sinew keeps the start "
    "(`sinew equilibrium --keep-start`), each seed takes its own path, as in S07, figure 3.1 (380,000 tets, 80 Newton "
    "iterations). Otherwise it replaces a start with more than a third of the tets inverted by a harmonic (Laplace) "
    "solve between the held nodes; all seeds then give the same result, so that a few suffice. A time covers the whole "
    "solve, given the mesh, the moduli and what Sinew caches per mesh: pattern, order of tets, lattices.",
    run=run,
)
