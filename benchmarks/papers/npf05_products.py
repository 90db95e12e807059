# SPDX-License-Identifier: GPL-3.0-or-later
"""NPF05 figure 4: a step with an assembled matrix and one without, over the iterations of conjugate gradients."""

from __future__ import annotations

import time

import numpy as np

from harness.plots import plot
from harness.result import Picture, Result
from papers.experiment import NO_PAPER_VALUE, Experiment, Row
from papers.npf05_block import MATERIAL, block_mesh
from sinew.solver.integrators.solver_context import StepWorkspace
from sinew.solver.integrators.system.step_matrix import assemble_system, compute_element_records
from sinew.solver.linalg.block_system import BlockSystem, StoppingCriteria
from sinew.solver.linalg.pcg import solve
from sinew.solver.mechanics.model import Model, Part, make_model
from sinew.solver.runtime.threads.thread_count import limiting_threads
from sinew.solver.scene.formulation import FormulationSettings

METHODS = {"assembled": FormulationSettings("qr"), "matrix-free": FormulationSettings("qr", is_matrix_free=True)}
ITERATIONS = (1, 5, 10, 20, 40, 60, 80, 100)
DT = 4.0e-4
ROUNDS = 40
PAPER_ITERATIONS = 50


def run(quick: bool) -> Result:
    """Returns times over iterations, and where the lines cross."""
    nodes, tets = block_mesh()
    counts = ITERATIONS[:4:3] if quick else ITERATIONS
    models = {
        name: make_model([Part("block", nodes, tets, np.ones(len(tets)), MATERIAL, method=method)])
        for name, method in METHODS.items()
    }
    rounds = 3 if quick else ROUNDS
    taken: dict[str, list[list[float]]] = {name: [] for name in models}
    workspaces = {name: StepWorkspace(model.pattern) for name, model in models.items()}
    with limiting_threads(1):
        for _ in range(rounds):
            for name, model in models.items():
                taken[name].append([solve_ms(model, workspaces[name], count) for count in counts])
    times = {name: np.min(found, axis=0) for name, found in taken.items()}
    lines = {name: np.polyfit(counts, found, 1) for name, found in times.items()}
    rows = [
        Row(f"assembled, matrix-free, {count} iterations [ms]", NO_PAPER_VALUE, f"{one:.2f}, {other:.2f}")
        for count, one, other in zip(counts, times["assembled"], times["matrix-free"], strict=True)
    ]
    rows += [
        Row(f"{name}: an iteration, and all else [ms]", NO_PAPER_VALUE, f"{each:.4f}, {rest:.3f}")
        for name, (each, rest) in lines.items()
    ]
    blocks, (a, b) = models["assembled"].pattern.block_count, (lines[name][0] for name in METHODS)
    why = (
        f"here every row knows its tets and assembles them without searching, and {len(tets)} tets share {blocks} "
        f"blocks of nine numbers, so that a product with them takes {a / b:.0%} of the time of a product tet by tet"
    )
    slope, begin = lines["matrix-free"] - lines["assembled"]
    break_even = -begin / slope if slope > 0.0 else np.inf
    agrees = PAPER_ITERATIONS / 2 <= break_even <= 2 * PAPER_ITERATIONS
    rows.append(
        Row(
            "iterations from which assembling pays",
            f"{PAPER_ITERATIONS}",
            _break_even_text(break_even),
            bool(agrees),
            "" if agrees else why,
        )
    )
    values = {"blocks": float(blocks), "break-even": float(min(break_even, 1e9))}
    values |= {f"{name}, iteration": float(line[0]) for name, line in lines.items()}
    values |= {f"{name}, rest": float(line[1]) for name, line in lines.items()}
    return Result(rows, [_picture(counts, times)], values)


def solve_ms(model: Model, workspace: StepWorkspace, count: int) -> float:
    """Returns how long it takes to find the tets' matrices, assemble them or not, and iterate so often [ms].

    Raises:
        RuntimeError: It did not iterate so often.
    """
    bent = model.X @ np.array([[1.0, 0.2, 0.0], [0.0, 0.9, 0.1], [0.1, 0.0, 1.1]]).T
    pattern = model.pattern
    is_free = model.X[:, 2] > 0.0
    b = np.random.default_rng(4).normal(size=bent.shape) * is_free[:, None]
    v = np.zeros_like(bent)
    began = time.perf_counter()
    records = compute_element_records(model, bent, out=workspace.element_records(model))
    system = assemble_system(model, records, DT, workspace)
    solved = solve(
        BlockSystem(pattern, system.values, b, is_free),
        v,
        StoppingCriteria(0.0, count),
        element_terms=system.element_terms,
    )
    taken = 1e3 * (time.perf_counter() - began)
    if solved.iterations != count:
        raise RuntimeError(f"{solved.iterations} iterations instead of {count}")
    return taken


def _break_even_text(break_even: float) -> str:
    return "always" if break_even <= 0.0 else "never" if not np.isfinite(break_even) else f"{break_even:.0f}"


def _picture(counts, times: dict[str, list[float]]) -> Picture:
    figure, ax = plot("iterations of conjugate gradients", "time of a step [ms]")
    for (name, taken), colour in zip(times.items(), ("#d62728", "#1f5fd0"), strict=True):
        ax.plot(counts, taken, "o-", color=colour, label=name)
    ax.legend()
    return Picture(
        "Time of a step over the iterations of its solve, assembled and matrix-free, as in figure 4.", figure
    )


EXPERIMENT = Experiment(
    "NPF05",
    "Assembled or matrix-free (figure 4)",
    "A block of 8³ nodes in cubes of ten tets (both divisions of a cube into five, superposed): 3430 tets and 512 "
    "nodes, the paper's numbers. A step by QR, Δt = 0.4 ms, computes rotations, strains and gradients of all tets, "
    "assembles the matrix or prepares products tet by tet, and runs the given iterations of conjugate gradients. The "
    "two take turns on one thread, and the fastest of 40 rounds counts.",
    run,
    is_timed=True,
)
