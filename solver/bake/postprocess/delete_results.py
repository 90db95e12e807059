# SPDX-License-Identifier: GPL-3.0-or-later
"""Deletes the files of the finishing pass."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ...runtime.locked_file_retries import remove_file
from ..cache import layout


def delete_results(folder: Path, keys: Iterable[str]) -> None:
    """Deletes the results of all bodies in a cache, and attributes and dust of some."""
    _empty_folder(folder, layout.RESULT_FOLDER)
    for key in keys:
        _empty_folder(folder, f"{layout.ATTRIBUTE_FOLDER}/{key}")
        _empty_folder(folder, f"{layout.DUST_FOLDER}/{key}")


def _empty_folder(folder: Path, name: str) -> None:
    # in reverse order, so that no KEY.npz stays without its KEY.pc2
    for path in sorted((folder / name).glob("*"), reverse=True):
        if layout.is_sinew_file(path.relative_to(folder)):
            remove_file(path)
