# SPDX-License-Identifier: GPL-3.0-or-later
"""All cuts of a body so far, as one cut of the tets that it was built with, and how a state stores it.

Nodes are numbered piece by piece, so that every piece is an island of the system, and in each in the order of the
nodes that they are copies of. What a state stores and the body as it was built give the same arrays as the cuts did.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...mechanics.state_fields import CUT_FIELD
from ...mesh.cut_tets import CutTets, cut_again, uncut_tets
from ...mesh.embedding import Binding
from ...mesh.geometry.connected_components import mesh_components
from ...mesh.tet_mesh import TetMesh
from ...runtime.arrays import Bools, Indices, floats, indices
from ...runtime.npz_reader import stored_floats, stored_indices
from .copy_shares import copy_shares
from .cut_skin import KeyedSkin

FIELD_NAMES = (
    "tets",
    "parent",
    "origin",
    "share",
    "vertex",
    "contact",
    "node",
)  # by which a state has the cuts of a body
SKIN = "skin_"  # before the names of arrays of its skin
SUM_TOLERANCE = 1.0e-9  # of the shares of the copies of a tet, which add up to 1


@dataclass(frozen=True, eq=False)
class PointCopies:
    """Which copies of tets hold the points of a body after a cut.

    Attributes:
        vertex: Of its render vertices, (v,).
        contact: Of its contact points, (p,).
        node: Of the nodes that it was built with: which copy has the material at the place of each, (n,). Other copies
            of the node have their material elsewhere, and bones that hold the node do not hold these.
    """

    vertex: Indices
    contact: Indices
    node: Indices


@dataclass(frozen=True, eq=False)
class BodyCut:
    """The cuts of one body.

    Attributes:
        number, key: Of the body.
        tets: Its copies of the tets that it was built with; `filled` is their share of mass and stiffness
            (`copy_shares.py`).
        points: What holds its points.
        skin: Its skin; None: it touches rigid colliders alone, and not with its cut faces.
    """

    number: int
    key: str
    tets: CutTets
    points: PointCopies
    skin: KeyedSkin | None = None

    def mesh(self, whole: TetMesh) -> TetMesh:
        """Returns the copies as a mesh, given that of the whole body."""
        cut = self.tets
        report = replace(whole.report, joined_tets=np.zeros(0, np.int32))
        nodes, fill = floats(whole.nodes[cut.origin]), floats(whole.fill[cut.parent] * cut.filled)
        return replace(whole, nodes=nodes, tets=cut.tets, fill=fill, report=report)

    def binding(self, whole: Binding) -> Binding:
        """Returns the render vertices in the copies that hold them."""
        return Binding(self.points.vertex, whole.weights)

    @property
    def is_virtual(self) -> Bools:
        """Which nodes have no material at their place: that of their tets is on the other side of a cut, (n',)."""
        cut = self.tets
        at = cut.tets[self.points.node]
        own = cut.origin[at] == np.arange(len(at), dtype=np.int64)[:, None]
        out = np.ones(len(cut.origin), np.bool_)
        out[at[own]] = False
        return out

    def store_in(self, fields: dict[str, npt.NDArray]) -> None:
        """Writes it into the fields of a state."""
        for name, values in self._arrays().items():
            fields[CUT_FIELD.format(key=self.key, name=name)] = values

    def _arrays(self) -> dict[str, npt.NDArray]:
        cut, points = self.tets, self.points
        values = (cut.tets, cut.parent, cut.origin, cut.filled, points.vertex, points.contact, points.node)
        found: dict[str, npt.NDArray] = dict(zip(FIELD_NAMES, values, strict=True))
        if self.skin is not None:
            found |= {f"{SKIN}{name}": array for name, array in self.skin._asdict().items()}
        return found

    @staticmethod
    def from_fields(number: int, key: str, fields: Mapping[str, npt.NDArray]) -> BodyCut | None:
        """Returns the cuts that the fields of a state have for a body; None: it is whole."""
        names = [CUT_FIELD.format(key=key, name=name) for name in FIELD_NAMES]
        if names[0] not in fields:
            return None
        tets, parent, origin, share, *points = (fields[name] for name in names)
        skin_names = [CUT_FIELD.format(key=key, name=f"{SKIN}{name}") for name in KeyedSkin._fields]
        skin = KeyedSkin(*(fields[name] for name in skin_names)) if skin_names[0] in fields else None
        return BodyCut(number, key, CutTets(tets, parent, origin, share), PointCopies(*points), skin)


@dataclass(frozen=True, eq=False)
class NumberedCut:
    """A cut of a body as it is now, its nodes numbered piece by piece.

    Attributes:
        tets: The copies.
        cut: All cuts with this one.
    """

    tets: CutTets
    cut: BodyCut


def add_cut(before: BodyCut, tets: CutTets, points: PointCopies, skin: KeyedSkin | None = None) -> NumberedCut:
    """Returns a body after one more cut.

    Args:
        before: Its cuts before.
        tets: The copies of its tets before.
        points: Which copies hold its points.
        skin: Its skin now.

    Raises:
        ValueError: The copies are not of these tets, or the points not in copies of theirs; the sentence says which.
    """
    check_copies(before.tets, tets)
    for name in ("vertex", "contact", "node"):
        was, now = getattr(before.points, name), getattr(points, name)
        if now.shape != was.shape or not np.array_equal(tets.parent[now], was):
            raise ValueError(f"{name} copies are not those of the tets that hold them")
    number = _piecewise_numbers(tets, before.tets.origin)
    order = np.argsort(number, kind="stable")
    own = replace(tets, tets=indices(number[tets.tets], -1, 4), origin=indices(tets.origin[order]))
    share = copy_shares(before.tets.filled, tets.parent, tets.filled)
    whole = replace(cut_again(before.tets, own), filled=share)
    held = PointCopies(indices(points.vertex), indices(points.contact), indices(points.node))
    return NumberedCut(own, replace(before, tets=whole, points=held, skin=skin))


def whole_body(number: int, key: str, mesh: TetMesh, points: PointCopies) -> BodyCut:
    """Returns a body without cuts, whose points are in these of its tets."""
    return BodyCut(number, key, uncut_tets(mesh.tets, len(mesh.nodes)), points)


def check_copies(before: CutTets, cut: CutTets) -> None:
    """Makes sure that copies are those of tets.

    Raises:
        ValueError: They are not; the sentence says which array is wrong.
    """
    count, parent = len(before.tets), cut.parent
    if len(cut.tets) != len(parent) or len(cut.filled) != len(parent):
        raise ValueError("tets, parent and filled have other lengths")
    steps = np.diff(parent, prepend=-1, append=count)  # from one tet to the next, or to the next copy of one
    if not len(parent) or steps[0] != 1 or steps[-1] != 1 or (steps < 0).any() or (steps > 1).any():
        raise ValueError("parent does not rise through all tets")
    uses = np.bincount(cut.tets.ravel(), minlength=len(cut.origin))
    if len(uses) != len(cut.origin) or not uses.all():
        raise ValueError("some nodes are in no copy, or have no origin")
    if not np.array_equal(cut.origin[cut.tets], before.tets[parent]):
        raise ValueError("tets are not copies of their parents")
    off = np.abs(np.bincount(parent, cut.filled) - 1.0).max(initial=0.0)
    if not (cut.filled > 0.0).all() or not off <= SUM_TOLERANCE:
        raise ValueError(f"filled is not positive, or misses 1 by {off:.3g} in a tet")


def stored_cut(fields: Mapping[str, npt.NDArray], key: str, mesh: TetMesh) -> CutTets | None:
    """Returns the copies of the tets of a body that a file has; None: it is whole.

    Args:
        fields: Of a stored state.
        key: Of the body.
        mesh: As it was built.

    Raises:
        ValueError: They are of other tets, or damaged; the sentence says which array is wrong.
    """
    names = {each: CUT_FIELD.format(key=key, name=each) for each in FIELD_NAMES}
    if names["tets"] not in fields:
        return None
    parent = stored_indices(fields, names["parent"], len(mesh.tets), -1)
    origin = stored_indices(fields, names["origin"], len(mesh.nodes), -1)
    tets = stored_indices(fields, names["tets"], len(origin), len(parent), 4)
    share = stored_floats(fields, names["share"], len(parent))
    for each in ("vertex", "contact"):
        stored_indices(fields, names[each], len(parent), -1)
    stored_indices(fields, names["node"], len(parent), len(mesh.nodes))
    cut = CutTets(tets, parent, origin, share)
    check_copies(uncut_tets(mesh.tets, len(mesh.nodes)), cut)
    if (name := CUT_FIELD.format(key=key, name=f"{SKIN}rest")) in fields:
        _check_stored_skin(fields, key, len(stored_floats(fields, name, -1, 3)), len(parent))
    return cut


def _check_stored_skin(fields: Mapping[str, npt.NDArray], key: str, count: int, tet_count: int) -> None:
    """Raises ValueError where the arrays of a stored skin of so many vertices do not fit each other, or the tets."""
    name = {each: CUT_FIELD.format(key=key, name=f"{SKIN}{each}") for each in KeyedSkin._fields}
    triangles = stored_indices(fields, name["triangles"], count, -1, 3)
    stored_indices(fields, name["tet"], tet_count, count)
    stored_floats(fields, name["weights"], count, 4)
    for each, length in (("vertex_key", count), ("triangle_key", len(triangles))):
        keys = fields.get(name[each], np.zeros(0))
        if keys.dtype != np.int64 or keys.shape != (length,) or (np.diff(keys) <= 0).any():
            raise ValueError(f"{name[each]} are no {length} rising numbers")


def _piecewise_numbers(tets: CutTets, origin_before: Indices) -> npt.NDArray[np.int64]:
    """Returns new numbers of nodes, (n,): piece by piece in the order of their first tets, in each by their origins."""
    piece_of_node = mesh_components(tets.tets, len(tets.origin))
    piece_of_tet = piece_of_node[tets.tets[:, 0]]
    _, first = np.unique(piece_of_tet, return_index=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first), dtype=np.int64)
    order = np.lexsort((np.arange(len(tets.origin), dtype=np.int64), origin_before[tets.origin], rank[piece_of_node]))
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order), dtype=np.int64)
    return number
