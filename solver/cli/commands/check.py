# SPDX-License-Identifier: GPL-3.0-or-later
"""`sinew check SCENE`: says what is wrong or doubtful about a scene, without a bake."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ...runtime.atomic_files import write_atomic
from ...runtime.storage_errors import named_errors
from ...scene.scene import Scene
from ...scene.track_shapes import track_shapes
from ...scene.tracks import TrackReader


def add_parser(subparsers: Any) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser("check", help="look through a scene without a bake")
    parser.add_argument("scene", type=Path, metavar="SCENE", help="a folder with scene.json, as in a cache")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the findings to a JSON file")
    parser.add_argument("--json", action="store_true", help="write events as JSON lines")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Prints a line per finding, and writes them all with the vertices that they are about."""
    options.emit({"event": "started"})
    from ...simulation.diagnostics.diagnose import diagnose

    scene = Scene.load(options.scene)
    found = diagnose(
        scene,
        TrackReader(options.scene, shapes=track_shapes(scene)),
        lambda stage, body: options.emit({"event": "building", "stage": stage, "body": body}),
    )
    if options.out is not None:
        with named_errors(options.out.parent):
            write_atomic(options.out, json.dumps([finding.to_json() for finding in found]).encode())
    options.emit({"event": "check", "findings": len(found)})
    if not options.json:
        print("\n".join(finding.problem.text for finding in found) or "nothing found")
    return 0
