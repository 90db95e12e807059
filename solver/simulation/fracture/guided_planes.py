# SPDX-License-Identifier: GPL-3.0-or-later
"""Which overloaded tets at crack guides part along the guide, and which as a whole.

The overload of such a tet is its largest principal stress σ over the strength along its guides, the least that it has.
Across a face of a guide with the normal n it is nᵀ σ n over that strength; as a whole it is less, by the share of the
strength that the guide leaves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mechanics.elements.elastic_stress import elastic_stress, normal_at_rest, principal_stresses
from ...mechanics.model import Model
from ...mesh.node_splitting.face_adjacency import FACE_CORNERS
from ...mesh.node_splitting.guided_faces import GuidedFaces
from ...runtime.arrays import Floats, Indices

NO_FACE = -1


@dataclass(frozen=True, eq=False)
class GuidedPlanes:
    """Tets that are overloaded where they are weakest.

    Attributes:
        across: Stress over strength across the faces of guides, (k, 4); 0 of other faces.
        whole: The same of the tets apart from guides, (k,).
    """

    across: Floats
    whole: Floats

    def tries(self, row: int, nodes: list[int], order: list[int]) -> list[tuple[int, int]]:
        """Returns which nodes a tet tries to split, and along the guide at which face, `NO_FACE` by its stress.

        Args:
            row: Of the tet.
            nodes: Of it.
            order: In which it would try them.
        """
        face = int(self.across[row].argmax())
        found = []
        if self.across[row, face] > max(1.0, float(self.whole[row])):
            at = {nodes[corner] for corner in FACE_CORNERS[face].tolist()}
            found = [(node, face) for node in order if node in at]
        return found + ([(node, NO_FACE) for node in order] if self.whole[row] > 1.0 else [])


def guided_planes(model: Model, x: Floats, which: Indices, overload: Floats, guides: GuidedFaces) -> GuidedPlanes:
    """Returns how overloaded tets, (k,), are along guides and apart from them.

    Args:
        model: The bodies.
        x: Node positions [m], (n, 3).
        which: The tets.
        overload: Stress over strength where they are weakest, (k,).
        guides: Of all tets.
    """
    stress, largest = elastic_stress(model, x, which)
    values, directions = principal_stresses(stress)
    at_rest = np.stack([normal_at_rest(model, x, which, directions[:, :, k]) for k in range(3)], axis=2)
    own = guides.of_tets(which)
    normal = np.einsum("kfi,kij->kfj", own.normal, at_rest)
    pulled = np.einsum("kj,kfj->kf", values, normal**2)
    across = np.where(own.is_guided, overload[:, None] * pulled / largest[:, None], 0.0)
    return GuidedPlanes(np.maximum(across, 0.0), overload * own.strength_share)
