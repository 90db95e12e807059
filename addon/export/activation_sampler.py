# SPDX-License-Identifier: GPL-3.0-or-later
"""Activations that sources make: what they read is collected moment by moment, and evaluated after the last one.

What counts is the source, after its rise and fall, plus the keyed value, at most 1. The tracks get samples between the
moments where activation bends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput
from ...solver.scene.activation.activation_dynamics import activation_over_time
from ...solver.scene.activation.length_response import LengthResponse, path_lengths
from ...solver.scene.activation.pose_interpolation import PoseInterpolant, interpolate_poses, rotations_of_quaternions
from ...solver.scene.activation.time_series_files import read_data_column, rows_and_moments
from ...solver.scene.settings.activation_settings import BY_LENGTH, BY_POSE, NO_SOURCE
from ...solver.scene.settings.muscle_settings import ACTIVATION
from ...solver.scene.track_shapes import ACTIVATION_SOURCE_TRACK
from ..blender_data.rna_serialisation import stepped_paths
from ..evaluation.scene_copy import SceneCopy
from .activation_inputs import data_file, is_muscle, joint_rotations, response_points, rig_of, source_of, stored_poses
from .buffered_track_writer import BufferedTrackWriter
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
    """What was seen of a muscle so far: times [s], keyed activations and strengths, and what its source reads."""

    times: list[float] = field(default_factory=list)
    keyed: list[float] = field(default_factory=list)
    strength: list[float] = field(default_factory=list)
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
        return rows_and_moments(times, at + self.offset, np.clip(self.scale * values, 0.0, 1.0))


_Source = _LengthSource | _PoseSource | _DataSource


@dataclass(frozen=True, eq=False)
class Moments:
    """How active a muscle is as a whole at the moments of the samples [s], its strength counted, (k,) each."""

    times: Floats
    activations: Floats


class ActivationSampler:
    """Collects how active muscles are, and what their sources read; nothing of Blender's data is kept."""

    def __init__(self, scene_copy: SceneCopy, inputs: Participants) -> None:
        """Takes the muscles, in the rest pose, in which the scene's copy is.

        Raises:
            BadInput: An end of a muscle has no vertices, or what is stored with it is no set of poses.
        """
        muscles = {obj: key for obj, key in inputs.bodies.items() if is_muscle(obj)}
        self._sources = {
            key: _make_source(scene_copy, obj, inputs) for obj, key in muscles.items() if source_of(obj) != NO_SOURCE
        }
        self._settings = {
            key: (obj.name, obj.sinew.rise_time, obj.sinew.fall_time, "sinew.activation" in stepped_paths(obj))
            for obj, key in muscles.items()
        }
        self._samples = {key: _Samples() for key in muscles.values()}

    def sample(self, scene_copy: SceneCopy, inputs: Participants, time: float) -> None:
        """Takes what sources read at a time [s]; raises BadInput where it is not there any more."""
        for obj, key in inputs.bodies.items():
            if key in self._samples:
                samples, settings = self._samples[key], scene_copy.evaluated(obj).sinew
                samples.times.append(time)
                samples.keyed.append(float(settings.activation))
                samples.strength.append(float(settings.muscle_strength))
                if key in self._sources:
                    samples.read.append(self._sources[key].read(scene_copy, obj, inputs))

    def moments(self, traces: Mapping[str, ActivationTrace]) -> dict[str, Moments]:
        """Returns how active all muscles are at the moments, by key, given the traces of those with a source."""
        found = {}
        for key, samples in self._samples.items():
            times, total = np.array(samples.times), np.array(samples.keyed)
            if key in traces:
                total = np.interp(times, traces[key].times, traces[key].total)
            found[key] = Moments(times, np.array(samples.strength) * total)
        return found

    def traces(self) -> dict[str, ActivationTrace]:
        """Returns the activation over time of each muscle with a source, by key.

        Raises:
            BadInput: A path has no length, or a file cannot be used.
        """
        made = {}
        for key, source in self._sources.items():
            samples, (name, rise, fall, is_stepped) = self._samples[key], self._settings[key]
            times = np.array(samples.times)
            read = np.array(samples.read)
            if isinstance(source, _LengthSource) and path_lengths(read[:1])[0] == 0.0:
                raise BadInput("path-without-length", name=name)
            found, excited = activation_over_time(*source.excitation(times, read), rise, fall)
            keyed = _keyed_between(times, np.array(samples.keyed), found, is_stepped)
            made[key] = ActivationTrace(found, excited, np.clip(excited + keyed, 0.0, 1.0))
        return made


def write_activations(writer: BufferedTrackWriter, traces: Mapping[str, ActivationTrace]) -> None:
    """Writes the activations of muscles with a source into their tracks, by key: what counts, and the source alone."""
    for key, trace in traces.items():
        for name, values in ((ACTIVATION.name, trace.total), (ACTIVATION_SOURCE_TRACK, trace.source)):
            for time, value in zip(trace.times.tolist(), values.tolist(), strict=True):
                writer.add(f"body.{key}.{name}", time, value)


def _keyed_between(times: Floats, keyed: Floats, found: Floats, is_stepped: bool) -> Floats:
    """Returns the keyed values at other times [s]: those of the moment before where keys are steps, else linear."""
    if not is_stepped:
        return np.interp(found, times, keyed)
    return keyed[np.maximum(np.searchsorted(times, found, side="right") - 1, 0)]


def _make_source(scene_copy: SceneCopy, obj: bpy.types.Object, inputs: Participants) -> _Source:
    settings, source = obj.sinew, source_of(obj)
    if source == BY_LENGTH:
        response = LengthResponse(
            start=settings.shortening_start,
            full=settings.shortening_full,
            exponent=settings.length_response,
            reflex=settings.stretch_reflex,
            points=response_points(obj),
        )
        return _LengthSource(find_muscle_path(scene_copy, obj, inputs), response)
    if source == BY_POSE:
        joints, rotations, activations = stored_poses(obj)
        return _PoseSource(joints, interpolate_poses(rotations, activations))
    return _DataSource(data_file(obj), settings.activation_column, settings.data_offset, settings.data_scale)
