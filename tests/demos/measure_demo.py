# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds, bakes and measures one demo scene; prints one JSON line. Run by tests/test_demos.py in a process of its own.

python tests/demos/measure_demo.py SCENE FRAMES FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "demo_blends")]

import make_demo
from demos import contact_demo_measures as demo_contact
from demos import flesh_measures as demo_flesh
from demos import pressure_measures as demo_pressure
from demos import rigid_core_measures as demo_core
from demos import sheet_measures as demo_sheets
from sinew.solver.bake.cache import CacheReader


def volumes(nodes: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """Returns the signed volume of each tet [m³]."""
    corners = nodes[tets].astype(np.float64)
    return np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6.0


def measure(cache: CacheReader) -> dict[str, dict[str, float]]:
    """Returns what is pinned of every body, at the last baked frame and over all of them."""
    last = cache.last_frame()
    assert last is not None
    frames = [cache.read_frame(frame) for frame in range(cache.metadata.frame_start, last + 1)]
    models = [cache.read_model(body.key) for body in cache.metadata.bodies]
    nodes = np.cumsum([0, *(len(model["nodes"]) for model in models)])
    whole = np.concatenate([model["tets"] + first for model, first in zip(models, nodes, strict=False)])
    places = np.cumsum([0, *(len(model["tets"]) for model in models)])
    found = {}
    for number, (body, model) in enumerate(zip(cache.metadata.bodies, models, strict=True)):
        own = slice(places[number], places[number + 1])
        tets = [whole[own] if not f.topology else cache.read_topology(f.topology)["tets"][own] for f in frames]
        x = [f.x[np.unique(t)] for f, t in zip(frames, tets, strict=True)]
        told = [line["bodies"].get(body.key, {}) for line in cache.report() if line.get("bodies")]
        found[body.name] = {
            "lowest": min(float(p[:, 2].min()) for p in x),
            "lowest_at_the_end": float(x[-1][:, 2].min()),
            "volume_ratio": float(volumes(frames[-1].x, tets[-1]).sum() / volumes(model["nodes"], model["tets"]).sum()),
            "x_at_the_end": float(x[-1][:, 0].mean()),
            "y_at_the_end": float(x[-1][:, 1].mean()),
            "height_ratio": float(min(np.ptp(p[:, 2]) for p in x) / np.ptp(x[0][:, 2])),
            "height_at_the_end": float(np.ptp(x[-1][:, 2])),
            "tets": len(model["tets"]),
            **{name: max(line.get(name, -np.inf) for line in told) for name in (told[-1] if told else ())},
        }
    return found


def main() -> None:
    """Does what the command line says."""
    name, frames, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    blend = make_demo.build(name, folder)
    bpy.context.scene.frame_end = frames
    bpy.ops.wm.save_mainfile()
    baked = make_demo.bake(blend, folder)
    folder = baked.with_suffix(".sinew")
    cache = CacheReader(folder)
    passes = [cache, *(CacheReader(each) for each in sorted(folder.glob("pass-*")))]
    report = [line for each in passes for line in each.report()]
    bodies = {name: numbers for each in passes for name, numbers in measure(each).items()}
    if name in demo_flesh.MEASURES:
        body, flesh = demo_flesh.MEASURES[name]
        bodies[body].update(flesh(cache))
    if name in demo_contact.SCENES:
        for body, touching in demo_contact.touching(cache).items():
            bodies[body].update(touching)
    if name in demo_contact.EXACT_SCENES:
        for body, of_contact in demo_contact.intersections(cache).items():
            bodies[body].update(of_contact)
    if name in demo_core.SCENES:
        for body, of_core in demo_core.core_numbers(cache).items():
            bodies[body].update(of_core)
    if name in demo_pressure.SCENES:
        for body, of_pressure in demo_pressure.pressure_numbers(cache).items():
            bodies[body].update(of_pressure)
    if name in demo_sheets.MEASURES:
        for body, of_sheet in demo_sheets.MEASURES[name](cache).items():
            bodies[body].update(of_sheet)
    numbers = {
        "bodies": bodies,
        "frames": min(each.last_frame() or 0 for each in passes),
        "not_converged": sum(line["not_converged"] for line in report),
        "inverted": max(line["inverted_tets"] for line in report),
        "deepest_contact": max(line.get("deepest_contact", 0.0) for line in report),
    }
    print("NUMBERS " + json.dumps(numbers))


if __name__ == "__main__":
    main()
