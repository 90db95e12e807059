# SPDX-License-Identifier: GPL-3.0-or-later
"""What the passes over tets leave of the hinges and strands of sheets: energies, and records of forces, stiffness and
damping.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...mesh.local_tet_numbering import TET_EDGES
from ...runtime.arrays import Floats, Indices
from ...runtime.threads.index_partition import partition
from ...runtime.threads.thread_pool import run_parts
from ..hyperelastic.jacobi_eigen_dense import project_semidefinite_dense
from ..hyperelastic.tet_kernels import BLOCKS_OFFSET, ENERGY_ONLY, WITH_TANGENT
from .sheet_elements import SheetElements
from .sheet_kernels import (
    BentHinges,
    HingeArrays,
    bend_hinges,
    hinge_damping,
    hinge_derivatives,
    write_blocks,
    write_forces,
)
from .strand_kernels import StrandArrays, strand_damping, strand_derivatives

UPPER = np.array(TET_EDGES, np.int64)  # nodes of the blocks of a hinge above the diagonal


def write_hinge_records(
    sheets: SheetElements,
    tets: Indices,
    x: Floats,
    wanted: int,
    clamp: bool,
    energy: Floats,
    smallest: Floats,
    record: Floats,
) -> None:
    """Writes what is left of the hinges of a model, whose other tets stay as they are.

    Args:
        sheets: The hinges.
        tets: Nodes of all tets, (m, 4).
        x: Node positions [m], (n, 3).
        wanted: ENERGY_ONLY, WITH_FORCES or WITH_TANGENT.
        clamp: Whether the tangent of each hinge is made positive semi-definite.
        energy: [J], (m,), out.
        smallest: The smallest stretch, 1 where nothing can be turned inside out, (m,), out.
        record: (m, RECORD_LENGTH), out.
    """
    bent = bent_hinges(sheets, tets, x)
    _write_records(hinge_derivatives, sheets.tets, bent, tets, x, wanted, clamp, (energy, smallest, record))
    if sheets.strands is not None:  # the hinges among which they are have left zeros
        strands = sheets.strands
        _write_records(
            strand_derivatives, strands.tets, strands.arrays, tets, x, wanted, clamp, (energy, smallest, record)
        )


def bent_hinges(sheets: SheetElements, tets: Indices, x: Floats) -> BentHinges:
    """Returns the hinges of a model with their bends and moments; for the arguments see `write_hinge_records`."""
    bending, bent = hinge_bends(sheets, tets, x)
    return BentHinges(sheets.hinges._replace(bending=bending), bent, sheets.flexibility.moments(bent))


def hinge_bends(sheets: SheetElements, tets: Indices, x: Floats) -> tuple[Floats, Floats]:
    """Returns k of hinges, zero where triangles have no normals, and φ, (h,) each, as `BentHinges` has them."""
    hinges, rows = sheets.hinges, sheets.tets
    bending, bent = hinges.bending.copy(), np.empty(len(rows))
    parts = partition(len(rows))

    def run(part: int) -> None:
        bend_hinges(*parts[part], rows, tets, x, hinges.rest_angle, hinges.bent_before, bending, bent)

    run_parts(len(parts), run)
    return bending, bent


def _write_records(
    derivatives: Callable[..., None],
    rows: Indices,
    elements: BentHinges | StrandArrays,
    tets: Indices,
    x: Floats,
    wanted: int,
    clamp: bool,
    out: tuple[Floats, Floats, Floats],
) -> None:
    """Writes what `derivatives` gives of elements that are the tets `rows`; for `out` see `write_hinge_records`."""
    parts, (energy, smallest, record) = partition(len(rows)), out

    def run(part: int) -> None:
        begin, end = parts[part]
        count = end - begin
        gradient, hessian = np.empty((count, 3, 3)), np.empty((count if wanted == WITH_TANGENT else 0, 9, 9))
        derivatives(begin, end, wanted, rows, tets, x, elements, energy, smallest, gradient, hessian)
        if wanted == ENERGY_ONLY:
            return
        write_forces(begin, end, rows, gradient, record)
        if wanted == WITH_TANGENT:
            if clamp:
                project_semidefinite_dense(hessian)
            write_blocks(begin, end, rows, hessian, UPPER, record)

    run_parts(len(parts), run)


def write_hinge_damping(sheets: SheetElements, tets: Indices, x: Floats, damping: Floats, record: Floats) -> None:
    """Writes the blocks of damping of the hinges and strands of a model, for β of all tets [s], (m,); other arguments
    as above.
    """
    _write_damping(hinge_damping, sheets.tets, sheets.hinges, tets, x, damping, record)
    if sheets.strands is not None:
        _write_damping(strand_damping, sheets.strands.tets, sheets.strands.arrays, tets, x, damping, record)


def _write_damping(
    blocks: Callable[..., None],
    rows: Indices,
    elements: HingeArrays | StrandArrays,
    tets: Indices,
    x: Floats,
    damping: Floats,
    record: Floats,
) -> None:
    """Writes the damping that `blocks` gives of elements that are the tets `rows`."""
    parts = partition(len(rows))

    def run(part: int) -> None:
        begin, end = parts[part]
        hessian = np.empty((end - begin, 9, 9))
        blocks(begin, end, rows, tets, x, elements, damping, hessian)
        record[rows[begin:end], :BLOCKS_OFFSET] = 0.0
        write_blocks(begin, end, rows, hessian, UPPER, record)

    run_parts(len(parts), run)
