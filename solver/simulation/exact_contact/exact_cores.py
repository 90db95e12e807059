# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid cores of soft bodies under Exact contact: what of them it cannot simulate is refused."""

from __future__ import annotations

import numpy as np

from ...mechanics.model import Model
from ...runtime.errors import BadInput
from ..assembled_scene import AssembledScene


def check_free_cores(built: AssembledScene) -> None:
    """Raises BadInput where the core of a soft body turns about an axis, or something holds nodes of it exactly.

    In a step a core is turned about its centre of mass, which an axis or held nodes would not allow.
    """
    model, is_held = built.model, np.zeros(built.model.node_count, bool)
    for force in built.forces:
        is_held[force.fixed_nodes] = True
    for core in model.cores:
        if core.is_whole:
            continue
        if core.hinge is not None:
            _refuse(built, model, int(core.nodes[0]), "an axis of its rigid core")
        if is_held[core.nodes].any():
            _refuse(built, model, int(core.nodes[0]), "pins that hold its rigid core")


def _refuse(built: AssembledScene, model: Model, node: int, feature: str) -> None:
    number = next(n for n, body in enumerate(model.bodies) if body.nodes.start <= node < body.nodes.stop)
    raise BadInput("exact-contact-without", name=built.bodies[number].name, feature=feature)
