# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that fits the range of By Length to the animation."""

from __future__ import annotations

import bpy
import numpy as np

from ...solver.runtime.errors import BadInput
from ...solver.scene.settings.activation_settings import BY_LENGTH
from ..export.activation_evaluation import measure_shortening
from ..export.activation_inputs import source_of
from .error_reporting import reporting_errors
from .selected_objects import active_mesh

LEAST_RANGE = 1.0e-4  # of shortening, below which a path stays as long as it is


class SINEW_OT_fit_length_range(bpy.types.Operator):
    """Set Start and Full to the least and the most by which the path of the muscle shortens in the bake"""

    bl_idname = "sinew.fit_length_range"
    bl_label = "Fit Range to Animation"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Measures the path on every frame."""
        obj = active_mesh(context)
        if source_of(obj) != BY_LENGTH:
            raise BadInput("source-not-length", name=obj.name)
        shortening = measure_shortening(context.scene, obj)
        if np.ptp(shortening) < LEAST_RANGE:
            raise BadInput("path-still", name=obj.name)
        obj.sinew.shortening_start, obj.sinew.shortening_full = float(shortening.min()), float(shortening.max())
        self.report({"INFO"}, f"The path shortens by {100 * shortening.min():.1f} to {100 * shortening.max():.1f} %")
        return {"FINISHED"}


CLASSES = (SINEW_OT_fit_length_range,)
