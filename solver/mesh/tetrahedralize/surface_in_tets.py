# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a surface is in each of some tets: whether a face touches it, and how much the faces in it bend."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Bools, Floats
from ...runtime.jit import kernel
from ...runtime.threads.thread_pool import run_in_chunks
from ..geometry.triangle_bvh import Bvh
from ..geometry.triangle_tet import triangle_meets_tet

SHEET_MARK = 2  # the mark of tets that a face without inside touches


class SurfaceInTets(NamedTuple):
    """What of a surface is in k tets.

    Attributes:
        marks: 0 where no face touches, 1 where one does, `SHEET_MARK` where one without inside does, (k,).
        is_fine: Whether a face touches that small tets are asked for, (k,).
        bend: Diagonal of the box around the unit normals of the faces that touch, (k,): 0 where the surface is flat.
    """

    marks: np.ndarray
    is_fine: Bools
    bend: Floats

    def select(self, which: Bools) -> SurfaceInTets:
        """Returns that of some of the tets, (k,)."""
        return SurfaceInTets(self.marks[which], self.is_fine[which], self.bend[which])


def find_surface_in_tets(corners: Floats, bvh: Bvh, is_sheet: Bools, is_fine: Bools, slack: float) -> SurfaceInTets:
    """Returns what of a surface is in tets.

    Args:
        corners: Of the tets [m], (k, 4, 3).
        bvh: The surface.
        is_sheet: Which of its faces bound no inside, in the order of the tree, (t,).
        is_fine: At which of its faces small tets are asked for, in the same order.
        slack: A face closer to a tet than this touches it [m].
    """
    tets = np.ascontiguousarray(corners.reshape(-1, 12))
    out = SurfaceInTets(np.zeros(len(tets), np.uint8), np.zeros(len(tets), np.bool_), np.zeros(len(tets)))

    def work(part: slice) -> None:
        fill_surface_in_tets(
            tets[part], bvh.boxes, bvh.tree, bvh.corners, is_sheet, is_fine, slack, *(values[part] for values in out)
        )

    run_in_chunks(len(tets), work)
    return out


@kernel()
def fill_surface_in_tets(tets, boxes, tree, corners, is_sheet, is_fine, slack, marks, fine, bend):
    """Fills `marks`, `fine` and `bend`, (k,) each, see `find_surface_in_tets`."""
    low, high = np.empty(3), np.empty(3)
    least, most, normal = np.empty(3), np.empty(3), np.empty(3)
    for k in range(len(tets)):
        tet = tets[k]
        for axis in range(3):
            low[axis] = min(tet[axis], tet[3 + axis], tet[6 + axis], tet[9 + axis]) - slack
            high[axis] = max(tet[axis], tet[3 + axis], tet[6 + axis], tet[9 + axis]) + slack
            least[axis], most[axis] = 1.0, -1.0
        node = 0
        while node < len(tree):
            box = boxes[node]
            if (
                box[0] > high[0] or box[1] > high[1] or box[2] > high[2]
                or box[3] < low[0] or box[4] < low[1] or box[5] < low[2]
            ):  # fmt: skip
                node = tree[node, 3]
                continue
            if tree[node, 0] < 0:
                for t in range(tree[node, 1], tree[node, 1] + tree[node, 2]):
                    p = corners[t]
                    if not triangle_meets_tet(p, tet, slack):
                        continue
                    marks[k] = max(marks[k], np.uint8(2) if is_sheet[t] else np.uint8(1))
                    fine[k] = fine[k] or is_fine[t]
                    for axis in range(3):
                        b, c = (axis + 1) % 3, (axis + 2) % 3
                        normal[axis] = (p[3 + b] - p[b]) * (p[6 + c] - p[c]) - (p[3 + c] - p[c]) * (p[6 + b] - p[b])
                    length = np.sqrt(normal[0] ** 2 + normal[1] ** 2 + normal[2] ** 2)
                    if length > 0.0:
                        for axis in range(3):
                            least[axis] = min(least[axis], normal[axis] / length)
                            most[axis] = max(most[axis], normal[axis] / length)
            node += 1
        total = 0.0
        for axis in range(3):
            total += max(most[axis] - least[axis], 0.0) ** 2
        bend[k] = np.sqrt(total)
