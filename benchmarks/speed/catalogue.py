# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the benchmarks: the files of this folder that define BENCHMARK, in the order of their targets."""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path

from speed.benchmark import Benchmark

HERE = Path(__file__).resolve().parent
BENCHMARK_LINE = "\nBENCHMARK = "


def load(name: str) -> Benchmark:
    """Returns a benchmark by the name of its file."""
    benchmark = importlib.import_module(f"speed.{name}").BENCHMARK
    assert isinstance(benchmark, Benchmark)
    return benchmark


@cache
def names() -> tuple[str, ...]:
    """Returns the names of all benchmarks."""
    found = [path.stem for path in HERE.glob("*.py") if BENCHMARK_LINE in path.read_text(encoding="utf-8")]
    return tuple(sorted(found, key=lambda name: (load(name).lines, name)))
