# SPDX-License-Identifier: GPL-3.0-or-later
"""The finishing pass of a cache: cuts meshes once by the final topology, and computes the vertices of every sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ...runtime.errors import BadInput, Cancelled
from ...runtime.storage_errors import named_errors
from ...scene.scene import Body, Scene
from ...scene.track_shapes import track_shapes
from ...scene.tracks import TrackReader
from ..cache import CacheReader, FractureResult, layout
from .body_frames import BodyFrameReader
from .delete_results import delete_results
from .finish_body import BodyPostprocess

OnEvent = Callable[[Mapping[str, Any]], None]
PROGRESS_STEP = 0.05


def postprocess_cache(
    folder: Path, on_event: OnEvent, should_stop: Callable[[], bool] = lambda: False
) -> list[FractureResult]:
    """Makes the final mesh and its motion for every broken body, and the attributes of all breakable ones.

    The caller has the lock of the cache. Deletes the output of an earlier pass first. The result of a body exists only
    if it is complete.

    Args:
        folder: The cache.
        on_event: Called with each event.
        should_stop: Polled after every frame.

    Returns:
        The results. Bodies without cracks have none, nor bodies whose render mesh cannot be cut, for which it emits a
        warning.

    Raises:
        StorageFailed: The cache is damaged, or the disk failed.
        Cancelled: By `should_stop`.
    """
    reader = CacheReader(folder)
    scene = Scene.load(folder / layout.SCENE_FOLDER)
    tracks = TrackReader(folder / layout.SCENE_FOLDER, shapes=track_shapes(scene))
    bodies = [body for body in scene.bodies if body.fracture is not None]
    made = []
    with named_errors(folder):
        delete_results(folder, [body.key for body in bodies])
        for body in bodies if reader.baked_range() else ():
            progress = _ProgressReporter(body, on_event, should_stop)
            try:
                result = BodyPostprocess(BodyFrameReader(reader, body.key), body, scene, tracks, progress).make()
            except BadInput as problem:  # the frames stay, and other bodies may have suitable meshes
                on_event({"event": "warning", **problem.as_warning()})
                continue
            made += [result] if result is not None else []
    return made


def is_postprocessed(reader: CacheReader, scene: Scene) -> bool:
    """Whether all results of the present frames exist."""
    baked = reader.baked_range()
    for body in scene.bodies:
        if baked is None or body.fracture is None:
            continue
        written = layout.attribute_frames(reader.folder, body.key)
        if body.attributes and len(written) != baked[1] - baked[0] + 1:
            return False
        if any(not layout.attribute_path(reader.folder, body.key, frame).stat().st_size for frame in written):
            return False  # the machine stopped before they were synced
        frames = BodyFrameReader(reader, body.key)
        made = reader.read_result(body.key)
        last = None if made is None or "last_frame" not in made else int(made["last_frame"])
        if last != (baked[1] if frames.has_broken() else None):
            return False
    return True


class _ProgressReporter:
    """Emits the progress of a body from time to time, and polls for cancellation."""

    def __init__(self, body: Body, on_event: OnEvent, should_stop: Callable[[], bool]) -> None:
        self.body, self.on_event, self.should_stop = body, on_event, should_stop
        self.reported_fraction = -PROGRESS_STEP

    def __call__(self, fraction: float) -> None:
        if self.should_stop():
            raise Cancelled()
        if fraction >= self.reported_fraction + PROGRESS_STEP:
            self.reported_fraction = fraction
            self.on_event({"event": "finishing", "body": self.body.name, "fraction": round(fraction, 3)})
