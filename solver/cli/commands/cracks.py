# SPDX-License-Identifier: GPL-3.0-or-later
"""`sinew cracks SCENE KEY OUT`: finds the cracks of a brittle body at one hit, without a bake."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from ...brittle.crack_progress import CrackProgress
from ...runtime.checksums import npz_bytes
from ...runtime.storage_errors import named_errors
from ...scene.scene import Scene


def add_parser(subparsers: Any) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser("cracks", help="find the cracks of a brittle body at one hit")
    parser.add_argument("scene", type=Path, metavar="SCENE", help="a folder with scene.json, as in a cache")
    parser.add_argument("key", metavar="KEY", help="key of the body")
    parser.add_argument(
        "output", type=Path, metavar="OUT", help=".npz with vertices, triangles and outline of the cracks"
    )
    parser.add_argument("--at", type=float, nargs=3, required=True, metavar="M", help="the nearest point of it is hit")
    parser.add_argument("--speed", type=float, required=True, metavar="M/S", help="speed at which it hits hard ground")
    parser.add_argument("--json", action="store_true", help="write the report as one JSON line")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Writes the faces of the cracks, and says how many pieces there are, now and then while it finds them."""
    from ...simulation.brittle.crack_preview import preview_cracks

    def tell(progress: CrackProgress) -> None:
        options.emit({"event": "cracking", **dataclasses.asdict(progress)})

    found = preview_cracks(Scene.load(options.scene), options.key, np.array(options.at), options.speed, tell)
    arrays = {"vertices": found.vertices, "triangles": found.triangles, "outline": found.outline}
    with named_errors(options.output.parent):
        options.output.write_bytes(npz_bytes(arrays))
    said = {"pieces": found.pieces, "dust": found.dust, "faces": len(found.triangles)}
    options.emit({"event": "cracks", **said})
    if not options.json:
        print(
            f"{options.output}: {said['pieces']:,} pieces, {said['dust']:,} of dust, {said['faces']:,} faces of cracks"
        )
    return 0
