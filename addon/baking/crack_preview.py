# SPDX-License-Identifier: GPL-3.0-or-later
"""Preview Cracks: finds the cracks of a brittle body at one hit by a child process."""

from __future__ import annotations

import time as clock
import uuid
from pathlib import Path

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ..blender_data.object_keys import body_key
from ..evaluation.matrix_units import transform_points
from ..export import validation
from .addon_session import session
from .bodies_at_rest import read_at_rest
from .child_process import child_command, fallback_command
from .crack_search import CRACKS_FILE, SCENE_FOLDER, CrackSearch

POLL_SECONDS = 0.02


def start(scene: bpy.types.Scene, obj: bpy.types.Object, place: Floats, speed: float) -> CrackSearch:
    """Begins to find how a brittle body cracks that hits hard, flat ground, instead of any other such search.

    Args:
        scene: The scene.
        obj: The body.
        place: In its space, (3,): the nearest point of its surface hits the ground.
        speed: At which it does [m/s].

    Raises:
        BadInput: The body cannot be read, or does not break.
        SolveFailed: No process could be started.
    """
    session.end_crack_search()
    validation.check_objects(scene)
    found, matrices = read_at_rest(scene, [obj])
    matrix = matrices[obj]
    (at,) = transform_points(matrix, np.asarray(place, np.float64).reshape(1, 3))
    folder = Path(bpy.app.tempdir) / f"sinew-cracks-{uuid.uuid4().hex[:12]}"
    folder.mkdir()
    found.save(folder / SCENE_FOLDER)
    words = ["cracks", str(folder / SCENE_FOLDER), body_key(obj), str(folder / CRACKS_FILE), "--json"]
    words += [f"--speed={speed!r}", "--at", *(repr(float(each)) for each in at)]
    commands = [child_command(words), fallback_command(words, bpy.app.binary_path)]
    session.crack_search = CrackSearch(obj.session_uid, speed, matrix, folder, commands)
    return session.crack_search


def wait(search: CrackSearch) -> None:
    """Returns when a search has come to its end."""
    while search.poll():
        clock.sleep(POLL_SECONDS)
