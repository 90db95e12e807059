# SPDX-License-Identifier: GPL-3.0-or-later
"""The check that the mesh of a breakable body is closed, so that its pieces can be closed."""

from __future__ import annotations

import numpy as np

from ...solver.mesh.geometry.manifold_defects import find_manifold_defects
from ...solver.runtime.arrays import Floats, Indices
from ...solver.runtime.errors import BadInput
from ...solver.scene.scene import Scene
from .mesh_defects import defects_text


def check_breakable(scene: Scene) -> None:
    """Checks the meshes of all breakable solids; raises as `check_closed_mesh`. It needs nothing of Blender."""
    for body in scene.bodies:
        if body.fracture is not None and not body.is_sheet:
            check_closed_mesh(body.name, body.vertices, body.triangles)


def check_closed_mesh(name: str, points: Floats, triangles: Indices) -> None:
    """Makes sure that the mesh of a breakable body is closed, with normals that point outwards.

    Raises:
        BadInput: It is open, or inside out.
    """
    found = find_manifold_defects(triangles)
    if found is not None:
        raise BadInput("breaks-open", name=name, defects=defects_text(found))
    a, b, c = (points[triangles[:, i]] - points.mean(axis=0) for i in range(3))
    if np.einsum("ij,ij->", a, np.cross(b, c)) < 0.0:
        raise BadInput("breaks-inside-out", name=name)
