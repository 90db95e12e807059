# SPDX-License-Identifier: GPL-3.0-or-later
"""How a body is flesh, with what is painted on it."""

from __future__ import annotations

import bpy

from ...solver.anatomy import DYNAMIC, QUASISTATIC, Flesh
from .input_materials import Paints

MOTIONS = {"POSE": QUASISTATIC, "JIGGLE": DYNAMIC}


def flesh(own: bpy.types.PropertyGroup, paints: Paints) -> Flesh | None:
    """Returns how a body is flesh, or None.

    Raises:
        BadInput: A painted group is not there, or 0 everywhere.
    """
    if own.motion not in MOTIONS:
        return None
    return Flesh(
        motion=MOTIONS[own.motion],
        law=own.flesh_law.lower().replace("_", "-"),
        scheme=own.jiggle_scheme.lower(),
        self_contact=own.self_contact,
        keeps_volume=own.motion == "JIGGLE",
        stiffness_paint=paints.of("stiffness_group"),
        volume_paint=paints.of("volume_group"),
        density_paint=paints.of("density_group"),
        attachment_paint=paints.of("attachment_group"),
    )
