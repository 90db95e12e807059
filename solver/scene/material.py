# SPDX-License-Identifier: GPL-3.0-or-later
"""What a body is made of: elasticity, damping, plasticity, heat and fracture, in metres, seconds and kilograms."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Annotated

import numpy as np

from ..runtime.arrays import Floats, Indices
from .crack_guide import CrackGuide
from .serialisation.schema_constraints import OneOf, RowsOf, points, shape, shape_or_empty
from .settings.fracture_settings import (
    BREAKING_STRESS,
    CRACK_ADVANCES,
    FINENESS,
    GUIDE_STRENGTH,
    MAKES_DUST,
    MOST_PIECES,
    MOST_SPLITS,
    SCATTER,
    SEED,
    TOUGHNESS,
    WANTED_PIECES,
)
from .settings.heat_settings import (
    CONDUCTIVITY,
    HEAT_CAPACITY,
    HEAT_EXCHANGE,
    HEAT_SPEED,
    MELTING_POINT,
    SOURCE_EXCHANGE,
    SOURCE_RADIUS,
    SOURCE_TEMPERATURE,
    TEMPERATURE,
)
from .settings.material_settings import DENSITY, MASS_DAMPING, POISSON_RATIO, STIFFNESS_DAMPING, YOUNGS_MODULUS
from .settings.plasticity_settings import FLOW, HARDENING, LAW, MAXIMUM_STRAIN, YIELD_STRAIN

PLASTICITY_LAWS = LAW.words
# factors at the render vertices of a body
VertexFactors = Annotated[Floats, shape_or_empty("n")]
Faces = Annotated[Indices, shape("t", 3), RowsOf("vertices")]


@dataclass(frozen=True)
class Material:
    """An isotropic linear elastic solid with Rayleigh damping.

    Tracks: "body.KEY.NAME" (), with the name of any of these attributes, instead of the value here. Where the density
    changes, every node keeps its momentum: v becomes v ρ / ρ' (`solver/simulation/features/materials.py`).

    Attributes:
        youngs_modulus: E [Pa], > 0.
        poisson_ratio: ν, 0 ≤ ν < 0.5.
        density: ρ [kg/m³], > 0.
        mass_damping: α [1/s], force −α M v.
        stiffness_damping: β [s], stress β E : strain rate, which no rigid motion excites.
    """

    youngs_modulus: Annotated[float, YOUNGS_MODULUS.limits] = 1.0e5
    poisson_ratio: Annotated[float, POISSON_RATIO.limits] = 0.4
    density: Annotated[float, DENSITY.limits] = 1000.0
    mass_damping: Annotated[float, MASS_DAMPING.limits] = 0.0
    stiffness_damping: Annotated[float, STIFFNESS_DAMPING.limits] = 0.01


@dataclass(frozen=True)
class MaterialPaint:
    """Factors on the fields of `Material` that have the same names, at the render vertices, (n,), or (0,) for 1.

    Inside, the factor of the nearest point of the surface holds.
    """

    youngs_modulus: VertexFactors = field(default_factory=lambda: np.zeros(0))
    poisson_ratio: VertexFactors = field(default_factory=lambda: np.zeros(0))
    density: VertexFactors = field(default_factory=lambda: np.zeros(0))
    mass_damping: VertexFactors = field(default_factory=lambda: np.zeros(0))
    stiffness_damping: VertexFactors = field(default_factory=lambda: np.zeros(0))

    @property
    def is_painted(self) -> bool:
        """Whether any of them is there."""
        return any(len(getattr(self, each.name)) for each in fields(self))


@dataclass(frozen=True)
class Plasticity:
    """Plastic flow of a body.

    Tracks: "body.KEY.yield_strain", "body.KEY.flow", "body.KEY.maximum_strain" (), instead of the values here.

    Attributes:
        law: "multiplicative" (F = Fe Fp with det Fp = 1, volume is kept) or "additive" (MG04 as written).
        yield_strain: Norm of the elastic strain at which it begins to flow, ≥ 0.
        flow: Rate c at which elastic strain turns plastic [1/s], ≥ 0.
        maximum_strain: Largest norm of the plastic strain, ≥ 0.
        hardening: Growth of the yield strain per plastic strain, ≥ 0 (multiplicative law only).
        yield_paint, flow_paint, maximum_paint: Factors at the render vertices, (n,), or (0,) for 1 everywhere.
            Inside, the factor of the nearest point of the surface holds.
    """

    law: Annotated[str, OneOf(PLASTICITY_LAWS)] = "multiplicative"
    yield_strain: Annotated[float, YIELD_STRAIN.limits] = YIELD_STRAIN.default
    flow: Annotated[float, FLOW.limits] = FLOW.default
    maximum_strain: Annotated[float, MAXIMUM_STRAIN.limits] = MAXIMUM_STRAIN.default
    hardening: Annotated[float, HARDENING.limits] = HARDENING.default
    yield_paint: VertexFactors = field(default_factory=lambda: np.zeros(0))
    flow_paint: VertexFactors = field(default_factory=lambda: np.zeros(0))
    maximum_paint: VertexFactors = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True)
class Heat:
    """Heat conduction in a body, and the dependence of its material on temperature.

    Attributes:
        temperature: At the first frame [°C].
        conductivity: k [W/(m K)], ≥ 0.
        heat_capacity: c per mass [J/(kg K)], > 0.
        exchange: With the air, through the surface [W/(m² K)], ≥ 0.
        melting_point: [°C]: at and above it the body flows without a yield strain.
        softening: Rows of temperature [°C], rising, and the factors there on Young's modulus, yield strain and
            flow rate, (k, 4); linear between rows, constant outside; (0, 4) for none. What softens keeps a bulk
            modulus at which its weight does not press it together.
        speed: Factor on all heat that flows per second: inside, and between the body and the air or sources, ≥ 0.
    """

    temperature: Annotated[float, TEMPERATURE.limits] = TEMPERATURE.default
    conductivity: Annotated[float, CONDUCTIVITY.limits] = CONDUCTIVITY.default
    heat_capacity: Annotated[float, HEAT_CAPACITY.limits] = HEAT_CAPACITY.default
    exchange: Annotated[float, HEAT_EXCHANGE.limits] = HEAT_EXCHANGE.default
    melting_point: Annotated[float, MELTING_POINT.limits] = MELTING_POINT.default
    softening: Annotated[Floats, shape("k", 4)] = field(default_factory=lambda: np.zeros((0, 4)))
    speed: Annotated[float, HEAT_SPEED.limits] = HEAT_SPEED.default


@dataclass(frozen=True)
class Fracture:
    """Fracture of a body by the maximum principal stress.

    A body that may break is filled by the method "robust", also where `Meshing` says "smooth", with a randomly
    perturbed lattice: its surface is cut along tets, so they have to cover it. Given tets have to cover it, too.

    Track: "body.KEY.breaking_stress" () [Pa], instead of the value here.

    Attributes:
        breaking_stress: Maximum principal stress at which it breaks [Pa], > 0.
        toughness: K_c [Pa √m]: at crack tips and notches the strength is K_c / √h, h the size of the tets
            there; None: breaking stress · √(tet size of the body), so that tips are as strong as the rest.
        scatter: Relative spread of the strength from tet to tet, in [0, 1).
        seed: Of all random numbers.
        strength_paint: Factors on the breaking stress at the render vertices, (n,), or (0,) for 1 everywhere.
        unbreakable: The same vertices: above ½ the material there never breaks, (n,) or (0,).
        crack_advances: How many tets a crack may run through within a step; each takes the step again.
        most_splits: Nodes that may split in one pass of a step.
        most_pieces: Pieces that the body may fall into.
        guides: Along which it is weaker; a sheet has none.
        guide_strength: Strength along the guides over that of the body.
        wanted_pieces: About how many pieces a brittle body breaks into, without dust; 0: what comes of the material.
        makes_dust: Whether splinters below half a cell come off a brittle body, which are shown as particles.
        fineness: How often tets of a brittle body are refined where cracks begin.
    """

    breaking_stress: Annotated[float, BREAKING_STRESS.limits] = BREAKING_STRESS.default
    toughness: Annotated[float, TOUGHNESS.limits] | None = None
    scatter: Annotated[float, SCATTER.limits] = SCATTER.default
    seed: Annotated[int, SEED.limits] = SEED.default
    strength_paint: VertexFactors = field(default_factory=lambda: np.zeros(0))
    unbreakable: VertexFactors = field(default_factory=lambda: np.zeros(0))
    crack_advances: Annotated[int, CRACK_ADVANCES.limits] = CRACK_ADVANCES.default
    most_splits: Annotated[int, MOST_SPLITS.limits] = MOST_SPLITS.default
    most_pieces: Annotated[int, MOST_PIECES.limits] = MOST_PIECES.default
    guides: tuple[CrackGuide, ...] = ()
    guide_strength: Annotated[float, GUIDE_STRENGTH.limits] = GUIDE_STRENGTH.default
    makes_dust: bool = MAKES_DUST.default
    wanted_pieces: Annotated[int, WANTED_PIECES.limits] = WANTED_PIECES.default
    fineness: Annotated[int, FINENESS.limits] = FINENESS.default


@dataclass(frozen=True)
class HeatSource:
    """A hot or cold point or mesh that exchanges heat with the material near it.

    Tracks: "heat.KEY.matrix" (4, 4): world [m] ← the space of `vertices`; "heat.KEY.temperature" () [°C];
    "heat.KEY.exchange" (), instead of `exchange`.

    Attributes:
        temperature: Where the scene has no track of it [°C].
        radius: How far from the source, a point or the surface of a mesh, it gives heat [m].
        exchange: With the material within the radius [W/(m² K)], as if it were a layer as thick as the radius: a
            volume V at the distance d < radius gets exchange · V / radius · (1 − (d / radius)²)² watts per kelvin.
        vertices, triangles: The mesh in its own space [m], (n, 3) and (t, 3); none: the point (0, 0, 0).
    """

    key: str
    name: str
    temperature: Annotated[float, SOURCE_TEMPERATURE.limits] = SOURCE_TEMPERATURE.default
    radius: Annotated[float, SOURCE_RADIUS.limits] = 0.1
    exchange: Annotated[float, SOURCE_EXCHANGE.limits] = SOURCE_EXCHANGE.default
    vertices: Annotated[Floats, points("n", 3)] = field(default_factory=lambda: np.zeros((0, 3)))
    triangles: Faces = field(default_factory=lambda: np.zeros((0, 3), np.int32))
