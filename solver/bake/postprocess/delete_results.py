# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that the finishing pass makes, and how they go again."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ...runtime.atomic_files import remove_file
from ..cache import layout


def delete_results(folder: Path, keys: Iterable[str]) -> None:
    """Drops the results of all bodies in a cache, and the attributes of those named."""
    _empty_file(folder, layout.RESULT_FOLDER)
    for key in keys:
        _empty_file(folder, f"{layout.ATTRIBUTE_FOLDER}/{key}")


def _empty_file(folder: Path, name: str) -> None:
    # backwards: KEY.pc2 goes before KEY.npz would be read as whole without it
    for path in sorted((folder / name).glob("*"), reverse=True):
        if layout.is_sinew_file(path.relative_to(folder)):
            remove_file(path)
