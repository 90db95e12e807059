# SPDX-License-Identifier: GPL-3.0-or-later
"""What must not be asked for of sheets, told before any work is done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..runtime.errors import BadInput
from .scene import Body, Scene
from .serialisation.range_check import check_ranges
from .tracks import TrackReader

SHEET_ATTRIBUTES = frozenset({"velocity"})  # that need no stress or strain of tets


def check_sheets(scene: Scene, tracks: TrackReader) -> None:
    """Raises BadInput where a sheet cannot be simulated as the scene asks; the sentence names it."""
    sheets = {body.key: body.name for body in scene.bodies if body.is_sheet}
    if not sheets:
        return
    for body in scene.bodies:
        if body.is_sheet:
            check_ranges(body.sheet)
            for feature in _unsupported_features(body, tracks):
                raise BadInput("sheet-combined", name=body.name, feature=feature)
        elif body.fracture is not None:
            raise BadInput("sheet-beside-fracture", name=next(iter(sheets.values())), other=body.name)
        targets = [t for each in body.attachments for t in each.targets] + [each.target for each in body.bindings]
        _check_targets(body.name, targets, sheets)
    for collider in scene.colliders:
        if collider.attached_surface is not None:
            targets = [target for each in collider.attached_surface.attachments for target in each.targets]
            _check_targets(collider.name, targets, sheets)
    for bone in scene.bones:
        for key in bone.bodies:
            if key in sheets and not len(bone.triangles):  # a bone with a surface bears attachments
                raise BadInput("sheet-combined", name=sheets[key], feature=f'the bone "{bone.name}"')


def _check_targets(name: str, targets: Sequence[str], sheets: Mapping[str, str]) -> None:
    """Raises BadInput where what is attached to targets has a sheet, of these names by keys, among them."""
    for target in targets:
        if target in sheets:
            raise BadInput("attached-to-sheet", name=name, target=sheets[target])


def _unsupported_features(body: Body, tracks: TrackReader) -> Iterator[str]:
    """Yields what a sheet is asked for in vain."""
    asked = {
        "Flesh": body.flesh is not None,
        "Muscle": body.muscle is not None,
        "Fracture": body.fracture is not None,
        "Plasticity": body.plasticity is not None,
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
