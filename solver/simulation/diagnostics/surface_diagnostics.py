# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings about the surface of a body by itself: open, doubled, inside out, crossing itself, thinner than its tets."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ...mesh.geometry.local_thickness import local_thicknesses
from ...mesh.geometry.orient_outward import orient_outward
from ...mesh.geometry.surface_defects import find_surface_defects
from ...mesh.geometry.triangle_surface import Surface
from ...runtime.errors import SinewError
from ...scene.meshing import LATTICE_COVERS
from ...scene.scene import Body, Scene
from ...scene.sheet import EDGES_PER_WRINKLE, wrinkle_width
from .finding import Finding

COVERING_METHODS = (*LATTICE_COVERS, "given", "sheet")  # that do not ask what is inside
NO_VERTICES = np.zeros(0, np.int32)
MIN_TETS_ACROSS = 2.0
ROUNDING = 0.2  # of a width of wrinkles that is an order of magnitude
MAX_THIN_SHARE = 0.5  # of the surface: the thin ends of a spindle of three tets across its belly are up to 40 %


def surface_findings(body: Body, surface: Surface) -> Iterator[Finding]:
    """Yields what is wrong with the surface of a body."""
    defects, triangles = find_surface_defects(surface), surface.triangles
    is_open = len(defects.open) and body.meshing.method not in COVERING_METHODS
    found = {
        "surface-open": defects.open if is_open else NO_VERTICES,
        "surface-doubled": defects.doubled,
        "surface-crossing": defects.crossing,
    }
    for kind, vertices in found.items():
        if len(vertices):
            yield Finding(SinewError(kind, name=body.name, count=len(vertices)), body.key, vertices)
    if len(defects.inward):
        problem = SinewError("surface-inside-out", name=body.name, count=len(defects.inward))
        vertices = np.unique(triangles[defects.inward]).astype(np.int32)
        yield Finding(problem, body.key, vertices, defects.inward)


def coarse_sheet_findings(body: Body, scene: Scene, edge: float) -> Iterator[Finding]:
    """Yields that a sheet is too coarse for its wrinkles, with the root mean square of its edges [m]."""
    gravity = float(np.linalg.norm(scene.settings.gravity)) * body.field_weights.gravity * body.simulated_scale
    width = wrinkle_width(body.material, body.sheet, gravity)
    if width > 0.0 and edge > width / EDGES_PER_WRINKLE * (1.0 + ROUNDING):
        wanted = rounded_down(width / EDGES_PER_WRINKLE)
        problem = SinewError("sheet-coarse", name=body.name, width=f"{width:.2g}", edge=f"{edge:.2g}", wanted=wanted)
        yield Finding(problem, body.key)


def thinness_findings(body: Body, surface: Surface, tet_size: float) -> Iterator[Finding]:
    """Yields where a body is thinner than two of its tets, if that is more of its surface than tips are.

    Args:
        body: The body.
        surface: Its surface.
        tet_size: Of its tets [m].
    """
    outward = orient_outward(surface).surface
    if not len(outward.triangles):
        return
    thickness, area = local_thicknesses(outward)
    is_known, is_thin = np.isfinite(thickness), thickness < MIN_TETS_ACROSS * tet_size
    share = float(area[is_thin].sum() / area.sum())
    if share > MAX_THIN_SHARE:
        wanted = area_quantile(thickness[is_known], area[is_known], MAX_THIN_SHARE) / MIN_TETS_ACROSS
        numbers = {"percent": round(100.0 * share), "wanted": rounded_down(wanted)}
        problem = SinewError("surface-thin", name=body.name, tet_size=float(f"{tet_size:.2g}"), **numbers)
        yield Finding(problem, body.key, np.unique(outward.triangles[is_thin]).astype(np.int32))


def rounded_down(value: float) -> float:
    """Returns a value > 0 with two digits, not larger than it is."""
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.floor(value / step * (1.0 + 1.0e-12)) * step:.2g}")


def area_quantile(values: np.ndarray, areas: np.ndarray, share: float = 0.5) -> float:
    """Returns the value below which a share of the area is; both (k,), k ≥ 1."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(areas[order], dtype=np.float64)
    return float(values[order][np.searchsorted(reached, share * reached[-1]).clip(max=len(values) - 1)])
