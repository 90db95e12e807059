# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked bodies as their caches have them: the moving ground that the bodies of a bake follow.

They are of earlier passes, or those of the same pass that Simulate Selected leaves as they are. Each is a deforming
collider with the key of the body, so that attachments to the body hold to it. A Wrap that attachments name is one more,
which nothing collides with.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from pathlib import Path

import numpy as np

from ...solver.bake.cache import CacheReader, layout
from ...solver.runtime.arrays import Floats, floats
from ...solver.runtime.errors import BadInput, StorageFailed
from ...solver.runtime.npz_reader import read_arrays
from ...solver.scene.contact import Collider
from ...solver.scene.scene import Body, Scene, Settings
from ...solver.scene.tracks import TrackReader
from ..cache import selected_body_caches
from ..cache.bake_passes import BakePass
from ..cache.baked_tets import body_tets
from ..cache.baked_wrap_vertices import WrapVertices
from ..evaluation.matrix_units import transform_points
from .buffered_track_writer import BufferedTrackWriter
from .participants import ObjectKeys

TIME_TOLERANCE = 1.0e-9  # [s]


class GroundPart(Enum):
    """What of the surface of a baked body those that follow it meet."""

    PLAYED = "what its object plays"
    WHOLE = "all of it, also closed holes and a Wrap"
    WRAP = "the Wrap inside of it"

    def vertex_range(self, body: Body) -> tuple[int, int]:
        """Returns the first vertex of a body that belongs to it, and one past the last."""
        if self == GroundPart.WRAP:
            return len(body.vertices) - body.wrap_vertices, len(body.vertices)
        return 0, body.played_count if self == GroundPart.PLAYED else len(body.vertices)


class BakedGround:
    """A baked body over time.

    Attributes:
        body, tracks, settings: The body in its own bake, and the tracks and settings there.
        part: What of its surface it is.
        collider: What it is in the scene of the bodies that follow it.
    """

    def __init__(
        self, cache: CacheReader, settings: Settings, tracks: TrackReader, body: Body, part: GroundPart
    ) -> None:
        """Reads where it begins.

        Args:
            cache: With all frames that are needed.
            settings, tracks: Of its bake.
            body: The body there.
            part: What of its surface.
        """
        self.part = part
        self._cache, self.settings, self.tracks, self.body = cache, settings, tracks, body
        self._first, end = part.vertex_range(body)
        self._inner = _read_last_vertices(cache, body.key, end - max(self._first, body.played_count))
        self._rest = body.vertices[self._first : end]
        self._samples = self._all_samples()
        self._next = next(self._samples)
        is_own = ((body.triangles >= self._first) & (body.triangles < end)).all(axis=1)
        self.collider = Collider(
            key=body.key,
            name=body.name,
            shape="mesh",
            vertices=self._next[1],
            triangles=body.triangles[is_own] - np.int32(self._first),
            friction=body.collision.friction,
            thickness=body.collision.thickness,
            rest_vertices=self._rest,
            keeps_overlap=part == GroundPart.WHOLE,
        )

    def wrap_inside(self, key: str, name: str) -> BakedGround:
        """Returns the Wrap inside of it alone, as a collider with a key and a name of its own."""
        body = replace(self.body, attachments=())  # the body itself has these
        found = BakedGround(self._cache, self.settings, self.tracks, body, GroundPart.WRAP)
        found.collider = replace(found.collider, key=key, name=name)
        return found

    def is_felt_by(self, body: Body) -> bool:
        """Whether a body that follows this one feels it, as it does where all of its pass are baked together."""
        if self.part == GroundPart.WRAP:
            return False
        return self.part == GroundPart.PLAYED or not body.follows_pose or self.body.follows_pose

    def tet_volume(self) -> float:
        """Returns the volume of its tets at rest [m³]; raises StorageFailed where they cannot be read."""
        model = self._cache.read_model(self.body.key)
        corners = model["nodes"][model["tets"]]
        return float(np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])).sum() / 6.0)

    def tet_size(self) -> float:
        """Returns the size of its tets as they were made [m]; raises StorageFailed where they cannot be read."""
        return float(json.loads(str(self._cache.read_model(self.body.key)["report"]))["tet_size"])

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
        settings, key = self.settings, self.body.key
        step, path = 1.0 / (settings.fps * settings.samples_per_frame), layout.preroll_path(self._cache.folder, key)
        if settings.preroll and path.is_file() and self._inner is None:
            for number, local in enumerate(read_arrays(path)["positions"][:-1]):  # the last one is the first frame
                yield self._placed(settings.start_time + number * step, local)
        elif settings.preroll:  # not written: it goes straight from the rest pose to its first frame
            yield settings.start_time, self._rest
        last = self._cache.last_frame()
        count = 0 if last is None else self._cache.metadata.sample_count(last)
        per_frame = settings.samples_per_frame
        for number in range(count):
            time, skin = self._placed(number * step, self._cache.read_samples(key, number)[0])
            if self._inner is None:
                yield time, skin
            else:
                yield (
                    time,
                    np.concatenate(
                        [skin[self._first :], self._inner.positions_between(settings.frame_start, number, per_frame)]
                    ),
                )

    def _placed(self, time: float, local: np.ndarray) -> tuple[float, Floats]:
        matrix = floats(self.tracks.sample(f"body.{self.body.key}.matrix", time), 4, 4)
        return time, transform_points(matrix, local.astype(np.float64))


def read_grounds(bake_pass: BakePass, end: int, bodies: ObjectKeys, wrapped: ObjectKeys) -> list[BakedGround]:
    """Returns the bodies that those of a pass follow; not what was baked and is no body of these passes any more.

    Args:
        bake_pass: The pass that follows them.
        end: The last frame that it needs.
        bodies: Those of earlier passes now, and those of the pass that are left as they are baked, with their keys.
        wrapped: Those of them whose Wraps attachments name, with the keys that these get.

    Raises:
        BadInput: An earlier pass is not baked, or not to that frame, or without its pre-roll or one of the bodies. A
            body of the pass itself is not baked to that frame, or it broke.
        StorageFailed: A cache cannot be read.
    """
    found = []
    for each in (*bake_pass.earlier, bake_pass):
        wanted = {key: obj.name for obj, key in bodies.items() if obj.sinew.bake_pass == each.number}
        if wanted and each.number < bake_pass.number:
            found += _bodies_of_pass(each, bake_pass.number, end, wanted)
        elif wanted:
            found += _bodies_left_as_baked(each, end, wanted)
    wraps = {bodies[obj]: (key, obj.sinew.wrap.name) for obj, key in wrapped.items()}
    named = [ground for ground in found if ground.body.key in wraps]
    return [*found, *(_wrap_of(ground, *wraps[ground.body.key]) for ground in named)]


def _wrap_of(ground: BakedGround, key: str, name: str) -> BakedGround:
    """Returns the Wrap inside of a body; raises BadInput where it was baked without."""
    if not ground.body.wrap_vertices:
        raise BadInput("baked-without-wrap", name=ground.body.name, wrap=name)
    return ground.wrap_inside(key, name)


def _bodies_of_pass(earlier: BakePass, number: int, end: int, wanted: Mapping[str, str]) -> list[BakedGround]:
    """Returns bodies of an earlier pass, by key and name, that pass `number` follows to the frame `end`."""
    found = {}
    for folder in selected_body_caches.played_folders(earlier.folder):
        last = _last_frame(folder)
        if last is None or last < end:
            raise BadInput("pass-not-baked", number=number, earlier=earlier.number, done=_beyond(last))
        played = {key for key in wanted if selected_body_caches.folder_of_body(earlier.folder, key) == folder}
        for ground in _read_bodies(folder, played):
            key = ground.collider.key
            if ground.settings.preroll and not layout.preroll_path(folder, key).is_file():
                raise BadInput("pass-without-preroll", number=number, earlier=earlier.number)
            found[key] = ground
    for key, name in wanted.items():
        if key not in found:
            raise BadInput("pass-without-body", number=number, earlier=earlier.number, name=name)
    return list(found.values())


def _bodies_left_as_baked(bake_pass: BakePass, end: int, wanted: Mapping[str, str]) -> list[BakedGround]:
    """Returns bodies of a pass, by key and name, that its other bodies follow to the frame `end`."""
    found = []
    for key, name in wanted.items():
        folder = selected_body_caches.folder_of_body(bake_pass.folder, key)
        last, grounds = _last_frame(folder), list(_read_bodies(folder, {key}, GroundPart.WHOLE))
        if last is None or last < end or not grounds:
            raise BadInput("selected-follows-unbaked", name=name, done=_beyond(last if grounds else None))
        if any(line.get("bodies", {}).get(key, {}).get("splits") for line in CacheReader(folder).report()):
            raise BadInput("selected-follows-broken", name=name)
        found += grounds
    return found


def _read_bodies(folder: Path, keys: Collection[str], part: GroundPart = GroundPart.PLAYED) -> Iterator[BakedGround]:
    """Yields those of some bodies that a cache has, in its order; none where there is no cache."""
    if not keys or _last_frame(folder) is None:
        return
    scene_folder = folder / layout.SCENE_FOLDER
    cache, scene, tracks = CacheReader(folder), Scene.load(scene_folder), TrackReader(scene_folder, wait=0.0)
    for body in scene.bodies:
        if body.key in keys:
            yield BakedGround(cache, scene.settings, tracks, body, part)


def _read_last_vertices(cache: CacheReader, key: str, count: int) -> WrapVertices | None:
    """Returns the last vertices of the surface of a body, or None for none of them."""
    tets = body_tets(cache, key) if count else None
    return None if tets is None else WrapVertices(cache, tets, key, count)


def _last_frame(folder: Path) -> int | None:
    """Returns the last frame of a cache, or None without a cache or a frame."""
    try:
        return CacheReader(folder).last_frame()
    except StorageFailed as problem:
        if problem.kind != "cache-missing":
            raise
        return None


def _beyond(last: int | None) -> str:
    return "" if last is None else f" beyond frame {last}"


def unfelt_pairs(scene: Scene, grounds: Iterable[BakedGround]) -> tuple[tuple[str, str], ...]:
    """Returns the keys of the bodies of a scene and of what they follow but do not feel.

    What is attached to a Wrap does not collide with the body around it, as where both are simulated.
    """
    pairs = []
    for ground in grounds:
        key = ground.collider.key
        pairs += [(body.key, key) for body in scene.bodies if not ground.is_felt_by(body)]
        attached = (body for body in scene.bodies if any(key in each.targets for each in body.attachments))
        pairs += [(body.key, ground.body.key) for body in attached if ground.part == GroundPart.WRAP]
    return tuple(pairs)


def check_same_times(grounds: Iterable[BakedGround], settings: Settings) -> None:
    """Makes sure that what is followed was baked with the present frame rate, start and pre-roll.

    Raises:
        BadInput: It was not.
    """
    for ground in grounds:
        names = ("frame_start", "fps", "preroll")
        if any(getattr(ground.settings, name) != getattr(settings, name) for name in names):
            raise BadInput("pass-other-times", name=ground.collider.name)
