# SPDX-License-Identifier: GPL-3.0-or-later
"""What the machine's memory gives, and how much of it each kernel of a step takes."""

from __future__ import annotations

from frame.result import Result
from speed.table import NONE, Benchmark, Row
from speed.triad import triad

MEGABYTES = (10, 24, 240)
THREADS = (1, 2)


def run(quick: bool) -> Result:
    """Measures the triad."""
    sizes = MEGABYTES[:1] if quick else MEGABYTES
    found = {(size, count): triad(size, count, 1 if quick else 7) for size in sizes for count in THREADS}
    rows = [
        Row(f"triad over {size} MB, 1 and 2 threads [GB/s]", NONE, f"{found[size, 1]:.1f}, {found[size, 2]:.1f}")
        for size in sizes
    ]
    return Result(rows, values={f"triad {size} MB, {count} threads": gb for (size, count), gb in found.items()})


BENCHMARK = Benchmark(
    lines=(6,),
    title="Beside what the memory gives",
    what="The triad a = b + s c of STREAM over three arrays of so many bytes in all, 24 bytes counted per entry.",
    run=run,
)
