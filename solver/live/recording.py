# SPDX-License-Identifier: GPL-3.0-or-later
"""What came when in a live run, in one file, and the same run again.

    live/controls.json   {name: value}, of tracks that may be handled, at first; written with the scene
    live/inputs.jsonl    {"version": 1, "controls": {name: value}}
                         {"step": 12, "command": "grab", …}     acts from step 13 on, as `commands.py`
                         {"step": 60, "digest": "…"}            of the state after that step
                         {"step": 95, "end": true}

Lines are written as they come, so a run that is killed leaves what it did; a last line that is cut off does not count.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from ..bake.cache.layout import LIVE_CONTROLS_FILE, LIVE_FOLDER, LIVE_INPUTS_FILE
from ..runtime.errors import BadInput, StorageFailed
from ..runtime.event_stream import json_value
from ..runtime.storage_errors import named_errors

VERSION = 1
DIGEST_INTERVAL = 60  # steps


class InputRecorder:
    """Writes down a run while it goes on."""

    def __init__(self, cache: Path, controls: Mapping[str, Any]) -> None:
        """Begins the file of a cache folder anew.

        Raises:
            StorageFailed: It cannot be written.
        """
        self.path = cache / LIVE_FOLDER / LIVE_INPUTS_FILE
        with named_errors(self.path.parent):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file: TextIO = open(self.path, "w", encoding="utf-8", newline="\n")
        self._write({"version": VERSION, "controls": dict(controls)})

    def record(self, step: int, command: Mapping[str, Any]) -> None:
        """Writes a command that acts after a number of steps."""
        self._write({"step": step, **command})

    def record_digest(self, step: int, digest: str) -> None:
        """Writes the digest after a step."""
        self._write({"step": step, "digest": digest})

    def end(self, step: int, digest: str) -> None:
        """Writes where the run ended."""
        self.record_digest(step, digest)
        self._write({"step": step, "end": True})

    def release(self) -> None:
        """Lets the file go."""
        self._file.close()

    def _write(self, line: Mapping[str, Any]) -> None:
        with named_errors(self.path.parent):
            self._file.write(json.dumps(json_value(line)) + "\n")
            self._file.flush()


@dataclass(frozen=True)
class RecordedInputs:
    """A run that was written down.

    Attributes:
        controls: First values of what was handled.
        commands: By the number of steps after which they came.
        digests: By the number of steps.
        steps: How many steps there were, as far as the file says.
    """

    controls: Mapping[str, Any]
    commands: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    digests: dict[int, str] = field(default_factory=dict)
    steps: int = 0


def read_controls(cache: Path) -> dict[str, Any]:
    """Returns the first values of the tracks that may be handled; where the cache has no such file, there are none.

    Raises:
        BadInput: "live-controls-unreadable": the file is damaged.
    """
    path = cache / LIVE_FOLDER / LIVE_CONTROLS_FILE
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(found, dict):
            raise ValueError("it has no names")
        return found
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as problem:
        raise BadInput("live-controls-unreadable", path=str(path), problem=str(problem)) from problem


def read_inputs(cache: Path) -> RecordedInputs:
    """Reads the run of a cache folder.

    Raises:
        StorageFailed: "live-inputs-unreadable": there is none, or it is damaged.
    """
    path = cache / LIVE_FOLDER / LIVE_INPUTS_FILE
    try:
        text = path.read_text(encoding="utf-8")
        lines = text.split("\n")[:-1]  # what has no end was cut off
        head = json.loads(lines[0]) if lines else {}
        if not isinstance(head, dict) or head.get("version") != VERSION or not isinstance(head.get("controls"), dict):
            raise ValueError(f"its first line has no version {VERSION}")
        return _collected(head["controls"], [_checked(json.loads(line)) for line in lines[1:]])
    except (OSError, ValueError, RecursionError) as problem:
        raise StorageFailed("live-inputs-unreadable", path=str(path), problem=str(problem)) from problem


def _checked(line: Any) -> dict[str, Any]:
    if not isinstance(line, dict) or not isinstance(line.get("step"), int) or line["step"] < 0:
        raise ValueError("a line has no step")
    return line


def _collected(controls: Mapping[str, Any], lines: list[dict[str, Any]]) -> RecordedInputs:
    found = RecordedInputs(controls, steps=max((line["step"] for line in lines), default=0))
    for line in lines:
        step = line.pop("step")
        if "digest" in line:
            found.digests[step] = str(line["digest"])
        elif "command" in line:
            found.commands.setdefault(step, []).append(line)
    return found
