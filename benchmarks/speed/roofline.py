# SPDX-License-Identifier: GPL-3.0-or-later
"""What the machine's memory gives, and how much of it each kernel of a step takes."""

from __future__ import annotations

from collections.abc import Sequence

from harness.result import Result
from sinew.solver.integrators.solver_context import StepWorkspace
from speed.beams import CELLS, DESCRIPTION, TETS_PER_TURN, make_beam, repeats_per_turn
from speed.benchmark import NO_TARGET, Benchmark, Row, bound_row
from speed.step_kernels import PRODUCT, TimedKernel, step_kernels
from speed.stream_triad import StreamTriad, triad_bandwidth
from speed.timing import interleaved_times, medians, using_threads

MEGABYTES = (0.02, 10, 24, 240)  # the first fits the nearest cache
THREADS = (1, 2)
SIZES = ("10K", "400K")
JUDGED_SIZE = "400K"
TARGET_SHARES = {1: 0.85, 2: 0.80}
ROUNDS = 9
TRIAD_TRAFFIC_RATIO = 32 / 24  # a triad moves more than is counted of it
NOTE = (
    "STREAM counts 24 bytes per entry of a triad, but the processor also reads the lines of a before it writes them: "
    "32 bytes. So a kernel that hardly writes may come to 133 % of a triad."
)
SHARED_NOTE = (
    "A triad over 0.02 MB waits for no memory: what two threads make of it is what two threads can make of a kernel "
    "that is bound by instructions. Where it is little more than one thread's, the two cores share their units."
)
BELOW_NOTE = (
    "The product reads each block once, in order, with the vector's parts in the caches; with both threads at the "
    "memory, its reads of columns and of the vector, which no prefetch foresees, are what is left."
)


def run(quick: bool) -> Result:
    """Measures the triad, and the kernels beside it."""
    rows, values = triad_bandwidths(MEGABYTES[:2] if quick else MEGABYTES, 1 if quick else 7)
    for name in ["450"] if quick else SIZES:
        model = make_beam(CELLS[name])
        # what fits the caches is set beside a triad that does
        megabytes = MEGABYTES[-1] if name == JUDGED_SIZE else MEGABYTES[1]
        found = kernel_rates(
            [kernel.repeated(repeats_per_turn(model)) for kernel in step_kernels(model, StepWorkspace(model.pattern))],
            megabytes,
            1 if quick else ROUNDS,
        )
        for kernel, (ns, gb, share) in found.items():
            told = ", ".join(f"{ns[n] / model.tet_count:.3g} ({gb[n]:.1f}, {share[n]:.0%})" for n in THREADS)
            rows.append(
                Row(f"{name}, {kernel}: ns per tet (GB/s, share of the triad), 1 and 2 threads", NO_TARGET, told)
            )
            for n in THREADS:
                values |= {f"{name}, {kernel}, {n} threads [GB/s]": gb[n], f"{name}, {kernel}, {n}, share": share[n]}
        if name == JUDGED_SIZE:
            rows += is_reached(found[PRODUCT][2])
    return Result(rows, values=values, notes=[NOTE, SHARED_NOTE])


def triad_bandwidths(sizes: Sequence[float], rounds: int) -> tuple[list[Row], dict[str, float]]:
    """Returns what the triad gives over so many MB."""
    rows, values = [], {}
    for size in sizes:
        found = {count: triad_bandwidth(size, count, rounds) for count in THREADS}
        told = ", ".join(f"{found[count]:.1f}" for count in THREADS)
        gain = found[THREADS[-1]] / found[1]
        rows.append(Row(f"triad over {size:g} MB, 1 and 2 threads [GB/s]", NO_TARGET, f"{told} ({gain:.2f} ×)"))
        values |= {f"triad {size:g} MB, {count} threads [GB/s]": found[count] for count in THREADS}
    return rows, values


KernelRates = tuple[dict[int, float], dict[int, float], dict[int, float]]


def kernel_rates(all_kernels: list[TimedKernel], megabytes: float, rounds: int) -> dict[str, KernelRates]:
    """Returns by kernel and number of threads: ns, GB/s, and the share of the triad that took turns with it."""
    found: dict[str, KernelRates] = {kernel.name: ({}, {}, {}) for kernel in all_kernels}
    for count in THREADS:
        rule = StreamTriad(megabytes, count)
        with using_threads(count):
            taken = medians(
                interleaved_times({"": rule} | {kernel.name: kernel.call for kernel in all_kernels}, rounds)
            )
        for kernel in all_kernels:
            ns, gb, share = found[kernel.name]
            ns[count] = 1e9 * taken[kernel.name] / kernel.times
            gb[count] = kernel.bytes / ns[count]
            share[count] = gb[count] / (rule.bytes / taken[""] / 1e9)
    return found


def is_reached(share: dict[int, float]) -> list[Row]:
    """Returns whether the product is as near to the triad as it has to be."""
    return [
        bound_row(
            f"{JUDGED_SIZE}, {PRODUCT}, {n} thread{'s' if n > 1 else ''}: share of the triad",
            f"≥ {TARGET_SHARES[n]:.0%}",
            f"{share[n]:.0%} ({share[n] / TRIAD_TRAFFIC_RATIO:.0%} of what it really moves)",
            share[n] >= TARGET_SHARES[n],
            BELOW_NOTE,
            line=6,
        )
        for n in THREADS
    ]


BENCHMARK = Benchmark(
    lines=(6,),
    title="Beside what the memory gives",
    what="The triad a = b + s c of STREAM over three arrays of so many MB in all, 24 bytes counted per entry; and the "
    "kernels of a step in float64 (the cycle in float32, its matrices in 16 bits), called one by one. "
    f"{DESCRIPTION}. Counted is each array that a kernel is given or leaves, once, however often it goes through "
    f"memory. A "
    "triad of 240 MB, for the small beam one "
    f"of 10 MB, takes turns with the kernels, called as often as makes {TETS_PER_TURN:,} tets; "
    f"medians of {ROUNDS}.",
    run=run,
)
