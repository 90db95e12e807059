# SPDX-License-Identifier: GPL-3.0-or-later
"""Tet size: the edge a of the cubic cells of the body-centred lattice, which is the long edge of its tets."""

from __future__ import annotations

from ...runtime.errors import BadInput
from ...scene.scene import Meshing
from ..geometry.triangle_surface import Surface


def tet_size(surface: Surface, meshing: Meshing) -> float:
    """Returns the tet size [m]: what is set, else the longest side of the bounding box over the divisions."""
    if meshing.tet_size is not None:
        return float(meshing.tet_size)
    lower, upper = surface.bounds
    return float((upper - lower).max()) / meshing.divisions


def check_size(meshing: Meshing, longest: float, name: str) -> None:
    """Refuses a tet size that makes no sense for an object whose longest side is `longest` [m].

    Raises:
        BadInput: "setting-out-of-range" or "tet-size-too-large".
    """
    if meshing.tet_size is None:
        if meshing.divisions < 1:
            raise BadInput(
                "setting-out-of-range",
                setting="Divisions",
                name=name,
                value=meshing.divisions,
                range="1 or more",
            )
    elif not 0.0 < meshing.tet_size < float("inf"):
        raise BadInput(
            "setting-out-of-range", setting="Tet Size", name=name, value=meshing.tet_size, range="more than 0 m"
        )
    elif meshing.tet_size > longest:
        raise BadInput("tet-size-too-large", name=name, size=f"{meshing.tet_size:.4g}", longest=f"{longest:.4g}")
