# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies of earlier passes, as their caches have them: the moving ground that the bodies of a pass follow.

Each is a deforming collider with the key of the body, so that attachments to the body hold to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ...solver.bake.cache import CacheReader, layout
from ...solver.runtime.arrays import Floats, floats
from ...solver.runtime.errors import BadInput, StorageFailed
from ...solver.runtime.npz_reader import read_arrays
from ...solver.scene.contact import Collider
from ...solver.scene.scene import Body, Scene, Settings
from ...solver.scene.tracks import TrackReader
from ..cache.bake_passes import BakePass
from ..evaluation.matrix_units import transform_points
from .buffered_track_writer import BufferedTrackWriter
from .participants import ObjectKeys

TIME_TOLERANCE = 1.0e-9  # [s]


class BakedGround:
    """A body of an earlier pass over time.

    Attributes:
        collider: What it is in the scene of the later pass.
        settings: Of its own pass.
    """

    def __init__(self, cache: CacheReader, scene: Scene, tracks: TrackReader, body: Body) -> None:
        """Reads where it begins.

        Args:
            cache: Of its pass, with all frames that are needed.
            scene, tracks: The input of its pass.
            body: The body there.
        """
        self._cache, self.settings, self._tracks, self._body = cache, scene.settings, tracks, body
        self._samples = self._all_samples()
        self._next = next(self._samples)
        count = body.played_count
        self.collider = Collider(
            key=body.key,
            name=body.name,
            shape="mesh",
            vertices=self._next[1],
            triangles=body.triangles[(body.triangles < count).all(axis=1)],
            friction=body.collision.friction,
            thickness=body.collision.thickness,
            rest_vertices=body.vertices[:count],
        )

    def add_until(self, track_writer: BufferedTrackWriter, time: float) -> None:
        """Adds where it is to the tracks, from the sample after the last one added to one at a time [s]."""
        while self._next[0] <= time + TIME_TOLERANCE:
            track_writer.add(f"collider.{self.collider.key}.vertices", *self._next)
            following = next(self._samples, None)
            if following is None:
                self._next = (np.inf, self._next[1])
                return
            self._next = following

    def _all_samples(self) -> Iterator[tuple[float, Floats]]:
        """Yields times [s] and world positions [m], (n, 3), from the rest pose to the last frame."""
        settings, key = self.settings, self._body.key
        step = 1.0 / (settings.fps * settings.samples_per_frame)
        if settings.preroll:
            positions = read_arrays(layout.preroll_path(self._cache.folder, key))["positions"]
            for number, local in enumerate(positions[:-1]):  # the last one is the first frame
                yield self._placed(settings.start_time + number * step, local)
        last = self._cache.last_frame()
        count = 0 if last is None else self._cache.metadata.sample_count(last)
        for number in range(count):
            yield self._placed(number * step, self._cache.read_samples(key, number)[0])

    def _placed(self, time: float, local: np.ndarray) -> tuple[float, Floats]:
        matrix = floats(self._tracks.sample(f"body.{self._body.key}.matrix", time), 4, 4)
        return time, transform_points(matrix, local.astype(np.float64))


def read_grounds(bake_pass: BakePass, end: int, bodies: ObjectKeys) -> list[BakedGround]:
    """Returns the bodies of all passes before one; not what was baked there and is no body of these passes any more.

    Args:
        bake_pass: The pass that follows them.
        end: The last frame that it needs.
        bodies: Those of earlier passes now, with their keys.

    Raises:
        BadInput: An earlier pass is not baked, or not to that frame, or without its pre-roll or one of the bodies.
        StorageFailed: A cache cannot be read.
    """
    found = []
    for earlier in bake_pass.earlier:
        wanted = {key: obj.name for obj, key in bodies.items() if obj.sinew.bake_pass == earlier.number}
        grounds = {each.collider.key: each for each in _read_pass(earlier, bake_pass.number, end)}
        for key, name in wanted.items():
            if key not in grounds:
                raise BadInput("pass-without-body", number=bake_pass.number, earlier=earlier.number, name=name)
        found += [ground for key, ground in grounds.items() if key in wanted]
    return found


def _read_pass(earlier: BakePass, number: int, end: int) -> Iterator[BakedGround]:
    try:
        cache = CacheReader(earlier.folder)
        last = cache.last_frame()
    except StorageFailed as problem:
        if problem.kind != "cache-missing":
            raise
        last = None
    if last is None or last < end:
        done = "" if last is None else f" beyond frame {last}"
        raise BadInput("pass-not-baked", number=number, earlier=earlier.number, done=done)
    folder = earlier.folder / layout.SCENE_FOLDER
    scene, tracks = Scene.load(folder), TrackReader(folder, wait=0.0)
    for body in scene.bodies:
        if scene.settings.preroll and not layout.preroll_path(earlier.folder, body.key).is_file():
            raise BadInput("pass-without-preroll", number=number, earlier=earlier.number)
        yield BakedGround(cache, scene, tracks, body)


def check_same_times(grounds: Iterable[BakedGround], settings: Settings) -> None:
    """Makes sure that an earlier pass was baked with the present frame rate, start and pre-roll.

    Raises:
        BadInput: It was not.
    """
    for ground in grounds:
        names = ("frame_start", "fps", "preroll")
        if any(getattr(ground.settings, name) != getattr(settings, name) for name in names):
            raise BadInput("pass-other-times", name=ground.collider.name)
