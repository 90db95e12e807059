# SPDX-License-Identifier: GPL-3.0-or-later
"""`sinew wrap OUT IN …`: makes one smooth closed surface around meshes."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ...mesh.formats.surface_files import SURFACE_SUFFIXES
from ...runtime.checksums import npz_bytes
from ...runtime.error_messages.command_line_next_steps import MESH_COMMAND_NEXT_STEPS
from ...runtime.storage_errors import named_errors

VOXELS_PER_WIDTH = 6.0


def add_parser(subparsers: Any) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser("wrap", help="make one smooth closed surface around meshes")
    parser.add_argument("output", type=Path, metavar="OUT", help=".npz with vertices, quads, nearest and distance")
    parser.add_argument("input", type=Path, nargs="+", metavar="IN", help=" ".join([".npz", *SURFACE_SUFFIXES]))
    parser.add_argument("--width", type=float, required=True, metavar="M", help="bridge grooves narrower than this")
    parser.add_argument("--voxel", type=float, metavar="M", help="size of the quads; a sixth of the width otherwise")
    parser.add_argument("--offset", type=float, default=0.0, metavar="M", help="distance outside of the meshes")
    parser.add_argument("--smoothing", type=float, default=0.0, metavar="M", help="standard deviation of the filter")
    parser.add_argument("--json", action="store_true", help="write the report as one JSON line")
    parser.set_defaults(run=run, next_steps=MESH_COMMAND_NEXT_STEPS)


def run(options: argparse.Namespace) -> int:
    """Reads the meshes, wraps them, writes the wrap and reports its size."""
    from ...mesh.wrap.wrap_input_files import read_wrapped_surfaces
    from ...mesh.wrap.wrap_surface import WrapOptions, wrap_surface
    from ...scene.serialisation.range_check import check_ranges

    voxel = options.width / VOXELS_PER_WIDTH if options.voxel is None else options.voxel
    wanted = WrapOptions(options.width, options.offset, options.smoothing, voxel)
    check_ranges(wanted)
    found = wrap_surface(read_wrapped_surfaces(options.input), wanted)
    arrays = {name: getattr(found, name) for name in ("vertices", "quads", "nearest", "distance")}
    with named_errors(options.output.parent):
        options.output.write_bytes(npz_bytes(arrays))
    said = {
        "vertices": len(found.vertices),
        "quads": len(found.quads),
        "parts": found.part_count,
        "tunnels": found.tunnel_count,
    }
    options.emit({"event": "wrapped", **said})
    if not options.json:
        print(f"{options.output}: {said['vertices']:,} vertices, {said['quads']:,} quads, {said['parts']} parts")
    return 0
