# SPDX-License-Identifier: GPL-3.0-or-later
"""A small cache that is written, for tests of what becomes of it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from sinew.solver.cache import (
    CachedBody,
    CacheHead,
    CacheWriter,
    Frame,
)

HEAD = CacheHead("s" * 64, "t" * 64, (CachedBody("a", "A", 7), CachedBody("b", "Bé", 3)), 5, 30, 24.0, 2)


@pytest.fixture(autouse=True)
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Says what the disk was asked to do; syncing itself is left out, since it takes most of the time."""
    asked: list[str] = []
    replace, write = os.replace, os.write
    monkeypatch.setattr(os, "fsync", lambda file: asked.append("fsync"))
    monkeypatch.setattr(os, "replace", lambda *paths: (asked.append("replace"), replace(*paths)))
    monkeypatch.setattr(os, "write", lambda file, data: (asked.append(f"write {len(data)}"), write(file, data))[1])
    return asked


def frame_of(number: int) -> tuple:
    """Returns the arguments of `write_frame`; in every fifth frame both samples have a topology of their own."""
    random = np.random.default_rng(number + 100)
    count = 1 if number == HEAD.frame_start else HEAD.samples_per_frame
    samples = {body.key: random.normal(size=(count, body.vertices, 3)) for body in HEAD.bodies}
    fields = {"node.warmth": random.normal(size=4).astype(np.float32)}
    parted = number % 5 == 0 and number > HEAD.frame_start
    first = HEAD.sample_count(number) - 2
    topologies = {first + part: {"tets": np.full((1, 4), number + part)} for part in range(2 * parted)}
    since = max((number // 5) * 5, HEAD.frame_start)
    present = HEAD.sample_count(since) - 1 if since > HEAD.frame_start else 0
    frame = Frame(number, random.normal(size=(4, 3)).astype(np.float32), present, fields)
    return frame, samples, {"frame": number}, topologies, {"a": attributes_of(number)}


def attributes_of(number: int) -> bytes:
    return b"ply of frame %d" % number


def bake(writer: CacheWriter, first: int, last: int, interval: int = 3) -> None:
    for number in range(first, last + 1):
        writer.write_frame(*frame_of(number))
        if (number - HEAD.frame_start) % interval == 0:
            writer.write_resume(number, {"x": np.arange(number, dtype=float)}, interval)


def start(folder: Path, last: int) -> CacheWriter:
    writer = CacheWriter(folder)
    writer.start_over(HEAD)
    writer.write_model("a", {"nodes": np.zeros((4, 3))})
    bake(writer, HEAD.frame_start, last)
    return writer


def content(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
