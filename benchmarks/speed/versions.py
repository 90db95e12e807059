# SPDX-License-Identifier: GPL-3.0-or-later
"""Which versions of Sinew and of what it is compared with are installed."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

NAMES = {
    "Sinew": "sinew",
    "SciPy": "scipy",
    "Blender": "bpy",
    "MuJoCo": "mujoco-core",
    "felupe": "felupe",
    "CVXOPT with CHOLMOD": "cvxopt",
    "pytetwild": "pytetwild",
    "tetgen": "tetgen",
}


def installed_versions() -> dict[str, str]:
    """Returns the versions of those that are installed."""
    versions = {}
    for name, package in NAMES.items():
        try:
            versions[name] = version(package)
        except PackageNotFoundError:
            continue
    return versions
