# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a bake may go on, and whether what is in the cache is of the same scene."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .cache import CacheHead, CacheReader, is_cache
from .cache.layout import HEAD_FILE
from .embedding import Binding
from .errors import StorageFailed
from .late_dataclass import dataclass
from .scene import Scene
from .state import State
from .stored_mesh import fits, from_arrays
from .tetrahedralize.tet_mesh import TetMesh
from .topology import Topology
from .tracks import TrackReader

NODE_FIELDS = "node."  # names of fields of the state with a row per node


@dataclass(frozen=True)
class ResumePoint:
    """All that is needed to go on after `frame`.

    Attributes:
        frame: The last frame that stays.
        state: The state at its end.
        meshes: Tets and binding of every body, by key.
        topology: Number of the first sample with the topology at that frame; 0 while all bodies are whole.
    """

    frame: int
    state: State
    meshes: dict[str, tuple[TetMesh, Binding]]
    topology: int = 0


def find(
    folder: Path, scene: Scene, tracks: TrackReader, head: CacheHead, wanted: int | None, accept_changes: bool
) -> ResumePoint | None:
    """Returns where to go on, at `wanted` or before; None when nothing was baked yet.

    Raises:
        StorageFailed: What was baked is of another scene, or cannot be gone on with from there.
    """
    if not is_cache(folder) or not (folder / HEAD_FILE).exists():
        return None
    reader = CacheReader(folder)
    # as far as the bake that is there was to go: to make it longer is no change of its inputs
    until = tracks.final_digest(scene.settings.time(reader.head.frame_end))
    check_same(reader, head, until, accept_changes)
    frame = reader.resume_frame(wanted)
    if frame is None:
        if wanted is not None:
            raise StorageFailed("cache-no-resume", path=str(folder))
        return None
    meshes = {}
    for body in scene.bodies:
        stored = reader.read_model(body.key)
        if not fits(stored, body):
            raise StorageFailed("cache-other-shape", path=str(folder))
        try:
            meshes[body.key] = from_arrays(stored)
        except (KeyError, TypeError, ValueError) as problem:
            raise StorageFailed(
                "cache-damaged", path=str(folder), file=f"model/{body.key}.npz", problem=str(problem)
            ) from problem
    state = State.from_arrays(reader.read_resume(frame))
    _check_what_is_broken(state, scene, meshes, folder, frame)
    return ResumePoint(frame, state, meshes, reader.read_frame(frame).topology)


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
