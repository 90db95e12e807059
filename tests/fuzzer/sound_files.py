# SPDX-License-Identifier: GPL-3.0-or-later
"""The sound files that the fuzzer damages: surfaces and tets in every format that is read, scenes, bakes, a .blend."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from fixtures.closed_surfaces import sphere
from fixtures.fracture_bake import breaking_scene, write_breaking
from fixtures.tet_meshes import bar
from fixtures.tiny_bakes import tiny_scene, write_scene
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.scene.scene import Body, Collider, Heat, HeatSource, Plasticity, Scene

SURFACES, TETS, PINS, BLEND = "surfaces", "tets", "pins.npz", "box.blend"
# bakes: up to a frame before the last that the scene asks for, of which the whole ones are what a resumed bake equals
PART, WHOLE, BROKEN, BROKEN_WHOLE = "part.sinew", "whole.sinew", "broken.sinew", "broken_whole.sinew"
LAST, PART_LAST, BROKEN_LAST, BROKEN_PART_LAST = 8, 6, 8, 6
BLEND_SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
import bpy
from fixtures.blender_scenes import add_mesh, fresh
from sinew.addon.objects import roles
from fixtures.tiny_bakes import box_of_tets
scene = fresh()
scene.frame_end = 3
nodes, _, faces = box_of_tets()
obj = add_mesh("Falling Cube", nodes + [0.0, 0.0, 0.05], faces)
roles.make_body(obj)
obj.sinew.divisions = 2
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[2])
"""


def write_files(folder: Path) -> None:
    """Writes all of them into a new folder; the same bytes each time, but for clock times in reports."""
    (folder / SURFACES).mkdir(parents=True)
    (folder / TETS).mkdir()
    _write_surfaces(folder / SURFACES)
    _write_tets(folder / TETS)
    nodes, _ = bar((2, 1, 1), (2.0, 1.0, 1.0))
    ends = np.flatnonzero((nodes[:, 0] < 1e-9) | (nodes[:, 0] > 2.0 - 1e-9))
    np.savez(folder / PINS, nodes=ends, positions=nodes[ends] * [1.1, 1.0, 1.0])
    for name, last in ((PART, PART_LAST), (WHOLE, LAST)):
        write_scene(folder / name, _scene())
        run_bake(folder / name, lambda event: None, options=BakeOptions(frame_end=last, threads=1))
    for name, last in ((BROKEN, BROKEN_PART_LAST), (BROKEN_WHOLE, BROKEN_LAST)):
        write_breaking(folder / name, breaking_scene(BROKEN_LAST, attributes=("stress", "velocity"), strength=4.0e3))
        run_bake(folder / name, lambda event: None, options=BakeOptions(frame_end=last, threads=1))
    if importlib.util.find_spec("bpy") is not None:
        command = [sys.executable, "-c", BLEND_SCRIPT, str(Path(__file__).parents[1]), str(folder / BLEND)]
        subprocess.run(command, check=True, capture_output=True)


def _scene() -> Scene:
    """Returns a falling cube that flows and is heated, a hanging one, and a ball in the way."""
    scene = tiny_scene(LAST)
    falls, hangs = scene.bodies
    falls = replace(falls, plasticity=Plasticity(), heat=Heat(softening=np.array([[20.0, 1, 1, 1], [60.0, 0.1, 1, 2]])))
    vertices, triangles = sphere(6, 0.2)
    ball = Collider("ball", "Ball", "mesh", vertices + [0.0, 0.0, 1.3], triangles)
    source = HeatSource("lamp", "Lamp", vertices=vertices, triangles=triangles)
    bodies: tuple[Body, ...] = (falls, hangs)
    return replace(scene, bodies=bodies, colliders=(*scene.colliders, ball), heat_sources=(source,))


def _write_surfaces(folder: Path) -> None:
    import trimesh

    vertices, triangles = sphere(6, 1.0)
    lines = [f"v {x} {y} {z}" for x, y, z in vertices.round(6)]
    (folder / "plain.obj").write_text("\n".join([*lines, *(f"f {a} {b} {c}" for a, b, c in triangles + 1)]) + "\n")
    corners = [f"{x} {y} {z}" for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    quads = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]
    named = ["# a box", "mtllib none.mtl", "o Box", *(f"v {c}" for c in corners), "vt 0 0", "vn 0 0 1", "g sides"]
    named += ["usemtl Blue", "s off", *("f " + " ".join(f"{k}/1/1" for k in quad) for quad in quads)]
    (folder / "quads.obj").write_text("\n".join(named) + "\n")
    mesh = trimesh.Trimesh(vertices, triangles, process=False)
    (folder / "text.ply").write_bytes(trimesh.exchange.ply.export_ply(mesh, encoding="ascii"))
    (folder / "binary.ply").write_bytes(trimesh.exchange.ply.export_ply(mesh))
    (folder / "text.stl").write_text(trimesh.exchange.stl.export_stl_ascii(mesh))
    (folder / "binary.stl").write_bytes(trimesh.exchange.stl.export_stl(mesh))
    (folder / "text.off").write_text(trimesh.exchange.off.export_off(mesh))


def _write_tets(folder: Path) -> None:
    import meshio

    nodes, tets = bar((2, 1, 1), (2.0, 1.0, 1.0))
    mesh = meshio.Mesh(nodes, [("tetra", tets.astype(np.int64))])
    for version, word in (("2.2", "2"), ("4.0", "40"), ("4.1", "41")):
        for binary in (False, True):
            name = f"{'binary' if binary else 'text'}{word}.msh"
            meshio.gmsh.write(str(folder / name), mesh, fmt_version=version, binary=binary)
    for name, binary, compression in (("text", False, None), ("binary", True, "zlib"), ("plain", True, None)):
        meshio.vtu.write(str(folder / f"{name}.vtu"), mesh, binary=binary, compression=compression)
    meshio.vtk.write(str(folder / "text.vtk"), mesh, binary=False)
    meshio.vtk.write(str(folder / "binary.vtk"), mesh, binary=True)
    meshio.medit.write(str(folder / "text.mesh"), mesh)
    points = [f"{k} {x} {y} {z}" for k, (x, y, z) in enumerate(nodes, 1)]
    cells = [" ".join(map(str, [k, *tet])) for k, tet in enumerate(tets + 1, 1)]
    old = [" ".join(map(str, [k, 4, 1, 1, 4, *tet])) for k, tet in enumerate(tets + 1, 1)]
    gmsh = ["$NOD", str(len(nodes)), *points, "$ENDNOD", "$ELM", str(len(tets)), *old, "$ENDELM", ""]
    (folder / "text1.msh").write_text("\n".join(gmsh))
    table = [f"{len(nodes)} 3 0 0", *points]
    elements = ["*ELEMENTS", "TET", f"{len(tets)} 4 0", *cells, ""]
    (folder / "whole.veg").write_text("\n".join(["# Vega", "*VERTICES", *table, *elements]))
    (folder / "parted.veg").write_text("\n".join(["*INCLUDE points.veg", *elements]))
    (folder / "points.veg").write_text("\n".join(["*VERTICES", *table, ""]))
