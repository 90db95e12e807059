# SPDX-License-Identifier: GPL-3.0-or-later
"""`sinew cut TETS --with CUTTER --out OUT`: cuts tets, and the body in them, by meshes of any shape."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from ...mesh.boundary_faces import boundary_surface
from ...mesh.cut_cells.carve import CarvedTets, carve_tets
from ...mesh.cut_cells.insert_triangles import NotConvex
from ...mesh.cut_cells.piece_surfaces import enclosed_volumes, is_closed
from ...mesh.cutting.cut import check_covered
from ...mesh.formats.surface_files import SURFACE_SUFFIXES, read_surface
from ...mesh.formats.tet_files import TET_SUFFIXES, WRITTEN_SUFFIXES, check_output, read_tets, write_tets
from ...mesh.tet_mesh import FilledTets
from ...runtime.arrays import Floats, Indices, floats, indices
from ...runtime.error_messages.command_line_next_steps import CUT_NEXT_STEPS
from ...runtime.errors import SolveFailed


def add_parser(subparsers: Any) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser("cut", help="cut tets by meshes")
    parser.add_argument("tets", type=Path, metavar="TETS", help=" ".join(TET_SUFFIXES))
    surfaces = " ".join(SURFACE_SUFFIXES)
    parser.add_argument(
        "--with", type=Path, nargs="+", required=True, dest="cutters", metavar="CUTTER", help=f"what cuts: {surfaces}"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="OUT", help=" ".join(WRITTEN_SUFFIXES))
    parser.add_argument(
        "--surface", type=Path, metavar="SURFACE", help="the body's closed surface within the tets; else their boundary"
    )
    parser.add_argument("--json", action="store_true", help="write the report as one JSON line")
    parser.set_defaults(run=run, next_steps=CUT_NEXT_STEPS)


def run(options: argparse.Namespace) -> int:
    """Reads, cuts, writes and reports."""
    check_output(options.out)
    found = read_tets(options.tets)
    nodes, tets = floats(found.nodes, -1, 3), indices(found.tets, -1, 4)
    if options.surface:
        surface = read_surface(options.surface)
        body = surface.vertices, surface.triangles
        check_covered(nodes, tets, *body, options.surface.stem)
    else:
        body = boundary_surface(nodes, tets)
    cutter = _read_cutters(options.cutters)
    started = time.perf_counter()
    try:
        carved = carve_tets(nodes, tets, body, cutter)
    except NotConvex as problem:
        raise SolveFailed("cut-not-closed", name=options.tets.stem) from problem
    seconds = time.perf_counter() - started
    used, numbered = np.unique(carved.tets.tets, return_inverse=True)
    cut = FilledTets(
        nodes[carved.tets.origin[used]], indices(numbered.reshape(-1, 4)), _filled_fractions(nodes, tets, carved)
    )
    write_tets(options.out, cut)
    report = {
        **_describe(carved),
        "tets_before": len(tets),
        "nodes_before": len(nodes),
        "nodes": len(used),
        "seconds": round(seconds, 4),
    }
    if options.json:
        options.emit(report)
    else:
        print(f"{options.out}: {report['pieces']} pieces, {len(tets)} tets before, {report['tets']} after")
    return 0


def _read_cutters(paths: list[Path]) -> tuple[Floats, Indices]:
    """Returns vertices and triangles of all cutters."""
    surfaces = [read_surface(path) for path in paths]
    before = np.cumsum([0, *(len(surface.vertices) for surface in surfaces[:-1])], dtype=np.int64)
    triangles = [surface.triangles + first for surface, first in zip(surfaces, before, strict=True)]
    return floats(np.concatenate([surface.vertices for surface in surfaces]), -1, 3), indices(np.concatenate(triangles))


def _filled_fractions(nodes: Floats, tets: Indices, carved: CarvedTets) -> Floats:
    """Returns the volume of material in each tet over that of the tet, at most 1, (k,)."""
    corner = nodes[tets[carved.tets.parent]]
    whole = np.abs(np.linalg.det(corner[:, 1:] - corner[:, :1])) / 6.0
    return np.minimum(carved.volume / whole, 1.0)


def _describe(carved: CarvedTets) -> dict[str, Any]:
    """Returns the report on pieces, for JSON."""
    pieces = int(carved.piece.max(initial=-1)) + 1
    volumes = np.bincount(carved.piece, carved.volume, minlength=pieces)
    return {
        "event": "cut",
        "pieces": pieces,
        "tets": len(carved.tets.tets),
        "volumes": volumes.tolist(),
        "enclosed_volumes": enclosed_volumes(carved.surfaces, carved.surface_piece).tolist(),
        "closed": bool(is_closed(carved.surfaces, carved.surface_piece).all()),
    }
