# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the checkpoint from which a bake resumes, and checks that the cache belongs to the scene."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..mechanics.state import NODE_FIELDS, State
from ..mechanics.topology_state import Topology
from ..mesh.embedding import Binding
from ..mesh.mesh_npz import from_arrays, matches_body
from ..mesh.tet_mesh import TetMesh
from ..runtime.errors import SinewError, StorageFailed
from ..scene.scene import Body, Scene
from ..scene.tracks import TrackReader
from .cache import CacheMetadata, CacheReader
from .cache.layout import METADATA_FILE
from .cache.pc2_check import has_other_layout
from .newest_checkpoint import holds_bake, missing_frames, newest_checkpoint


@dataclass(frozen=True)
class Checkpoint:
    """Everything needed to continue after `frame`.

    Attributes:
        frame: The last frame that is kept.
        state: The state at its end.
        meshes: Tets and binding of every body, by key.
        topology: Number of the first sample with the topology at that frame, 0 while all bodies are intact.
        notes: Messages about damaged files.
    """

    frame: int
    state: State
    meshes: dict[str, tuple[TetMesh, Binding]]
    topology: int = 0
    notes: tuple[SinewError, ...] = ()


def find_checkpoint(
    folder: Path, scene: Scene, tracks: TrackReader, head: CacheMetadata, wanted: int | None, accept_changes: bool
) -> Checkpoint | None:
    """Returns the last checkpoint at `wanted` or before, or None if nothing was baked yet.

    Raises:
        StorageFailed: The bake belongs to another scene, or cannot continue from there. All of it stays.
    """
    if not holds_bake(folder):
        if wanted is not None and (folder / METADATA_FILE).exists():
            raise StorageFailed("cache-no-resume", path=str(folder))
        return None
    reader, notes = _read_head(folder, head, accept_changes)
    # with the end of the existing bake, since a longer range is no change of its input
    until = tracks.final_digest(scene.settings.time(reader.metadata.frame_end))
    check_same_inputs(reader, head, until, accept_changes)
    meshes = {body.key: _read_mesh(reader, body) for body in scene.bodies}
    frame, state, more = newest_checkpoint(reader, wanted, {key: mesh for key, (mesh, _) in meshes.items()})
    _check_fracture_allowed(state, scene, meshes, folder, frame)
    notes += more + missing_frames(reader, frame)
    return Checkpoint(frame, state, meshes, reader.read_frame(frame).topology, tuple(notes))


def _read_head(folder: Path, head: CacheMetadata, accept_changes: bool) -> tuple[CacheReader, list[SinewError]]:
    """Returns a reader of the cache; a lost `cache.json` is restored from the scene and the PC2 files.

    Raises:
        StorageFailed: `cache.json` is lost, so changes of the scene cannot be detected, and are not accepted.
    """
    try:
        return CacheReader(folder), []
    except StorageFailed as problem:
        if problem.kind == "cache-format":
            raise
        if not accept_changes:
            raise StorageFailed("cache-head-lost", path=str(folder)) from problem
    if has_other_layout(folder, head):
        raise StorageFailed("cache-other-shape", path=str(folder))
    head.save(folder)
    return CacheReader(folder), [SinewError("cache-head-made", path=str(folder))]


def _read_mesh(reader: CacheReader, body: Body) -> tuple[TetMesh, Binding]:
    """Returns the tets and the binding of a body. Raises StorageFailed if damaged or of another body."""
    stored = reader.read_model(body.key)
    if not matches_body(stored, body):
        raise StorageFailed("cache-other-shape", path=str(reader.folder))
    try:
        mesh, binding = from_arrays(stored)
        if len(binding.tet) != len(body.vertices):
            raise ValueError(f"binding_tet has {len(binding.tet)} rows for {len(body.vertices)} vertices")
        return mesh, binding
    except (KeyError, TypeError, ValueError) as problem:
        raise StorageFailed(
            "cache-damaged", path=str(reader.folder), file=f"model/{body.key}.npz", problem=str(problem)
        ) from problem


def with_initial_fields(state: State, initial: State) -> None:
    """Adds initial fields that a resumed state lacks, since the scene may use more features now."""
    topology = Topology.from_state(state)
    for name, values in initial.fields.items():
        if name not in state.fields:
            is_per_node = topology is not None and name.startswith(NODE_FIELDS)
            state.fields[name] = values[topology.origin] if is_per_node and topology else values.copy()


def _check_fracture_allowed(
    state: State, scene: Scene, meshes: dict[str, tuple[TetMesh, Binding]], folder: Path, frame: int
) -> None:
    """Raises StorageFailed if a body is broken but not breakable any more."""
    topology, start = Topology.from_state(state), 0
    for body in scene.bodies:
        count = len(meshes[body.key][0].nodes)
        if topology is not None and body.fracture is None:
            own = (topology.origin >= start) & (topology.origin < start + count)
            if np.count_nonzero(own) > count:
                raise StorageFailed("cache-broken-body", path=str(folder), name=body.name, frame=frame)
        start += count


def check_same_inputs(reader: CacheReader, head: CacheMetadata, tracks: str, accept_changes: bool) -> None:
    """Checks that the cache belongs to the scene of `head`, with animated input of the digest `tracks`.

    Raises:
        StorageFailed: The scene or its animation changed without `accept_changes`, or its frames have another
            layout.
    """
    changed = []
    if reader.metadata.scene != head.scene:
        changed.append("settings")
    if reader.metadata.tracks != tracks:
        changed.append("an animation")
    if changed and not accept_changes:
        raise StorageFailed("cache-out-of-date", path=str(reader.folder), what=" and ".join(changed))
    if not reader.metadata.has_same_layout(head):
        raise StorageFailed("cache-other-shape", path=str(reader.folder))
