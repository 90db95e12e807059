# SPDX-License-Identifier: GPL-3.0-or-later
"""`sinew equilibrium MESH --pins PINS.npz --out OUT.vtu`: the static equilibrium of tets with fixed nodes."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...mechanics.hyperelastic.law_numbers import EXTENDED_LAWS, LAWS
from ...runtime.error_messages.command_line_next_steps import MESH_COMMAND_NEXT_STEPS
from ...runtime.errors import BadInput

if TYPE_CHECKING:
    from ...quasistatic.fixed_nodes import FixedNodes
    from ...runtime.arrays import Floats

STIFFNESS_RANGE = (1.0e-12, 1.0e30)  # [Pa]; within it, squares of forces neither overflow nor vanish
OUTCOME_TEXTS = {
    "at rest": "at rest",
    "elsewhere": "at rest, but twisted or folded: a start in the rest shape ends elsewhere. Use --start rest",
    "inside out": "at rest, but with inverted or flat tets",
    "not converged": "not at rest: the solve did not reach the tolerance",
}


def add_parser(subparsers: Any) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser("equilibrium", help="compute the static equilibrium of tets with fixed nodes")
    parser.add_argument("mesh", type=Path, metavar="MESH", help="tet file, in metres")
    parser.add_argument(
        "--pins", type=Path, required=True, metavar="PINS.npz", help="arrays nodes (k,) and positions (k, 3) in metres"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="OUT.vtu", help="tet file for the result")
    parser.add_argument("--material", choices=tuple(LAWS), default="neo-hookean")
    parser.add_argument("--youngs-modulus", type=float, default=1.0e5, metavar="PA", help="stiffness (1e5)")
    parser.add_argument("--poisson-ratio", type=float, default=0.4, metavar="NU", help="from 0 to below 0.5 (0.4)")
    parser.add_argument(
        "--start", default="rest", metavar="rest|scatter:K", help="start of the free nodes; also point, plane, mirror"
    )
    parser.add_argument(
        "--keep-start",
        action="store_true",
        help="solve from the start itself, though most of its tets are inverted; otherwise a harmonic (Laplace) solve "
        "between fixed nodes replaces it, so that all scatters end the same",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the scatter (0)")
    parser.add_argument("--tolerance", type=float, default=1.0e-6, metavar="R", help="relative residual (1e-6)")
    parser.add_argument(
        "--iterations", type=int, default=300, metavar="N", help="maximum number of Newton iterations (300)"
    )
    parser.add_argument("--json", action="store_true", help="write the report as one JSON line")
    parser.set_defaults(run=run, next_steps=MESH_COMMAND_NEXT_STEPS)


def run(options: argparse.Namespace) -> int:
    """Reads, solves, writes and reports. Returns 3 if the solve does not reach the tolerance."""
    check_options(options)
    from ...mesh.formats.tet_files import check_output, read_tets, write_tets
    from ...mesh.tet_mesh import FilledTets

    check_output(options.out)
    read = read_tets(options.mesh)

    import numpy as np

    from ...mechanics.hyperelastic.hyperelastic_bodies import hyperelastic
    from ...mechanics.model import Part, make_model
    from ...quasistatic.equilibrium import solve
    from ...quasistatic.equilibrium_problem import EquilibriumProblem
    from ...quasistatic.fixed_nodes import check_constrained, read_fixed_nodes
    from ...quasistatic.outcome_classification import classify_outcome
    from ...scene.scene import Material

    number = np.full(read.point_count, -1, np.int32)
    number[read.file_point] = np.arange(len(read.file_point), dtype=np.int64)
    fixed = read_fixed_nodes(options.pins, number)
    check_constrained(read.tets, fixed, read.file_point, str(options.mesh))
    fill = np.ones(len(read.tets))
    material = Material(options.youngs_modulus, options.poisson_ratio)
    model = make_model([Part("mesh", read.nodes, read.tets, fill, material, name=options.mesh.name)])
    extension = "constant" if options.material in EXTENDED_LAWS else None
    law = hyperelastic(model, options.material, extension, average=True)
    x = initial_positions(options, model.X, fixed)
    began = time.perf_counter()
    problem = EquilibriumProblem(model, law, fixed)
    solution = solve(problem, x, options.tolerance, options.iterations, keeps_start=options.keep_start)
    seconds = time.perf_counter() - began
    outcome = classify_outcome(problem, solution, options.start != "rest", options.tolerance)
    write_tets(
        options.out,
        FilledTets(solution.x, model.tets, fill),
        {"displacement": solution.x - model.X, "number": read.file_point},
    )
    report = {
        "event": "equilibrium",
        "newton_iterations": solution.newton_iterations,
        "cg_iterations": solution.cg_iterations,
        "residual": solution.residual,
        "energy": solution.energy if np.isfinite(solution.energy) else None,
        "inverted_tets": solution.inverted_tets,
        "extended_tets": solution.extended_tets,
        "seconds": round(seconds, 4),
        "converged": solution.converged,
        "ended": outcome.kind,
        "start_replaced": solution.start_replaced,
        "distance": outcome.distance,
        "tets": model.tet_count,
        "nodes": model.node_count,
        "turned_tets": read.flipped,
        "dropped_tets": read.degenerate,
    }
    options.emit(report)
    if not options.json:
        _print_report(report, options.out)
    if not solution.converged:
        print(
            f"sinew: {options.mesh} is not at rest: residual {solution.residual:.2g} after "
            f"{solution.newton_iterations} iterations. Raise --iterations, or use --start rest.",
            file=sys.stderr,
        )
    return 0 if solution.converged else 3


def check_options(options: argparse.Namespace) -> None:
    """Checks the settings.

    Raises:
        BadInput: "setting-out-of-range" or "start-unknown".
    """
    is_stiffness = STIFFNESS_RANGE[0] <= options.youngs_modulus <= STIFFNESS_RANGE[1]
    bounds = (
        ("--youngs-modulus", options.youngs_modulus, is_stiffness, "{:g} to {:g} Pa".format(*STIFFNESS_RANGE)),
        ("--poisson-ratio", options.poisson_ratio, 0.0 <= options.poisson_ratio < 0.5, "0 or more and below 0.5"),
        ("--tolerance", options.tolerance, 0.0 < options.tolerance < 1.0, "above 0 and below 1"),
        ("--iterations", options.iterations, options.iterations >= 0, "0 or more"),
        ("--seed", options.seed, options.seed >= 0, "0 or more"),
    )
    for setting, value, fits, wanted in bounds:
        if not fits:
            raise BadInput("setting-out-of-range", setting=setting, name=options.mesh.name, value=value, range=wanted)
    scatter_cube_sides(options.start)


def scatter_cube_sides(start: str) -> float:
    """Returns K of "scatter:K", and 0 for the other starts.

    Raises:
        BadInput: "start-unknown".
    """
    if start in ("rest", "point", "plane", "mirror"):
        return 0.0
    kind, _, number = start.partition(":")
    try:
        sides = float(number)
    except ValueError:
        sides = 0.0
    if kind != "scatter" or not 0.0 < sides < 1.0e6:
        raise BadInput("start-unknown", start=start)
    return sides


def initial_positions(options: argparse.Namespace, X: Floats, fixed: FixedNodes) -> Floats:
    """Returns the start positions of the nodes [m], (n, 3)."""
    from ...quasistatic import initial_guesses

    if options.start == "rest":
        return X
    if options.start == "point":
        return initial_guesses.collapsed(X, fixed, options.seed)
    if options.start == "plane":
        return initial_guesses.flattened(X, fixed)
    if options.start == "mirror":
        return initial_guesses.mirrored(X, fixed)
    return initial_guesses.scattered(X, fixed, scatter_cube_sides(options.start), options.seed)


def _print_report(report: dict[str, Any], path: Path) -> None:
    print(f"{path}: {OUTCOME_TEXTS[report['ended']]}")
    if report["distance"] is not None:
        print(f"farthest node: {report['distance']:.2g} of the longest side from the equilibrium from rest")
    if report["start_replaced"]:
        print("a harmonic (Laplace) solve replaced the start; --keep-start prevents that")
    print(
        f"residual {report['residual']:.2g} after {report['newton_iterations']} Newton iterations and "
        f"{report['cg_iterations']} CG iterations, {report['seconds']:.2f} s"
    )
    print(f"{report['inverted_tets']} of {report['tets']} tets inverted or flat")
    if report["extended_tets"]:
        print(f"{report['extended_tets']} tets are compressed beyond the threshold of their law")
