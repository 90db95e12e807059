# SPDX-License-Identifier: GPL-3.0-or-later
"""What every test may ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of development data beside the clone; a user's clone has none, and the test is skipped."""
    folder = ROOT.parent / "shared"
    if not (folder / "testdata").is_dir():
        pytest.skip("no ../shared/testdata here")
    return folder
