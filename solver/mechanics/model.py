# SPDX-License-Identifier: GPL-3.0-or-later
"""What is constant during a step: tets and their rest shapes, masses, moduli, sparsity."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..linalg.block_pattern import BlockPattern, block_pattern, island_starts
from ..linalg.bound_nodes import BoundNodes
from ..mesh.red_refinement import RefinementLevels
from ..runtime.arrays import Floats, Indices, concatenated, floats, indices
from ..runtime.errors import BadInput
from ..scene.formulation import DEFAULT_FORMULATION, FormulationSettings
from ..scene.scene import Material
from .elastic_moduli import lame_moduli
from .rigid_core import RigidCore
from .sheets.sheet_elements import SheetElements

# fields of `Model` with a row per node, and with a row per tet beside `tets`; the last two may have none at all
NODE_ARRAYS = ("X", "mass", "mass_damping", "gravity_scale")
TET_ARRAYS = ("Dm_inverse", "volume", "density", "mu", "lam", "stiffness_damping", "initial_strain", "pressure_modulus")


@dataclass(frozen=True)
class Part:
    """One body on its way into a `Model`.

    Attributes:
        key: Name in files; unique.
        nodes: Rest positions [m], (n, 3).
        tets: Nodes of the tets, positively oriented, (m, 4).
        fill: Share of each tet that is filled with material, in (0, 1], above 1 for the tet of a rigid body, (m,).
        material: What it is made of.
        simulated_scale: Simulated size / real size s: E becomes E / s², gravity g / s.
        initial_strain: Strain ε0 at which each tet feels no force, as xx, yy, zz, xy, yz, zx of the
            tensor in the rest frame, (m, 6); None: zero.
        name: Name for people.
        method: By which formulation its tets resist.
        levels: How its tets came out of coarser ones, which hierarchical bodies ask for; None: they did not.
        core: Which of its nodes move as one rigid body, in its own numbers; None: none do.
        gravity_weight: Factor on gravity.
        sheet: The hinges that its tets stand for, which then have no volume (`sheets/sheet_elements.py`); None: it is
            a solid.
    """

    key: str
    nodes: Floats
    tets: Indices
    fill: Floats
    material: Material
    simulated_scale: float = 1.0
    initial_strain: Floats | None = None
    name: str = ""
    method: FormulationSettings = DEFAULT_FORMULATION
    levels: RefinementLevels | None = None
    core: RigidCore | None = None
    gravity_weight: float = 1.0
    sheet: SheetElements | None = None


@dataclass(frozen=True)
class BodyRange:
    """Which nodes and tets of the model are one body's."""

    key: str
    nodes: slice
    tets: slice


@dataclass(frozen=True, eq=False)
class Model:
    """All bodies of a scene in one set of arrays, n nodes and m tets.

    Attributes:
        X: Rest positions [m], (n, 3).
        tets: Nodes of the tets, (m, 4).
        Dm_inverse: Inverse of the rest edge matrix (X1 − X0 | X2 − X0 | X3 − X0) [1/m], (m, 3, 3). Its rows
            are the gradients g1, g2, g3 of the shape functions; g0 = −(g1 + g2 + g3).
        volume: Rest volume times filled share V [m³], (m,).
        density: Mass over that volume ρ [kg/m³], (m,).
        mass: Node masses [kg], (n,).
        mu, lam: Lamé's moduli [Pa], (m,).
        mass_damping: α [1/s], (n,).
        stiffness_damping: β [s], (m,).
        gravity_scale: Factor on gravity, (n,).
        initial_strain: ε0 as xx, yy, zz, xy, yz, zx of the tensor, (m, 6), or (0, 6) where all are zero.
        pattern: Sparsity of the system matrix.
        bodies: Ranges of the bodies, in order.
        pressure_modulus: κ [Pa] of tets that resist changes of their volume itself, not of the trace of their strain
            (`mechanics/elements/added_volume_penalty.py`), zero for the others, (m,), or (0,) where there are none.
        methods: Of the bodies, by which formulation their tets resist; () where all do by the default one.
        levels: Of the bodies, how their tets came out of coarser ones; () where none did.
        cores: What moves as one rigid body; a body with a core is one island, whatever its pieces.
        bound: Nodes that follow others and have no mass of their own (`constraints/bindings/`); None: there are none.
        sheets: The hinges of sheets, which are among the tets and have neither volume nor moduli there; None: no body
            is a sheet.
    """

    X: Floats
    tets: Indices
    Dm_inverse: Floats
    volume: Floats
    density: Floats
    mass: Floats
    mu: Floats
    lam: Floats
    mass_damping: Floats
    stiffness_damping: Floats
    gravity_scale: Floats
    initial_strain: Floats
    pattern: BlockPattern
    bodies: tuple[BodyRange, ...]
    pressure_modulus: Floats = field(default_factory=lambda: np.zeros(0))
    methods: tuple[FormulationSettings, ...] = ()
    levels: tuple[RefinementLevels | None, ...] = ()
    cores: tuple[RigidCore, ...] = ()
    bound: BoundNodes | None = None
    sheets: SheetElements | None = None

    @functools.cached_property
    def lam_by_strain(self) -> Floats:
        """λ [Pa], (m,), and −2μ/3 where there is a `pressure_modulus`: there strain says nothing of volume."""
        if not len(self.pressure_modulus):
            return self.lam
        return np.where(self.pressure_modulus > 0.0, -2.0 / 3.0 * self.mu, self.lam)

    @functools.cached_property
    def solid_tets(self) -> Indices:
        """Nodes of the tets that are no hinges of sheets, (k, 4)."""
        return self.tets if self.sheets is None else np.delete(self.tets, self.sheets.tets, axis=0)

    @property
    def node_count(self) -> int:
        """Number of nodes n."""
        return len(self.X)

    @property
    def tet_count(self) -> int:
        """Number of tets m."""
        return len(self.tets)


def is_sheet(model: Model, number: int) -> bool:
    """Whether a body of a model, given by its number, is a sheet."""
    tets = model.bodies[number].tets
    return model.sheets is not None and bool(np.isin(tets.start, model.sheets.tets))


def may_tear(model: Model, number: int) -> bool:
    """Whether a body of a model, given by its number, is a sheet whose triangles are tets of their own."""
    tets = model.bodies[number].tets
    if model.sheets is None or not is_sheet(model, number):
        return False
    strands = model.sheets.strands
    is_strand = strands is not None and bool(np.isin(tets.start, strands.tets))
    return not is_strand and bool(model.tets[tets.start, 2] == model.tets[tets.start, 3])


def make_model(parts: Sequence[Part]) -> Model:
    """Returns all bodies as one model; their nodes and tets stay in order, one body after the other.

    Raises:
        BadInput: A tet has no volume or is turned inside out, or a body brings none.
    """
    node_starts = np.cumsum([0, *(len(part.nodes) for part in parts)], dtype=np.int64)
    tet_starts = np.cumsum([0, *(len(part.tets) for part in parts)], dtype=np.int64)
    bodies = tuple(
        BodyRange(part.key, slice(int(n0), int(n1)), slice(int(t0), int(t1)))
        for part, n0, n1, t0, t1 in zip(
            parts, node_starts[:-1], node_starts[1:], tet_starts[:-1], tet_starts[1:], strict=True
        )
    )
    X = floats(concatenated([part.nodes for part in parts], np.zeros((0, 3))), -1, 3)
    own_tets = [indices(part.tets, -1, 4) for part in parts]
    moved = [tets + start if start else tets for tets, start in zip(own_tets, node_starts[:-1], strict=True)]
    tets = indices(concatenated(moved, np.zeros((0, 4), np.int32)), -1, 4)
    Dm_inverse, volume = rest_shape_inverses(X, tets)
    for part, body in zip(parts, bodies, strict=True):
        if part.sheet is not None:  # hinges lie flat
            Dm_inverse[body.tets], volume[body.tets] = 0.0, 0.0
        else:
            _check_part(part, volume[body.tets])
    volume *= np.concatenate([np.zeros(0), *(part.fill for part in parts)])

    moduli = [
        lame_moduli(part.material.youngs_modulus / part.simulated_scale**2, part.material.poisson_ratio)
        for part in parts
    ]
    density = _repeat_per_body(tet_starts, [part.material.density for part in parts])
    sheets = SheetElements.concatenate(
        [part.sheet.moved(body.tets.start) for part, body in zip(parts, bodies, strict=True) if part.sheet is not None]
    )
    mass = lumped_masses(tets, density, volume, len(X))
    if sheets is not None:
        mass += sheets.node_masses(tets, len(X))
    return Model(
        X=X,
        tets=tets,
        Dm_inverse=Dm_inverse,
        volume=volume,
        density=density,
        mass=mass,
        mu=_repeat_per_body(tet_starts, [mu for mu, _ in moduli]),
        lam=_repeat_per_body(tet_starts, [lam for _, lam in moduli]),
        mass_damping=_repeat_per_body(node_starts, [part.material.mass_damping for part in parts]),
        stiffness_damping=_repeat_per_body(tet_starts, [part.material.stiffness_damping for part in parts]),
        gravity_scale=_repeat_per_body(node_starts, [part.gravity_weight / part.simulated_scale for part in parts]),
        initial_strain=_initial_strain(parts),
        pattern=block_pattern(tets, len(X), _islands(parts, bodies, tets, len(X))),
        bodies=bodies,
        methods=()
        if all(part.method == DEFAULT_FORMULATION for part in parts)
        else tuple(part.method for part in parts),
        levels=tuple(part.levels for part in parts) if any(part.levels for part in parts) else (),
        cores=tuple(
            part.core.renumbered(body.nodes.start, body.tets.start)
            for part, body in zip(parts, bodies, strict=True)
            if part.core is not None
        ),
        sheets=sheets,
    )


def lumped_masses(tets: Indices, density: Floats, volume: Floats, node_count: int) -> Floats:
    """Returns Σ ¼ ρ V of the tets at each node [kg], (n,): the lumped mass matrix."""
    return floats(np.bincount(tets.ravel(), np.repeat(0.25 * density * volume, 4), minlength=node_count))


def _islands(parts: Sequence[Part], bodies: Sequence[BodyRange], tets: Indices, count: int) -> list[int]:
    """Returns first nodes of islands: a core holds the pieces of its body together."""
    starts = island_starts(tets, count, [body.nodes.start for body in bodies])
    whole = [body.nodes for part, body in zip(parts, bodies, strict=True) if part.core is not None]
    return [start for start in starts if not any(nodes.start < start < nodes.stop for nodes in whole)]


def rest_shape_inverses(X: Floats, tets: Indices) -> tuple[Floats, Floats]:
    """Returns Dm⁻¹ [1/m], (m, 3, 3), and signed volumes [m³], (m,), of tets at rest positions X [m]."""
    origin = X[tets[:, 0]]
    a, b, c = (X[tets[:, corner]] - origin for corner in (1, 2, 3))
    normals = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=1)
    determinant = np.einsum("mi,mi->m", a, normals[:, 0])
    with np.errstate(divide="ignore", invalid="ignore"):  # flat tets are told by their volume
        return normals / determinant[:, None, None], determinant / 6.0


def _check_part(part: Part, volume: Floats) -> None:
    name = part.name or part.key
    if len(part.tets) == 0:
        raise BadInput("no-tets", name=name)
    bad = int(np.count_nonzero(~(volume > 0.0)))
    if bad:
        raise BadInput("tets-inverted", name=name, count=bad)


def _repeat_per_body(starts: npt.NDArray[np.int64], values: Sequence[float]) -> Floats:
    return np.repeat(np.asarray(values, np.float64), np.diff(starts))


def _initial_strain(parts: Sequence[Part]) -> Floats:
    if all(part.initial_strain is None for part in parts):
        return np.zeros((0, 6))
    given = (
        part.initial_strain if part.initial_strain is not None else np.zeros((len(part.tets), 6)) for part in parts
    )
    return floats(np.concatenate(list(given)), -1, 6)
