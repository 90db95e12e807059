# SPDX-License-Identifier: GPL-3.0-or-later
"""The metadata of a cache: `cache.json`, and its copy `model/cache.json` in case that is lost."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from ...runtime.atomic_files import write_atomic
from ...runtime.checksums import CHECKSUM_KEY, tree_with_checksum, tree_without_checksum
from ...runtime.errors import BadInput, StorageFailed
from ...runtime.storage_errors import named_errors
from ...scene.object_key_rule import check_keys, is_key
from ...scene.scene import FrameNumber, FramesPerSecond, SamplesPerFrame, Scene
from ...scene.serialisation.range_check import check_ranges
from ...scene.serialisation.schema_constraints import at_least
from ...scene.serialisation.typed_json import from_tree
from .layout import METADATA_COPY, METADATA_FILE

CACHE_FORMAT = 1


@dataclass(frozen=True)
class CachedBody:
    """A body in the metadata: key in file names, name for people, number of render vertices."""

    key: str
    name: str
    vertices: Annotated[int, at_least(0)]


@dataclass(frozen=True)
class CacheMetadata:
    """Describes the frames of a cache.

    Attributes:
        scene: `Scene.digest` of the baked scene, 64 hex digits.
        tracks: `TrackReader.digest`, or "" while the tracks are still being written.
        bodies: The bodies, in the scene's order.
        frame_start, frame_end: The requested range; the cache may have less.
        fps: Frames per second.
        samples_per_frame: Render positions per frame: sample i is at frame_start + i / samples_per_frame.
        settings: The exporter's settings digest (`layout.SETTINGS_FILE`), or "". Blender compares it with the
            present settings.
    """

    scene: str
    tracks: str
    bodies: tuple[CachedBody, ...]
    frame_start: FrameNumber
    frame_end: FrameNumber
    fps: FramesPerSecond
    samples_per_frame: SamplesPerFrame
    settings: str = ""

    @staticmethod
    def for_scene(scene: Scene, tracks: str, frame_end: int | None = None, settings: str = "") -> CacheMetadata:
        """Returns the metadata for a bake of `scene`.

        Raises:
            BadInput: A body's key cannot name a file, or two bodies have the same.
        """
        keys = [body.key for body in scene.bodies]
        for body in scene.bodies:
            if not is_key(body.key) or keys.count(body.key) > 1:
                raise BadInput("body-key", name=body.name, key=body.key)
        scene_settings = scene.settings
        return CacheMetadata(
            scene=scene.digest(),
            tracks=tracks,
            bodies=tuple(CachedBody(body.key, body.name, body.played_count) for body in scene.bodies),
            frame_start=scene_settings.frame_start,
            frame_end=scene_settings.frame_end if frame_end is None else frame_end,
            fps=scene_settings.fps,
            samples_per_frame=scene_settings.samples_per_frame,
            settings=settings,
        )

    def sample_count(self, frame: int) -> int:
        """Returns the number of samples up to `frame`."""
        return max(0, (frame - self.frame_start) * self.samples_per_frame + 1)

    def frame_of_sample(self, number: int) -> float:
        """Returns the (sub)frame of a sample; the first has number 0."""
        return self.frame_start + number / self.samples_per_frame

    def has_same_layout(self, other: CacheMetadata) -> bool:
        """Whether frames of the other bake fit into the same files."""
        names = ("bodies", "frame_start", "fps", "samples_per_frame")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def save(self, folder: Path) -> None:
        """Writes the copy and then `cache.json`, each atomically."""
        tree = tree_with_checksum({"format": CACHE_FORMAT, **json.loads(json.dumps(dataclasses.asdict(self)))})
        # undecodable names, as of files, are written as JSON escapes
        data = json.dumps(tree, indent=1, ensure_ascii=False).encode(errors="backslashreplace")
        with named_errors(folder):
            (folder / METADATA_COPY).parent.mkdir(exist_ok=True)
            for name in (METADATA_COPY, METADATA_FILE):
                write_atomic(folder / name, data)

    @staticmethod
    def load(folder: Path) -> CacheMetadata:
        """Reads `cache.json`, or its copy if that is missing or damaged.

        Raises:
            StorageFailed: There is no metadata, or it has another format.
        """
        try:
            return CacheMetadata.read(folder, METADATA_FILE)
        except StorageFailed as problem:
            if problem.kind == "cache-format":
                raise
            try:
                return CacheMetadata.read(folder, METADATA_COPY)
            except StorageFailed:
                raise problem from None

    @staticmethod
    def has_checksum(folder: Path) -> bool:
        """Whether `cache.json` has a checksum, right or wrong; earlier versions wrote none."""
        try:
            return CHECKSUM_KEY in json.loads((folder / METADATA_FILE).read_text(encoding="utf-8"))
        except (OSError, TypeError, ValueError):
            return False

    @staticmethod
    def read(folder: Path, name: str) -> CacheMetadata:
        """Reads one of the two files; raises as `load`."""
        try:
            tree = json.loads((folder / name).read_text(encoding="utf-8"))
            tree = tree_without_checksum(tree)
            if tree["format"] != CACHE_FORMAT:
                raise StorageFailed("cache-format", path=str(folder), found=tree["format"], wanted=CACHE_FORMAT)
            del tree["format"]
            return _checked_ranges(from_tree(CacheMetadata, tree, {}))
        except FileNotFoundError as problem:
            raise StorageFailed("cache-missing", path=str(folder)) from problem
        except (OSError, KeyError, TypeError, ValueError, RecursionError) as problem:
            raise StorageFailed("cache-unreadable", path=str(folder), problem=str(problem)) from problem


def metadata_is_intact(folder: Path) -> bool:
    """Whether `cache.json` and its copy can be read."""
    try:
        return CacheMetadata.read(folder, METADATA_FILE) == CacheMetadata.read(folder, METADATA_COPY)
    except StorageFailed:
        return False


def _checked_ranges(head: CacheMetadata) -> CacheMetadata:
    """Returns the metadata after a check of its ranges.

    Raises:
        ValueError: A number is out of range, or two bodies share a key.
    """
    try:
        check_ranges(head, shows_places=True)
        check_keys(head.bodies)
    except BadInput as problem:
        raise ValueError(problem.sentence.rstrip(".")) from problem
    return head
