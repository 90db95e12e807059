# SPDX-License-Identifier: GPL-3.0-or-later
"""What Exact contact can simulate: Soft Bodies of the default formulation, flesh, sheets, rigid bodies, colliders.

Rigid cores are looked at once they are found (`solver/simulation/exact_contact/exact_cores.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..runtime.errors import BadInput
from .formulation import FormulationSettings
from .scene import EXACT_CONTACT, Body, Scene


def check_exact_contact(scene: Scene) -> None:
    """Raises BadInput where a scene asks for Exact contact beside what it cannot simulate."""
    if scene.settings.contact != EXACT_CONTACT:
        return
    for body in scene.bodies:
        for feature in _unsupported_features(body):
            raise BadInput("exact-contact-without", name=body.name, feature=feature)


def _unsupported_features(body: Body) -> Iterator[str]:
    """Yields what a body is or has that Exact contact does not know."""
    if body.meshing.refines_dynamically:
        yield "tets that change their size"
    if not body.is_sheet and body.method != FormulationSettings():
        yield "another Formulation than the default"
