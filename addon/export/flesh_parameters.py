# SPDX-License-Identifier: GPL-3.0-or-later
"""How a body is flesh, with what is painted on it."""

from __future__ import annotations

import bpy

from ...solver.scene.flesh import DYNAMIC, QUASISTATIC, Flesh
from .material_parameters import PaintReader

SOLVER_MOTIONS = {"POSE": QUASISTATIC, "JIGGLE": DYNAMIC}


def read_flesh(own: bpy.types.PropertyGroup, paints: PaintReader) -> Flesh | None:
    """Returns how a body is flesh, or None.

    Raises:
        BadInput: A painted group is not there, or 0 everywhere.
    """
    if own.motion not in SOLVER_MOTIONS:
        return None
    return Flesh(
        motion=SOLVER_MOTIONS[own.motion],
        law=own.flesh_law.lower().replace("_", "-"),
        scheme=own.jiggle_scheme.lower(),
        self_contact=own.self_contact,
        keeps_volume=own.motion == "JIGGLE",
        stiffness_paint=paints.weights_of("stiffness_group"),
        volume_paint=paints.weights_of("volume_group"),
        density_paint=paints.weights_of("density_group"),
        attachment_paint=paints.weights_of("attachment_group"),
    )
