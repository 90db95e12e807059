# SPDX-License-Identifier: GPL-3.0-or-later
"""The folders of live runs in Blender's temporary one, each locked while its Blender lives.

A Blender that is killed leaves its temporary folder; the next run of any Blender deletes what it finds unlocked there.
"""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path
from threading import Thread

import bpy

from ...solver.bake.cache import CacheLock, is_locked
from ...solver.runtime.storage_errors import named_errors

PREFIX = "sinew-live-"
CACHE_NAME = "live.sinew"


def new_folder() -> tuple[Path, CacheLock]:
    """Returns the cache folder of a new run, which is not there yet, and the lock of the folder around it.

    Raises:
        StorageFailed: The folder cannot be made.
    """
    around = Path(bpy.app.tempdir) / f"{PREFIX}{uuid.uuid4().hex[:12]}"
    with named_errors(around):
        around.mkdir(parents=True)
    return around / CACHE_NAME, CacheLock(around)


def delete_orphans_in_thread() -> None:
    """Deletes folders of runs whose Blender has been killed, without waiting."""
    home = Path(bpy.app.tempdir)
    Thread(target=lambda: _delete_orphans(home), name="Sinew orphans").start()


def _delete_orphans(home: Path) -> None:
    try:
        found = list(home.parent.glob(f"{_common_part(home.name)}*/{PREFIX}*"))
    except OSError:  # another Blender has ended meanwhile
        return
    for around in found:
        if around.parent != home and not is_locked(around):
            shutil.rmtree(around, ignore_errors=True)


def _common_part(name: str) -> str:
    """Returns how the temporary folders of all Blenders begin: "blender_i7Ezaf" is "blender_"."""
    return name[: name.find("_") + 1]
