# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds, bakes and measures one demo scene; prints one JSON line. Run by test_demos.py in a process of its own.

python tests/demo_numbers.py SCENE FRAMES FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "demo_blends"))

import make_demo
from sinew.solver.cache import CacheReader


def volumes(nodes: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """Returns the signed volume of each tet [m³]."""
    corners = nodes[tets].astype(np.float64)
    return np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6.0


def measure(cache: CacheReader) -> dict[str, dict[str, float]]:
    """Returns what is pinned of every body, at the last baked frame and over all of them."""
    last = cache.last_frame()
    assert last is not None
    found, start = {}, 0
    for body in cache.head.bodies:
        model = cache.read_model(body.key)
        rest, tets = model["nodes"], model["tets"]
        nodes = [
            cache.read_frame(frame).x[start : start + len(rest)] for frame in range(cache.head.frame_start, last + 1)
        ]
        start += len(rest)
        found[body.name] = {
            "lowest": min(float(x[:, 2].min()) for x in nodes),
            "lowest_at_the_end": float(nodes[-1][:, 2].min()),
            "volume_ratio": float(volumes(nodes[-1], tets).sum() / volumes(rest, tets).sum()),
            "x_at_the_end": float(nodes[-1][:, 0].mean()),
            "height_ratio": float(min(np.ptp(x[:, 2]) for x in nodes) / np.ptp(nodes[0][:, 2])),
            "tets": len(tets),
        }
    return found


def main() -> None:
    """Does what the command line says."""
    name, frames, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    blend = make_demo.build(name, folder)
    bpy.context.scene.frame_end = frames
    bpy.ops.wm.save_mainfile()
    baked = make_demo.bake(blend, folder)
    cache = CacheReader(baked.with_suffix(".sinew"))
    report = cache.report()
    numbers = {
        "bodies": measure(cache),
        "frames": cache.last_frame(),
        "not_converged": sum(line["not_converged"] for line in report),
        "inverted": max(line["inverted_tets"] for line in report),
    }
    print("NUMBERS " + json.dumps(numbers))


if __name__ == "__main__":
    main()
