# SPDX-License-Identifier: GPL-3.0-or-later
"""Stores the result of the last run of each experiment or benchmark: NAME.json and its pictures in build/."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.result import Result
from sinew.solver.runtime.atomic_files import copy_file, write_file

ROOT = Path(__file__).resolve().parent.parent.parent


def store_result(folder: Path, name: str, result: Result, seconds: float, **more: Any) -> None:
    """Stores a result with its pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    if result.pictures:
        from harness import plots  # slow to import

        for number, picture in enumerate(result.pictures):
            plots.save_png(picture.figure, folder / picture_name(name, number))
    kept = {
        "rows": [vars(row) for row in result.rows],
        "captions": [picture.caption for picture in result.pictures],
        "values": {key: float(value) for key, value in result.values.items()},
        "notes": list(result.notes),
        "seconds": seconds,
        **more,
    }
    write_file(folder / f"{name}.json", json.dumps(kept, indent=1, ensure_ascii=False).encode())


def load_result(folder: Path, name: str, row: Callable[..., Any]) -> dict[str, Any] | None:
    """Returns a stored result, its rows built by `row`, or None if there is none."""
    path = folder / f"{name}.json"
    if not path.is_file():
        return None
    kept = json.loads(path.read_text(encoding="utf-8"))
    kept["rows"] = [row(**each) for each in kept["rows"]]
    return kept


def picture_name(name: str, number: int) -> str:
    """Returns the file name of a picture."""
    return f"{name}.png" if number == 0 else f"{name}_{number + 1}.png"


def copy_pictures(folder: Path, found: dict[str, dict[str, Any]], to: Path) -> None:
    """Replaces the pictures of the page by those in a folder; keeps those of results that are not in the folder."""
    to.mkdir(parents=True, exist_ok=True)
    names = {picture_name(name, number) for name, kept in found.items() for number in range(len(kept["captions"]))}
    for name in sorted(names):
        if (folder / name).is_file():
            copy_file(folder / name, to / name)
    for path in to.iterdir():
        if path.is_file() and path.name not in names:
            path.unlink()
