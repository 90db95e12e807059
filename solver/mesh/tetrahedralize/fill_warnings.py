# SPDX-License-Identifier: GPL-3.0-or-later
"""Warnings about the tets of a body."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...runtime.errors import SinewError
from ...scene.meshing import LATTICE_COVERS
from ...scene.scene import Body
from ..geometry.closedness import has_inside
from ..geometry.triangle_surface import Surface
from ..tet_mesh import TetMesh, UnmeshedPart
from .estimate import MAX_SHEET_VOLUME_RATIO
from .tet_components import excess_component_count

MAX_RELATIVE_VOLUME_ERROR = 0.1  # relative change of volume above which a warning is due
MAX_VOLUME_RATIO = 2.0  # volume of the tets over that of the body, above which they are thicker than the body
MAX_PROTRUSION_SHARE = 0.25  # how far a mesh may extend out of the user's tets, relative to their size
MIN_SIZE_SHARE = 0.1  # how small it may be, relative to their size
MAX_NAMED_PARTS = 3  # number of lost parts in a message
# of the area of a mesh: so much of it, such as the eyes of a head, may move with the tets nearby without being noticed
MAX_MINOR_AREA_SHARE = 0.25


def fill_warnings(body: Body, surface: Surface, mesh: TetMesh) -> list[SinewError]:
    """Returns the warnings.

    Args:
        body: Of the scene.
        surface: Its render mesh [m].
        mesh: Its tets.
    """
    report = mesh.report
    found = _mismatch_warnings(body, surface, mesh) if body.meshing.method == "given" else []
    found += _unmeshed_warnings(body, mesh)
    if report.is_covered_soup:
        found.append(SinewError("soup-covered", name=body.name))
    if report.lost_parts and (count := excess_component_count(surface, mesh.tets)):
        found.append(SinewError("pieces-apart", name=body.name, count=count))
    if len(report.joined_tets):
        found.append(SinewError("parts-joined", name=body.name, count=len(report.joined_tets)))
    is_closed = has_inside(surface.vertices, surface.triangles)
    is_guessed = not is_closed and not report.is_covered_soup
    if is_guessed and not (body.meshing.method in LATTICE_COVERS and _is_sheet(surface)):
        found.append(SinewError("mesh-open", name=body.name))
    if report.volume_ratio > MAX_VOLUME_RATIO:
        found.append(SinewError("volume-multiplied", name=body.name, times=f"{report.volume_ratio:.3g}"))
    elif is_closed and report.volume_ratio > 0.0 and abs(report.volume_ratio - 1.0) > MAX_RELATIVE_VOLUME_ERROR:
        found.append(SinewError("volume-changed", name=body.name, percent=round(100.0 * report.volume_ratio)))
    return found


def _is_sheet(surface: Surface) -> bool:
    """Whether a surface encloses next to nothing, so that robust tets cover it and nobody guesses an inside."""
    around_middle = Surface(surface.vertices - surface.vertices.mean(axis=0), surface.triangles)
    return bool(abs(around_middle.signed_volume) < MAX_SHEET_VOLUME_RATIO * surface.area**1.5)


def _unmeshed_warnings(body: Body, mesh: TetMesh) -> Iterator[SinewError]:
    """Yields warnings about parts without tets: one for those that finer tets would fill, one for all others."""
    report = mesh.report
    thin = [part for part in report.lost_parts if part.tet_size_needed > 0.0]
    flat = [part for part in report.lost_parts if not part.tet_size_needed > 0.0]
    is_minor = sum(part.area_share for part in report.lost_parts) <= MAX_MINOR_AREA_SHARE
    if thin:
        needed = min(part.tet_size_needed for part in thin)
        numbers = {"size": f"{needed:.2g}", "times": f"{report.tet_size / needed:.2g}", "is_minor": is_minor}
        if _part_count(thin) == 1:
            yield SinewError("part-lost", name=body.name, part=thin[0].name, places=_places(thin), **numbers)
        else:
            named = {"count": _part_count(thin), "parts": _part_names(thin), "places": _places(thin)}
            yield SinewError("parts-lost", name=body.name, **named, **numbers)
    if _part_count(flat) == 1:
        named = {"part": flat[0].name, "places": _places(flat), "is_minor": is_minor}
        yield SinewError("part-without-inside", name=body.name, **named)
    elif flat:
        named = {"count": _part_count(flat), "parts": _part_names(flat), "places": _places(flat), "is_minor": is_minor}
        yield SinewError("parts-without-inside", name=body.name, **named)


def _part_count(parts: list[UnmeshedPart]) -> int:
    return sum(part.count for part in parts)


def _places(parts: list[UnmeshedPart]) -> list[list[float]]:
    """Returns where the parts are that have a place [m], (k, 3)."""
    return [list(part.place) for part in parts if part.place]


def _part_names(parts: list[UnmeshedPart]) -> str:
    more = _part_count(parts) - _part_count(parts[:MAX_NAMED_PARTS])
    return ", ".join(part.name for part in parts[:MAX_NAMED_PARTS]) + (f", {more} more" if more > 0 else "")


def _mismatch_warnings(body: Body, surface: Surface, mesh: TetMesh) -> list[SinewError]:
    """Returns a warning if the mesh of a body and the user's tets clearly do not belong together."""
    low, high = surface.bounds
    first, last = mesh.nodes.min(axis=0), mesh.nodes.max(axis=0)
    size, tets_size = float((high - low).max()), float((last - first).max())
    distance = float(np.maximum(first - low, high - last).max())
    if distance <= MAX_PROTRUSION_SHARE * tets_size and size >= MIN_SIZE_SHARE * tets_size:
        return []
    numbers = {"extent": f"{size:.3g}", "distance": f"{max(distance, 0.0):.3g}", "tets_extent": f"{tets_size:.3g}"}
    return [SinewError("tets-elsewhere", name=body.name, **numbers)]
