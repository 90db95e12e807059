# SPDX-License-Identifier: GPL-3.0-or-later
"""Hyperelastic bodies: which law their tets have, their energy, the forces on their nodes and the tangent matrix.

    flesh = hyperelastic(model, "neo-hookean")
    work = tet_arrays(model.pattern)
    answer = forces_and_tangent(model, flesh, x, values, force, work)

The tangent is K = −∂f/∂x in the blocks of `model.pattern`; clamped, it is positive semi-definite, and a Newton step
solves K Δx = f + f_ext. With `clamp=False` it is the true derivative (of S07's thresholded kind under the constant
extension). Where part of the energy is that of averages at nodes (`nodal_averaging.py`), `values` are what tets give,
and `whole_tangent` returns all of K, with a pattern of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ...linalg.block_pattern import BlockPattern
from ...linalg.block_system import PcgWorkspace
from ...mesh.local_tet_numbering import TET_EDGES
from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.errors import BadInput
from ...runtime.threads.index_partition import partition
from ...runtime.threads.thread_pool import run_parts
from ..model import Model
from ..sheets.hinge_records import write_hinge_records
from .added_volume_penalty import add_volume_tets
from .anisotropic_terms import AnisotropicTerm, add_anisotropic_term, has_only_term_tets
from .body_energies import body_energies, extended_bodies
from .edge_assembly import EdgePartition, edge_partition, gather_edges, gather_nodes
from .law_numbers import CONSTANT_EXTENSION, DEFAULT_PARAMETERS, EXTENSION_STRETCH, EXTENSIONS, LAWS
from .nodal_averaging import NodalShare, nodal_share
from .nodal_kernels import NodalArrays
from .nodal_passes import nodal_pass, tangent_with_averages
from .tet_kernels import (
    ENERGY_ONLY,
    RECORD_LENGTH,
    SCRATCH_SIZE,
    WITH_FORCES,
    WITH_TANGENT,
    LawArrays,
    RestShapes,
    hyperelastic_tets,
)

UPPER = np.array(TET_EDGES, np.int64)
MIN_STRETCH = 1.0e-12  # σ3 below which a tet has no volume


@dataclass(frozen=True, eq=False)
class Hyperelastic:
    """What the tets of a model are made of.

    Attributes:
        law: Number of each tet's law (`law_numbers.py`), (m,).
        mu, lam: Lamé's moduli μ, λ [Pa] that the law has for small strains, (m,).
        parameter: The law's own parameter, zero of laws without one, (m,); see `DEFAULT_PARAMETERS` of
            `law_numbers.py`.
        extension: Number of the extension below the threshold (`law_numbers.py`).
        threshold: Stretch t below which it holds; t³ of the volume ratio.
        left: What nearly incompressible tets leave to averages at their nodes, beside μ and λ; None: nothing.
        anisotropic_term: A term with directions, such as fibres (`anisotropic_terms.py`); None: isotropic.
        pressure_modulus: κ [Pa] of tets that resist changes of their volume besides
            (`solver/mechanics/hyperelastic/added_volume_penalty.py`), (m,), or (0,) where none does.
    """

    law: npt.NDArray[np.int8]
    mu: Floats
    lam: Floats
    parameter: Floats
    extension: int
    threshold: float
    left: NodalShare | None = None
    anisotropic_term: AnisotropicTerm | None = None
    pressure_modulus: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def arrays(self) -> LawArrays:
        """What kernels read of it."""
        return LawArrays(self.law, self.mu, self.lam, self.parameter, self.extension, self.threshold)

    def of_tets(self, rows: Indices) -> Hyperelastic:
        """Returns the law for a model of these tets alone, ascending, (k,)."""
        left = None if self.left is None else self.left.of_tets(rows)
        added = None if self.anisotropic_term is None else self.anisotropic_term.of_tets(rows)
        own = {name: getattr(self, name)[rows] for name in ("law", "mu", "lam", "parameter")}
        if len(self.pressure_modulus):
            own["pressure_modulus"] = self.pressure_modulus[rows]
        return replace(self, left=left, anisotropic_term=added, **own)


@dataclass(eq=False)
class TetArrays:
    """Work arrays of the passes over tets, and over nodes where there are averages; their caller owns them.

    Attributes:
        energy: Energy of every tet after a pass [J], (m,).
        smallest: σ3 of every tet, negative where inverted, (m,).
        record: What the passes over edges and nodes read, (m, RECORD_LENGTH).
        nodes: What the pass over averages writes; None before the first one.
    """

    energy: Floats
    smallest: Floats
    record: Floats
    nodes: NodalArrays | None = None


@dataclass(frozen=True)
class EvaluationResult:
    """How a set of positions is.

    Attributes:
        energies: Ψ of every body [J], (b,); infinite where a law without an extension has none.
        is_extended: Which bodies have tets or averages below the threshold of the constant extension, (b,).
        extended_count: Number of tets and of averages below the threshold of the constant extension. Where it is zero,
            f = −∂Ψ/∂x.
        inverted: Number of tets with J < 0.
        flat: Number of tets with J = 0 up to round-off.
        smallest: The smallest σ3 of all.
    """

    energies: Floats
    is_extended: Bools
    extended_count: int
    inverted: int
    flat: int
    smallest: float

    @property
    def energy(self) -> float:
        """Ψ of all bodies [J]."""
        return float(self.energies.sum())


def hyperelastic(
    model: Model,
    law: str | Sequence[str] = "neo-hookean",
    extension: str | None = "constant",
    threshold: float = EXTENSION_STRETCH,
    parameter: float | Sequence[float | None] | None = None,
    average: bool | Sequence[bool] = False,
) -> Hyperelastic:
    """Returns what a model's tets are made of, with its moduli.

    Args:
        model: All bodies.
        law: Name of the law, or one name per body.
        extension: "constant", "linear", "smooth" or None (`law_numbers.py`).
        threshold: Stretch below which it holds.
        parameter: The law's own parameter, or one per body; None: that of `DEFAULT_PARAMETERS`.
        average: Whether nearly incompressible tets leave part of their energy to their nodes, or so for every body.
            Who says so solves with `whole_tangent`.

    Raises:
        BadInput: There is no such law, extension or threshold.
    """
    names = [law] * len(model.bodies) if isinstance(law, str) else list(law)
    for name in names:
        if name not in LAWS:
            raise BadInput("hyperelastic-law", law=name, laws=", ".join(LAWS))
    if extension not in EXTENSIONS or not 0.0 < threshold <= 1.0:
        raise BadInput("hyperelastic-extension", extension=extension, threshold=threshold)
    numbers, own_parameter = np.zeros(model.tet_count, np.int8), np.zeros(model.tet_count)
    values = list(parameter) if isinstance(parameter, Sequence) else [parameter] * len(names)
    for body, name, value in zip(model.bodies, names, values, strict=True):
        numbers[body.tets] = LAWS[name]
        own_parameter[body.tets] = DEFAULT_PARAMETERS.get(LAWS[name], 0.0) if value is None else value
    may = [average] * len(model.bodies) if isinstance(average, bool) else list(average)
    of_tets = np.zeros(model.tet_count, bool)
    for body, is_wanted in zip(model.bodies, may, strict=True):
        of_tets[body.tets] = is_wanted
    left = nodal_share(model.mu, model.lam, of_tets) if any(may) else None
    return Hyperelastic(
        numbers,
        model.mu if left is None else model.mu - left.mu,
        model.lam if left is None else model.lam - left.lam,
        own_parameter,
        EXTENSIONS[extension],
        float(threshold),
        left,
    )


def tet_arrays(pattern: BlockPattern) -> TetArrays:
    """Returns work arrays for the tets of a pattern; keep them from step to step."""
    count = pattern.tet_count
    return TetArrays(np.empty(count), np.empty(count), np.empty((count, RECORD_LENGTH)))


def energy(model: Model, law: Hyperelastic, x: Floats, work: TetArrays) -> EvaluationResult:
    """Returns Ψ(x) and what else is known of node positions x [m], (n, 3)."""
    _tet_pass(model, law, x, work, ENERGY_ONLY, False)
    return _evaluation_result(model, law, work, nodal_pass(model, law, x, work, ENERGY_ONLY, False))


def forces(model: Model, law: Hyperelastic, x: Floats, force: Floats, work: TetArrays) -> EvaluationResult:
    """Writes the elastic forces [N] at positions x [m] into `force`, (n, 3) each."""
    _tet_pass(model, law, x, work, WITH_FORCES, False)
    gather(model, work, False, np.empty((0, 9)), force)
    return _evaluation_result(model, law, work, nodal_pass(model, law, x, work, WITH_FORCES, False, force))


def forces_and_tangent(
    model: Model, law: Hyperelastic, x: Floats, values: Floats, force: Floats, work: TetArrays, clamp: bool = True
) -> EvaluationResult:
    """Writes forces f [N], (n, 3), and the blocks of K = −∂f/∂x [N/m], (b, 9), at positions x [m], (n, 3)."""
    if law.anisotropic_term is None and model.sheets is None:
        _tet_pass(model, law, x, work, WITH_TANGENT, clamp, values)
        gather(model, work, True, values, force, edge_partition(model.pattern).own[-1])
    else:
        _tet_pass(model, law, x, work, WITH_TANGENT, clamp)
        gather(model, work, True, values, force)
    return _evaluation_result(model, law, work, nodal_pass(model, law, x, work, WITH_TANGENT, clamp, force))


def whole_tangent(
    model: Model, law: Hyperelastic, values: Floats, work: TetArrays, workspace: PcgWorkspace | None = None
) -> tuple[BlockPattern, Floats]:
    """Returns K with what averages at nodes add to it, and its pattern, after `forces_and_tangent` with `work`.

    Args:
        model, law, work: The same.
        values: Its blocks, and what else was added to them, (b, 9); returned themselves where nothing is averaged.
        workspace: Whose array the blocks are written to, which the next call overwrites; None: a new array.
    """
    if law.left is None:
        return model.pattern, values
    return tangent_with_averages(model, law, values, work, workspace)


def _tet_pass(
    model: Model, law: Hyperelastic, x: Floats, work: TetArrays, wanted: int, clamp: bool, values: Floats | None = None
) -> None:
    """Passes over all tets, and writes into `values` the blocks of edges that a part of them has to itself."""
    edges, kappa = edge_partition(model.pattern), law.pressure_modulus
    rest = RestShapes(model.tets, model.Dm_inverse, model.volume)

    def add_volume(part: int) -> None:
        if len(kappa):
            h, twist = np.empty((4, 3)), np.empty((6, 3))
            add_volume_tets(
                *edges.parts[part], wanted, clamp, kappa, x, rest, UPPER, h, twist, work.energy, work.record
            )

    def run(part: int) -> None:
        if not has_only_term_tets(law.anisotropic_term, *edges.parts[part]):
            out = work.energy, work.smallest, work.record
            hyperelastic_tets(*edges.parts[part], wanted, clamp, law.arrays, x, rest, np.empty(SCRATCH_SIZE), *out)
        if law.anisotropic_term is None:
            add_volume(part)
        begin, end = edges.own[part], edges.own[part + 1]
        if values is not None and begin < end:
            _gather_edges(edges, begin, end, work, values)

    run_parts(len(edges.parts), run)
    if law.anisotropic_term is not None:
        add_anisotropic_term(model, law, x, work, wanted, clamp)
        run_parts(len(edges.parts), add_volume)
    if model.sheets is not None:
        write_hinge_records(model.sheets, model.tets, x, wanted, clamp, work.energy, work.smallest, work.record)


def gather(model: Model, work: TetArrays, wanted: bool, values: Floats, force: Floats, first_edge: int = 0) -> None:
    """Adds up forces and, where wanted, blocks of what tets have left: of the diagonal, and of edges from one on."""
    p, edges = model.pattern, edge_partition(model.pattern)
    edge_parts, node_parts = partition(len(edges.upper) - first_edge), partition(p.node_count)

    def run_edges(part: int) -> None:
        begin, end = edge_parts[part]
        _gather_edges(edges, first_edge + begin, first_edge + end, work, values)

    def run_nodes(part: int) -> None:
        gather_nodes(
            *node_parts[part], wanted, p.row_start, p.diagonal, p.corner_start, p.corners, work.record, values, force
        )

    if wanted:
        values[edges.others] = 0.0
        run_parts(len(edge_parts), run_edges)
    run_parts(len(node_parts), run_nodes)


def _gather_edges(edges: EdgePartition, begin: int, end: int, work: TetArrays, values: Floats) -> None:
    gather_edges(begin, end, edges.upper, edges.lower, edges.start, edges.shares, work.record, values)


def _evaluation_result(model: Model, law: Hyperelastic, work: TetArrays, nodes: NodalArrays | None) -> EvaluationResult:
    # numbers that are none count as inverted
    total, smallest = float(work.energy.sum()), work.smallest
    if nodes is not None:
        total, smallest = total + float(nodes.energy.sum()), np.concatenate([smallest, nodes.smallest])
    extended_count = 0
    if law.extension == CONSTANT_EXTENSION:
        extended_count = int(np.count_nonzero(~(smallest >= law.threshold)))
    is_alone = len(model.bodies) <= 1
    return EvaluationResult(
        energies=np.array([total]) if is_alone else body_energies(model, law, work),
        is_extended=np.array([extended_count > 0]) if is_alone else extended_bodies(model, law, work),
        extended_count=extended_count,
        inverted=int(np.count_nonzero(~(work.smallest >= 0.0))),
        flat=int(np.count_nonzero((work.smallest >= 0.0) & (work.smallest < MIN_STRETCH))),
        smallest=float(smallest.min()) if len(smallest) else np.inf,
    )
