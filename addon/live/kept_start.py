# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep as Start: lets bodies begin a bake, or a run, as they are in a live run, with the shape that was pressed.

The child writes the state of their tets (solver/live/start_files.py), of which the objects keep the bytes.
"""

from __future__ import annotations

from pathlib import Path

import bpy

from ...solver.bake.cache import layout
from ...solver.live.refused_starts import read_refused
from ...solver.runtime.errors import BadInput
from ..baking.addon_session import session
from ..baking.live_state import LiveRun
from ..blender_data import start_property
from ..objects import role_checks
from .kept_shape import can_keep


def ask(scene: bpy.types.Scene) -> LiveRun:
    """Asks the run for its state, if it goes on, and returns it; one that has ended has written its last.

    Raises:
        BadInput: There is none.
    """
    run = session.live or session.last_live
    if run is None or not can_keep(scene):
        raise BadInput("start-of-no-run")
    run.starts_step = None
    if session.live is run:
        run.send({"command": "keep_starts"})
    return run


def is_written(run: LiveRun) -> bool:
    """Whether a run has answered, or has ended by now."""
    return run.starts_step is not None if session.live is run else not run.driver.is_ending


def keep(run: LiveRun) -> list[bpy.types.Object]:
    """Gives the selected bodies of a run that has answered its state as their start; all where none is selected.

    Returns:
        Them.

    Raises:
        BadInput: The run has written none, or a body cannot begin so; then nothing was changed.
    """
    refused = read_refused(run.folder)
    if refused is None:
        raise BadInput("start-of-no-run")
    found = {key: obj for key, handle in run.bodies.items() if (obj := handle.find()) is not None}
    selected = {key: obj for key, obj in found.items() if obj.select_get()}
    chosen = selected or found
    for key, obj in chosen.items():
        if key in refused:
            raise BadInput(refused[key]["kind"], name=obj.name)
        role_checks.check_changeable(obj)
    starts = {obj: _read(layout.live_start_path(run.folder, key)) for key, obj in chosen.items()}
    for obj, data in starts.items():
        start_property.store(obj, data)
    return list(starts)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise BadInput("start-of-no-run") from problem
