# SPDX-License-Identifier: GPL-3.0-or-later
"""All features. Every hook is called in this order: a feature may read what those before it have written."""

from __future__ import annotations

from .feature import Feature
from .flesh import FleshFeature
from .fracture import Fracture
from .heat import Heat
from .hinge_turns import HingeTurns
from .materials import Materials
from .muscles import Muscles
from .plastic_folds import PlasticFolds
from .plasticity import PlasticFlow
from .rest_scales import RestScales
from .rest_shapes import RestShapes
from .rigid_cores import RigidCores
from .surface_dents import SurfaceDents

FEATURES: tuple[type[Feature], ...] = (
    Materials,
    RestScales,
    RestShapes,
    Heat,
    PlasticFlow,
    HingeTurns,
    PlasticFolds,
    Fracture,
    Muscles,
    FleshFeature,
    RigidCores,
    SurfaceDents,
)
