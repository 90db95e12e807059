# SPDX-License-Identifier: GPL-3.0-or-later
"""The check of brittle bodies: what a body whose pieces fly apart cannot have, told before any work is done."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..runtime.errors import BadInput
from .scene import Body, Scene
from .tracks import TrackReader


def check_brittle_bodies(scene: Scene, tracks: TrackReader) -> None:
    """Raises BadInput where a brittle body, or another in its scene, has what does not go on when it breaks."""
    brittle = next((body for body in scene.bodies if is_brittle(body)), None)
    if brittle is None:
        return
    jointed = {key for joint in scene.joints for key in (joint.first, joint.second)}
    for body in scene.bodies:
        if is_brittle(body):
            for feature in _unsupported_features(body, tracks, jointed):
                raise BadInput("brittle-combined", name=body.name, feature=feature)
        else:
            for feature in _features_beside(body):
                raise BadInput("brittle-beside", name=brittle.name, other=body.name, feature=feature)


def is_brittle(body: Body) -> bool:
    """Whether a body moves as one piece, and as many where hits break it."""
    return body.is_rigid and body.fracture is not None


def check_no_brittle_bodies(scene: Scene) -> None:
    """Raises BadInput where a body is brittle, which live runs do not know yet."""
    for body in scene.bodies:
        if is_brittle(body):
            raise BadInput("brittle-live", name=body.name)


def _unsupported_features(body: Body, tracks: TrackReader, jointed: set[str]) -> Iterator[str]:
    """Yields what holds or drives a body as one piece, and what is told of tets that deform."""
    if (np.asarray(body.pin_weights) < 1.0).any():
        yield "pins of a weight below 1"
    if len(body.attached):
        yield "a part that is not simulated"
    if body.goal is not None:
        yield "Goal"
    if body.attachments or body.hooks:
        yield "Attachments"
    if body.key in jointed:
        yield "joints"
    if body.animated or tracks.has(f"body.{body.key}.animated"):
        yield "Animated"
    if body.core is not None:
        yield "a hinge or a spring"
    if body.simulated_scale != 1.0:
        yield "Simulated Size"
    if body.attributes:
        yield "Attributes"
    if tracks.has(f"body.{body.key}.breaking_stress"):
        yield "an animated Breaking Stress"


def _features_beside(other: Body) -> Iterator[str]:
    """Yields what tears by its own stress, or changes its tets, in the scene of a brittle body."""
    if other.fracture is not None:
        yield "Fracture"
    if other.meshing.refines_dynamically:
        yield "Refine While Simulating"
