# SPDX-License-Identifier: GPL-3.0-or-later
"""The memory bandwidth of the machine, and the share of it that each kernel of a step reaches."""

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
TRIAD_TRAFFIC_RATIO = 32 / 24  # a triad moves more bytes than STREAM counts
NOTE = (
    "STREAM counts 24 bytes per entry of a triad, but the processor also reads the cache lines of a before it writes "
    "them: 32 bytes. So a kernel that hardly writes can reach 133 % of a triad."
)
SHARED_NOTE = (
    "A triad over 0.02 MB does not wait for memory: its gain on two threads is the gain of any kernel bound by "
    "instructions. If it is small, the two cores share execution units."
)
BELOW_NOTE = (
    "The product reads each block once, in order, with its parts of the vector in the caches. With both threads bound "
    "by memory, what remains are the reads of columns and of the vector, which the processor cannot prefetch."
)


def run(quick: bool) -> Result:
    """Measures the triad and the kernels."""
    rows, values = triad_bandwidths(MEGABYTES[:2] if quick else MEGABYTES, 1 if quick else 7)
    for name in ["450"] if quick else SIZES:
        model = make_beam(CELLS[name])
        # a beam that fits the caches is compared with a triad that does
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
    """Returns the bandwidth of triads of several sizes in MB."""
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
    """Returns the judged rows of the product."""
    return [
        bound_row(
            f"{JUDGED_SIZE}, {PRODUCT}, {n} thread{'s' if n > 1 else ''}: share of the triad",
            f"≥ {TARGET_SHARES[n]:.0%}",
            f"{share[n]:.0%} ({share[n] / TRIAD_TRAFFIC_RATIO:.0%} of the triad's real traffic)",
            share[n] >= TARGET_SHARES[n],
            BELOW_NOTE,
            line=6,
        )
        for n in THREADS
    ]


BENCHMARK = Benchmark(
    lines=(6,),
    title="Kernels against memory bandwidth",
    what="The triad a = b + s c of STREAM runs over three arrays of the given size in all, with 24 bytes counted per "
    "entry. The kernels of a step run one by one in float64 (the multigrid cycle in float32, its matrices in 16 bits). "
    f"{DESCRIPTION}. The benchmark counts each array that a kernel reads or writes once, however often it goes through "
    "memory. A triad of 240 MB, or of 10 MB for the small beam, takes turns with the kernels, each of which runs over "
    f"{TETS_PER_TURN:,} tets per turn. Times are medians of {ROUNDS}.",
    run=run,
)
