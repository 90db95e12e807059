# SPDX-License-Identifier: GPL-3.0-or-later
"""What must not be asked for of sheets, told before any work is done."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..runtime.errors import BadInput
from .attachment import SPRING
from .binding_validation import features_without_bound_nodes
from .scene import Body, Scene
from .serialisation.range_check import check_ranges
from .settings.sheet_settings import SHEET_POINTS, SHEET_T_JUNCTIONS
from .tracks import TrackReader

SHEET_ATTRIBUTES = frozenset({"velocity"})  # that need no stress or strain of tets


def check_sheets(scene: Scene, tracks: TrackReader) -> None:
    """Raises BadInput where a sheet cannot be simulated as the scene asks; the sentence names it."""
    for body in scene.bodies:
        if body.seams is not None and not body.is_sheet:
            raise BadInput("seams-without-sheet", name=body.name)
    sheets = {body.key: body.name for body in scene.bodies if body.is_sheet}
    if not sheets:
        return
    for body in scene.bodies:
        if body.is_sheet:
            check_ranges(body.sheet)
            for feature in _unsupported_features(body, tracks):
                raise BadInput("sheet-combined", name=body.name, feature=feature)
            _check_seams(body)
            _check_strands(body)
        bound = [t for each in body.attachments if each.binds_nodes for t in each.targets]
        for target in [*bound, *(each.target for each in body.bindings)]:
            if target in sheets:
                raise BadInput("bound-to-sheet", name=body.name, target=sheets[target])
        for each in body.attachments if body.is_sheet else ():
            for target in each.targets:
                is_damped = each.kind == SPRING and each.damping > 0.0 and not each.has_edges
                if is_damped and target in sheets:
                    raise BadInput("sheets-damped", name=body.name, target=sheets[target])
    for bone in scene.bones:
        for key in bone.bodies:
            if key in sheets and not len(bone.triangles):  # a bone with a surface bears attachments
                raise BadInput("sheet-combined", name=sheets[key], feature=f'the bone "{bone.name}"')


def _check_seams(body: Body) -> None:
    """Raises BadInput where seams join what is no vertex of the sheet, or a vertex to itself, or can never tear."""
    seams = body.seams
    if seams is None:
        return
    check_ranges(seams)
    has_triangles = np.zeros(len(body.vertices), bool)
    has_triangles[body.triangles] = True
    edges = seams.edges
    is_inside = ((edges >= 0) & (edges < len(has_triangles))).all(axis=1)
    wrong = ~is_inside | (edges[:, 0] == edges[:, 1])
    wrong[is_inside] |= ~has_triangles[edges[is_inside]].all(axis=1)
    if wrong.any():
        raise BadInput("seam-ends", name=body.name, count=int(wrong.sum()))
    if 0.0 < seams.max_force <= seams.breaking_force:
        raise BadInput("seams-never-tear", name=body.name)


def _check_strands(body: Body) -> None:
    """Raises BadInput where strings join what is no vertex, or one to itself, or are asked for what they cannot do."""
    strands = body.sheet.strands
    if not len(strands):
        return
    is_inside = ((strands >= 0) & (strands < len(body.vertices))).all(axis=1)
    wrong = ~is_inside | (strands[:, 0] == strands[:, 1])
    if wrong.any():
        raise BadInput("strand-ends", name=body.name, count=int(wrong.sum()))
    has_faces = len(body.triangles) > 0
    asked = {
        "Fracture": body.fracture is not None,
        "Plastic without any face": body.plasticity is not None and not has_faces,
        "Pressure without any face": body.pressure is not None and not has_faces,
    }
    for feature in (feature for feature, has in asked.items() if has):
        raise BadInput("strands-combined", name=body.name, feature=feature)


def _unsupported_features(body: Body, tracks: TrackReader) -> Iterator[str]:
    """Yields what a sheet is asked for in vain."""
    asked = {
        "Flesh": body.flesh is not None,
        "Muscle": body.muscle is not None,
        "Heat": body.heat is not None,
        "Rigid Core": body.core is not None,
        "Stretch Limit": body.stretch_limit is not None,
        "a Direction of Rest Scale": len(body.rest_scale.direction) > 0,
        "Rest Shape Follows Shape Keys": tracks.has(f"body.{body.key}.rest"),
        "Gravity Already in Shape": body.gravity_in_shape,
        "Keep as Start": body.start is not None,
        "Animated": body.animated or tracks.has(f"body.{body.key}.animated"),
        "painted material": body.material_paint.is_painted,
        "Wrap": body.wrap_vertices > 0,
        "exact Attachments": any(each.binds_nodes for each in body.attachments) or len(body.bindings) > 0,
        "attributes other than velocity": not SHEET_ATTRIBUTES.issuperset(body.attributes),
    }
    yield from (feature for feature, has in asked.items() if has)
    for setting, is_on in (
        (SHEET_T_JUNCTIONS, body.sheet.closes_t_junctions),
        (SHEET_POINTS, body.sheet.is_carried_by_points),
    ):
        if is_on:
            without = [*features_without_bound_nodes(body, tracks), *(["Fracture"] if body.fracture else [])]
            yield from (f"{setting.label} beside {feature}" for feature in without)
    if body.sheet.is_carried_by_points:
        yield from (f"{SHEET_POINTS.label} beside {feature}" for feature in _features_without_points(body))


def _features_without_points(body: Body) -> Iterator[str]:
    """Yields what a sheet is asked for whose vertices all follow points, and cannot do."""
    if body.sheet.closes_t_junctions:
        yield SHEET_T_JUNCTIONS.label
    if len(body.sheet.strands):
        yield "strings, which are its edges without faces"
    if body.goal is not None:
        yield "Goal"
