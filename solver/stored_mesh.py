# SPDX-License-Identifier: GPL-3.0-or-later
"""A body's tets and binding as arrays, `model/KEY.npz`: what a resumed bake goes on with, instead of meshing again."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .arrays import digest, floats, indices
from .embedding import Binding
from .scene import Body
from .tetrahedralize.tet_mesh import LostPart, MeshReport, TetMesh


def topology(body: Body) -> str:
    """Returns 64 hex digits of what a binding depends on: number of vertices, and faces."""
    return digest([str(len(body.vertices)), body.triangles])


def to_arrays(body: Body, mesh: TetMesh, binding: Binding) -> dict[str, Any]:
    """Returns `nodes`, `tets`, `fill`, `joined_tets`, `binding_tet`, `binding_weights`, `topology` and `report`."""
    report = dataclasses.asdict(mesh.report)
    del report["joined_tets"], report["seconds"]  # an array, and a clock time, which would change the bytes
    return {
        "nodes": mesh.nodes,
        "tets": mesh.tets,
        "fill": mesh.fill,
        "joined_tets": mesh.report.joined_tets,
        "binding_tet": binding.tet,
        "binding_weights": binding.weights,
        "topology": np.array(topology(body)),
        "report": np.array(json.dumps(report)),
    }


def from_arrays(arrays: Mapping[str, npt.NDArray]) -> tuple[TetMesh, Binding]:
    """Returns the mesh and the binding that `to_arrays` took apart.

    Raises:
        KeyError, ValueError: Something is missing or has another shape.
    """
    told = json.loads(str(arrays["report"]))
    told["lost_parts"] = tuple(LostPart(**part) for part in told["lost_parts"])
    report = MeshReport(**told, joined_tets=indices(arrays["joined_tets"], -1))
    nodes, tets = floats(arrays["nodes"], -1, 3), indices(arrays["tets"], -1, 4)
    mesh = TetMesh(nodes, tets, floats(arrays["fill"], len(tets)), report)
    weights = floats(arrays["binding_weights"], -1, 4)
    return mesh, Binding(indices(arrays["binding_tet"], len(weights)), weights)


def fits(arrays: Mapping[str, npt.NDArray], body: Body) -> bool:
    """Whether these are tets of a body with the same vertices and faces, wherever they are."""
    return str(arrays.get("topology", "")) == topology(body)
