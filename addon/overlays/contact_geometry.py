# SPDX-License-Identifier: GPL-3.0-or-later
"""Geometry of the contact overlay: points, normals and force arrows of a frame. Knows no Blender."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from ...solver.bake.cache import layout
from ...solver.runtime.arrays import Floats
from ..runtime.memo import Memo

# lengths of the longest arrow and of normals, relative to the size of the bodies
MAX_ARROW_LENGTH, NORMAL_LENGTH = 0.5, 0.12
# length and width of an arrow's head, relative to the arrow
ARROW_HEAD_LENGTH, ARROW_HEAD_WIDTH = 0.22, 0.08
# relative to the largest force; smaller ones get no arrow
MIN_FORCE_RATIO = 1.0e-3
MAX_FOLDERS = 8  # that are remembered

Stamp = tuple[int, int]


@dataclass(frozen=True)
class Contacts:
    """All contacts at a frame.

    Attributes:
        positions: In world space [m], (k, 3).
        forces: On the body [N], (k, 3).
        normals: Unit vectors away from what the body touches, (k, 3).
        let_in: Places at which Exact contact let colliders into bodies, in world space [m], (m, 3).
    """

    positions: Floats
    forces: Floats
    normals: Floats
    let_in: Floats

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def largest(self) -> float:
        """The largest force [N]."""
        return float(np.linalg.norm(self.forces, axis=1).max()) if len(self) else 0.0


NO_CONTACTS = Contacts(*(np.zeros((0, 3)) for _ in range(4)))

# the last ones of each folder
_contacts: Memo[Contacts] = Memo(MAX_FOLDERS)


def stamp(folder: Path, frame: int) -> Stamp | None:
    """Returns the identity of a frame's contact file, or None if the frame has none."""
    try:
        found = path_of(folder, frame).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def path_of(folder: Path, frame: int) -> Path:
    """Returns the contact file of a frame."""
    return layout.numbered_path(folder / layout.CONTACT_FOLDER, frame)


def load_contacts(folder: Path, frame: int) -> Contacts:
    """Returns the contacts of a frame, or no contacts if their file is missing or damaged."""
    now = stamp(folder, frame)
    if now is None:
        return NO_CONTACTS
    return _contacts.result(folder, (frame, now), lambda: _read_contacts(path_of(folder, frame)))


def _read_contacts(path: Path) -> Contacts:
    try:
        with np.load(path) as file:
            arrays = {name: np.asarray(file[name], np.float64) for name in file.files}
        positions, forces = arrays["positions"].reshape(-1, 3), arrays["forces"].reshape(-1, 3)
        normals = arrays.get("normals", forces).reshape(-1, 3)
        let_in = arrays.get("let_in", np.zeros((0, 3))).reshape(-1, 3)
        is_whole = np.isfinite(np.hstack([positions, forces, normals])).all(axis=1)
    except (OSError, EOFError, ValueError, KeyError, BadZipFile):
        return NO_CONTACTS
    let_in = let_in[np.isfinite(let_in).all(axis=1)]
    return Contacts(positions[is_whole], forces[is_whole], _unit_vectors(normals[is_whole]), let_in)


def _unit_vectors(vectors: Floats) -> Floats:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0.0)


def normal_lines(contacts: Contacts, size: float) -> Floats:
    """Returns a line along the normal of every contact, (2 k, 3), for bodies of size `size`."""
    ends = contacts.positions + NORMAL_LENGTH * size * contacts.normals
    return np.stack([contacts.positions, ends], axis=1).reshape(-1, 3)


def arrow_lines(contacts: Contacts, size: float) -> Floats:
    """Returns arrows from the contacts, the longest half as long as the bodies, (10 a, 3).

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
