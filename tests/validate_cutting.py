# SPDX-License-Identifier: GPL-3.0-or-later
"""The render mesh stays watertight: Blender's Suzanne and every closed development surface, shattered and cracked.

Run by `make validate`; takes a minute or two.
"""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.claim_table import reach
from fixtures.cut_surface_checks import broken_rules, piece_volumes, shattered
from fixtures.relative_time import RelativeTime
from sinew.solver.mesh.cutting.cut import cut_surface
from sinew.solver.mesh.formats.surface_files import read_surface
from sinew.solver.mesh.geometry.manifold_defects import find_manifold_defects
from sinew.solver.mesh.geometry.triangle_surface import Surface
from sinew.solver.mesh.geometry.welding import weld
from sinew.solver.mesh.tetrahedralize import tetrahedralize
from sinew.solver.scene.scene import Meshing

SECTION = "The render mesh stays watertight"
PIECES = 50
VOLUME = 1.0e-9  # of the whole
SECONDS = 2.0


def merged(surface):
    """A surface with one vertex for all at one place, as Blender's importer makes it of an STL."""
    triangles = weld(surface)
    numbers, first = np.unique(triangles.ravel(), return_index=True)
    places = surface.vertices[surface.triangles.ravel()[first]]
    return Surface(places, np.searchsorted(numbers, triangles).astype(np.int32))


def breakages(nodes, tets, seed):
    """Nodes of tets shattered, cracked on one side only, and fallen apart altogether."""
    x = nodes @ np.random.default_rng(seed).normal(size=3)
    yield "shattered", shattered(nodes, tets, min(80, len(tets)), seed)
    yield "cracked", shattered(nodes, tets, min(80, len(tets)), seed, x < np.median(x))
    yield "apart", np.arange(4 * len(tets), dtype=np.int32).reshape(-1, 4)


def broken(surface, meshing, name, seed=None):
    """Cuts a surface in several ways; returns the broken rules, the fewest pieces, the worst volume, the seconds."""
    mesh = tetrahedralize(surface, meshing, name, seed)
    vertices, triangles = surface.vertices, surface.triangles
    faces = np.arange(len(triangles), dtype=np.int32)
    volume = np.linalg.det(vertices[triangles] - vertices.mean(axis=0)).sum() / 6
    wrong, pieces, worst, longest = [], [], 0.0, 0.0
    for kind, parted in breakages(mesh.nodes, mesh.tets, 1):
        # by the reference beside it: by the clock alone a busy machine missed the same bound
        seconds, result = RelativeTime().time(
            lambda: cut_surface(mesh.nodes, mesh.tets, parted, vertices, triangles, faces, name)  # noqa: B023
        )
        if kind == "shattered":
            longest = seconds
            pieces.append(result.piece_count)
        wrong += [
            f"{name}, {kind}: {rule}"
            for rule in broken_rules(result, mesh.nodes, mesh.tets, parted, vertices, triangles, faces)
        ]
        worst = max(worst, abs(piece_volumes(result).sum() / volume - 1.0))
    print(
        f"{name:24} {len(triangles):6} triangles {len(mesh.tets):5} tets {pieces[0]:3} pieces, "
        f"volume {worst:.1e}, {longest:.2f} s"
    )
    return wrong, min(pieces), worst, longest


def add_rows(name, count, wrong, pieces, worst):
    reach(SECTION, f"{name}: closed, oriented, nothing lost or doubled", f"{len(wrong)} rules broken", 0, not wrong)
    reach(SECTION, f"{name}: volumes of the pieces, {count} breakages", f"{worst:.1e} off", VOLUME, worst <= VOLUME)
    reach(SECTION, f"{name}: pieces, at least", pieces, PIECES, pieces >= PIECES)
    print("\n".join(wrong))


def test_every_closed_surface(shared):
    paths = sorted((shared / "testdata" / "surface").iterdir())
    wrong, pieces, worst, closed = [], [], 0.0, 0
    for path in paths:
        surface = read_surface(path)
        if path.suffix.lower() == ".stl":
            surface = merged(surface)
        if find_manifold_defects(surface.triangles) is not None:
            continue
        closed += 1
        for divisions, seed in ((7, None), (7, 1), (16, 2)):  # a regular lattice, and two as breakable bodies have
            rules, count, off, _ = broken(surface, Meshing("robust", divisions=divisions), path.stem, seed)
            wrong += rules
            pieces.append(count)
            worst = max(worst, off)
    reach(SECTION, "closed surfaces of testdata/surface", f"{closed} of {len(paths)}", 16, closed == 16)
    add_rows("closed surfaces", 9 * closed, wrong, min(pieces), worst)


def suzanne(voxel):
    """Blender's monkey after its voxel remesh, as triangles."""
    bpy = pytest.importorskip("bpy", reason="needs Blender's module")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.mesh.primitive_monkey_add()
    obj = bpy.context.object
    corners = [tuple(face.vertices) for face in obj.data.polygons]
    fans = [(face[0], face[k], face[k + 1]) for face in corners for k in range(1, len(face) - 1)]
    as_it_comes = find_manifold_defects(np.array(fans, np.int32))
    modifier = obj.modifiers.new("Remesh", "REMESH")
    modifier.mode, modifier.voxel_size = "VOXEL", voxel
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    mesh.calc_loop_triangles()
    vertices, triangles = np.empty(3 * len(mesh.vertices)), np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.vertices.foreach_get("co", vertices)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    return Surface(vertices.reshape(-1, 3), triangles.reshape(-1, 3)), as_it_comes


def found_by_blender(result):
    """What Blender itself has against a cut surface, in words."""
    import bmesh
    import bpy

    mesh = bpy.data.meshes.new("Cut")
    start, corners = result.face_start.tolist(), result.corners.tolist()
    mesh.from_pydata(result.rest, [], [corners[a:b] for a, b in zip(start[:-1], start[1:], strict=True)])
    wrong = ["mesh.validate changes it"] if mesh.validate(verbose=True) else []
    found = bmesh.new()
    found.from_mesh(mesh)
    wrong += ["an edge is not manifold"] if not all(edge.is_manifold for edge in found.edges) else []
    wrong += ["a vertex is not manifold"] if not all(vertex.is_manifold for vertex in found.verts) else []
    wrong += ["neighbours disagree which side is out"] if not all(edge.is_contiguous for edge in found.edges) else []
    found.free()
    return wrong


@pytest.mark.timed
def test_remeshed_suzanne():
    surface, as_it_comes = suzanne(0.032)
    reach(SECTION, "Suzanne as she comes: open edges", as_it_comes.open_edges, 42, as_it_comes.open_edges == 42)
    assert find_manifold_defects(surface.triangles) is None
    wrong, pieces, worst, seconds = broken(surface, Meshing("robust", divisions=8), "Suzanne", 0)
    add_rows(f"Suzanne remeshed, {len(surface.triangles)} triangles", 3, wrong, pieces, worst)
    reach(SECTION, "one cut of her, seconds", f"{seconds:.2f} s", f"{SECONDS} s", seconds < SECONDS)


def test_blender_takes_what_is_cut():
    surface, _ = suzanne(0.032)
    mesh = tetrahedralize(surface, Meshing("robust", divisions=8), "Suzanne", 0)
    for kind, parted in breakages(mesh.nodes, mesh.tets, 2):
        faces = np.arange(len(surface.triangles), dtype=np.int32) // 2  # mostly no faces at all: their triangles stand
        result = cut_surface(mesh.nodes, mesh.tets, parted, surface.vertices, surface.triangles, faces, "Suzanne")
        wrong = found_by_blender(result)
        reach(
            SECTION, f"Suzanne {kind}, what Blender has against it", ", ".join(wrong) or "nothing", "nothing", not wrong
        )
