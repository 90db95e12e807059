# SPDX-License-Identifier: GPL-3.0-or-later
"""`sinew tetrahedralize IN OUT`: fills a surface with tets, or repairs tets, and writes them."""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...mesh.formats.surface_files import SURFACE_SUFFIXES, read_surface
from ...mesh.formats.tet_files import TET_SUFFIXES, WRITTEN_SUFFIXES, check_output, read_tets, write_tets
from ...mesh.tet_mesh import TetMesh
from ...mesh.tetrahedralize import tetrahedralize
from ...mesh.tetrahedralize.fill_warnings import fill_warnings
from ...mesh.tetrahedralize.user_tets import user_tets
from ...runtime.error_messages.command_line_next_steps import MESH_COMMAND_NEXT_STEPS
from ...runtime.errors import SinewError
from ...scene.scene import Body, Meshing
from .simulate import places_text, say_warnings


def add_parser(subparsers: Any) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser("tetrahedralize", help="fill a surface with tets")
    parser.add_argument("input", type=Path, metavar="IN", help=" ".join([*SURFACE_SUFFIXES, *TET_SUFFIXES]))
    parser.add_argument("output", type=Path, metavar="OUT", help=" ".join(WRITTEN_SUFFIXES))
    parser.add_argument("--method", choices=("smooth", "robust"), default="smooth")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--divisions", type=int, default=16, metavar="N", help="tets along the longest side")
    size.add_argument("--tet-size", type=float, metavar="M", help="edge length of the tets, in the unit of the file")
    parser.add_argument("--json", action="store_true", help="write the report as one JSON line")
    parser.set_defaults(run=run, next_steps=MESH_COMMAND_NEXT_STEPS)


def run(options: argparse.Namespace) -> int:
    """Reads, fills, writes and reports."""
    started = time.perf_counter()
    check_output(options.output)
    meshing = Meshing(method=options.method, tet_size=options.tet_size, divisions=options.divisions)
    filled = read_or_fill(options.input, meshing)
    mesh = filled.mesh
    write_tets(options.output, mesh)
    warnings = [w.as_warning() for w in filled.warnings]
    for warning in warnings:
        options.emit({"event": "warning", **warning})
    found = {
        **describe(mesh),
        **filled.repairs,
        "warnings": warnings,
        "total_seconds": round(time.perf_counter() - started, 4),
    }
    if options.json:
        options.emit(found)
    else:
        _print_report(found, options.output)
    return 0


@dataclass(frozen=True)
class FillResult:
    """Tets, and the messages about them.

    Attributes:
        mesh: The tets.
        repairs: Numbers of repaired tets, by kind of repair.
        warnings: For the user.
    """

    mesh: TetMesh
    repairs: dict[str, int]
    warnings: Sequence[SinewError]


def read_or_fill(path: Path, meshing: Meshing) -> FillResult:
    """Returns the tets in a file, or the tets that fill its surface."""
    name = path.stem
    if path.suffix.lower() not in TET_SUFFIXES:
        surface = read_surface(path)
        mesh = tetrahedralize(surface, meshing, name)
        body = Body(surface.vertices, surface.triangles, meshing=meshing, name=name)
        return FillResult(mesh, {}, fill_warnings(body, surface, mesh))
    found = read_tets(path)
    counts = {"turned_tets": found.flipped, "dropped_tets": found.degenerate, "doubled_tets": found.duplicates}
    return FillResult(user_tets(found.nodes, found.tets, None, name), counts, found.notes(name))


def describe(mesh: TetMesh) -> dict[str, Any]:
    """Returns the report, for JSON."""
    report = mesh.report
    return {
        "event": "tetrahedralized",
        "tets": len(mesh.tets),
        "nodes": len(mesh.nodes),
        "min_dihedral": report.min_dihedral,
        "max_dihedral": report.max_dihedral,
        "volume_ratio": report.volume_ratio,
        "lost_parts": [dataclasses.asdict(part) for part in report.lost_parts],
        "seconds": report.seconds,
        "tet_size": report.tet_size,
        "volume": report.volume,
        "joined_tets": len(report.joined_tets),
    }


def _print_report(found: dict[str, Any], path: Path) -> None:
    print(f"{path}: {found['tets']} tets, {found['nodes']} nodes, tet size {found['tet_size']:.4g}")
    print(f"dihedral angles {found['min_dihedral']:.1f}° to {found['max_dihedral']:.1f}°")
    print(f"volume {found['volume']:.6g}, {100 * found['volume_ratio']:.2f} % of the enclosed volume")
    print(f"tets that join surfaces far apart along the mesh: {found['joined_tets']}")
    for part in found["lost_parts"]:
        keeps = f"; a tet size of {part['tet_size_needed']:.4g} or less keeps it" if part["tet_size_needed"] else ""
        near = f" near {places_text([part['place']])}" if part["place"] else ""
        print(f"lost: {part['name']}{near}{keeps}")
    say_warnings(found["warnings"])
