# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bodies of a live run cannot begin a bake as they are now, and why.

    live/starts.json   {"refused": {KEY: {"kind", "sentence", "next_step"}}}

Blender reads it, so it loads no solver.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..bake.cache.layout import LIVE_FOLDER, LIVE_STARTS_FILE
from ..runtime.atomic_files import write_atomic
from ..runtime.storage_errors import named_errors


def write_refused(folder: Path, refused: Mapping[str, Mapping[str, Any]]) -> None:
    """Writes problems by the keys of bodies into a cache, once all others have their starts there.

    Raises:
        StorageFailed: The operating system refused.
    """
    with named_errors(folder):
        text = json.dumps({"refused": refused})
        write_atomic(folder / LIVE_FOLDER / LIVE_STARTS_FILE, text.encode(), is_durable=False)


def read_refused(folder: Path) -> dict[str, Mapping[str, str]] | None:
    """Returns which bodies of a cache have no start, and why; None: none were written, or the file is damaged."""
    try:
        refused = json.loads((folder / LIVE_FOLDER / LIVE_STARTS_FILE).read_text(encoding="utf-8"))["refused"]
        return {key: {name: str(told[name]) for name in ("kind", "sentence")} for key, told in refused.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
