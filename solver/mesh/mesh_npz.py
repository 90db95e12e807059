# SPDX-License-Identifier: GPL-3.0-or-later
"""A body's tets and binding as arrays, `model/KEY.npz`: what a resumed bake goes on with, instead of meshing again."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..runtime.arrays import Floats, Indices
from ..runtime.checksums import digest
from ..runtime.npz_reader import stored_floats, stored_indices
from ..scene.scene import Body
from ..scene.serialisation.typed_json import from_tree
from ..scene.settings.fracture_settings import MAX_FINENESS
from .embedding import Binding
from .t_junctions import TJunctions, no_t_junctions
from .tet_bisection import bisected_tets
from .tet_levels import TetLevels
from .tet_mesh import BisectedTets, MeshReport, TetMesh

MAX_LATTICE_POINTS = 2**20  # along each axis
MAX_BINDING_WEIGHT = 1.0e9  # of a vertex so far outside its tet that float32 has no digits left


def topology_digest(body: Body) -> str:
    """Returns 64 hex digits of what a binding depends on: number of vertices, and faces."""
    return digest([str(len(body.vertices)), body.triangles])


def to_arrays(body: Body, mesh: TetMesh, binding: Binding) -> dict[str, Any]:
    """Returns `nodes`, `tets`, `fill`, `joined_tets`, `binding_tet`, `binding_weights`, `topology_digest` and
    `report`, and where there are T-junctions a field "junction_NAME" for each of theirs, where tets change their sizes
    a field "levels_NAME" for each of those of `TetLevels`, where tets are bisected `coarse_tets`, `coarse_fill` and
    `bisected_levels`.
    """
    report = dataclasses.asdict(mesh.report)
    del report["joined_tets"], report["seconds"]  # an array, and a clock time, which would change the bytes
    if not mesh.report.is_covered_soup:  # files of 0.2.0 say nothing of it
        del report["is_covered_soup"]
    return {
        "nodes": mesh.nodes,
        "tets": mesh.tets,
        "fill": mesh.fill,
        "joined_tets": mesh.report.joined_tets,
        "binding_tet": binding.tet,
        "binding_weights": binding.weights,
        "topology": np.array(topology_digest(body)),
        "report": np.array(json.dumps(report)),
        **(_junctions_to_arrays(mesh.junctions) if len(mesh.junctions) else {}),
        **(_levels_to_arrays(mesh.levels) if mesh.levels is not None else {}),
        **(_bisected_to_arrays(mesh.bisected) if mesh.bisected is not None else {}),
    }


def _junctions_to_arrays(junctions: TJunctions) -> dict[str, npt.NDArray]:
    return {f"junction_{field.name}": getattr(junctions, field.name) for field in dataclasses.fields(junctions)}


def _junctions_from_arrays(arrays: Mapping[str, npt.NDArray], node_count: int) -> TJunctions:
    nodes = stored_indices(arrays, "junction_nodes", node_count, -1)
    weights = stored_floats(arrays, "junction_weights", -1)
    parents = stored_indices(arrays, "junction_parents", node_count, len(weights))
    start = stored_indices(arrays, "junction_start", len(weights) + 1, len(nodes) + 1)
    if start[0] != 0 or start[-1] != len(weights) or (np.diff(start) < 1).any() or (np.diff(nodes) < 1).any():
        raise ValueError("junction_start or junction_nodes does not rise")
    return TJunctions(nodes, start, parents, weights)


def _levels_to_arrays(levels: TetLevels) -> dict[str, npt.NDArray]:
    return {f"levels_{field.name}": np.asarray(getattr(levels, field.name)) for field in dataclasses.fields(levels)}


def _levels_from_arrays(arrays: Mapping[str, npt.NDArray]) -> TetLevels:
    fill = stored_floats(arrays, "levels_fill", -1)
    count = len(fill)
    start = stored_indices(arrays, "levels_level_start", count + 1, -1).tolist()
    sides = stored_indices(arrays, "levels_counts", MAX_LATTICE_POINTS, 3).tolist()
    corners = arrays["levels_corners"]
    if corners.shape != (count, 4) or corners.dtype != np.int64 or corners.min(initial=0) < 0:
        raise ValueError(f"levels_corners has the shape {corners.shape} and holds {corners.dtype.name}")
    if corners.max(initial=0) >= math.prod(sides) or start[0] != 0 or start[-1] != count or sorted(start) != start:
        raise ValueError("levels_corners or levels_level_start holds values that are too large")
    parent = np.asarray(arrays["levels_parent"])
    level = np.repeat(np.arange(len(start) - 1, dtype=np.int64), np.diff(start))
    first, above = np.array(start, np.int64)[level], np.array([0, *start[:-1]], np.int64)[level]
    is_valid = np.where(level > 0, (parent >= above) & (parent < first), parent == -1)
    if parent.shape != (count,) or parent.dtype != np.int32 or not is_valid.all():
        raise ValueError("levels_parent names tets that are not a level above")
    at_start = np.asarray(arrays["levels_is_split_at_start"])
    if at_start.shape != (count,) or at_start.dtype != np.bool_:
        raise ValueError("levels_is_split_at_start is no row of truth values")
    spacing = float(stored_floats(arrays, "levels_spacing"))
    origin = stored_floats(arrays, "levels_origin", 3)
    return TetLevels(origin, spacing, (sides[0], sides[1], sides[2]), corners, tuple(start), parent, fill, at_start)


def _bisected_to_arrays(bisected: BisectedTets) -> dict[str, npt.NDArray]:
    forest = bisected.forest
    return {
        "coarse_tets": forest.tets[: forest.root_count],
        "coarse_fill": bisected.coarse_fill,
        "bisected_levels": np.array(forest.levels),
    }


def _bisected_from_arrays(arrays: Mapping[str, npt.NDArray], nodes: Floats, tets: Indices) -> BisectedTets:
    coarse = stored_indices(arrays, "coarse_tets", len(nodes), -1, 4)
    fill = stored_floats(arrays, "coarse_fill", len(coarse))
    levels = int(np.asarray(arrays["bisected_levels"]).reshape(()))
    if not 0 < levels <= MAX_FINENESS:
        raise ValueError(f"bisected_levels is {levels}")
    forest = bisected_tets(nodes[: int(coarse.max(initial=-1)) + 1], coarse, levels)
    if not (np.array_equal(forest.fine_tets, tets) and np.array_equal(forest.nodes, nodes)):
        raise ValueError(f"tets were not bisected {levels} times out of coarse_tets")
    return BisectedTets(forest, fill)


def from_arrays(arrays: Mapping[str, npt.NDArray]) -> tuple[TetMesh, Binding]:
    """Returns the mesh and the binding that `to_arrays` took apart.

    Raises:
        ValueError: Something is missing, or has another type or shape; the sentence names it.
    """
    nodes = stored_floats(arrays, "nodes", -1, 3)
    tets = stored_indices(arrays, "tets", len(nodes), -1, 4)
    fill = stored_floats(arrays, "fill", len(tets))
    weights = stored_floats(arrays, "binding_weights", -1, 4)
    if np.abs(weights).max(initial=0.0) > MAX_BINDING_WEIGHT:
        raise ValueError("binding_weights holds values that are too large")
    binding = Binding(stored_indices(arrays, "binding_tet", len(tets), len(weights)), weights)
    joined = stored_indices(arrays, "joined_tets", len(tets), -1)
    report_tree = json.loads(str(arrays["report"])) if "report" in arrays else None
    if not isinstance(report_tree, dict):
        raise ValueError("it has no report")
    report = dataclasses.replace(from_tree(MeshReport, report_tree, {}, "report"), joined_tets=joined)
    has_junctions = "junction_nodes" in arrays
    junctions = _junctions_from_arrays(arrays, len(nodes)) if has_junctions else no_t_junctions()
    levels = _levels_from_arrays(arrays) if "levels_corners" in arrays else None
    bisected = _bisected_from_arrays(arrays, nodes, tets) if "coarse_tets" in arrays else None
    return TetMesh(nodes, tets, fill, report, junctions, levels=levels, bisected=bisected), binding


def matches_body(arrays: Mapping[str, npt.NDArray], body: Body) -> bool:
    """Whether these are tets of a body with the same vertices and faces, wherever they are."""
    return str(arrays.get("topology", "")) == topology_digest(body)
