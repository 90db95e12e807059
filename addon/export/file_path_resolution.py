# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the files are that objects name, also those that are linked from another .blend."""

from __future__ import annotations

from pathlib import Path

import bpy

from ..cache.cache_paths import absolute_path


def chosen_file(obj: bpy.types.Object, text: str) -> Path | None:
    """Returns where the file of a setting of `obj` is, None when none is chosen; "//" is the folder of the .blend."""
    if not text:
        return None
    path = absolute_path(text, bpy.data.filepath)
    origin = obj.library or (obj.override_library and obj.override_library.reference.library)
    if origin and not path.is_file():  # said in the file that the object is linked from
        return absolute_path(text, bpy.path.abspath(origin.filepath))
    return path
