# SPDX-License-Identifier: GPL-3.0-or-later
"""Where bodies touch at a frame, as it is drawn: dots, normals and arrows of the forces. No Blender in here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from ...solver.bake.cache import layout
from ...solver.runtime.arrays import Floats

# of the size of the bodies: the longest arrow, and every normal
MAX_ARROW_LENGTH, NORMAL_LENGTH = 0.5, 0.12
# of an arrow: how long and how wide its head is
ARROW_HEAD_LENGTH, ARROW_HEAD_WIDTH = 0.22, 0.08
# of the largest force: what is less is no arrow
MIN_FORCE_RATIO = 1.0e-3

Stamp = tuple[int, int]


@dataclass(frozen=True)
class Contacts:
    """All contacts at a frame.

    Attributes:
        positions: Where they are [m], world, (k, 3).
        forces: What the body feels there [N], (k, 3).
        normals: Away from what it touches, of length one, (k, 3).
    """

    positions: Floats
    forces: Floats
    normals: Floats

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def largest(self) -> float:
        """The largest force [N]."""
        return float(np.linalg.norm(self.forces, axis=1).max()) if len(self) else 0.0


NO_CONTACTS = Contacts(*(np.zeros((0, 3)) for _ in range(3)))

# what was read last of each folder: the frame, which file it was, and what it said
_last_read: dict[Path, tuple[int, Stamp, Contacts]] = {}


def stamp(folder: Path, frame: int) -> Stamp | None:
    """Returns which file the contacts of a frame are, or None where the cache has none at it."""
    try:
        found = path_of(folder, frame).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def path_of(folder: Path, frame: int) -> Path:
    """Returns where the contacts of a frame are written."""
    return layout.numbered_path(folder / layout.CONTACT_FOLDER, frame)


def load_contacts(folder: Path, frame: int) -> Contacts:
    """Returns the contacts of a frame; none where there is no such frame, or it cannot be read."""
    now = stamp(folder, frame)
    if now is None:
        return NO_CONTACTS
    known = _last_read.get(folder)
    if known is None or known[:2] != (frame, now):
        known = (frame, now, _read_contacts(path_of(folder, frame)))
        _last_read[folder] = known
    return known[2]


def _read_contacts(path: Path) -> Contacts:
    try:
        with np.load(path) as file:
            arrays = {name: np.asarray(file[name], np.float64) for name in file.files}
        positions, forces = arrays["positions"].reshape(-1, 3), arrays["forces"].reshape(-1, 3)
        normals = arrays.get("normals", forces).reshape(-1, 3)
        is_whole = np.isfinite(np.hstack([positions, forces, normals])).all(axis=1)
    except (OSError, EOFError, ValueError, KeyError, BadZipFile):
        return NO_CONTACTS
    return Contacts(positions[is_whole], forces[is_whole], _unit_vectors(normals[is_whole]))


def _unit_vectors(vectors: Floats) -> Floats:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0.0)


def normal_lines(contacts: Contacts, size: float) -> Floats:
    """Returns a line along the normal of every contact, (2 k, 3), where bodies are as large as `size`."""
    ends = contacts.positions + NORMAL_LENGTH * size * contacts.normals
    return np.stack([contacts.positions, ends], axis=1).reshape(-1, 3)


def arrow_lines(contacts: Contacts, size: float) -> Floats:
    """Returns arrows that start at the contacts, the longest half as long as bodies are large, (10 a, 3).

    An arrow is a shaft and four lines of a head.
    """
    length = np.linalg.norm(contacts.forces, axis=1)
    largest = contacts.largest
    seen = length > MIN_FORCE_RATIO * largest
    if not seen.any():
        return np.zeros((0, 3))
    along = contacts.forces[seen] * (MAX_ARROW_LENGTH * size / largest)
    start = contacts.positions[seen]
    tip, reach = start + along, np.linalg.norm(along, axis=1, keepdims=True)
    across = _unit_vectors(np.cross(along, np.eye(3)[np.abs(along).argmin(axis=1)])) * reach
    third = _unit_vectors(np.cross(along, across)) * reach
    lines = [start, tip]
    for side in (across, -across, third, -third):
        lines += [tip, tip - ARROW_HEAD_LENGTH * along + ARROW_HEAD_WIDTH * side]
    return np.stack(lines, axis=1).reshape(-1, 3)


def invalidate() -> None:
    """Drops what was read."""
    _last_read.clear()
