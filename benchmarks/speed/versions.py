# SPDX-License-Identifier: GPL-3.0-or-later
"""The installed versions of Sinew and of the programs that it is compared with."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

NAMES = {
    "Sinew": "sinew",
    "SciPy": "scipy",
    "Blender": "bpy",
    "MuJoCo": "mujoco-core",
    "felupe": "felupe",
    "CVXOPT with CHOLMOD": "cvxopt",
    "IPC Toolkit": "ipctk",
    "pytetwild": "pytetwild",
    "tetgen": "tetgen",
}


def installed_versions() -> dict[str, str]:
    """Returns the versions of the installed programs."""
    versions = {}
    for name, package in NAMES.items():
        try:
            versions[name] = version(package)
        except PackageNotFoundError:
            continue
    return versions
