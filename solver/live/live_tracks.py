# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracks that get longer while a simulation runs: those of the scene, and those that are handled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..contact.colliders.teleports import MOVE
from ..runtime.arrays import Floats
from ..scene.tracks import MemoryTracks, Track, TrackReader

KEPT_SAMPLES = 8  # of a track that is handled: none is asked for what was longer ago


class LiveTracks(MemoryTracks):
    """The tracks of a scene, of which some follow what somebody does.

    A value that is set for the end of a step is reached then, from the value before. Colliders that are handled move on
    the way there, as the solver reads in their tracks of cuts, unless a jump was set.
    """

    def __init__(
        self, scene_tracks: TrackReader, controls: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]
    ) -> None:
        """Takes the tracks of the scene, and by name the first values of those that may be handled.

        Raises:
            BadInput: "track-invalid": a value cannot be one of its track.
        """
        tracks = {name: Track([0.0], [value]) for name, value in controls.items()}
        super().__init__(tracks, shapes)
        self.scene_tracks, self.controls = scene_tracks, frozenset(controls)

    def has(self, name: str) -> bool:
        """Whether there is a track of that name."""
        return name in self.controls or self._is_of_handled(name) or self.scene_tracks.has(name)

    def sample(self, name: str, time: float) -> Floats:
        """Returns the value of a track at a time [s]; what is handled keeps its last value."""
        if self._is_of_handled(name):
            return np.array(MOVE)
        return super().sample(name, time) if name in self.controls else self.scene_tracks.sample(name, time)

    def samples_around(self, name: str, begin: float, end: float) -> tuple[Floats, Floats, int]:
        """Returns samples around a span of time [s], as `TrackReader.samples_around`."""
        if name in self.controls:
            return super().samples_around(name, begin, end)
        return self.scene_tracks.samples_around(name, begin, end)

    def _is_of_handled(self, name: str) -> bool:
        """Whether a track is that of the cuts of a collider that is handled."""
        if not name.endswith(".cuts"):  # every track of every step is asked
            return False
        collider = name.removesuffix(".cuts")
        return f"{collider}.matrix" in self.controls or f"{collider}.vertices" in self.controls

    def handle(self, name: str, time: float) -> None:
        """Lets a track of the scene be handled from a time on [s], where it is not yet; until then it keeps its value.

        Raises:
            StorageFailed: As `sample`.
        """
        if name not in self.controls:
            self._loaded[name] = MemoryTracks({name: Track([0.0], [self.sample(name, time)])})._loaded[name]
            self.controls |= {name}

    def set(self, name: str, begin: float, end: float, value: Floats, is_jump: bool = False) -> None:
        """Lets a track that is handled go from its value at `begin` to a new one at `end` [s].

        A jump starts from rest, whatever was before, so that the solver takes it for a teleport.
        """
        track = self._loaded[name]
        before = np.asarray(super().sample(name, begin), np.float64)
        earlier = track.times < begin
        if is_jump and earlier.any():
            track.times, track.values = track.times[earlier], np.broadcast_to(before, track.values[earlier].shape)
            earlier = earlier[earlier]
        times = np.concatenate([track.times[earlier], [begin, end]])[-KEPT_SAMPLES:]
        values = np.concatenate([track.values[earlier], before[None], np.asarray(value, np.float64)[None]])[
            -KEPT_SAMPLES:
        ]
        track.times, track.values = times, values

    def handled_samples(self) -> dict[str, tuple[Floats, Floats]]:
        """Returns times [s] and values of all tracks that are handled, by name."""
        return {name: (self._loaded[name].times, self._loaded[name].values) for name in self.controls}

    def restore_samples(self, samples: Mapping[str, tuple[Floats, Floats]]) -> None:
        """Lets tracks be handled, with the samples that `handled_samples` returned."""
        for name, (times, values) in samples.items():
            self.handle(name, 0.0)
            self._loaded[name].times, self._loaded[name].values = times, values
