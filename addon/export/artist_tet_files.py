# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of tets that artists bring: found, read once, and read again when they changed.

Their coordinates are in the object's own space, in its units, as those of its vertices are.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput
from ..evaluation.matrix_units import transform_points
from ..runtime.memo import Memo, Throttle
from . import tet_file_change_stamp
from .file_path_resolution import chosen_file
from .tet_file_change_stamp import Stamp

if TYPE_CHECKING:
    from ...solver.mesh.tet_repair import RepairedTets

CHECK_INTERVAL_SECONDS = 1.0  # [s] between two looks at the disk for a panel
MAX_PANEL_BYTES = 2_000_000  # [bytes] of files that a panel may read: 0.2 s
MAX_CACHED_FILES = 8

_tets_of_files: Memo[RepairedTets] = Memo(MAX_CACHED_FILES)
_digests_of_files: Memo[str] = Memo(MAX_CACHED_FILES)
# the number of tets of a file, or why it cannot be used; and what a panel shows of it
_counts_of_files: Memo[int | str] = Memo(MAX_CACHED_FILES)
_panel_counts: Throttle[int | str | None] = Throttle(MAX_CACHED_FILES, CHECK_INTERVAL_SECONDS)


def path_of(obj: bpy.types.Object) -> Path | None:
    """Returns where the file of `obj` is, or None when none is chosen; "//" is the folder of the .blend."""
    return chosen_file(obj, obj.sinew.tets_path)


def read_object_tets(obj: bpy.types.Object) -> RepairedTets:
    """Returns the tets of the file of `obj`, all positively oriented.

    Raises:
        BadInput: There is no file, or it cannot be used; says the object and the file.
    """
    path = path_of(obj)
    if path is None:
        raise BadInput("tets-no-file", name=obj.name)
    try:
        return read_tet_file(path)
    except BadInput as problem:
        sentence, advice = problem.sentence.rstrip("."), problem.next_step.rstrip(".")
        raise BadInput("tets-file", name=obj.name, problem=sentence, advice=advice) from problem


def read_tet_file(path: Path) -> RepairedTets:
    """Returns the tets of a file; it is read again only when it has changed.

    Raises:
        BadInput: It cannot be used.
    """
    # loaded here, since most artists never need it
    from ...solver.mesh.formats.tet_files import read_tets

    stamp = tet_file_change_stamp.stamp(path)
    return read_tets(path) if stamp is None else _tets_of_files.result(path, stamp, lambda: read_tets(path))


def body_tets(obj: bpy.types.Object, matrix: Floats) -> dict[str, Any]:
    """Returns what a `Body` is given of the tets of `obj`: nodes [m], world, and tets.

    Args:
        obj: The object.
        matrix: World [m] ← object space [Blender units], (4, 4); it may mirror.
    """
    found = read_object_tets(obj)
    tets = found.tets if np.linalg.det(matrix[:3, :3]) > 0 else found.tets[:, [0, 1, 3, 2]]
    return {"tet_nodes": transform_points(matrix, found.nodes), "tets": np.ascontiguousarray(tets)}


def content_digest(obj: bpy.types.Object) -> str:
    """Returns a digest of the content of the file of `obj`; "" where there is none."""
    path = path_of(obj)
    stamp = tet_file_change_stamp.stamp(path) if path is not None else None
    if path is None or stamp is None:
        return ""
    try:
        return _digests_of_files.result(path, stamp, lambda: tet_file_change_stamp.content_digest(path))
    except OSError:
        return ""


def tet_count(obj: bpy.types.Object) -> int | str | None:
    """Returns how many tets are in the file of `obj`, quick enough for a panel.

    A sentence where there are none; None where the file is large and was not read yet.
    """
    path = path_of(obj)
    if path is None:
        return BadInput("tets-no-file", name=obj.name).sentence
    return _panel_counts.result(path, lambda: _tet_count(path, tet_file_change_stamp.stamp(path)))


def _tet_count(path: Path, stamp: Stamp | None) -> int | str | None:
    is_large = stamp is not None and tet_file_change_stamp.total_bytes(stamp) > MAX_PANEL_BYTES
    is_known = _counts_of_files.has(path, stamp) or _tets_of_files.has(path, stamp)
    return None if is_large and not is_known else _counts_of_files.result(path, stamp, lambda: _read_count(path))


def _read_count(path: Path) -> int | str:
    try:
        return len(read_tet_file(path).tets)
    except BadInput as problem:
        return problem.sentence
