# SPDX-License-Identifier: GPL-3.0-or-later
"""What must not be asked for of rigid cores and rigid bodies, told before any work is done."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ...runtime.errors import BadInput
from ...scene.animated_material import keyed_names
from ...scene.attachment_resolution import all_bindings
from ...scene.formulation import BDF2, GREEN, HIERARCHICAL, HYBRID, display_name
from ...scene.rigid_core import Core
from ...scene.scene import Body, Scene
from ...scene.serialisation.range_check import check_ranges
from ...scene.tracks import TrackReader

NEWTON_METHODS = {GREEN, HYBRID, HIERARCHICAL}  # methods whose bodies are stepped by Newton's method


def check_cores(scene: Scene, tracks: TrackReader) -> None:
    """Raises BadInput where a core or a rigid body cannot be simulated; the sentence names the body."""
    for body in scene.bodies:
        if body.core is not None:
            _check_settings(body, body.core)
        features = [*_incompatible_features(body, tracks)] if body.has_core else []
        if body.is_rigid:
            features += _deforming_features(body, tracks)
        for feature in features:
            raise BadInput("rigid-combined" if body.is_rigid else "core-combined", name=body.name, feature=feature)


def _check_settings(body: Body, core: Core) -> None:
    check_ranges(body)
    if core.hinge is not None:
        numbers = (*core.hinge.point, *core.hinge.direction)
        if not all(math.isfinite(number) for number in numbers) or not math.hypot(*core.hinge.direction) > 0.0:
            raise BadInput("core-without-axis", name=body.name)
    if len(core.paint) not in (0, len(body.vertices)) or not np.isfinite(core.paint).all():
        raise BadInput("paint-without-vertices", name=body.name, setting="Core")


def _incompatible_features(body: Body, tracks: TrackReader) -> Iterator[str]:
    """Yields the features of a body that a core keeps it from."""
    if body.flesh is not None:
        yield "Flesh"
    if body.fracture is not None and not body.is_rigid:
        yield "Fracture"
    if body.method.name in NEWTON_METHODS:
        yield f"the Method {display_name(body.method)}"
    if body.method.scheme == BDF2:
        yield "BDF2 as Stepping"
    if body.gravity_in_shape and body.core is not None and body.core.hinge is not None:
        yield "Gravity Already in Shape with a hinge"
    if tracks.has(f"body.{body.key}.rest"):
        yield "Rest Shape Follows Shape Keys"


def _deforming_features(body: Body, tracks: TrackReader) -> Iterator[str]:
    """Yields the features that a rigid body has in vain, since it does not deform."""
    asked = {
        "Plasticity": body.plasticity is not None,
        "Heat": body.heat is not None,
        "Pressure": body.pressure is not None,
        "Stretch Limit": body.stretch_limit is not None,
        "Muscle": body.muscle is not None,
        "Rest Scale": body.rest_scale.scale != 1.0 or tracks.has(f"body.{body.key}.rest_scale"),
        "Gravity Already in Shape": body.gravity_in_shape,
        "painted material": body.material_paint.is_painted,
        "animated material": bool(keyed_names(body, tracks)),
        "Wrap": body.wrap_vertices > 0,
        "bindings to other bodies": len(all_bindings(body)) > 0,
    }
    yield from (feature for feature, has in asked.items() if has)
