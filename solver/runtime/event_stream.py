# SPDX-License-Identifier: GPL-3.0-or-later
"""Events on standard output, one JSON object a line, without any other output."""

from __future__ import annotations

import ctypes
import io
import json
import math
import os
import sys
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np


class EventStream:
    """Reserves standard output for events; all other prints go to standard error."""

    def __init__(self) -> None:
        """Redirects standard output, also for C libraries."""
        sys.stdout.flush()
        self._file = os.dup(1)
        os.dup2(2, 1)
        self._lock = threading.Lock()

    def emit(self, event: Mapping[str, Any]) -> None:
        """Writes one event at once.

        Raises:
            OSError: The reader has closed the pipe.
        """
        data = memoryview(json.dumps(json_value(event)).encode() + b"\n")
        with self._lock:
            while data:
                data = data[os.write(self._file, data) :]

    def close(self) -> None:
        """Restores standard output; buffered prints go to standard error first."""
        sys.stdout.flush()
        if os.name == "posix":
            ctypes.CDLL(None).fflush(None)
        os.dup2(self._file, 1)
        os.close(self._file)


def escape_unprintable_output() -> None:
    """Escapes characters that the terminal cannot print, and undecodable file names."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def json_value(value: Any) -> Any:
    """Converts a value for JSON: NumPy numbers to Python numbers, NaN and infinity to null."""
    if isinstance(value, np.generic | np.ndarray):
        return json_value(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
