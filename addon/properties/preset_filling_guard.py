# SPDX-License-Identifier: GPL-3.0-or-later
"""The guard that is active while a preset fills in its values, so that its menu does not turn to Custom."""

from __future__ import annotations

from types import TracebackType


class PresetFilling:
    """A context manager: `is_active` is true inside its `with` block."""

    def __init__(self) -> None:
        self.is_active = False

    def __enter__(self) -> None:
        self.is_active = True

    def __exit__(
        self, _kind: type[BaseException] | None, _problem: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.is_active = False
