# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints what holds of the tets of every development surface, by both methods: python -m tests.validate_tetrahedralize.

python validate_tetrahedralize.py [--only NAME] [--methods smooth,robust] [--tets 20000] [--divisions N]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import trimesh

from sinew.solver.errors import SinewError
from sinew.solver.geometry.surface import Surface
from sinew.solver.scene import Meshing
from sinew.solver.tetrahedralize import tetrahedralize

DATA = Path(__file__).resolve().parents[2] / "shared" / "testdata"


def read(path: Path) -> Surface:
    if path.suffix == ".obj":
        return read_obj(path)
    mesh = trimesh.load(path, process=False, skip_materials=True)
    if isinstance(mesh, trimesh.Scene):
        mesh = mesh.dump(concatenate=True)
    return Surface(np.asarray(mesh.vertices, float), np.asarray(mesh.faces, np.int32))


def read_obj(path: Path) -> Surface:
    vertices, faces = [], []
    for line in path.read_text(errors="replace").replace("\\\n", " ").splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            vertices.append([float(w) for w in words[1:4]])
        elif words[:1] == ["f"]:
            ring = [int(w.split("/")[0]) for w in words[1:]]
            ring = [i - 1 if i > 0 else len(vertices) + i for i in ring]
            faces += [[ring[0], ring[i], ring[i + 1]] for i in range(1, len(ring) - 1)]
    return Surface(np.array(vertices), np.array(faces, np.int32))


def fill(surface: Surface, name: str, method: str, divisions: int, wanted: int):
    """Fills the surface, again at other divisions until the number of tets is near the wanted one."""
    for _ in range(6):
        started = time.perf_counter()
        mesh = tetrahedralize(surface, Meshing(method, divisions=divisions), name)
        seconds = time.perf_counter() - started
        if not wanted or 0.85 < len(mesh.tets) / wanted < 1.15:
            break
        better = max(round(divisions * (wanted / len(mesh.tets)) ** (1 / 3)), 4)
        if better == divisions:
            break
        divisions = better
    return mesh, divisions, seconds


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--methods", default="smooth,robust")
    parser.add_argument("--tets", type=int, default=20000)
    parser.add_argument("--divisions", type=int, default=0)
    args = parser.parse_args()
    print(f"{'file':36} method  div   tets  min    max    volume  seconds")
    for folder in ("surface", "wild"):
        for path in sorted((DATA / folder).iterdir()):
            if args.only not in path.name:
                continue
            for method in args.methods.split(","):
                try:
                    surface = read(path)
                    mesh, divisions, seconds = fill(
                        surface, path.name, method, args.divisions or 24, 0 if args.divisions else args.tets
                    )
                except SinewError as error:
                    print(f"{folder}/{path.name:28} {method:6} {error.text}")
                    continue
                except Exception as error:
                    import traceback

                    traceback.print_exc(limit=-2)
                    print(f"{folder}/{path.name:28} {method:6} {type(error).__name__}: {error}")
                    continue
                r = mesh.report
                print(
                    f"{folder}/{path.name:28} {method:6} {divisions:4} {len(mesh.tets):7} {r.min_dihedral:5.2f} "
                    f"{r.max_dihedral:6.2f} {r.volume_ratio:7.4f} {seconds:6.2f}"
                )


if __name__ == "__main__":
    main()
