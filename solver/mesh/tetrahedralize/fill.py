# SPDX-License-Identifier: GPL-3.0-or-later
"""Fills a surface: cleans it, makes tets by the chosen method, and reports."""

from __future__ import annotations

import dataclasses
import time

from ...runtime.errors import BadInput
from ...scene.fine_regions import FineRegions
from ...scene.meshing import ADAPTIVE, LATTICE_COVERS
from ...scene.scene import Meshing
from ..geometry.orient_outward import OrientedSurface, orient_outward
from ..geometry.triangle_bvh import Bvh, build_bvh
from ..geometry.triangle_surface import Surface, make_surface
from ..geometry.winding_number_volume import enclosed_volume
from ..tet_levels import TetLevels
from ..tet_mesh import FilledTets, TetMesh
from .bridging_tets import find_bridging_tets
from .estimate import check_estimate
from .polygon_soup_detection import is_polygon_soup
from .quality_report import quality_report
from .surface_samples import sample_surface
from .tet_components import number_by_component
from .tet_size import check_size, tet_size
from .unmeshed_parts import find_unmeshed_parts


def fill_surface(surface: Surface, meshing: Meshing, name: str, seed: int | None = None) -> TetMesh:
    """See `tetrahedralize`.

    Works on a copy of size one around the origin, so that neither millimetres nor kilometres from the origin cost
    digits.
    """
    started = time.perf_counter()
    surface = make_surface(surface.vertices, surface.triangles, name, surface.hollow_vertices)
    lower, upper = surface.bounds
    middle, size = (lower + upper) / 2, float((upper - lower).max())
    if not size > 0.0:
        raise BadInput("mesh-flat", name=name)
    check_size(meshing, size, name)
    outward = orient_outward(dataclasses.replace(surface, vertices=(surface.vertices - middle) / size))
    if len(outward.surface.triangles) == 0:
        raise BadInput("mesh-flat", name=name)
    area, volume = outward.surface.area * size**2, outward.surface.signed_volume * size**3
    refines_dynamically = meshing.method == ADAPTIVE and meshing.refines_dynamically
    most = dataclasses.replace(meshing, method="robust") if refines_dynamically else meshing
    check_estimate((upper - lower).tolist(), area, volume, most, name)
    unit = dataclasses.replace(meshing, tet_size=tet_size(surface, meshing) / size)
    bvh = build_bvh(outward.surface.vertices, outward.surface.triangles)
    enclosed = enclosed_volume(bvh, outward.is_closed)
    levels: TetLevels | None = None
    if meshing.method == ADAPTIVE:
        from .adaptive_fill import fill_adaptively
        from .adaptive_levels import make_tet_levels
        from .leaf_tets import leaf_tets

        fine = meshing.fine or FineRegions()
        fine = dataclasses.replace(fine, places=(fine.places - middle) / size, reach=fine.reach / size)
        unit = dataclasses.replace(unit, fine=fine)
        if refines_dynamically:
            levels = make_tet_levels(outward.surface, bvh, unit, outward.is_closed)
            filling = leaf_tets(levels, ~levels.is_finest).filling
        else:
            filling = fill_adaptively(outward.surface, bvh, unit, outward.is_closed)
        is_covered_soup = False
    else:
        filling, is_covered_soup = _fill(outward, bvh, unit, name, enclosed, seed)
    if len(filling.tets) == 0 and not enclosed > 0.0:
        raise BadInput("no-inside", name=name)
    if len(filling.tets) == 0:  # a plate's volume is half its area times its thickness
        thickness = size * 2.0 * enclosed / outward.surface.area
        raise BadInput("nothing-inside", name=name, thickness=f"{float(f'{thickness:.2g}'):g}")
    filling = number_by_component(filling)
    # whole lattice tets cover the surface, so no part is lost
    is_covered = meshing.method in LATTICE_COVERS or is_covered_soup
    cell = float(unit.tet_size or 0.0)
    samples = sample_surface(outward.surface, filling, cell)
    report = dataclasses.replace(
        quality_report(filling, enclosed, unit, size, 0.0),
        lost_parts=() if is_covered else find_unmeshed_parts(samples, outward, bvh, cell, middle, size),
        joined_tets=find_bridging_tets(samples, filling, outward, bvh, cell),
        is_covered_soup=is_covered_soup,
        seconds=time.perf_counter() - started,
    )
    if levels is not None:
        levels = dataclasses.replace(levels, origin=middle + size * levels.origin, spacing=size * levels.spacing)
    return TetMesh(middle + size * filling.nodes, filling.tets, filling.fill, report, filling.junctions, levels=levels)


def _fill(
    outward: OrientedSurface, bvh: Bvh, meshing: Meshing, name: str, enclosed: float, seed: int | None
) -> tuple[FilledTets, bool]:
    """Fills a surface of size one by the chosen method; imports only what it needs.

    Returns:
        The tets, and whether they cover a polygon soup that the chosen method cannot fill.
    """
    is_smooth = meshing.method != "robust"
    if is_smooth:
        from .isosurface_fill import fill_by_stuffing, lacks_inside

        if not (is_polygon_soup(outward) and lacks_inside(outward, bvh)):
            return fill_by_stuffing(outward, bvh, meshing, name, enclosed), False
    from .lattice_fill import fill_by_lattice_cover

    return fill_by_lattice_cover(outward.surface, bvh, meshing, name, outward.is_closed, seed), is_smooth
