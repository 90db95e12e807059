# SPDX-License-Identifier: GPL-3.0-or-later
"""Filling Blender's monkey with tets, against fTetWild and TetGen."""

from __future__ import annotations

import contextlib
import importlib.util
import tempfile

import numpy as np

from harness.result import Result
from sinew.solver.mesh.geometry.triangle_surface import Surface
from sinew.solver.mesh.tet_quality import dihedral_angles
from sinew.solver.mesh.tetrahedralize import tetrahedralize
from sinew.solver.scene.scene import Meshing
from speed.baseline_meshers import find_ftetwild, run_tetgen
from speed.benchmark import NO_TARGET, Benchmark, Row, bound_row, missing_peer_row
from speed.timing import interleaved_times, medians

TARGET_SPEEDUP = 15.0
LEVELS, QUICK_LEVELS = 2, 0  # of subdivision: 15,744 and 968 triangles
DIVISIONS, QUICK_DIVISIONS = 42, 12  # 100K tets
FTETWILD_EDGE = 0.055  # of fTetWild, over the diagonal of the box: about 30K tets; its default of 0.05, 36K
METHODS = ("smooth", "robust")
SLOWER_NOTE = "Winding numbers of the lattice points and the search for the nearest point take most of the time."


def suzanne(levels: int) -> Surface:
    """Returns Blender's monkey, subdivided `levels` times: its eyes are separate and its parts cross each other."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.mesh.primitive_monkey_add(size=2.0)
    subdivided = bpy.context.object.modifiers.new("subdivided", "SUBSURF")
    subdivided.levels = levels
    mesh = bpy.context.object.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    mesh.calc_loop_triangles()
    vertices = np.empty((len(mesh.vertices), 3))
    triangles = np.empty((len(mesh.loop_triangles), 3), np.int32)
    mesh.vertices.foreach_get("co", vertices.ravel())
    mesh.loop_triangles.foreach_get("vertices", triangles.ravel())
    return Surface(vertices, triangles)


def run(quick: bool) -> Result:
    """Fills the monkey with every mesher."""
    if importlib.util.find_spec("bpy") is None:
        return Result([missing_peer_row("filling Suzanne", NO_TARGET, "Blender's module")])
    surface = suzanne(QUICK_LEVELS if quick else LEVELS)
    divisions = QUICK_DIVISIONS if quick else DIVISIONS
    made: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def fill(method: str) -> None:
        mesh = tetrahedralize(surface, Meshing(method, divisions=divisions), "Suzanne")
        made[method] = mesh.nodes, mesh.tets

    calls = {method: lambda method=method: fill(method) for method in METHODS}
    peer = find_ftetwild()
    if peer is not None:
        given = surface.vertices, surface.triangles
        asked = {"edge_length_fac": 0.2, "num_opt_iter": 1} if quick else {"edge_length_fac": FTETWILD_EDGE}
        calls["fTetWild"] = lambda: made.update(fTetWild=peer(*given, **asked))
    # fTetWild needs no compilation, and a call takes a minute
    for method in METHODS:
        fill(method)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # fTetWild leaves files
        taken = medians(interleaved_times(calls, 1 if quick else 5, first=0))
    rows = [
        Row(f"{name}: seconds, tets, smallest dihedral angle [°]", NO_TARGET, mesh_text(taken[name], *made[name]))
        for name in taken
    ]
    wanted = f"≥ {TARGET_SPEEDUP:g} ×"
    for method in METHODS:
        quantity = f"{len(made[method][1])} tets ({method}), faster than fTetWild by"
        if peer is None:
            rows.append(missing_peer_row(quantity, wanted, "pytetwild", line=7))
            continue
        times = taken["fTetWild"] / taken[method]
        rows.append(bound_row(quantity, wanted, f"{times:.1f} ×", times >= TARGET_SPEEDUP, SLOWER_NOTE, line=7))
    rows.append(Row("TetGen on the same surface", NO_TARGET, run_tetgen(surface), remark=TETGEN_NOTE))
    return Result(rows, values={f"{name} [s]": each for name, each in taken.items()})


def mesh_text(seconds: float, nodes: np.ndarray, tets: np.ndarray) -> str:
    """Returns the text of a time and a mesh."""
    return f"{seconds:.2f}, {len(tets)}, {dihedral_angles(nodes, tets).min():.1f}"


MESH_TEXT_COLUMNS = "seconds, tets, smallest dihedral angle [°]"
TETGEN_NOTE = "TetGen needs a closed surface without self-intersections; the monkey's eyes and ears cross its head."

BENCHMARK = Benchmark(
    lines=(7,),
    title="Filling a mesh with tets",
    what=f"The mesh is Blender's Suzanne, subdivided {LEVELS} times: 15,744 triangles that cross each other. Sinew "
    f"fills it at {DIVISIONS} divisions by both its methods. fTetWild (pytetwild) runs with its defaults except an "
    f"edge of {FTETWILD_EDGE:g} of the box's diagonal, which makes fewer tets. They take turns, five times each, on "
    "all cores.",
    run=run,
)
