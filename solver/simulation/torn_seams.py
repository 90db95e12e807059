# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of sheets whose seams have torn: sewn vertices never meet what they are sewn to, until they have parted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..constraints.seams import SheetSeams
from ..contact.detection.surface_materials import ContactMaterials
from ..mechanics.state import State
from ..runtime.arrays import Indices
from ..runtime.frozen_memo import derived_from
from .assembled_scene import AssembledScene


def contact_materials_at(built: AssembledScene, state: State) -> ContactMaterials | None:
    """Returns the surfaces at which bodies touch, where the sides of seams that have parted at `state` meet."""
    materials = built.contact_materials
    seams = tuple(force for force in built.forces if isinstance(force, SheetSeams))
    if materials is None or not seams:
        return materials
    parted = tuple(each.have_parted(state) for each in seams)
    if not any(each.any() for each in parted):
        return materials

    def make() -> ContactMaterials:
        nodes = materials.surfaces.nodes.copy()
        for each, is_parted in zip(seams, parted, strict=True):
            assert each.links.body is not None
            own = nodes[materials.surfaces.vertices_of(each.links.body)]
            _release(own, each.nodes(built.model.tets), is_parted)
        return replace(materials, surfaces=replace(materials.surfaces, nodes=nodes))

    return derived_from(built, "contact_materials_at", make, inputs=(materials,), values=parted)


def _release(nodes: Indices, seams: Indices, is_parted: np.ndarray) -> None:
    """Lets vertices meet what they were sewn to.

    Args:
        nodes: Of the vertices of a sheet, see `CollisionSurfaces`, (v, 4), changed.
        seams: The two nodes of each edge of its seams, (m, 2).
        is_parted: Which of these have parted, (m,).
    """
    sewn = {frozenset(pair) for pair in seams[~is_parted].tolist()}
    row_of_node = {int(node): row for row, node in enumerate(nodes[:, 0])}
    for one, other in seams[is_parted].tolist():
        if frozenset((one, other)) in sewn:
            continue
        for own, left in ((one, other), (other, one)):
            if own in row_of_node:
                row = nodes[row_of_node[own]]
                row[row == left] = own
