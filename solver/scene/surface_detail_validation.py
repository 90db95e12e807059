# SPDX-License-Identifier: GPL-3.0-or-later
"""What surface detail cannot be combined with, told before any work is done."""

from __future__ import annotations

from collections.abc import Iterator

from ..runtime.errors import BadInput
from .scene import Body, Scene


def check_surface_detail(scene: Scene) -> None:
    """Raises BadInput where a body with surface detail is asked for what it does not support; the sentence names it."""
    for body in scene.bodies:
        if body.surface_detail is not None:
            for feature in _unsupported_features(body):
                raise BadInput("surface-detail-combined", name=body.name, feature=feature)


def _unsupported_features(body: Body) -> Iterator[str]:
    asked = {
        "Flesh": body.flesh is not None,
        "Fracture": body.fracture is not None,
        "Rigid": body.is_rigid,
        "Sheet": body.is_sheet,
        "Wrap": body.wrap_vertices > 0,
    }
    yield from (feature for feature, has in asked.items() if has)
