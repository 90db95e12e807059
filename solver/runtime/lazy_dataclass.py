# SPDX-License-Identifier: GPL-3.0-or-later
"""Data classes that are written when they are first used: most bakes use hardly half of those that they load.

Python writes the methods of each as text and compiles that, which takes it 0.3 ms: 45 ms for those of a small bake.
"""

from __future__ import annotations

import dataclasses
import functools
import threading
from typing import TYPE_CHECKING, Any

_one_at_a_time = threading.RLock()

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: Any) -> Any:
        """Does what `dataclasses.dataclass` does, but not before a class has an instance or is asked for its fields."""
        if cls is None:
            return functools.partial(dataclass, **options)
        if "__new__" in vars(cls) or options.get("slots") or options.get("weakref_slot"):
            raise TypeError(f"{cls.__name__} is no class that can be written later: it makes its instances itself")
        unwritten = _Unwritten(cls, options)
        cls.__new__, cls.__dataclass_fields__ = unwritten.new, unwritten
        return cls


class _Unwritten:
    """Stands for the fields of a class until it is written."""

    def __init__(self, cls: Any, options: dict[str, Any]) -> None:
        self._cls, self._options = cls, options

    def __get__(self, instance: object, owner: type) -> Any:
        self._write()
        return self._cls.__dataclass_fields__

    def new(self, cls: type, /, *values: Any, **named: Any) -> Any:
        """Returns the first instance, still without its values."""
        self._write()
        return _new(cls)

    def _write(self) -> None:
        with _one_at_a_time:
            if vars(self._cls)["__dataclass_fields__"] is self:
                dataclasses.dataclass(**self._options)(self._cls)
                self._cls.__new__ = _new  # a class that once had such a method can never go without


def _new(cls: type, /, *_: Any, **__: Any) -> Any:
    """Returns an instance; its values are for `__init__`."""
    return object.__new__(cls)
