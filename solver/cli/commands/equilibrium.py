# SPDX-License-Identifier: GPL-3.0-or-later
"""`sinew equilibrium MESH --pins PINS.npz --out OUT.vtu`: the shape of tets at rest while some nodes are held."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...mechanics.hyperelastic.laws import EXTENDED_LAWS, LAWS
from ...runtime.error_messages.command_line import MESH_COMMAND_NEXT_STEPS
from ...runtime.errors import BadInput

if TYPE_CHECKING:
    from ...quasistatic.fixed_nodes import FixedNodes
    from ...runtime.arrays import Floats

STIFFNESS_RANGE = (1.0e-12, 1.0e30)  # [Pa]; squares of forces are numbers from there to there
TOLD = {
    "at rest": "at rest",
    "elsewhere": "at rest in another shape than from the rest shape: twisted or folded. Begin with --start rest",
    "inside out": "at rest, but with tets inside out or flat",
    "not converged": "not at rest: the tolerance was not reached",
}


def add_parser(subparsers: Any) -> None:
    """Says the options."""
    parser = subparsers.add_parser("equilibrium", help="the shape of tets at rest while some nodes are held")
    parser.add_argument("mesh", type=Path, metavar="MESH", help="a file of tets, in metres")
    parser.add_argument(
        "--pins", type=Path, required=True, metavar="PINS.npz", help="arrays nodes (k,) and positions (k, 3) in metres"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="OUT.vtu", help="for the shape at rest")
    parser.add_argument("--material", choices=tuple(LAWS), default="neo-hookean")
    parser.add_argument("--youngs-modulus", type=float, default=1.0e5, metavar="PA", help="stiffness (1e5)")
    parser.add_argument("--poisson-ratio", type=float, default=0.4, metavar="NU", help="0 to below 0.5 (0.4)")
    parser.add_argument(
        "--start", default="rest", metavar="rest|scatter:K", help="also point, plane, mirror: where free nodes begin"
    )
    parser.add_argument(
        "--keep-start",
        action="store_true",
        help="solve from the start itself, though most of its tets are inside out; else a harmonic (Laplace) solve "
        "between held nodes replaces it, and all scatters end alike",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the scatter (0)")
    parser.add_argument("--tolerance", type=float, default=1.0e-6, metavar="R", help="relative residual (1e-6)")
    parser.add_argument("--iterations", type=int, default=300, metavar="N", help="Newton iterations at most (300)")
    parser.add_argument("--json", action="store_true", help="the report as one JSON line")
    parser.set_defaults(run=run, next_steps=MESH_COMMAND_NEXT_STEPS)


def run(options: argparse.Namespace) -> int:
    """Reads, solves, writes and reports; the exit code is 3 where the tolerance was not reached."""
    check_options(options)
    from ...mesh.formats.tet_files import check_output, read_tets, write_tets
    from ...mesh.tet_mesh import FilledTets

    check_output(options.out)
    read = read_tets(options.mesh)

    import numpy as np

    from ...mechanics.hyperelastic.hyperelastic_element import hyperelastic
    from ...mechanics.model import Part, make_model
    from ...quasistatic.diagnosis import classify_outcome
    from ...quasistatic.equilibrium import solve
    from ...quasistatic.equilibrium_problem import EquilibriumProblem
    from ...quasistatic.fixed_nodes import check_constrained, read_fixed_nodes
    from ...scene.scene import Material

    number = np.full(read.point_count, -1, np.int32)
    number[read.file_point] = np.arange(len(read.file_point), dtype=np.int64)
    held = read_fixed_nodes(options.pins, number)
    check_constrained(read.tets, held, read.file_point, str(options.mesh))
    fill = np.ones(len(read.tets))
    material = Material(options.youngs_modulus, options.poisson_ratio)
    model = make_model([Part("mesh", read.nodes, read.tets, fill, material, name=options.mesh.name)])
    extension = "constant" if options.material in EXTENDED_LAWS else None
    law = hyperelastic(model, options.material, extension, average=True)
    x = initial_positions(options, model.X, held)
    began = time.perf_counter()
    problem = EquilibriumProblem(model, law, held)
    found = solve(problem, x, options.tolerance, options.iterations, keeps_start=options.keep_start)
    seconds = time.perf_counter() - began
    outcome = classify_outcome(problem, found, options.start != "rest", options.tolerance)
    write_tets(
        options.out,
        FilledTets(found.x, model.tets, fill),
        {"displacement": found.x - model.X, "number": read.file_point},
    )
    report = {
        "event": "equilibrium",
        "newton_iterations": found.newton_iterations,
        "cg_iterations": found.cg_iterations,
        "residual": found.residual,
        "energy": found.energy if np.isfinite(found.energy) else None,
        "inverted_tets": found.inverted_tets,
        "extended_tets": found.extended_tets,
        "seconds": round(seconds, 4),
        "converged": found.converged,
        "ended": outcome.kind,
        "start_replaced": found.start_replaced,
        "distance": outcome.distance,
        "tets": model.tet_count,
        "nodes": model.node_count,
        "turned_tets": read.flipped,
        "dropped_tets": read.degenerate,
    }
    options.emit(report)
    if not options.json:
        _print_report(report, options.out)
    if not found.converged:
        print(
            f"sinew: {options.mesh} is not at rest: residual {found.residual:.2g} after {found.newton_iterations} "
            f"iterations. Raise --iterations, or begin at rest.",
            file=sys.stderr,
        )
    return 0 if found.converged else 3


def check_options(options: argparse.Namespace) -> None:
    """Refuses settings that have no meaning.

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


def initial_positions(options: argparse.Namespace, X: Floats, held: FixedNodes) -> Floats:
    """Returns where the nodes begin [m], (n, 3)."""
    from ...quasistatic import initial_guesses

    if options.start == "rest":
        return X
    if options.start == "point":
        return initial_guesses.collapsed(X, held, options.seed)
    if options.start == "plane":
        return initial_guesses.flattened(X, held)
    if options.start == "mirror":
        return initial_guesses.mirrored(X, held)
    return initial_guesses.scattered(X, held, scatter_cube_sides(options.start), options.seed)


def _print_report(report: dict[str, Any], path: Path) -> None:
    print(f"{path}: {TOLD[report['ended']]}")
    if report["distance"] is not None:
        print(f"farthest node: {report['distance']:.2g} of the longest side from where a start in the rest shape leads")
    if report["start_replaced"]:
        print("the start was replaced by a harmonic (Laplace) solve, as --keep-start would not")
    print(
        f"residual {report['residual']:.2g} after {report['newton_iterations']} Newton iterations and "
        f"{report['cg_iterations']} of conjugate gradients, {report['seconds']:.2f} s"
    )
    print(f"{report['inverted_tets']} of {report['tets']} tets inside out or flat")
    if report["extended_tets"]:
        print(f"{report['extended_tets']} tets are pressed flatter than their law goes")
