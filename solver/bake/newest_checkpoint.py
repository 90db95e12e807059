# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the newest intact checkpoint of a bake; never drops many frames without a request."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..mechanics.state import State
from ..mechanics.state_fields import LEVEL_SPLIT_FIELD, PARTED_FIELD
from ..mechanics.topology_state import check_fits
from ..mesh.node_splitting.face_adjacency import face_adjacency
from ..mesh.tet_mesh import TetMesh
from ..runtime.errors import SinewError, StorageFailed
from ..simulation.cutting.body_cut import stored_cut
from .cache import CacheReader, layout
from .cache.consistency_check import missing_ranges
from .cache.pc2 import HEADER_BYTES
from .pc2_repair import CompleteSamples

# frames that a resume may bake again; checkpoints are at most 10 frames apart, and three stay
MAX_REBAKED_FRAMES = 30


def holds_bake(folder: Path) -> bool:
    """Whether a folder has frames that a new bake would delete: more than the first one, or remains of more."""
    if (folder / layout.START_OVER_MARK).exists():
        return False  # a start-over was already deleting them
    frames = layout.numbers_in(folder / layout.FRAME_FOLDER)
    if len(frames) > 1 or layout.numbers_in(folder / layout.RESUME_FOLDER):
        return True
    # frames are written before their samples
    return not frames and any(
        file.stat().st_size > HEADER_BYTES for file in (folder / layout.PLAY_FOLDER).glob("*.pc2")
    )


def newest_checkpoint(
    reader: CacheReader, wanted: int | None, meshes: Mapping[str, TetMesh]
) -> tuple[int, State, list[SinewError]]:
    """Returns the frame of the newest intact checkpoint up to `wanted`, its state, and notes on skipped ones.

    Args:
        reader: Of the cache.
        wanted: The last allowed frame; None: any.
        meshes: The tets of its bodies by key, which the state has to match.

    Raises:
        StorageFailed: There is none, or too many frames follow it, so that the user has to decide.
    """
    path, frames = str(reader.folder), reader.frames()
    dropped_after = _interrupted_drop_frame(reader)
    if dropped_after is not None:  # later ones may belong to a changed scene
        frames = [frame for frame in frames if frame <= dropped_after]
    last = CompleteSamples(reader).last_frame() if dropped_after is None else reader.last_frame()
    if not frames or last is None:
        name = layout.PLAY_FOLDER if frames else layout.FRAME_FOLDER
        raise StorageFailed("cache-part-lost", path=path, part=name)
    found = layout.numbers_in(reader.folder / layout.RESUME_FOLDER)
    points = [p for p in found if p >= reader.metadata.frame_start and (dropped_after is None or p <= dropped_after)]
    if not points:
        raise StorageFailed("cache-part-lost", path=path, part=layout.RESUME_FOLDER)
    skipped: list[SinewError] = []
    for frame in reversed(points):
        if frame > last or (wanted is not None and frame > wanted):
            continue
        try:
            state = _read_checkpoint(reader, frame, meshes)
        except StorageFailed as problem:
            skipped.append(SinewError("cache-point-damaged", **problem.details, frame=frame))
            continue
        if wanted is None and frames[-1] - frame > MAX_REBAKED_FRAMES:
            raise StorageFailed("cache-resume-far", path=path, frame=frame, last=frames[-1])
        if frames[-1] > last + 1:  # a crash leaves at most one incomplete frame
            skipped.append(SinewError("cache-frames-again", path=path, first=frame + 1, last=frames[-1]))
        return frame, state, skipped
    if skipped:
        raise StorageFailed("cache-damaged", **skipped[0].details)
    if points[0] > last:
        raise StorageFailed("cache-part-lost", path=path, part=layout.PLAY_FOLDER)
    raise StorageFailed("cache-no-resume", path=path)


def _interrupted_drop_frame(reader: CacheReader) -> int | None:
    """Returns the last frame that a killed writer wanted to keep while it dropped later ones, or None."""
    try:
        return int((reader.folder / layout.RESUME_MARK).read_bytes())
    except (OSError, ValueError):
        return None


def missing_frames(reader: CacheReader, until: int) -> list[SinewError]:
    """Returns a note for every gap in the frames up to one."""
    found = missing_ranges([frame for frame in reader.frames() if frame <= until], reader.metadata.frame_start)
    return [SinewError("cache-frames-missing", path=str(reader.folder), first=a, last=b) for a, b in found]


def _read_checkpoint(reader: CacheReader, frame: int, meshes: Mapping[str, TetMesh]) -> State:
    """Returns the state of a checkpoint, if its frame is intact too and it matches these tets.

    Raises:
        StorageFailed: The checkpoint or its frame is damaged.
    """
    reader.read_frame(frame)
    arrays = reader.read_resume(frame)
    try:
        state = State.from_arrays(arrays)
        counts = [_present_counts(state, key, mesh) for key, mesh in meshes.items()]
        check_fits(state, sum(nodes for nodes, _ in counts), sum(tets for _, tets in counts))
    except (KeyError, TypeError, ValueError) as problem:
        file = f"{layout.RESUME_FOLDER}/{frame:06d}.npz"
        raise StorageFailed("cache-damaged", path=str(reader.folder), file=file, problem=str(problem)) from problem
    return state


def _present_counts(state: State, key: str, mesh: TetMesh) -> tuple[int, int]:
    """Returns how many nodes and tets a body has in a state, given all that it can have.

    Raises:
        ValueError: The state is of other tets.
    """
    if (parted := state.fields.get(PARTED_FIELD.format(key=key))) is not None:
        if parted.shape != mesh.tets.shape:
            raise ValueError(f"{PARTED_FIELD.format(key=key)} has the shape {parted.shape} for {len(mesh.tets)} tets")
        count = face_adjacency(mesh.tets, np.ones(len(mesh.tets), bool)).piece_count(parted.astype(np.bool_))
        return 4 * count, count
    cut = stored_cut(state.fields, key, mesh)
    if cut is not None:
        return len(cut.origin), len(cut.parent)
    if mesh.levels is None:
        return len(mesh.nodes), len(mesh.tets)
    from ..mesh.tetrahedralize.leaf_tets import leaf_tets

    name = LEVEL_SPLIT_FIELD.format(key=key)
    is_split = state.fields.get(name, np.zeros(0, np.uint8))
    if is_split.shape != mesh.levels.fill.shape:
        raise ValueError(f"{name} has the shape {is_split.shape} for {len(mesh.levels.fill)} tets")
    leaves = leaf_tets(mesh.levels, is_split.astype(np.bool_) & ~mesh.levels.is_finest)
    return len(leaves.points), len(leaves.cell)
