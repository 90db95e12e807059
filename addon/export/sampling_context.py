# SPDX-License-Identifier: GPL-3.0-or-later
"""The context of a sample: the evaluated scene at one moment, and the writer of the tracks."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy.typing as npt

from ...solver.runtime.arrays import Floats
from ..evaluation.matrix_units import scale_to_metres, scale_translation
from ..evaluation.sample_times import SampleTime
from ..evaluation.scene_copy import SceneCopy
from .buffered_track_writer import BufferedTrackWriter


@dataclass(frozen=True)
class Sampling:
    """A moment of the animation with the evaluated scene, and the writer of the tracks.

    Attributes:
        scene_copy: Evaluated at the moment.
        unit: Metres in a Blender unit.
        moment: Its frame and time.
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
        """Returns an object as evaluated at the moment."""
        return self.scene_copy.evaluated(obj)

    def world_from_units(self, obj: bpy.types.Object) -> Floats:
        """Returns world [m] ← object space [Blender units], (4, 4)."""
        return scale_to_metres(self.scene_copy.matrix(obj), self.unit)

    def world_from_metres(self, obj: bpy.types.Object) -> Floats:
        """Returns world [m] ← object space [m], (4, 4)."""
        return scale_translation(self.scene_copy.matrix(obj), self.unit)
