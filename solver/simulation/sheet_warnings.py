# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets that are inside bodies all at once: from the first frame on, switched on there, or put there by a jump.

A sheet has no inside, so nothing says on which side of it a point belongs that it never came past: it stays where it
is, and the body on both sides. That is no failure, but hardly ever meant, so it is told.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..contact.colliders.build_colliders import BuiltCollider, posed_collider
from ..contact.colliders.deforming_collider import DeformingCollider, is_active
from ..contact.detection.collider_poses import teleports as arrives_rigidly
from ..mesh.geometry.closedness import has_inside
from ..mesh.geometry.closest_point import closest_points
from ..mesh.geometry.triangle_bvh import build_bvh
from ..mesh.geometry.winding_number import winding_numbers
from ..runtime.arrays import Floats
from .advance_frame import render_positions
from .simulated_scene import SimulatedScene

MIN_SHEET_DEPTH = 0.25  # depth in a body from which a sheet is inside, in sizes of tets


def find_enclosed_sheets(simulation: SimulatedScene, frame: int, is_first: bool) -> Iterator[tuple[str, str]]:
    """Yields the names of sheets and of bodies that they are inside of at a frame, and have not come into.

    Args:
        simulation: At the frame.
        frame: The frame.
        is_first: Whether nothing was before it.
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
        if not (is_first or was_off or any(_teleports(simulation, collider, at - step, at) for at in (*samples, end))):
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


def _teleports(
    simulation: SimulatedScene, collider: BuiltCollider | DeformingCollider, begin: float, end: float
) -> bool:
    """Whether a collider is elsewhere all at once at the end of a step."""
    if isinstance(collider, DeformingCollider):
        return collider.teleports(simulation.tracks, begin, end)
    return arrives_rigidly(collider, simulation.tracks, begin, end)


def _may_touch(simulation: SimulatedScene, collider: BuiltCollider | DeformingCollider, body: int) -> bool:
    built = simulation.built
    if isinstance(collider, BuiltCollider):
        tets = built.bodies[body].range.tets
        return (tets.start, tets.stop) not in collider.ignored_tets
    skins = built.skins.skins if built.skins else None
    if skins is None or collider.key not in skins.names:
        return False
    return bool(skins.may_touch[body, skins.names.index(collider.key)])


def _is_inside(
    simulation: SimulatedScene, number: int, here: dict[str, Floats], sheet: BuiltCollider, pose: Floats | None
) -> bool:
    """Whether a sheet is deep in a body; its triangles may be much larger, so tets look for the nearest place on it."""
    built = simulation.built
    body, asked = built.bodies[number], simulation.scene.bodies[number]
    vertices, size = here[body.key], body.mesh.report.tet_size
    if sheet.bvh is None or not has_inside(vertices, asked.triangles):
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
    bvh = build_bvh(vertices, asked.triangles)
    places = places[np.abs(winding_numbers(bvh, places)) > 0.5]
    return bool(closest_points(bvh, places).distance.max(initial=0.0) > MIN_SHEET_DEPTH * size)
