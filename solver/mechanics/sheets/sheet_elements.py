# SPDX-License-Identifier: GPL-3.0-or-later
"""The elements of a sheet: hinges of four nodes, which a model holds as tets without volume.

Every edge between two triangles is a hinge: the nodes of the edge, then those opposite to it. Each triangle belongs to
one of its hinges. So the blocks of a sheet are in the pattern of the model, and whatever names a tet and four weights,
such as a pin, a spring or a contact, may name a place of a sheet.

Angles resist together, as `bending_flexibility.py` says. For the tangent alone each has the stiffness k = D |e|² /
(A₁ + A₂) of its own, with D = E h³ / 12 (1 − ν²), or of an orthotropic sheet what resists a bend across the edge: on a
grid and on equilateral triangles a sheet that is rolled up to a cylinder then has the energy ½ D κ² per area. The
source has 3 |e|² / (A₁ + A₂) and leaves the factor open.

Source of k: Grinspun, Hirani, Desbrun and Schröder 2003, Discrete shells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...mesh.sheet_mesh import MIN_AREA_SHARE, check_areas, sheet_tets, triangle_edges
from ...runtime.arrays import Floats, Indices, floats, indices
from ...runtime.errors import BadInput
from .bending_flexibility import BendingFlexibility, make_bending_flexibility, rigid_hinges
from .membrane_kernels import STABLE_NEO_HOOKEAN, STVK
from .sheet_kernels import HingeArrays
from .strand_elements import StrandElements

MEMBRANE_LAWS = {"stvk": STVK, "stable-neo-hookean": STABLE_NEO_HOOKEAN}


@dataclass(frozen=True)
class SheetMaterial:
    """What a sheet is made of.

    Attributes:
        thickness: h [m].
        youngs_modulus: Along the first axis [Pa].
        poisson_ratio: ν₁₂, how much a stretch along the first axis narrows the sheet.
        density: ρ [kg/m³].
        law: Of `MEMBRANE_LAWS`.
        across: Young's modulus along the second axis [Pa]; None: as along the first one.
        shear_modulus: G [Pa]; None: E / 2 (1 + ν).
        bending_stiffness: D [N m] of all edges; None: from thickness and moduli.
        strand_bending: Bending stiffness of strands over E I.
    """

    thickness: float
    youngs_modulus: float
    poisson_ratio: float = 0.3
    density: float = 1000.0
    law: str = "stvk"
    across: float | None = None
    shear_modulus: float | None = None
    bending_stiffness: float | None = None
    strand_bending: float = 1.0

    @property
    def moduli(self) -> Floats:
        """C₁₁, C₂₂, C₁₂ and G of plane stress [Pa], (4,)."""
        E1, nu = self.youngs_modulus, self.poisson_ratio
        E2 = E1 if self.across is None else self.across
        plane = 1.0 - nu * nu * E2 / E1
        shear = E1 / (2.0 * (1.0 + nu)) if self.shear_modulus is None else self.shear_modulus
        return np.array([E1 / plane, E2 / plane, nu * E2 / plane, shear])

    @property
    def plate_compliance(self) -> Floats:
        """s₁₁, s₂₂, s₁₂ and s₃₃ of the inverse of the bending stiffness [1 / N m], (4,); D = 1 where it is zero."""
        if self.bending_stiffness is None:
            d11, d22, d12, d33 = self.thickness**3 / 12.0 * self.moduli
        else:
            nu = self.poisson_ratio
            d11, d22, d12, d33 = (self.bending_stiffness or 1.0) * np.array([1.0, 1.0, nu, 0.5 * (1.0 - nu)])
        determinant = d11 * d22 - d12 * d12
        return np.array([d22 / determinant, d11 / determinant, -d12 / determinant, 1.0 / d33])


@dataclass(frozen=True, eq=False)
class SheetElements:
    """The hinges of a model.

    Attributes:
        tets: Which tets of the model they are, rising, (h,).
        hinges: What they are made of.
        density: Of their triangles [kg/m³], (t,).
        flexibility: How much they bend under their moments.
        strands: Edges without faces, whose tets are among `tets`, where nothing else resists; None: there are none.
    """

    tets: Indices
    hinges: HingeArrays
    density: Floats
    flexibility: BendingFlexibility
    strands: StrandElements | None = None

    def of_tets(self, rows: Indices) -> SheetElements | None:
        """Returns the hinges among these tets, rising, by their places there; None where there are none."""
        own = np.isin(self.tets, rows)
        if not own.any():
            return None
        count = np.diff(self.hinges.triangle_start)
        triangles, h = np.repeat(own, count), self.hinges
        start = np.concatenate([[0], np.cumsum(count[own], dtype=np.int64)]).astype(np.int32)
        rest = (h.corners, h.rest_inverse, h.volume, h.law, h.moduli)
        picked = (np.ascontiguousarray(values[triangles]) for values in rest)
        hinges = HingeArrays(h.bending[own], h.rest_angle[own], h.bent_before[own], start, *picked)
        places, density = np.searchsorted(rows, self.tets[own]).astype(np.int32), self.density[triangles]
        strands = self.strands.of_tets(rows) if self.strands else None
        return SheetElements(places, hinges, density, self.flexibility.of_hinges(own), strands)

    def torn(self, tets: Indices) -> SheetElements:
        """Returns the same where nodes have split and tets have the nodes `tets`, (m, 4): torn edges do not bend.

        A hinge whose edge has torn names the last corner of its first triangle twice.
        """
        is_flat = tets[self.tets, 3] == tets[self.tets, 2]
        hinges = self.hinges._replace(bending=np.where(is_flat, 0.0, self.hinges.bending))
        flexibility = replace(self.flexibility, bends=self.flexibility.bends & ~is_flat)
        return replace(self, hinges=hinges, flexibility=flexibility)

    def moved(self, first_tet: int) -> SheetElements:
        """Returns the same hinges as tets of a model where theirs begin at `first_tet`."""
        strands = self.strands.moved(first_tet) if self.strands else None
        return replace(self, tets=self.tets + np.int32(first_tet), strands=strands)

    def scaled(self, factor: Floats, tets: Indices) -> SheetElements:
        """Returns the same, so many times as long and wide at rest at the nodes, (n,), of the model's tets, (m, 4)."""
        h, of_triangles = self.hinges, factor[self.nodes_of_triangles(tets)].mean(axis=1)
        volume, inverse = h.volume * of_triangles**2, h.rest_inverse / of_triangles[:, None, None]
        strands = self.strands.scaled(factor[tets[self.strands.tets, :3]]) if self.strands else None
        return replace(self, hinges=h._replace(volume=volume, rest_inverse=inverse), strands=strands)

    def nodes_of_triangles(self, tets: Indices) -> Indices:
        """Returns the nodes of the triangles, (t, 3), in a model with these tets, (m, 4)."""
        hinge = np.repeat(np.arange(len(self.tets), dtype=np.int64), np.diff(self.hinges.triangle_start))
        return indices(np.take_along_axis(tets[self.tets[hinge]], self.hinges.corners.astype(np.int64), axis=1))

    def hinges_of(self, triangles: Indices, tets: Indices) -> Indices:
        """Returns the tets that have all nodes of triangles, (t, 3), in a model with these tets, (m, 4)."""
        if not len(triangles):
            return np.zeros(0, np.int32)
        own = np.sort(self.nodes_of_triangles(tets), axis=1)
        _, number = np.unique(np.concatenate([own, np.sort(triangles, axis=1)]), axis=0, return_inverse=True)
        hinge = np.empty(int(number.max()) + 1, np.int32)
        hinge[number.ravel()[: len(own)]] = np.repeat(self.tets, np.diff(self.hinges.triangle_start))
        return indices(hinge[number.ravel()[len(own) :]])

    def node_masses(self, tets: Indices, node_count: int) -> Floats:
        """Returns a third of the mass of the triangles and half of that of the strands at each node [kg], (n,)."""
        share = np.repeat(self.density * self.hinges.volume / 3.0, 3)
        found = np.bincount(self.nodes_of_triangles(tets).ravel(), share, node_count)
        return floats(found + self.strands.node_masses(tets, node_count) if self.strands else found)

    def stiffness(self) -> tuple[Floats, Floats]:
        """Returns what resists strain and angles in each hinge [J], (h,), and about how stiff it is [N/m], (h,)."""
        h = self.hinges
        hinge = np.repeat(np.arange(len(self.tets), dtype=np.int64), np.diff(h.triangle_start))
        of_triangles = h.volume * h.moduli[:, :2].max(axis=1)
        gradients = np.sum(h.rest_inverse**2, axis=(1, 2)) + np.sum(h.rest_inverse.sum(axis=1) ** 2, axis=1)
        largest = np.zeros(len(self.tets))
        np.maximum.at(largest, hinge, gradients)
        whole = np.bincount(hinge, of_triangles, len(self.tets)) + h.bending
        tension = np.bincount(hinge, of_triangles * gradients, len(self.tets)) + h.bending * largest
        if self.strands:
            own = np.searchsorted(self.tets, self.strands.tets)
            whole[own], tension[own] = self.strands.stiffness()
        return whole, tension

    @staticmethod
    def concatenate(groups: Sequence[SheetElements]) -> SheetElements | None:
        """Returns the hinges of all groups, in order; None where there are none."""
        if len(groups) <= 1:
            return groups[0] if groups else None
        arrays = [group.hinges for group in groups]
        counts = [np.diff(each.triangle_start) for each in arrays]
        start = np.concatenate([[0], np.cumsum(np.concatenate(counts), dtype=np.int64)]).astype(np.int32)
        joined = HingeArrays(*(np.concatenate(values) for values in zip(*arrays, strict=True)))._replace(
            triangle_start=start
        )
        tets, density = (np.concatenate([getattr(group, name) for group in groups]) for name in ("tets", "density"))
        strands = StrandElements.concatenate([group.strands for group in groups if group.strands])
        flexibility = BendingFlexibility.concatenate([group.flexibility for group in groups])
        return SheetElements(tets, joined, density, flexibility, strands)

    def with_strands(self, strands: StrandElements | None) -> SheetElements:
        """Returns the same and strands whose tets, counted from 0, follow its own."""
        if strands is None:
            return self
        count, h = len(strands.tets), self.hinges
        none, start = np.zeros(count), np.full(count, h.triangle_start[-1], np.int32)
        hinges = h._replace(
            bending=np.concatenate([h.bending, none]),
            rest_angle=np.concatenate([h.rest_angle, none]),
            bent_before=np.concatenate([h.bent_before, none]),
            triangle_start=np.concatenate([h.triangle_start, start]),
        )
        tets = np.arange(len(self.tets) + count, dtype=np.int32)
        flexibility = BendingFlexibility.concatenate([self.flexibility, rigid_hinges(count)])
        return SheetElements(tets, hinges, self.density, flexibility, strands.moved(len(self.tets)))


def no_triangles() -> tuple[Indices, SheetElements]:
    """Returns what `make_sheet_elements` does, of a mesh without faces."""
    none, shapes = np.zeros(0), ((0, 3), (0, 2, 2), (0,), (0,), (0, 4))
    types = (np.int32, np.float64, np.float64, np.int8, np.float64)
    rest = (np.zeros(shape, kind) for shape, kind in zip(shapes, types, strict=True))
    hinges = HingeArrays(none, none, none, np.zeros(1, np.int32), *rest)
    return np.zeros((0, 4), np.int32), SheetElements(np.zeros(0, np.int32), hinges, none, rigid_hinges(0))


def axes_from_uv(nodes: Floats, triangles: Indices, uv: Floats, name: str) -> Floats:
    """Returns the direction in which u grows in each triangle, (t, 3), for UV of its corners, (t, 3, 2).

    Raises:
        BadInput: The UV of a triangle have no area.
    """
    edges = np.stack([nodes[triangles[:, c]] - nodes[triangles[:, 0]] for c in (1, 2)], axis=2)
    (a, c), (b, d) = (uv[:, 1] - uv[:, 0]).T, (uv[:, 2] - uv[:, 0]).T
    area = a * d - b * c
    flat = ~(np.abs(area) > MIN_AREA_SHARE * (a * a + b * b + c * c + d * d))
    if flat.any():
        raise BadInput("sheet-no-uv-area", name=name, count=int(flat.sum()))
    return floats((edges[:, :, 0] * d[:, None] - edges[:, :, 1] * c[:, None]) / area[:, None])


def axes_along_quads(nodes: Floats, triangles: Indices) -> Floats:
    """Returns a direction of threads in each triangle, (t, 3): one side of the quad that it is half of.

    Its longest edge is the diagonal of the quad. Where the other two are not at right angles, the threads are, and lie
    as near to both as they can.
    """
    edges, _ = triangle_edges(nodes, triangles)
    rows = np.arange(len(triangles), dtype=np.int64)
    longest = np.linalg.norm(edges, axis=2).argmax(axis=1)
    first, second = (each / np.linalg.norm(each, axis=1)[:, None] for each in _shorter_edges(edges, rows, longest))
    along, across = first + second, first - second
    return floats(along / np.linalg.norm(along, axis=1)[:, None] + across / np.linalg.norm(across, axis=1)[:, None])


def _shorter_edges(edges: Floats, rows: npt.NDArray[np.int64], longest: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Returns the edges from the corner opposite to the longest one, (t, 3) each."""
    return floats(edges[rows, longest - 1]), floats(-edges[rows, longest - 2])


def make_sheet_elements(
    nodes: Floats,
    triangles: Indices,
    material: SheetMaterial,
    axes: Floats | None = None,
    name: str = "",
    may_tear: bool = False,
) -> tuple[Indices, SheetElements]:
    """Returns the nodes of the hinges of a sheet, (h, 4), and the hinges.

    Args:
        nodes: Rest positions [m], (n, 3).
        triangles: Their corners, (t, 3).
        material: What it is made of.
        axes: The first material axis of each triangle, of any length, not across it, (t, 3); None: its first edge.
        name: Of the sheet, for people.
        may_tear: Whether its triangles are elements of their own (`sheet_tets`).

    Raises:
        BadInput: A triangle has no area, or there is but one.
    """
    triangles = indices(triangles, -1, 3)
    edges, longest = triangle_edges(nodes, triangles)
    area = check_areas(edges, longest, name)
    normals = np.cross(edges[:, 0], -edges[:, 2])
    if len(np.unique(triangles)) < 4:
        raise BadInput("sheet-one-triangle", name=name)
    frames = _material_frames(edges[:, 0] if axes is None else axes, normals)
    hinges, owners, sides = sheet_tets(triangles, may_tear)
    moduli = material.moduli
    order = np.argsort(owners, kind="stable")
    corners = triangles[order]
    local = np.argmax(hinges[owners[order]][:, None, :] == corners[:, :, None], axis=2)
    flat_edges = np.stack([np.einsum("tki,ti->tk", frames, edges[:, c]) for c in (0, 1)], axis=2)
    flat_edges[:, :, 1] += flat_edges[:, :, 0]  # the second edge goes on from the end of the first one
    start = np.searchsorted(owners[order], np.arange(len(hinges) + 1, dtype=np.int64))
    arrays = HingeArrays(
        _bending_stiffness(nodes, hinges, sides, area, frames, material),
        rest_angles(nodes, hinges) * (sides[:, 1] >= 0),
        np.zeros(len(hinges)),
        start.astype(np.int32),
        indices(local),
        floats(np.linalg.inv(flat_edges[order])),
        floats(area[order] * material.thickness),
        np.full(len(triangles), MEMBRANE_LAWS[material.law], np.int8),
        np.tile(moduli, (len(triangles), 1)),
    )
    flat = np.concatenate([np.zeros((len(triangles), 2, 1)), flat_edges], axis=2).transpose(0, 2, 1)
    flexibility = make_bending_flexibility(flat, area, hinges, sides, triangles, material.plate_compliance)
    rows = np.arange(len(hinges), dtype=np.int32)
    return hinges, SheetElements(rows, arrays, np.full(len(triangles), material.density, np.float64), flexibility)


def rest_angles(nodes: Floats, hinges: Indices) -> Floats:
    """Returns the dihedral angles (`dihedral_angle.py`) of hinges, (h, 4), at these places of nodes [m], (h,)."""
    origin = nodes[hinges[:, 0]]
    e, opposite, other = (nodes[hinges[:, k]] - origin for k in (1, 2, 3))
    first, second = np.cross(e, opposite), np.cross(other, e)
    across = np.einsum("hi,hi->h", np.cross(first, second), e) / np.linalg.norm(e, axis=1)
    return floats(np.arctan2(across, np.einsum("hi,hi->h", first, second)))


def _material_frames(axes: Floats, normals: Floats) -> Floats:
    """Returns the two material axes of triangles, unit vectors in their planes, (t, 2, 3)."""
    n = normals / np.linalg.norm(normals, axis=1)[:, None]
    first = axes - np.einsum("ti,ti->t", axes, n)[:, None] * n
    first /= np.linalg.norm(first, axis=1)[:, None]
    return np.stack([first, np.cross(n, first)], axis=1)


def _bending_stiffness(
    nodes: Floats,
    hinges: Indices,
    sides: npt.NDArray[np.int64],
    area: Floats,
    frames: Floats,
    material: SheetMaterial,
) -> Floats:
    """Returns k of hinges [N m], (h,), zero where there is but one triangle."""
    e = nodes[hinges[:, 1]] - nodes[hinges[:, 0]]
    square = np.einsum("hi,hi->h", e, e)
    if material.bending_stiffness is None:
        c11, c22, c12, shear = material.moduli
        along = np.einsum("hki,hi->hk", frames[sides[:, 0]], e) ** 2 / square[:, None]
        c, s = along[:, 1], along[:, 0]  # of the direction across the edge
        D = material.thickness**3 / 12.0 * (c11 * c * c + c22 * s * s + 2.0 * (c12 + 2.0 * shear) * c * s)
    else:
        D = np.full(len(hinges), material.bending_stiffness, np.float64)
    return floats(np.where(sides[:, 1] >= 0, D * square / (area[sides[:, 0]] + area[sides[:, 1]]), 0.0))
