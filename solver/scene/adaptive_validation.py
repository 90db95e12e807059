# SPDX-License-Identifier: GPL-3.0-or-later
"""The check of bodies with the fill Adaptive: what nodes at T-junctions, which move with others, cannot do."""

from __future__ import annotations

from collections.abc import Iterator

from ..runtime.errors import BadInput
from .binding_validation import features_without_bound_nodes
from .meshing import ADAPTIVE
from .scene import Body, Scene
from .tracks import TrackReader


def check_adaptive_bodies(scene: Scene, tracks: TrackReader) -> None:
    """Raises BadInput where an adaptive body has a feature that T-junctions do not support, or paint that is not its.

    Bodies that may break are filled with other tets, and are not asked.
    """
    for body in scene.bodies:
        if not is_adaptive(body):
            continue
        fine = body.meshing.fine
        if fine is not None and len(fine.paint) not in (0, len(body.vertices)):
            raise BadInput("paint-without-vertices", name=body.name, setting="Fine Group")
        for feature in _unsupported_features(body, tracks):
            raise BadInput("adaptive-combined", name=body.name, feature=feature)


def is_adaptive(body: Body) -> bool:
    """Whether tets of a body are of several sizes, with T-junctions between them."""
    return body.meshing.method == ADAPTIVE and body.fracture is None


def _unsupported_features(body: Body, tracks: TrackReader) -> Iterator[str]:
    yield from features_without_bound_nodes(body, tracks)
    if body.muscle is not None:
        yield "Muscle"
    if body.core is not None:
        yield "Rigid Core"
    if body.animated or tracks.has(f"body.{body.key}.animated"):
        yield "Animated"
    if tracks.has(f"body.{body.key}.rest"):
        yield "Rest Shape Follows Shape Keys"
