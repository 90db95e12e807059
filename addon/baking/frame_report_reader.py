# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the growing report of a bake: values of bodies, forces on colliders, frames that did not converge."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import bpy

from ...solver.bake.cache import layout
from ...solver.bake.cache.frame_report_check import is_load_count
from ..blender_data.object_keys import body_key
from ..cache import cache_folder_status, cache_paths
from ..cache.bake_passes import body_folder
from ..export.participants import collider_keys
from ..fracture_meshes import show_results
from ..runtime.memo import Memo

MAX_REPORTS = 20  # in memory


@dataclass(frozen=True)
class BodyReport:
    """Values of one body so far; None if no frame had them.

    Attributes:
        largest_stress: Largest principal stress so far [Pa].
        pieces: Number of pieces.
        splits: Nodes that have split so far.
        frames_held: Frames in which a limit stopped cracks.
        largest_plastic_strain: Largest norm so far.
        deepest_dent: Of surface detail so far [m].
        coldest, hottest: At the last frame [°C].
        pose_residual: The largest final residual of its poses.
    """

    largest_stress: float | None = None
    pieces: int | None = None
    splits: int | None = None
    frames_held: int = 0
    largest_plastic_strain: float | None = None
    deepest_dent: float | None = None
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
            deepest_dent=_max_or_none(self.deepest_dent, numbers.get("deepest_dent")),
            coldest=numbers.get("coldest", self.coldest),
            hottest=numbers.get("hottest", self.hottest),
            pose_residual=_max_or_none(self.pose_residual, numbers.get("pose_residual")),
        )


@dataclass
class _ReportPosition:
    """The part of a report that was read: offset, last line, and values.

    Attributes:
        bodies: By key of the body.
        unconverged_frames: Frames in which a step or a pose did not converge.
        let_in_frames: Frames in which Exact contact let colliders into bodies.
        colliders: Force [N] and torque [N m] by key of the collider and by frame.
        attachments: What attachments carry, as `AttachmentLoad.to_list` has it, by key of the body and number of the
            row, and by frame.
    """

    offset: int = 0
    last_line: bytes = b""
    bodies: dict[str, BodyReport] = field(default_factory=dict)
    unconverged_frames: set[int] = field(default_factory=set)
    let_in_frames: set[int] = field(default_factory=set)
    colliders: dict[str, dict[int, list[float]]] = field(default_factory=dict)
    attachments: dict[tuple[str, int], dict[int, list[float]]] = field(default_factory=dict)


# by report
_positions: Memo[_ReportPosition] = Memo(MAX_REPORTS)


def report(scene: bpy.types.Scene, obj: bpy.types.Object) -> BodyReport:
    """Returns the values of a body in the present bake of `scene`."""
    known_reports = reports(body_folder(scene, obj))
    return known_reports.get(body_key(obj), BodyReport()) if known_reports else BodyReport()


def reports(folder: Path) -> Mapping[str, BodyReport]:
    """Returns the values of a cache's bodies, by key."""
    position = _read(folder)
    return position.bodies if position is not None else {}


def lacks_final_mesh(folder: Path) -> bool:
    """Whether a cracked body in a cache lacks its final mesh, because the bake was killed."""
    return any(report.splits and not show_results.has_result(folder, key) for key, report in reports(folder).items())


def unconverged_frames(folder: Path) -> Collection[int]:
    """Returns the frames of a cache in which a step or a pose did not converge."""
    position = _read(folder)
    return position.unconverged_frames if position is not None else ()


def let_in_frames(folder: Path) -> Collection[int]:
    """Returns the frames of a cache in which Exact contact let colliders into bodies."""
    position = _read(folder)
    return position.let_in_frames if position is not None else ()


def collider_forces(folder: Path) -> Mapping[str, Mapping[int, list[float]]]:
    """Returns force [N] and torque [N m] on the colliders of a cache, six numbers by key and by frame."""
    position = _read(folder)
    return position.colliders if position is not None else {}


def force_at(scene: bpy.types.Scene, obj: bpy.types.Object) -> list[float] | None:
    """Returns force [N] and torque [N m] on a collider at the playhead, or the nearest baked frame, (6,), or None."""
    folder = cache_paths.cache_folder(scene)
    frame = cache_folder_status.read_status(folder).frame_shown_at(scene.frame_current)
    key = collider_keys(scene).get(obj)
    return collider_forces(folder).get(key, {}).get(frame) if key and frame is not None else None


def attachment_loads(folder: Path, key: str, frame: int) -> dict[int, list[float]]:
    """Returns what the rows of a body carry at a frame, by number: force [N], place and other end [m], seven numbers,
    and both ends of each edge where it has edges.

    Rows that hold exactly, or have broken, are not there.
    """
    position = _read(folder)
    rows = {} if position is None else position.attachments
    return {number: frames[frame] for (of, number), frames in rows.items() if of == key and frame in frames}


def _read(folder: Path) -> _ReportPosition | None:
    """Returns the content of a cache's report, or None without one. Reads only new lines."""
    path = folder / layout.REPORT_FILE
    try:
        stat = path.stat()
        now = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)
        return _positions.result(path, now, lambda: _read_more(path, _positions.latest(path)))
    except OSError:
        return None


def _read_more(path: Path, position: _ReportPosition | None) -> _ReportPosition:
    with open(path, "rb") as file:
        position = _continued(position, file)
        _add_lines(position, file.read())
    return position


def _continued(position: _ReportPosition | None, file: BinaryIO) -> _ReportPosition:
    """Returns the position in a file and seeks to it; a new position if the file was replaced.

    The position may be that of a deleted file of the same number, so the last line is compared.
    """
    if position is not None:
        file.seek(position.offset - len(position.last_line))
        if file.read(len(position.last_line)) == position.last_line:
            return position
    file.seek(0)
    return _ReportPosition()


def _add_lines(position: _ReportPosition, data: bytes) -> None:
    """Adds the complete lines of `data`; an incomplete last line waits."""
    whole = data[: data.rfind(b"\n") + 1]
    position.offset += len(whole)
    position.last_line = whole.splitlines(keepends=True)[-1] if whole else position.last_line
    for line in _parsed(whole.splitlines()):
        for key, numbers in (line.get("bodies") or {}).items():
            position.bodies[key] = position.bodies.get(key, BodyReport()).with_frame(numbers)
        if isinstance(line.get("frame"), int):
            for name, frames in (
                ("not_converged", position.unconverged_frames),
                ("let_in", position.let_in_frames),
            ):
                (frames.add if line.get(name) else frames.discard)(line["frame"])
            for key, numbers in (line.get("colliders") or {}).items():
                if len(numbers) == 6:
                    position.colliders.setdefault(key, {})[line["frame"]] = numbers
            for key, rows in (line.get("attachments") or {}).items():
                for number, numbers in rows.items():
                    if number.isdigit() and is_load_count(len(numbers)) and None not in numbers:
                        position.attachments.setdefault((key, int(number)), {})[line["frame"]] = numbers


def _parsed(lines: Iterable[bytes]) -> Iterable[Mapping[str, Any]]:
    for line in lines:
        try:
            parsed = json.loads(line)
        except ValueError:
            continue
        if isinstance(parsed, dict):
            yield parsed


def _max_or_none(previous: float | None, value: Any) -> float | None:
    if value is None:
        return previous
    return float(value) if previous is None else max(previous, float(value))


def _integer_or(value: Any, previous: int | None) -> int | None:
    return previous if value is None else int(value)
