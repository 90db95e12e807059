# SPDX-License-Identifier: GPL-3.0-or-later
"""One moment of the animation: what every sampler reads, and where it writes."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy.typing as npt

from ...solver.runtime.arrays import Floats
from ..evaluation.matrix_units import metres_matrix, rigid_matrix
from ..evaluation.sample_times import SampleTime
from ..evaluation.scene_copy import SceneCopy
from .buffered_track_writer import BufferedTrackWriter


@dataclass(frozen=True)
class Sampling:
    """A moment, and the scene as it is evaluated then.

    Attributes:
        scene_copy: Evaluated at the moment.
        unit: Metres in a Blender unit.
        moment: Which one.
        track_writer: Writes the tracks.
    """

    scene_copy: SceneCopy
    unit: float
    moment: SampleTime
    track_writer: BufferedTrackWriter

    def add(self, track: str, value: npt.ArrayLike, kind: str = "linear") -> None:
        """Adds the value of a track at this moment."""
        self.track_writer.add(track, self.moment.time, value, kind)

    def evaluated(self, obj: bpy.types.Object) -> bpy.types.Object:
        """Returns an object as it is evaluated now."""
        return self.scene_copy.evaluated(obj)

    def metres_matrix(self, obj: bpy.types.Object) -> Floats:
        """Returns world [m] ← object space [Blender units], (4, 4)."""
        return metres_matrix(self.scene_copy.matrix(obj), self.unit)

    def rigid_matrix(self, obj: bpy.types.Object) -> Floats:
        """Returns world [m] ← object space [m], (4, 4)."""
        return rigid_matrix(self.scene_copy.matrix(obj), self.unit)
