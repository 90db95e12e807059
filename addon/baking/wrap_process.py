# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets a child process wrap meshes, and waits for it. No Blender."""

from __future__ import annotations

import shutil
import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...solver.runtime.arrays import Floats, Indices
from ...solver.runtime.checksums import npz_bytes
from ...solver.runtime.errors import BadInput, SolveFailed
from ...solver.runtime.npz_reader import read_arrays
from .child_process import ChildProcess

MESHES_FILE, WRAP_FILE, LOG_FILE = "meshes.npz", "wrap.npz", "log.txt"
POLL_SECONDS = 0.01


@dataclass(frozen=True)
class WrapRequest:
    """What is to be wrapped, and how.

    Attributes:
        meshes: Vertices [m], (n, 3), and triangles, (t, 3), of each.
        width, offset, smoothing, voxel: See `WrapOptions` (solver/mesh/wrap/wrap_surface.py) [m].
    """

    meshes: Sequence[tuple[Floats, Indices]]
    width: float
    offset: float
    smoothing: float
    voxel: float

    def arguments(self, folder: Path) -> list[str]:
        """Returns the words of the command that does it in a folder."""
        numbers = {"width": self.width, "offset": self.offset, "smoothing": self.smoothing, "voxel": self.voxel}
        words = [word for name, value in numbers.items() for word in (f"--{name}", repr(float(value)))]
        return ["wrap", str(folder / WRAP_FILE), str(folder / MESHES_FILE), *words, "--json"]


@dataclass(frozen=True)
class FoundWrap:
    """A wrap.

    Attributes:
        vertices: [m], (n, 3).
        quads: (q, 4).
        nearest: The number of the nearest of the wrapped meshes, (n,).
        part_count: How many separate surfaces it is.
        tunnel_count: How many tunnels go through it.
    """

    vertices: Floats
    quads: Indices
    nearest: Indices
    part_count: int
    tunnel_count: int


def find_wrap(request: WrapRequest, folder: Path, commands: Sequence[Sequence[str]]) -> FoundWrap:
    """Returns the wrap of meshes.

    Args:
        request: What to wrap.
        folder: Made for the files of the process, and deleted.
        commands: The command, and one to try where that does not start.

    Raises:
        BadInput: The meshes cannot be wrapped so.
        SolveFailed: No process could be started, or it crashed.
    """
    arrays: dict[str, Any] = {}
    for number, (vertices, triangles) in enumerate(request.meshes):
        arrays[f"{number}.vertices"], arrays[f"{number}.triangles"] = vertices, triangles
    folder.mkdir()
    try:
        (folder / MESHES_FILE).write_bytes(npz_bytes(arrays))
        ends = (_run(words, folder) for words in commands if words)
        said = next((each for each in ends if each is not None), None)
        if said is None:
            raise SolveFailed("internal", problem="no process could be started", log="the console")
        found = read_arrays(folder / WRAP_FILE)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return FoundWrap(found["vertices"], found["quads"], found["nearest"], said["parts"], said["tunnels"])


def _run(command: Sequence[str], folder: Path) -> Mapping[str, Any] | None:
    """Runs a command to its end, and returns what it said of the wrap; None: it did not start."""
    try:
        child = ChildProcess(command, folder / LOG_FILE)
    except OSError:
        return None
    said: dict[str, Mapping[str, Any]] = {}
    try:
        while (code := child.exit_code()) is None:
            clock.sleep(POLL_SECONDS)
            said |= {event["event"]: event for event in child.events()}
        said |= {event["event"]: event for event in child.events()}
    finally:
        child.close(0.0)
    if "error" in said:
        raise BadInput(said["error"]["kind"], **said["error"]["details"])
    return said.get("wrapped") if code == 0 else None
