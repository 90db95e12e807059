# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes sure that the system has what Python environments and Blender's module need (standard library only).

What is missing is installed with apt-get where that is allowed (root on Debian or Ubuntu); elsewhere one
line says what to install, and the exit code is 1.

    python3 scripts/system_libraries.py
"""

from __future__ import annotations

import ctypes
import glob
import importlib.util
import os
import shutil
import subprocess
import sys

# shared library → Debian's package of it; Blender's module links the first ten, Workbench draws with the last
PACKAGE_OF_LIBRARY = {
    "libX11.so.6": "libx11-6",
    "libXrender.so.1": "libxrender1",
    "libXxf86vm.so.1": "libxxf86vm1",
    "libXfixes.so.3": "libxfixes3",
    "libXi.so.6": "libxi6",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libSM.so.6": "libsm6",
    "libICE.so.6": "libice6",
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
}
DRIVERS = (
    "libgl1-mesa-dri",
    ["/usr/lib/*/dri/swrast_dri.so", "/usr/lib/*/dri/kms_swrast_dri.so", "/usr/lib/dri/swrast_dri.so"],
)


def missing_packages() -> list[str]:
    """Returns the Debian packages that would have to be installed, none where all is there."""
    packages = []
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
        packages.append(f"python{sys.version_info.major}.{sys.version_info.minor}-venv")
    if sys.platform == "linux":
        packages += [package for library, package in PACKAGE_OF_LIBRARY.items() if not _loads(library)]
        package, patterns = DRIVERS
        if not any(glob.glob(pattern) for pattern in patterns):
            packages.append(package)
    return packages


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def install(packages: list[str]) -> bool:
    """Installs Debian packages when this is root; returns whether that was done."""
    if not packages or os.name != "posix" or os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    print("Installing with apt-get: " + " ".join(packages), flush=True)
    calm = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    commands = [
        ["apt-get", "update", "-qq"],
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages],
    ]
    return all(
        subprocess.run(command, env=calm, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode == 0
        for command in commands
    )


def main() -> int:
    """Installs or names what is missing; returns the exit code."""
    packages = missing_packages()
    if not packages or install(packages):
        return 0
    print("Sinew needs system packages that are not here. Install them, then run this again:", file=sys.stderr)
    print(f"    sudo apt-get install -y --no-install-recommends {' '.join(packages)}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
