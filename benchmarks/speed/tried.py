# SPDX-License-Identifier: GPL-3.0-or-later
"""What was tried to be faster and was taken out again, since it cost more than it brought; sentences for the page."""

from __future__ import annotations

TRIED: tuple[str, ...] = (
    "Products that read the upper half of the matrix where it lies, between the lower blocks: 8.3 to 8.6 ms at 400K "
    "tets on one thread, whole rows 8.0 to 8.3. The processor fetches what is left out all the same; packed, it takes "
    "4.8 to 5.6.",
    "Coarse levels of multigrid in parts of 64 rows on two threads: 523 to 607 µs a cycle at 10K tets instead of 487 "
    "to 619, and the same at 100K.",
    "Sums per edge kept in the cache for hyperelastic tets, in parts of 512 or 1,024: 60 to 69 ms for the bar of 10K "
    "tets instead of 62 to 64.",
    "Records of tets that begin where lines of the cache do: 60.6 ns a tet instead of 60.3.",
    "Render positions moved into object space in chunks by NumPy: 6.4 ms for 200,000 points; a kernel takes 1.6.",
    "LLVM's first level of optimization instead of its third: 27.9 s of compiling instead of 27.4; a quicker "
    "comparison of Numba's flags: 30.2 instead of 27.4, which is how far single runs differ.",
)
