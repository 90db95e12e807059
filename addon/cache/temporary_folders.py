# SPDX-License-Identifier: GPL-3.0-or-later
"""The temporary folders of the open file: the one for caches until it is saved, and locks of those that it plays.

The locks tell other Blenders to keep the folders.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable
from pathlib import Path

from ...solver.bake.cache import layout
from ...solver.bake.cache.lock import CacheLock
from ...solver.runtime.errors import SinewError

# the names that `TemporaryFolders` gives
TEMPORARY_FOLDER_NAME = re.compile(r"sinew-[0-9a-f]{12}")


class TemporaryFolders:
    """The temporary folders of one open file after another.

    Attributes:
        name: Of the folder for caches of the open file, so that two unsaved files never share one.
    """

    def __init__(self) -> None:
        self._locks: dict[Path, CacheLock] = {}
        self.start_another_file()

    def start_another_file(self) -> None:
        """Chooses a new name for the next unsaved file."""
        self.name = f"sinew-{uuid.uuid4().hex[:12]}"

    def lock(self, folders: Iterable[Path]) -> None:
        """Locks the temporary ones among `folders`, and releases the other locks of this process."""
        temporary = {folder for folder in folders if TEMPORARY_FOLDER_NAME.fullmatch(folder.name) and folder.is_dir()}
        for folder in set(self._locks) - temporary:
            self._locks.pop(folder).release()
            remove_if_empty(folder)
        for folder in temporary - set(self._locks):
            try:
                self._locks[folder] = CacheLock(folder, patience=0.0)
            except SinewError:
                pass  # another Blender plays it too, and has the lock

    def has_lock(self, folder: Path) -> bool:
        """Whether this process has locked a folder."""
        return folder in self._locks


def remove_if_empty(folder: Path) -> None:
    """Removes a folder that contains only its lock."""
    try:
        if {path.name for path in folder.iterdir()} <= {layout.LOCK_FILE}:
            (folder / layout.LOCK_FILE).unlink(missing_ok=True)
            folder.rmdir()
    except OSError:
        pass


# of this Blender
temporary_folders = TemporaryFolders()
