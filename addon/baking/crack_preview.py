# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the cracks of a brittle body at one hit by a child process, and waits for it."""

from __future__ import annotations

import time as clock
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats, Indices
from ...solver.runtime.errors import BadInput, SolveFailed
from ...solver.runtime.npz_reader import read_arrays
from ..blender_data.object_keys import body_key
from ..evaluation.matrix_units import transform_points
from ..export import validation
from .bodies_at_rest import read_at_rest
from .child_process import child_command, fallback_command
from .folder_process import FolderProcess

SCENE_FOLDER, CRACKS_FILE = "scene", "cracks.npz"
POLL_SECONDS = 0.02


@dataclass(frozen=True)
class FoundCracks:
    """The cracks of a body at one hit.

    Attributes:
        vertices: In the space of its object [Blender units], (n, 3).
        triangles: (t, 3).
        piece_count: Into how many pieces it falls.
        dust_count: How many splinters are dust.
    """

    vertices: Floats
    triangles: Indices
    piece_count: int
    dust_count: int


def find_cracks(scene: bpy.types.Scene, obj: bpy.types.Object, place: Floats, speed: float) -> FoundCracks:
    """Returns how a brittle body cracks that hits hard, flat ground.

    Args:
        scene: The scene.
        obj: The body.
        place: In its space, (3,): the nearest point of its surface hits the ground.
        speed: At which it does [m/s].

    Raises:
        BadInput: The body cannot be read, or does not break.
        SolveFailed: No process could be started, or the stress was not found.
    """
    validation.check_objects(scene)
    found, matrices = read_at_rest(scene, [obj])
    matrix = matrices[obj]
    (at,) = transform_points(matrix, np.asarray(place, np.float64).reshape(1, 3))
    folder = Path(bpy.app.tempdir) / f"sinew-cracks-{uuid.uuid4().hex[:12]}"
    folder.mkdir()
    found.save(folder / SCENE_FOLDER)
    words = ["cracks", str(folder / SCENE_FOLDER), body_key(obj), str(folder / CRACKS_FILE), "--json"]
    words += [f"--speed={speed!r}", "--at", *(repr(float(each)) for each in at)]
    process = FolderProcess(folder, [child_command(words), fallback_command(words, bpy.app.binary_path)])
    try:
        while process.poll():
            clock.sleep(POLL_SECONDS)
        if process.error is not None:
            raise _error(process.error)
        said = process.event
        if said is None or said["event"] != "cracks":
            raise SolveFailed("internal", problem="it has no result", log="what you did")
        arrays = read_arrays(folder / CRACKS_FILE)
    finally:
        process.close()
    local = transform_points(np.linalg.inv(matrix), arrays["vertices"])
    return FoundCracks(local, arrays["triangles"], said["pieces"], said["dust"])


def _error(event: Mapping[str, Any]) -> BadInput:
    return BadInput(event["kind"], **event["details"])
