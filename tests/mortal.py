# SPDX-License-Identifier: GPL-3.0-or-later
"""A process that dies in a disk operation of choice."""

from __future__ import annotations

import os

import pytest


class Dead(BaseException):
    """The process is no more."""


class Mortal:
    """Lets the process die in its n-th disk operation, half done; whatever it would do after that fails too."""

    def __init__(self, patch: pytest.MonkeyPatch, die_at: int) -> None:
        self.count, self.die_at = 0, die_at
        for name in ("write", "fsync", "replace", "unlink", "ftruncate"):
            patch.setattr(os, name, self.mortal(name, getattr(os, name)))

    def mortal(self, name: str, call):
        def operation(*arguments, **named):
            self.count += 1
            if self.count == self.die_at and name == "write":
                call(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
            if self.count >= self.die_at:
                raise Dead
            return call(*arguments, **named)

        return operation
