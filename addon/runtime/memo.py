# SPDX-License-Identifier: GPL-3.0-or-later
"""Results that are computed again only when what they depend on has changed, or some time has passed.

Each is a function of its inputs alone, so forgetting one only costs time. Another .blend starts without any
(`clear_results`).
"""

from __future__ import annotations

import time as clock
import weakref
from collections.abc import Callable, Hashable
from typing import Any, ClassVar, Generic, TypeVar

Result = TypeVar("Result")
Entry = TypeVar("Entry")


class _Results(Generic[Entry]):
    """Entries by key, of which the oldest goes when there are too many.

    Attributes:
        clear_count: How often all of them were forgotten.
    """

    instances: ClassVar[weakref.WeakSet[_Results[Any]]] = weakref.WeakSet()

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._entries: dict[Hashable, Entry] = {}
        self.clear_count = 0
        _Results.instances.add(self)

    def clear(self) -> None:
        """Forgets all results."""
        self._entries.clear()
        self.clear_count += 1

    def discard(self, key: Hashable) -> None:
        """Forgets the result for a thing."""
        self._entries.pop(key, None)

    def _store(self, key: Hashable, entry: Entry) -> None:
        self._entries.pop(key, None)
        self._entries[key] = entry
        while len(self._entries) > self._limit:
            del self._entries[next(iter(self._entries))]


class Memo(_Results[tuple[object, Result]]):
    """The last result for each of a few things, valid for one stamp.

    Args:
        limit: How many results there are at most; the oldest goes first.
    """

    def has(self, key: Hashable, stamp: object) -> bool:
        """Whether there is a result for a thing with this stamp."""
        return key in self._entries and self._entries[key][0] == stamp

    def result(self, key: Hashable, stamp: object, compute: Callable[[], Result]) -> Result:
        """Returns the result for a thing, computed anew where its stamp is another one.

        Args:
            key: Which thing.
            stamp: What changes with everything that the result depends on.
            compute: Returns the result; what it raises is passed on, and nothing is remembered.
        """
        if not self.has(key, stamp):
            self._store(key, (stamp, compute()))
        return self._entries[key][1]

    def store(self, key: Hashable, stamp: object, result: Result) -> None:
        """Remembers a result that was computed elsewhere."""
        self._store(key, (stamp, result))

    def latest(self, key: Hashable) -> Result | None:
        """Returns the last result for a thing, whatever its stamp was, or None."""
        return self._entries[key][1] if key in self._entries else None


class Throttle(_Results[tuple[object, float, Result]]):
    """The last result for each of a few things, valid for some time, since finding out whether it changed takes long.

    Args:
        limit: How many results there are at most; the oldest goes first.
        seconds: How long a result is valid [s].
        time_share: Share of the time that computing may take, 0 to 1: what takes long is computed more seldom.
    """

    def __init__(self, limit: int, seconds: float, time_share: float = 1.0) -> None:
        super().__init__(limit)
        self._seconds, self._time_share = seconds, time_share

    def result(self, key: Hashable, compute: Callable[[], Result], stamp: object = None) -> Result:
        """Returns the result for a thing, computed anew when its time is over, or where its stamp is another one.

        Args:
            key: Which thing.
            compute: Returns the result; what it raises is passed on, and nothing is remembered.
            stamp: What makes a result invalid at once when it changes.
        """
        begin = clock.monotonic()
        entry = self._entries.get(key)
        if entry is None or entry[0] != stamp or begin >= entry[1]:
            found = compute()
            end = clock.monotonic()
            pause = (end - begin) * (1.0 / self._time_share - 1.0)
            entry = (stamp, end + max(self._seconds, pause), found)
            self._store(key, entry)
        return entry[2]


def clear_results() -> None:
    """Forgets the results of all memos and throttles: another file is open, or the add-on is turned off."""
    for each in list(_Results.instances):
        each.clear()
