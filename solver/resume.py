# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a bake may go on, and whether what is in the cache is of the same scene."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .cache import CacheHead, CacheReader
from .cache.layout import HEAD_FILE
from .cache.play_files import has_other_shape
from .embedding import Binding
from .errors import SinewError, StorageFailed
from .late_dataclass import dataclass
from .resume_frame import holds_bake, missing_frames, newest_point
from .scene import Body, Scene
from .state import NODE_FIELDS, State
from .stored_mesh import fits, from_arrays
from .tetrahedralize.tet_mesh import TetMesh
from .topology import Topology
from .tracks import TrackReader


@dataclass(frozen=True)
class ResumePoint:
    """All that is needed to go on after `frame`.

    Attributes:
        frame: The last frame that stays.
        state: The state at its end.
        meshes: Tets and binding of every body, by key.
        topology: Number of the first sample with the topology at that frame; 0 while all bodies are whole.
        notes: What a person has to know about what is damaged.
    """

    frame: int
    state: State
    meshes: dict[str, tuple[TetMesh, Binding]]
    topology: int = 0
    notes: tuple[SinewError, ...] = ()


def find(
    folder: Path, scene: Scene, tracks: TrackReader, head: CacheHead, wanted: int | None, accept_changes: bool
) -> ResumePoint | None:
    """Returns where to go on, at `wanted` or before; None when nothing was baked yet.

    Raises:
        StorageFailed: What was baked is of another scene, or cannot be gone on with from there. All of it stays.
    """
    if not holds_bake(folder):
        if wanted is not None and (folder / HEAD_FILE).exists():
            raise StorageFailed("cache-no-resume", path=str(folder))
        return None
    reader, notes = _read_head(folder, head, accept_changes)
    # as far as the bake that is there was to go: to make it longer is no change of its inputs
    until = tracks.final_digest(scene.settings.time(reader.head.frame_end))
    check_same(reader, head, until, accept_changes)
    meshes = {body.key: _read_mesh(reader, body) for body in scene.bodies}
    frame, state, more = newest_point(reader, wanted, [mesh for mesh, _ in meshes.values()])
    _check_what_is_broken(state, scene, meshes, folder, frame)
    notes += more + missing_frames(reader, frame)
    return ResumePoint(frame, state, meshes, reader.read_frame(frame).topology, tuple(notes))


def _read_head(folder: Path, head: CacheHead, accept_changes: bool) -> tuple[CacheReader, list[SinewError]]:
    """Returns a reader of the cache, whose head is put together from the scene and the PC2 files where it is lost.

    Raises:
        StorageFailed: The head is lost, which would have said whether the scene changed, and changes are not accepted.
    """
    try:
        return CacheReader(folder), []
    except StorageFailed as problem:
        if problem.kind == "cache-format":
            raise
        if not accept_changes:
            raise StorageFailed("cache-head-lost", path=str(folder)) from problem
    if has_other_shape(folder, head):
        raise StorageFailed("cache-other-shape", path=str(folder))
    head.save(folder)
    return CacheReader(folder), [SinewError("cache-head-made", path=str(folder))]


def _read_mesh(reader: CacheReader, body: Body) -> tuple[TetMesh, Binding]:
    """Returns the tets and the binding of a body; raises StorageFailed where they are damaged or of another body."""
    stored = reader.read_model(body.key)
    if not fits(stored, body):
        raise StorageFailed("cache-other-shape", path=str(reader.folder))
    try:
        return from_arrays(stored)
    except (KeyError, TypeError, ValueError) as problem:
        raise StorageFailed(
            "cache-damaged", path=str(reader.folder), file=f"model/{body.key}.npz", problem=str(problem)
        ) from problem


def begun(state: State, initial: State) -> None:
    """Gives a state that is gone on with what a first one has besides: the scene may ask for more than it did."""
    topology = Topology.of(state)
    for name, values in initial.fields.items():
        if name not in state.fields:
            is_per_node = topology is not None and name.startswith(NODE_FIELDS)
            state.fields[name] = values[topology.origin] if is_per_node and topology else values.copy()


def _check_what_is_broken(
    state: State, scene: Scene, meshes: dict[str, tuple[TetMesh, Binding]], folder: Path, frame: int
) -> None:
    """Raises StorageFailed where a body is in pieces that the scene does not let break any more."""
    topology, start = Topology.of(state), 0
    for body in scene.bodies:
        count = len(meshes[body.key][0].nodes)
        if topology is not None and body.fracture is None:
            own = (topology.origin >= start) & (topology.origin < start + count)
            if np.count_nonzero(own) > count:
                raise StorageFailed("cache-broken-body", path=str(folder), name=body.name, frame=frame)
        start += count


def check_same(reader: CacheReader, head: CacheHead, tracks: str, accept_changes: bool) -> None:
    """Makes sure that the cache is of the scene that `head` is of, and its inputs those of the digest `tracks`.

    Raises:
        StorageFailed: The scene or its animation changed, and that was not accepted; or frames of it could
            not stand beside those that are there.
    """
    changed = []
    if reader.head.scene != head.scene:
        changed.append("settings")
    if reader.head.tracks != tracks:
        changed.append("an animation")
    if changed and not accept_changes:
        raise StorageFailed("cache-out-of-date", path=str(reader.folder), what=" and ".join(changed))
    if not reader.head.has_shape_of(head):
        raise StorageFailed("cache-other-shape", path=str(reader.folder))
