# SPDX-License-Identifier: GPL-3.0-or-later
"""Fills a surface with tets: smooth ones that follow it, or robust ones that cover it.

Blender's panel asks `estimate.py` how many tets there will be, so importing this package loads neither Numba nor
SciPy; filling does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...scene.scene import Meshing
from ..tet_mesh import TetMesh

if TYPE_CHECKING:
    from ..geometry.triangle_surface import Surface


def tetrahedralize(surface: Surface, meshing: Meshing, name: str, seed: int | None = None) -> TetMesh:
    """Fills a surface with tets, positively oriented.

    Args:
        surface: Any triangles: open, doubled, flat, inside-out, crossing each other, of any size, anywhere.
        meshing: Method "smooth", "robust" or "adaptive", and the tet size: the edge a of the cubic cells of the
            body-centred lattice, which is the long edge of its tets (the short ones are a √3/2). There are 12 tets per
            cell. Where adaptive tets are larger, their cells are.
        name: What the object is called, for the sentences of failures.
        seed: Makes the lattice of robust tets irregular by lot, for bodies that break; None: it stays regular.

    Raises:
        BadInput: where the surface is empty or not finite, the tet size does not fit it, or nothing is inside.
    """
    from .fill import fill_surface

    return fill_surface(surface, meshing, name, seed)
