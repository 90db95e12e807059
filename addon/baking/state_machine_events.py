# SPDX-License-Identifier: GPL-3.0-or-later
"""The events that the state machine of a bake takes; `now` is seconds of any clock that only goes forward."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Started:
    """Simulate was pressed; `resume_frame` is where the cache lets it go on, None bakes anew."""

    frame_start: int
    frame_end: int
    now: float
    resume_frame: int | None = None


@dataclass(frozen=True)
class Exporting:
    """The export has come so far, 0 to 1."""

    done: float


@dataclass(frozen=True)
class Exported:
    """The scene is written."""

    now: float


@dataclass(frozen=True)
class ExportFailed:
    """The scene cannot be exported; `error` is `SinewError.as_event()`."""

    error: Mapping[str, Any]


@dataclass(frozen=True)
class ChildSaid:
    """One event of docs/architecture.md came from the child."""

    event: Mapping[str, Any]
    now: float


@dataclass(frozen=True)
class ChildEnded:
    """The child is gone; `code` is its exit code, None when it could not even be started."""

    code: int | None
    now: float


@dataclass(frozen=True)
class CancelPressed:
    """Escape, Cancel, a new file, the end of Blender."""

    now: float


@dataclass(frozen=True)
class Tick:
    """Time went by."""

    now: float


BakeEvent = Started | Exporting | Exported | ExportFailed | ChildSaid | ChildEnded | CancelPressed | Tick
