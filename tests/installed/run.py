# SPDX-License-Identifier: GPL-3.0-or-later
"""Tries the built zip in each of some Blenders: environments that hold nothing but bpy.

python tests/installed/run.py ENVIRONMENT …        (make test-installed)
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LIMIT = 600


def zip_for(python: Path) -> Path:
    """Returns the zip in dist/ for the Python of an environment."""
    command = [str(python), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    version = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    label = {"3.11": "blender4.5-5.0", "3.13": "blender5.1-5.2"}[version]
    found = sorted((ROOT / "dist").glob(f"sinew-*-{label}-linux-x64.zip"))
    if not found:
        raise SystemExit(f"no zip for Python {version} in dist/: run make zip first")
    return found[-1]


def main() -> int:
    """Runs check.py in every environment; returns 1 when one of them failed."""
    failed = False
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SINEW", "BLENDER"))}
    for environment in sys.argv[1:]:
        python = Path(environment).absolute() / "bin" / "python"
        with tempfile.TemporaryDirectory(prefix="sinew-installed-") as folder:
            command = [str(python), str(ROOT / "tests" / "installed" / "check.py"), str(zip_for(python)), folder]
            result = subprocess.run(
                command, cwd=folder, env=clean, capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL
            )
        lines = [line for line in result.stdout.splitlines() if line.startswith("{")]
        if result.returncode or not lines:
            failed = True
            print(f"FAILED {environment}\n{result.stdout[-2000:]}\n{result.stderr[-4000:]}", flush=True)
        else:
            print(lines[-1], flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
