# SPDX-License-Identifier: GPL-3.0-or-later
"""Activations that sources make: what they read is collected moment by moment, and evaluated after the last one.

What counts is the source, after its rise and fall, plus the keyed value, at most 1. The tracks get samples between the
moments where activation bends.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput
from ...solver.scene.activation.activation_dynamics import activation_over_time
from ...solver.scene.activation.data_columns import read_data_column
from ...solver.scene.activation.length_response import LengthResponse, path_lengths
from ...solver.scene.activation.pose_interpolation import PoseInterpolant, interpolate_poses, rotations_of_quaternions
from ...solver.scene.settings.activation_settings import BY_LENGTH, BY_POSE, NO_SOURCE
from ..blender_data.rna_serialisation import stepped_paths
from ..evaluation.scene_copy import SceneCopy
from .activation_inputs import data_file, joint_rotations, rig_of, source_of, stored_poses
from .muscle_path import MusclePath, find_muscle_path
from .participants import Participants


@dataclass(frozen=True, eq=False)
class ActivationTrace:
    """The activation of a muscle with a source over time.

    Attributes:
        times: Of the samples [s], zero at the first frame, not falling, (k,).
        source: What the source makes, in [0, 1], (k,).
        total: What counts: the source plus the keyed value, at most 1, (k,).
    """

    times: Floats
    source: Floats
    total: Floats


@dataclass
class _Samples:
    """What was seen of a muscle so far: times [s], keyed activations, and what its source reads."""

    times: list[float] = field(default_factory=list)
    keyed: list[float] = field(default_factory=list)
    read: list[Floats] = field(default_factory=list)


@dataclass(frozen=True)
class _LengthSource:
    """The length of the path."""

    path: MusclePath
    response: LengthResponse

    def read(self, scene_copy: SceneCopy, obj: bpy.types.Object, inputs: Participants) -> Floats:
        return self.path.points(scene_copy, obj, inputs)

    def excitation(self, times: Floats, read: Floats) -> tuple[Floats, Floats]:
        lengths = path_lengths(read)
        return times, self.response.excitation(times, lengths, float(lengths[0]))


@dataclass(frozen=True)
class _PoseSource:
    """The rotations of joints."""

    joints: list[str]
    interpolant: PoseInterpolant

    def read(self, scene_copy: SceneCopy, obj: bpy.types.Object, _inputs: Participants) -> Floats:
        rig = rig_of(obj)
        if rig is None:
            raise BadInput("pose-rig-none", name=obj.name)
        return joint_rotations(scene_copy.evaluated(rig), self.joints, obj.name)

    def excitation(self, times: Floats, read: Floats) -> tuple[Floats, Floats]:
        return times, self.interpolant.activations(rotations_of_quaternions(read))


@dataclass(frozen=True)
class _DataSource:
    """A column of a file, which has its own times."""

    path: Path
    column: str
    offset: float
    scale: float

    def read(self, _scene_copy: SceneCopy, _obj: bpy.types.Object, _inputs: Participants) -> Floats:
        return np.zeros(0)

    def excitation(self, times: Floats, _read: Floats) -> tuple[Floats, Floats]:
        at, values = read_data_column(self.path, self.column)
        at, values = at + self.offset, np.clip(self.scale * values, 0.0, 1.0)
        is_inside = (at > times[0]) & (at < times[-1])
        # rows of one time are a jump: between the moments, their order stays
        found = np.concatenate([times, at[is_inside]])
        order = np.argsort(found, kind="stable")
        return found[order], np.concatenate([np.interp(times, at, values), values[is_inside]])[order]


_Source = _LengthSource | _PoseSource | _DataSource


class ActivationSampler:
    """Collects what the sources of muscles read; nothing of Blender's data is kept."""

    def __init__(self, scene_copy: SceneCopy, inputs: Participants) -> None:
        """Takes the muscles with a source, in the rest pose, in which the scene's copy is.

        Raises:
            BadInput: An end of a muscle has no vertices, or what is stored with it is no set of poses.
        """
        muscles = {obj: key for obj, key in inputs.bodies.items() if source_of(obj) != NO_SOURCE}
        self._sources = {key: _make_source(scene_copy, obj, inputs) for obj, key in muscles.items()}
        self._settings = {
            key: (obj.name, obj.sinew.rise_time, obj.sinew.fall_time, "sinew.activation" in stepped_paths(obj))
            for obj, key in muscles.items()
        }
        self._samples = {key: _Samples() for key in self._sources}

    def sample(self, scene_copy: SceneCopy, inputs: Participants, time: float) -> None:
        """Takes what sources read at a time [s]; raises BadInput where it is not there any more."""
        for obj, key in inputs.bodies.items():
            if key in self._sources:
                samples = self._samples[key]
                samples.times.append(time)
                samples.keyed.append(float(scene_copy.evaluated(obj).sinew.activation))
                samples.read.append(self._sources[key].read(scene_copy, obj, inputs))

    def traces(self) -> Iterable[tuple[str, ActivationTrace]]:
        """Yields the key of each muscle with a source, and its activation over time.

        Raises:
            BadInput: A path has no length, or a file cannot be used.
        """
        for key, source in self._sources.items():
            samples, (name, rise, fall, is_stepped) = self._samples[key], self._settings[key]
            times = np.array(samples.times)
            read = np.array(samples.read)
            if isinstance(source, _LengthSource) and path_lengths(read[:1])[0] == 0.0:
                raise BadInput("path-without-length", name=name)
            found, excited = activation_over_time(*source.excitation(times, read), rise, fall)
            keyed = _keyed_between(times, np.array(samples.keyed), found, is_stepped)
            yield key, ActivationTrace(found, excited, np.clip(excited + keyed, 0.0, 1.0))


def _keyed_between(times: Floats, keyed: Floats, found: Floats, is_stepped: bool) -> Floats:
    """Returns the keyed values at other times [s]: those of the moment before where keys are steps, else linear."""
    if not is_stepped:
        return np.interp(found, times, keyed)
    return keyed[np.maximum(np.searchsorted(times, found, side="right") - 1, 0)]


def _make_source(scene_copy: SceneCopy, obj: bpy.types.Object, inputs: Participants) -> _Source:
    settings, source = obj.sinew, source_of(obj)
    if source == BY_LENGTH:
        names = ("shortening_start", "shortening_full", "length_response", "stretch_reflex")
        response = LengthResponse(*(getattr(settings, name) for name in names))
        return _LengthSource(find_muscle_path(scene_copy, obj, inputs), response)
    if source == BY_POSE:
        joints, rotations, activations = stored_poses(obj)
        return _PoseSource(joints, interpolate_poses(rotations, activations))
    return _DataSource(data_file(obj), settings.activation_column, settings.data_offset, settings.data_scale)
