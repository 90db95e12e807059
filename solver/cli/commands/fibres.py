# SPDX-License-Identifier: GPL-3.0-or-later
"""`sinew fibres SCENE OUT`: finds the fibres of the muscles of a scene, without a bake."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ...runtime.checksums import npz_bytes
from ...runtime.storage_errors import make_folder, named_errors
from ...scene.scene import Scene
from ...scene.tracks import TrackReader


def add_parser(subparsers: Any) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser("fibres", help="find the fibres of muscles without a bake")
    parser.add_argument("scene", type=Path, metavar="SCENE", help="a folder with scene.json, as in a cache")
    parser.add_argument("output", type=Path, metavar="OUT", help="a folder: gets KEY.npz of every muscle")
    parser.add_argument("--json", action="store_true", help="write the report as one JSON line")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Writes a file per muscle with its nodes, tets, fibre directions and shares of tendon, and says how many."""
    from ...simulation.fibre_preview import fibre_preview

    found = fibre_preview(Scene.load(options.scene), TrackReader(options.scene))
    make_folder(options.output)
    with named_errors(options.output):
        for key, arrays in found.items():
            (options.output / f"{key}.npz").write_bytes(npz_bytes(arrays))
    muscles = {key: len(arrays["tets"]) for key, arrays in found.items()}
    options.emit({"event": "fibres", "tets": muscles})
    if not options.json:
        for key, count in muscles.items():
            print(f"{key}: fibres of {count} tets")
    return 0
