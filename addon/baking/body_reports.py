# SPDX-License-Identifier: GPL-3.0-or-later
"""What the frames of a bake say, read off the report as it grows: each body's stress, pieces, temperatures, what
presses on colliders, and which frames did not converge."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import bpy

from ...solver.bake.cache import layout
from ..blender_data.object_keys import body_key
from ..cache import cache_paths
from ..fracture_meshes import show_results


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
        pose_residual: The largest residual that a pose of it ended with.
    """

    largest_stress: float | None = None
    pieces: int | None = None
    splits: int | None = None
    frames_held: int = 0
    largest_plastic_strain: float | None = None
    coldest: float | None = None
    hottest: float | None = None
    pose_residual: float | None = None

    def with_frame(self, numbers: Mapping[str, Any]) -> BodyReport:
        """Returns the report with one more frame."""
        return replace(
            self,
            largest_stress=_max_or_none(self.largest_stress, numbers.get("largest_stress")),
            pieces=_integer_or(numbers.get("pieces"), self.pieces),
            splits=_integer_or(numbers.get("splits"), self.splits),
            frames_held=self.frames_held + bool(numbers.get("splits_left")),
            largest_plastic_strain=_max_or_none(self.largest_plastic_strain, numbers.get("largest_plastic_strain")),
            coldest=numbers.get("coldest", self.coldest),
            hottest=numbers.get("hottest", self.hottest),
            pose_residual=_max_or_none(self.pose_residual, numbers.get("pose_residual")),
        )


@dataclass
class _ReportPosition:
    """How far a report was read: the file as it was, bytes, the last line, and what they said.

    Attributes:
        bodies: By key of the body.
        lost: Frames in which a step or a pose did not converge.
        colliders: Force [N] and torque [N m] by key of the collider and by frame.
    """

    file: tuple[int, ...] = ()
    offset: int = 0
    last_line: bytes = b""
    bodies: dict[str, BodyReport] = field(default_factory=dict)
    unconverged_frames: set[int] = field(default_factory=set)
    colliders: dict[str, dict[int, list[float]]] = field(default_factory=dict)


_report_positions: dict[Path, _ReportPosition] = {}


def report(scene: bpy.types.Scene, obj: bpy.types.Object) -> BodyReport:
    """Returns what the present bake of `scene` says about a body."""
    found = reports(cache_paths.cache_folder(scene))
    return found.get(body_key(obj), BodyReport()) if found else BodyReport()


def reports(folder: Path) -> Mapping[str, BodyReport]:
    """Returns what a cache says about its bodies, by key."""
    known = _read(folder)
    return known.bodies if known is not None else {}


def lacks_final_mesh(folder: Path) -> bool:
    """Whether a body has cracks in a cache whose mesh was not cut there: Blender or the bake was ended at once."""
    return any(report.splits and not show_results.has_result(folder, key) for key, report in reports(folder).items())


def unconverged_frames(folder: Path) -> Collection[int]:
    """Returns the frames of a cache in which a step or a pose did not converge."""
    known = _read(folder)
    return known.unconverged_frames if known is not None else ()


def collider_forces(folder: Path) -> Mapping[str, Mapping[int, list[float]]]:
    """Returns force [N] and torque [N m] on the colliders of a cache, six numbers by key and by frame."""
    known = _read(folder)
    return known.colliders if known is not None else {}


def _read(folder: Path) -> _ReportPosition | None:
    """Returns what a cache's report says, or None without one; only what is new in the file is read."""
    path = folder / layout.REPORT_FILE
    try:
        stat = path.stat()
        now = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)
        known = _report_positions.get(path)
        if known is None or known.file != now:
            with open(path, "rb") as file:
                known = _report_positions[path] = _continued(known, file)
                _add_lines(known, file.read())
            known.file = now
    except OSError:
        return None
    return known


def _continued(known: _ReportPosition | None, file: BinaryIO) -> _ReportPosition:
    """Returns what is known of a file, which is left behind that; nothing where another one stands in its place.

    The file of the next bake may have the number of the one that was deleted: the line that was read last tells.
    """
    if known is not None:
        file.seek(known.offset - len(known.last_line))
        if file.read(len(known.last_line)) == known.last_line:
            return known
    file.seek(0)
    return _ReportPosition()


def _add_lines(known: _ReportPosition, data: bytes) -> None:
    """Adds the whole lines of `data`; the start of one that is just written waits for its end."""
    whole = data[: data.rfind(b"\n") + 1]
    known.offset += len(whole)
    known.last_line = whole.splitlines(keepends=True)[-1] if whole else known.last_line
    for told in _parsed(whole.splitlines()):
        for key, numbers in (told.get("bodies") or {}).items():
            known.bodies[key] = known.bodies.get(key, BodyReport()).with_frame(numbers)
        if isinstance(told.get("frame"), int):
            (known.unconverged_frames.add if told.get("not_converged") else known.unconverged_frames.discard)(
                told["frame"]
            )
            for key, numbers in (told.get("colliders") or {}).items():
                if len(numbers) == 6:
                    known.colliders.setdefault(key, {})[told["frame"]] = numbers


def _parsed(lines: Iterable[bytes]) -> Iterable[Mapping[str, Any]]:
    for line in lines:
        try:
            told = json.loads(line)
        except ValueError:
            continue
        if isinstance(told, dict):
            yield told


def _max_or_none(known: float | None, told: Any) -> float | None:
    if told is None:
        return known
    return float(told) if known is None else max(known, float(told))


def _integer_or(told: Any, known: int | None) -> int | None:
    return known if told is None else int(told)
