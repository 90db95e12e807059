# SPDX-License-Identifier: GPL-3.0-or-later
"""What every test may ask for."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parent.parent

# the same examples each time, and no limit that a busy machine would break
hypothesis.settings.register_profile("sinew", deadline=None, derandomize=True)
hypothesis.settings.load_profile("sinew")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of development data beside the clone; a user's clone has none, and the test is skipped."""
    folder = ROOT.parent / "shared"
    if not (folder / "testdata").is_dir():
        pytest.skip("no ../shared/testdata here")
    return folder


@pytest.hookimpl(trylast=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Lets what Blender's own code printed be captured with its test, instead of coming out when Python ends."""
    if "bpy" in sys.modules and sys.platform != "win32":
        ctypes.CDLL(None).fflush(None)
