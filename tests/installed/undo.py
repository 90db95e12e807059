# SPDX-License-Identifier: GPL-3.0-or-later
"""Seeded operations with undo and redo where Sinew's zip is installed: tests/window/random_operations.py.

    python tests/installed/undo.py ZIP FOLDER SEED COUNT

Started by run.py; FOLDER is new and holds everything that is written. Prints one JSON line.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

FOLDER = Path(sys.argv[2]).resolve()
os.environ["BLENDER_USER_RESOURCES"] = str(FOLDER / "blender")
os.environ["SINEW_KERNEL_CACHE"] = str(FOLDER / "kernels")
tempfile.tempdir = str(FOLDER)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "window"))

import bpy
import random_operations_background as operations_background

ADDON = "bl_ext.user_default.sinew"

bpy.ops.extensions.package_install_files(
    filepath=str(Path(sys.argv[1]).resolve()), repo="user_default", enable_on_install=True
)
assert ADDON in bpy.context.preferences.addons, "the add-on was not enabled"
operations_background.main(ADDON, int(sys.argv[3]), int(sys.argv[4]))
bpy.ops.preferences.addon_disable(module=ADDON)
