# SPDX-License-Identifier: GPL-3.0-or-later
"""Tries the built zip in each of some Blenders: environments that hold nothing but bpy.

python tests/installed/run.py ENVIRONMENT …        (make test-installed; SINEW_SEED for other operations)
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LIMIT = 900
# how often what an artist does is done in each Blender, in an order that the seed gives
OPERATIONS, SEED = 100, int(os.environ.get("SINEW_SEED", "20"))


def zip_for(python: Path) -> Path:
    """Returns the zip in dist/ for the Python of an environment."""
    command = [str(python), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    version = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    label = {"3.11": "blender4.5-5.0", "3.13": "blender5.1-5.2"}[version]
    system = {"win32": "windows-x64", "darwin": "macos-arm64"}.get(sys.platform, "linux-x64")
    found = sorted((ROOT / "dist").glob(f"sinew-*-{label}-{system}.zip"))
    if not found:
        raise SystemExit(f"no zip for Python {version} in dist/: run make zip first")
    return found[-1]


def _has_passed(command: list[str], folder: str, environment: dict[str, str]) -> bool:
    """Runs a script and prints what it found, or how it failed."""
    result = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL
    )
    lines = [line for line in result.stdout.splitlines() if line.startswith("{")]
    has_passed = result.returncode == 0 and bool(lines)
    failure = f"FAILED {' '.join(command)}\n{result.stdout[-2000:]}\n{result.stderr[-4000:]}"
    print(lines[-1] if has_passed else failure, flush=True)
    return has_passed


def main() -> int:
    """Runs check.py and undo.py in every environment; returns 1 when one of them failed."""
    failed = False
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SINEW", "BLENDER"))}
    for environment in sys.argv[1:]:
        python = Path(environment).absolute() / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
        for script, more in (("check.py", []), ("undo.py", [str(SEED), str(OPERATIONS)])):
            with tempfile.TemporaryDirectory(prefix="sinew-installed-") as folder:
                path = str(ROOT / "tests" / "installed" / script)
                failed |= not _has_passed([str(python), path, str(zip_for(python)), folder, *more], folder, clean)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
