# SPDX-License-Identifier: GPL-3.0-or-later
"""Results that are computed again only when what they depend on has changed."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Result = TypeVar("Result")


class Memo(Generic[Result]):
    """The last result for each of a few things: a pure function of them, so that forgetting one only costs time.

    Args:
        limit: How many results there are at most; the oldest goes first.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._results: dict[Hashable, tuple[object, Result]] = {}

    def has(self, key: Hashable, stamp: object) -> bool:
        """Whether there is a result for a thing with this stamp."""
        return key in self._results and self._results[key][0] == stamp

    def result(self, key: Hashable, stamp: object, compute: Callable[[], Result]) -> Result:
        """Returns the result for a thing, computed anew where its stamp is another one.

        Args:
            key: Which thing.
            stamp: What changes with everything that the result depends on.
            compute: Returns the result; what it raises is passed on, and nothing is remembered.
        """
        if not self.has(key, stamp):
            found = compute()
            self._results.pop(key, None)
            self._results[key] = (stamp, found)
            while len(self._results) > self._limit:
                del self._results[next(iter(self._results))]
        return self._results[key][1]
