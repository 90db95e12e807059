# SPDX-License-Identifier: GPL-3.0-or-later
"""What must not be asked for of rigid cores, told before any work is done."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ...runtime.errors import BadInput
from ...scene.formulation import BDF2, GREEN, HIERARCHICAL, HYBRID, display_name
from ...scene.rigid_core import Core
from ...scene.scene import Body, Scene
from ...scene.serialisation.range_check import check_ranges
from ...scene.tracks import TrackReader

NEWTON_METHODS = {GREEN, HYBRID, HIERARCHICAL}  # methods whose bodies are stepped by Newton's method


def check_cores(scene: Scene, tracks: TrackReader) -> None:
    """Raises BadInput where a core cannot be simulated; the sentence names the body."""
    for body in scene.bodies:
        if body.core is None:
            continue
        _check_settings(body, body.core)
        for feature in _incompatible_features(body, body.core, tracks):
            raise BadInput("core-combined", name=body.name, feature=feature)


def _check_settings(body: Body, core: Core) -> None:
    check_ranges(body)
    if core.hinge is not None:
        numbers = (*core.hinge.point, *core.hinge.direction)
        if not all(math.isfinite(number) for number in numbers) or not math.hypot(*core.hinge.direction) > 0.0:
            raise BadInput("core-without-axis", name=body.name)
    if len(core.paint) not in (0, len(body.vertices)) or not np.isfinite(core.paint).all():
        raise BadInput("paint-without-vertices", name=body.name, setting="Core")


def _incompatible_features(body: Body, core: Core, tracks: TrackReader) -> Iterator[str]:
    """Yields the features of a body that a core keeps it from."""
    if body.flesh is not None:
        yield "Flesh"
    if body.fracture is not None:
        yield "Fracture"
    if body.method.name in NEWTON_METHODS:
        yield f"the Method {display_name(body.method)}"
    if body.method.scheme == BDF2:
        yield "BDF2 as Stepping"
    if body.gravity_in_shape and core.hinge is not None:
        yield "Gravity Already in Shape with a hinge"
    if tracks.has(f"body.{body.key}.rest"):
        yield "Rest Shape Follows Shape Keys"
