# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape, with its plastic strain, in which a body begins instead of its rest shape."""

from __future__ import annotations

import io
from dataclasses import dataclass, fields, replace
from typing import Annotated

import numpy as np

from ..runtime.arrays import Floats, Indices
from ..runtime.checksums import npz_bytes
from ..runtime.errors import BadInput
from .serialisation.schema_constraints import RowsOf, points, shape

# entry of a symmetric 3×3 matrix at which each of xx, yy, zz, xy, yz, zx is
ROWS, COLUMNS = (0, 1, 2, 0, 1, 2), (0, 1, 2, 1, 2, 0)


@dataclass(frozen=True, eq=False)
class Start:
    """Where the tets of a body were once, and how far they had flowed; other tets take it from those they lie in.

    Attributes:
        vertices: Render vertices at rest [m], by which it is known whether the mesh still is the same, (n, 3).
        nodes, tets: Tets at rest [m], (k, 3) and (m, 4).
        positions: Of the nodes in the start [m], (k, 3).
        Fp_inverse: Fp⁻¹ of the multiplicative law, (m, 3, 3), or None: none has flowed under it.
        flowed: The strain that has flowed under it in all, (m,), or None.
        plastic_strain: ε_plastic of the additive law as xx, yy, zz, xy, yz, zx, (m, 6), or None: the same.
        dented: Particles of surface detail that have dents, at rest [m], (q, 3), or None: there are none.
        dents: Where in the material their targets are, at rest [m], (q, 3), or None.
        dent_reach: How far around them particles have the same dent [m], (q,), or None.
    """

    vertices: Annotated[Floats, points("n", 3)]
    nodes: Annotated[Floats, points("k", 3)]
    tets: Annotated[Indices, shape("m", 4), RowsOf("nodes")]
    positions: Annotated[Floats, points("k", 3)]
    Fp_inverse: Annotated[Floats, shape("m", 3, 3)] | None = None
    flowed: Annotated[Floats, shape("m")] | None = None
    plastic_strain: Annotated[Floats, shape("m", 6)] | None = None
    dented: Annotated[Floats, points("q", 3)] | None = None
    dents: Annotated[Floats, points("q", 3)] | None = None
    dent_reach: Annotated[Floats, shape("q")] | None = None

    def transformed(self, matrix: Floats) -> Start:
        """Returns the same in another space, given by new ← old, (4, 4); strains turn with it.

        They turn by the orthogonal matrix nearest to it, which is a reflection where it mirrors.
        """
        left, stretch, right = np.linalg.svd(matrix[:3, :3])
        rotation = left @ right

        def moved(places: Floats) -> Floats:
            return places @ matrix[:3, :3].T + matrix[:3, 3]

        strain = self.plastic_strain
        if strain is not None:
            whole = np.empty((len(strain), 3, 3))
            whole[:, ROWS, COLUMNS] = whole[:, COLUMNS, ROWS] = strain
            strain = (rotation @ whole @ rotation.T)[:, ROWS, COLUMNS]
        return replace(
            self,
            vertices=moved(self.vertices),
            nodes=moved(self.nodes),
            positions=moved(self.positions),
            Fp_inverse=None if self.Fp_inverse is None else rotation @ self.Fp_inverse @ rotation.T,
            plastic_strain=strain,
            dented=None if self.dented is None else moved(self.dented),
            dents=None if self.dents is None else moved(self.dents),
            dent_reach=None if self.dent_reach is None else self.dent_reach * stretch.max(),
        )

    def to_bytes(self) -> bytes:
        """Returns it as the bytes of an .npz file."""
        arrays = {each.name: getattr(self, each.name) for each in fields(self)}
        return npz_bytes({name: values for name, values in arrays.items() if values is not None})

    @staticmethod
    def from_bytes(data: bytes, name: str) -> Start:
        """Returns what `to_bytes` made, of the body with a name.

        Raises:
            BadInput: "start-damaged".
        """
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as stored:
                return Start(**{each.name: stored[each.name] for each in fields(Start) if each.name in stored})
        except Exception as problem:  # zipfile, zlib and NumPy raise many kinds of errors
            raise BadInput("start-damaged", name=name) from problem
