# SPDX-License-Identifier: GPL-3.0-or-later
"""What the machine's memory gives, and how much of it each kernel of a step takes."""

from __future__ import annotations

from collections.abc import Sequence

from frame.result import Result
from speed.beams import CELLS, TETS_AT_ONCE, WHAT, at_once, beam
from speed.kernels import PRODUCT, Kernel, kernels
from speed.table import NONE, Benchmark, Row, bound
from speed.timing import in_turns, medians, threads
from speed.triad import Triad, triad

MEGABYTES = (0.02, 10, 24, 240)  # the first fits the nearest cache
THREADS = (1, 2)
SIZES = ("10K", "400K")
JUDGED = "400K"
WANTED = {1: 0.85, 2: 0.80}
ROUNDS = 9
MOVED = 32 / 24  # a triad moves more than is counted of it
NOTE = (
    "STREAM counts 24 bytes per entry of a triad, but the processor also reads the lines of a before it writes them: "
    "32 bytes. So a kernel that hardly writes may come to 133 % of a triad."
)
SHARED = (
    "A triad over 0.02 MB waits for no memory: what two threads make of it is what two threads can make of a kernel "
    "that is bound by instructions. Where it is little more than one thread's, the two cores share their units."
)
BELOW = (
    "The product reads each block once, in order, with the vector's parts in the caches; with both threads at the "
    "memory, its reads of columns and of the vector, which no prefetch foresees, are what is left."
)


def run(quick: bool) -> Result:
    """Measures the triad, and the kernels beside it."""
    rows, values = triads(MEGABYTES[:2] if quick else MEGABYTES, 1 if quick else 7)
    for name in ["450"] if quick else SIZES:
        model = beam(CELLS[name])
        # what fits the caches is set beside a triad that does
        megabytes = MEGABYTES[-1] if name == JUDGED else MEGABYTES[1]
        found = beside(
            [kernel.repeated(at_once(model)) for kernel in kernels(model)], megabytes, 1 if quick else ROUNDS
        )
        for kernel, (ns, gb, share) in found.items():
            told = ", ".join(f"{ns[n] / model.tet_count:.3g} ({gb[n]:.1f}, {share[n]:.0%})" for n in THREADS)
            rows.append(Row(f"{name}, {kernel}: ns per tet (GB/s, share of the triad), 1 and 2 threads", NONE, told))
            for n in THREADS:
                values |= {f"{name}, {kernel}, {n} threads [GB/s]": gb[n], f"{name}, {kernel}, {n}, share": share[n]}
        if name == JUDGED:
            rows += judged(found[PRODUCT][2])
    return Result(rows, values=values, notes=[NOTE, SHARED])


def triads(sizes: Sequence[float], rounds: int) -> tuple[list[Row], dict[str, float]]:
    """Returns what the triad gives over so many MB."""
    rows, values = [], {}
    for size in sizes:
        found = {count: triad(size, count, rounds) for count in THREADS}
        told = ", ".join(f"{found[count]:.1f}" for count in THREADS)
        gain = found[THREADS[-1]] / found[1]
        rows.append(Row(f"triad over {size:g} MB, 1 and 2 threads [GB/s]", NONE, f"{told} ({gain:.2f} ×)"))
        values |= {f"triad {size:g} MB, {count} threads [GB/s]": found[count] for count in THREADS}
    return rows, values


Found = tuple[dict[int, float], dict[int, float], dict[int, float]]


def beside(all_kernels: list[Kernel], megabytes: float, rounds: int) -> dict[str, Found]:
    """Returns by kernel and number of threads: ns, GB/s, and the share of the triad that took turns with it."""
    found: dict[str, Found] = {kernel.name: ({}, {}, {}) for kernel in all_kernels}
    for count in THREADS:
        rule = Triad(megabytes, count)
        with threads(count):
            taken = medians(in_turns({"": rule} | {kernel.name: kernel.call for kernel in all_kernels}, rounds))
        for kernel in all_kernels:
            ns, gb, share = found[kernel.name]
            ns[count] = 1e9 * taken[kernel.name] / kernel.times
            gb[count] = kernel.bytes / ns[count]
            share[count] = gb[count] / (rule.bytes / taken[""] / 1e9)
    return found


def judged(share: dict[int, float]) -> list[Row]:
    """Returns whether the product is as near to the triad as it has to be."""
    return [
        bound(
            f"{JUDGED}, {PRODUCT}, {n} thread{'s' if n > 1 else ''}: share of the triad",
            f"≥ {WANTED[n]:.0%}", f"{share[n]:.0%} ({share[n] / MOVED:.0%} of what it really moves)",
            share[n] >= WANTED[n], BELOW, line=6,
        )
        for n in THREADS
    ]  # fmt: skip


BENCHMARK = Benchmark(
    lines=(6,),
    title="Beside what the memory gives",
    what="The triad a = b + s c of STREAM over three arrays of so many MB in all, 24 bytes counted per entry; and the "
    "kernels of a step in float64 (the cycle in float32, its matrices in 16 bits), called one by one. "
    f"{WHAT}. Counted is each array that a kernel is given or leaves, once, however often it goes through memory. A "
    "triad of 240 MB, for the small beam one "
    f"of 10 MB, takes turns with the kernels, called as often as makes {TETS_AT_ONCE:,} tets; "
    f"medians of {ROUNDS}.",
    run=run,
)
