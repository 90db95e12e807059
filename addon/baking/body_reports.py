# SPDX-License-Identifier: GPL-3.0-or-later
"""What the frames of a bake say about each body, read off the report as it grows: stress, pieces, temperatures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import bpy

from ...solver.cache import layout
from . import cache_place, present_bake


@dataclass(frozen=True)
class BodyReport:
    """What is to be said of one body; None where no frame said it.

    Attributes:
        largest_stress: Largest principal stress so far [Pa].
        pieces: Into how many it has fallen.
        splits: Nodes that have split so far.
        frames_held: Frames in which a limit held cracks back.
        largest_plastic_strain: The most so far.
        coldest, hottest: At the last frame [°C].
    """

    largest_stress: float | None = None
    pieces: int | None = None
    splits: int | None = None
    frames_held: int = 0
    largest_plastic_strain: float | None = None
    coldest: float | None = None
    hottest: float | None = None

    def and_frame(self, numbers: Mapping[str, Any]) -> BodyReport:
        """Returns the report with one more frame."""
        return replace(
            self,
            largest_stress=_most(self.largest_stress, numbers.get("largest_stress")),
            pieces=_whole(numbers.get("pieces"), self.pieces),
            splits=_whole(numbers.get("splits"), self.splits),
            frames_held=self.frames_held + bool(numbers.get("splits_left")),
            largest_plastic_strain=_most(self.largest_plastic_strain, numbers.get("largest_plastic_strain")),
            coldest=numbers.get("coldest", self.coldest),
            hottest=numbers.get("hottest", self.hottest),
        )


@dataclass
class _Reading:
    """How far a report was read: the file as it was, bytes, the last line, and what they said by key of the body."""

    file: tuple[int, ...] = ()
    offset: int = 0
    last: bytes = b""
    bodies: dict[str, BodyReport] = field(default_factory=dict)


_readings: dict[Path, _Reading] = {}


def report(scene: bpy.types.Scene, obj: bpy.types.Object) -> BodyReport:
    """Returns what the present bake of `scene` says about a body."""
    found = reports(cache_place.cache_folder(scene))
    return found.get(present_bake.key_of(obj), BodyReport()) if found else BodyReport()


def reports(folder: Path) -> Mapping[str, BodyReport]:
    """Returns what a cache says about its bodies, by key; only what is new in the file is read."""
    path = folder / layout.REPORT_FILE
    try:
        stat = path.stat()
        now = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)
        known = _readings.get(path)
        if known is None or known.file != now:
            with open(path, "rb") as file:
                known = _readings[path] = _continued(known, file)
                _take(known, file.read())
            known.file = now
    except OSError:
        return {}
    return known.bodies


def _continued(known: _Reading | None, file: BinaryIO) -> _Reading:
    """Returns what is known of a file, which is left behind that; nothing where another one stands in its place.

    The file of the next bake may have the number of the one that was deleted: the line that was read last tells.
    """
    if known is not None:
        file.seek(known.offset - len(known.last))
        if file.read(len(known.last)) == known.last:
            return known
    file.seek(0)
    return _Reading()


def _take(known: _Reading, data: bytes) -> None:
    """Adds the whole lines of `data`; the start of one that is just written waits for its end."""
    whole = data[: data.rfind(b"\n") + 1]
    known.offset += len(whole)
    known.last = whole.splitlines(keepends=True)[-1] if whole else known.last
    for told in _parsed(whole.splitlines()):
        for key, numbers in told.items():
            known.bodies[key] = known.bodies.get(key, BodyReport()).and_frame(numbers)


def _parsed(lines: Iterable[bytes]) -> Iterable[Mapping[str, Mapping[str, Any]]]:
    for line in lines:
        try:
            yield json.loads(line).get("bodies") or {}
        except (ValueError, AttributeError):
            continue


def _most(known: float | None, told: Any) -> float | None:
    if told is None:
        return known
    return float(told) if known is None else max(known, float(told))


def _whole(told: Any, known: int | None) -> int | None:
    return known if told is None else int(told)
