# SPDX-License-Identifier: GPL-3.0-or-later
"""Unpacks the zip for Windows as Blender would, beside a Windows Python that has only what Blender brings.

    python tests/windows/unpack.py ZIP PYTHON FOLDER

FOLDER/package/sinew is the extension, FOLDER/wheels what its wheels hold, and FOLDER/blender/python is PYTHON without
any of that, in files that both share.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path


def main() -> None:
    """Unpacks what the command line says."""
    zip_file, python, folder = map(Path, sys.argv[1:])
    package, wheels, blender = folder / "package" / "sinew", folder / "wheels", folder / "blender"
    for old in (package, wheels, blender):
        shutil.rmtree(old, ignore_errors=True)
    with zipfile.ZipFile(zip_file) as packed:
        packed.extractall(package)
    for wheel in sorted((package / "wheels").glob("*.whl")):
        with zipfile.ZipFile(io.BytesIO(wheel.read_bytes())) as packed:
            packed.extractall(wheels)
    blender.mkdir(parents=True)
    for how in ("-al", "-a"):  # links are made at once, but only on the same disk
        if subprocess.run(["cp", how, str(python), str(blender / "python")], stderr=subprocess.DEVNULL).returncode == 0:
            break
        shutil.rmtree(blender / "python", ignore_errors=True)
    site = blender / "python" / "Lib" / "site-packages"
    for brought in wheels.iterdir():
        there = site / brought.name
        if there.is_dir():
            shutil.rmtree(there)
        else:
            there.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
