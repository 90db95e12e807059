# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks beside compiled kernels: which features of scenes were compiled from the present sources."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

from .arrays import digest
from .disk import write_whole
from .kernel_cache import cache_root
from .sources import known


def marked() -> Iterator[set[str]]:
    """Yields the features of scenes that were compiled together from the present sources."""
    for mark in cache_root().glob(_mark("*").name):
        yield set(mark.read_text(encoding="utf-8").split(", "))


def mark(words: str) -> None:
    """Says that scenes with such features, "A, B, …", are compiled."""
    write_whole(_mark(words), words.encode(), is_durable=False)


def _mark(words: str) -> Path:
    """Returns the file that says that scenes with such features were compiled; of "*": what all such files match."""
    return cache_root() / f"warm-{_sources()[:16]}-{words if words == '*' else digest([words])[:16]}"


@functools.cache
def _sources() -> str:
    """Returns 64 hex digits of all sources with kernels, and of how these are compiled and kept."""
    found = known(cache_root()).items()
    return digest([part for name, source in found if source.has_kernels for part in (name, source.digest)])
