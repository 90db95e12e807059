# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks beside compiled kernels: which features of scenes were compiled from the present sources."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

from ...runtime.arrays import digest
from ...runtime.atomic_files import write_atomic
from ...runtime.kernel_cache.cache_folder import cache_root
from ...runtime.kernel_cache.source_digests import source_infos


def compiled_features() -> Iterator[set[str]]:
    """Yields the features of scenes that were compiled together from the present sources."""
    for mark in cache_root().glob(_mark_path("*").name):
        yield set(mark.read_text(encoding="utf-8").split(", "))


def mark_compiled(words: str) -> None:
    """Says that scenes with such features, "A, B, …", are compiled."""
    write_atomic(_mark_path(words), words.encode(), is_durable=False)


def _mark_path(words: str) -> Path:
    """Returns the file that says that scenes with such features were compiled; of "*": what all such files match."""
    return cache_root() / f"warm-{_sources_digest()[:16]}-{words if words == '*' else digest([words])[:16]}"


@functools.cache
def _sources_digest() -> str:
    """Returns 64 hex digits of all sources with kernels, and of how these are compiled and kept."""
    found = source_infos(cache_root()).items()
    return digest([part for name, source in found if source.has_kernels for part in (name, source.digest)])
