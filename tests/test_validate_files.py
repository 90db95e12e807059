# SPDX-License-Identifier: GPL-3.0-or-later
"""The first moments of each long check: what is broken in one, such as a name that is gone, mostly fails by then.

A long check that nobody runs for weeks may otherwise call what has long been changed. Numbers are not judged here.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SECONDS = "0.3"


def begun(*files: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--first-seconds", SECONDS]
    return subprocess.run([*command, *map(str, files)], capture_output=True, text=True, cwd=HERE.parent)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarm to stop them by")
def test_every_long_check_begins():
    ended = begun(*sorted(HERE.glob("validate_*.py")))
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarm to stop them by")
def test_a_long_check_that_asks_for_what_is_gone_is_found(tmp_path):
    (tmp_path / "conftest.py").write_text((HERE / "conftest.py").read_text())
    wrong = tmp_path / "test_wrong.py"
    wrong.write_text("from test_bdf2 import METHODS, ends\n\ndef test_order(): ends(METHODS[0], 0.01, 0.1, True)\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib"]
    options = ["-o", f"pythonpath={HERE}", "--rootdir", str(tmp_path), "--first-seconds", SECONDS, str(wrong)]
    ended = subprocess.run([*command, *options], capture_output=True, text=True)
    assert ended.returncode == 1 and "AttributeError" in ended.stdout
