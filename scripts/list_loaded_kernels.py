# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs Sinew's command line and writes which compiled kernels it loads.

    python -s list_loaded_kernels.py LIST BOOTSTRAP ARGUMENTS ...

Kernels that only kernels call are part of their callers. Numba writes a file for each of them all the same, and reads it
when a caller is compiled: with everything compiled, only the files of kernels that Python calls are read.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

CODE_SUFFIX = ".nbc"  # Numba's files of machine code


def main(target: Path, bootstrap: Path, arguments: list[str]) -> int:
    """Runs a command, writes the names of the files to `target`, one a line, and returns the exit code."""
    loaded: set[str] = set()

    def note(event: str, details: tuple[Any, ...]) -> None:
        if event == "open" and str(details[0]).endswith(CODE_SUFFIX):
            loaded.add(Path(str(details[0])).name)

    sys.addaudithook(note)
    spec = importlib.util.spec_from_file_location("bootstrap", bootstrap)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    code = int(module.main(arguments))
    target.write_text("".join(f"{name}\n" for name in sorted(loaded)), newline="\n")
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]))
