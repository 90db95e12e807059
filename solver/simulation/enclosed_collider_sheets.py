# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds collider sheets enclosed by bodies: at the first frame, when a sheet becomes active, or after a teleport.

A sheet has no inside, so the side of a point that never passed it is unknown: the sheet stays inside, with the body on
both sides. This is no failure, but hardly ever intended, so the bake warns.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..contact.colliders.deforming_collider import DeformingCollider, is_active
from ..contact.colliders.rigid_colliders import BuiltCollider, posed_collider
from ..mesh.geometry.closedness import has_inside
from ..mesh.geometry.closest_point import closest_points
from ..mesh.geometry.triangle_bvh import build_bvh
from ..mesh.geometry.winding_number import winding_numbers
from ..runtime.arrays import Floats
from .advance_frame import render_positions
from .simulated_scene import SimulatedScene

MIN_SHEET_DEPTH = 0.25  # depth in a body from which a sheet is inside, in tet sizes


def find_enclosed_sheets(simulation: SimulatedScene, frame: int, is_first: bool) -> Iterator[tuple[str, str]]:
    """Yields the names of sheets that have appeared inside bodies by a frame, and of these bodies.

    Args:
        simulation: At the frame.
        frame: The frame.
        is_first: Whether it is the first frame.
    """
    built, settings, tracks = simulation.built, simulation.scene.settings, simulation.tracks
    before, end, step = settings.time(frame - 1), settings.time(frame), 1.0 / (settings.fps * settings.substeps)
    samples = [settings.time(frame - 1 + n / settings.samples_per_frame) for n in range(1, settings.samples_per_frame)]
    here = None
    colliders: list[BuiltCollider | DeformingCollider] = [*built.colliders, *built.deforming]
    for collider in colliders:
        is_solid = collider.is_solid if isinstance(collider, DeformingCollider) else not collider.is_sheet
        if is_solid or not is_active(collider.key, tracks, end - step, end):
            continue
        was_off = not is_active(collider.key, tracks, before - step, before)
        if not (is_first or was_off or any(collider.teleports(tracks, at - step, at) for at in (*samples, end))):
            continue
        here = render_positions(built, simulation.state) if here is None else here
        sheet = (
            posed_collider(collider, collider.vertices_at(tracks, end))
            if isinstance(collider, DeformingCollider)
            else collider
        )
        pose = None if sheet is not collider else collider.pose(tracks, end)
        for number in range(len(built.bodies)):
            if _may_touch(simulation, collider, number) and _is_inside(simulation, number, here, sheet, pose):
                yield collider.name, built.bodies[number].name


def _may_touch(simulation: SimulatedScene, collider: BuiltCollider | DeformingCollider, body: int) -> bool:
    built = simulation.built
    if isinstance(collider, BuiltCollider):
        tets = built.bodies[body].range.tets
        return (tets.start, tets.stop) not in collider.ignored_tets
    surfaces = built.contact_materials.surfaces if built.contact_materials else None
    if surfaces is None or collider.key not in surfaces.names:
        return False
    return bool(surfaces.may_touch[body, surfaces.names.index(collider.key)])


def _is_inside(
    simulation: SimulatedScene, number: int, here: dict[str, Floats], sheet: BuiltCollider, pose: Floats | None
) -> bool:
    """Returns whether a sheet is deep in a body; searches from tets, since triangles may be much larger."""
    built = simulation.built
    body, body_input = built.bodies[number], simulation.scene.bodies[number]
    vertices, size = here[body.key], body.mesh.report.tet_size
    if sheet.bvh is None or not has_inside(vertices, body_input.triangles):
        return False
    middles = simulation.state.x[built.model.tets[body.range.tets]].mean(axis=1)
    local = middles if pose is None else (middles - pose[3]) @ pose[:3]
    near = closest_points(sheet.bvh, local, size)
    reached = np.flatnonzero(near.distance <= size)
    if not len(reached):
        return False
    corners = np.empty_like(sheet.bvh.corners.reshape(-1, 3, 3))
    corners[sheet.bvh.order] = sheet.bvh.corners.reshape(-1, 3, 3)
    places = np.einsum("kc,kci->ki", near.weights[reached], corners[near.triangle[reached]])
    places = places if pose is None else places @ pose[:3].T + pose[3]
    bvh = build_bvh(vertices, body_input.triangles)
    places = places[np.abs(winding_numbers(bvh, places)) > 0.5]
    return bool(closest_points(bvh, places).distance.max(initial=0.0) > MIN_SHEET_DEPTH * size)
