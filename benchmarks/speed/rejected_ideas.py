# SPDX-License-Identifier: GPL-3.0-or-later
"""What was tried to be faster and was taken out again, since it cost more than it brought; sentences for the page."""

from __future__ import annotations

REJECTED_IDEAS: tuple[str, ...] = (
    "Products that read the upper half of the matrix where it lies, between the lower blocks: 8.3 to 8.6 ms at 400K "
    "tets on one thread, whole rows 8.0 to 8.3. The processor fetches what is left out all the same; packed, it takes "
    "4.8 to 5.6.",
    "Whole rows instead of the packed upper half at 10K tets: a solve on two threads took 3.57 instead of 3.31 ms.",
    "Multigrid's matrices in bfloat16 instead of fixed point of 16 bits: as fast, and as many iterations for bars and "
    "plates, but 184 instead of 130 for a rod of 1 × 1 × 100 with ν = 0.45 (in 32 bits 123), and 631 instead of 303 "
    "with ν = 0.49.",
    "Multigrid's matrices in 32 bits, as before: an iteration at 400K tets takes 6.0 instead of 4.4 ms. They pay where "
    "a ball inside a bar is ten thousand times as stiff as the rest, 79 iterations instead of 111; with a hundred "
    "times, which is all that can be painted, it is 43 for both.",
    "What rounding leaves of a row on its diagonal in its symmetric part alone, so that the cycle is symmetric: 253 "
    "iterations for the same rod in bfloat16.",
    "Work space for rows of coarse matrices that begins where lines of the cache do: levels at 100K tets set up in 8.7 "
    "to 11.7 ms instead of 8.6 to 10.8.",
    "Every other block of a row added up apart, so that no sum waits for the one before: 30.6 instead of 32 µs for a "
    "product at 10K tets, when it was in 32 bits, but blocks of zeros, which patterns widened by contacts keep, then "
    "change bits.",
    "Loops of their own for every task of a cycle, instead of one that asks for each row what to do: 173 instead of "
    "180 µs at 10K tets on one thread, but no less in a search, and levels were set up no faster.",
    "The upper half of the matrix copied only after eight products of a search by multigrid: a copy takes as long as "
    "three products gain by it at 10K tets and as seven at 100K, and most searches are longer.",
    "The largest eigenvalue of the finest level for the smoother from the length of the whole vector: where one tet in "
    "10K was flat, 198 iterations instead of 27. Windows of eight rows see it: 23.",
    "Two steps of smoothing on the next to finest level, as on those above it: with ν = 0.45 22 iterations in 5.71 ms "
    "instead of 24 in 5.53 at 10K tets, 25 in 273 ms instead of 26 in 263 at 400K.",
    "Sums per edge kept in the cache for hyperelastic tets, in parts of 512 or 1,024: 60 to 69 ms for the bar of 10K "
    "tets instead of 62 to 64.",
    "Neo-Hookean tets without their singular values where clamping would change nothing: 44, 75 and 143 ns a tet for "
    "energies, forces and blocks instead of 88, 113 and 190 on one thread, but the bar of 10K tets took 7 % less on "
    "two threads and 12 % less on one, that of 100K tets 0 and 5 % more, and flesh 2 to 4 s more to compile.",
    "Vectors of 512 bits instead of 256 for hyperelastic tets: 310 ns a tet instead of 292. Roots and quotients set "
    "the pace.",
    "Other parts for passes over 10K hyperelastic tets on two threads, 1,664 or 2,464 tets instead of 1,024: 2.25 to "
    "2.54 ms, 1,024 being the best.",
    "Three Newton iterations instead of four for the quasistatic bar: exact solves leave a residual of 2.0e-6 after "
    "three, and 1e-6 is wanted.",
    "Records of tets that begin where lines of the cache do: 60.6 ns a tet instead of 60.3.",
    "Render positions moved into object space in chunks by NumPy: 6.4 ms for 200,000 points; a kernel takes 1.6.",
    "LLVM's first level of optimization instead of its third: 27.9 s of compiling instead of 27.4; a quicker "
    "comparison of Numba's flags: 30.2 instead of 27.4, which is how far single runs differ.",
    "A memory of what calls mean, put into Numba's inference of types: an eighth less of a processor's time for "
    "compiling, by the ratio to LLVM's part, and nothing that showed in a first click.",
    "No counting of references in any kernel that makes no arrays: 17.4 instead of 18.2 s of compiling. It is done "
    "where threads share out passes.",
    "Other laws from a random scatter on, bars of 3 × 3 × 30 cells held at both ends: neo-Hookean with the constant "
    "extension brought 8 of 12 back untwisted, without λ 11 of 12, the corotated law without λ 40 of 50, with weighted "
    "rotations, which stayed, 50 of 50. Laws with an energy everywhere (neo-Hookean with smooth functions of J, stable "
    "neo-Hookean, corotated with λ), whose energy had to fall at every step, stalled in 10 of 10 with a fifth to half "
    "of the tets inside out: most likely as J is in the thousands, and its term falls fastest where the shortest axis "
    "is pulled through zero.",
)
