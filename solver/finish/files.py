# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that the finishing pass makes, and how they go again."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..cache import layout
from ..disk import remove


def drop_finished(folder: Path, keys: Iterable[str]) -> None:
    """Drops the results of all bodies in a cache, and the attributes of those named."""
    _empty(folder, layout.RESULT_FOLDER)
    for key in keys:
        _empty(folder, f"{layout.ATTRIBUTE_FOLDER}/{key}")


def _empty(folder: Path, name: str) -> None:
    # backwards: KEY.pc2 goes before KEY.npz would be read as whole without it
    for path in sorted((folder / name).glob("*"), reverse=True):
        if layout.is_ours(path.relative_to(folder)):
            remove(path)
