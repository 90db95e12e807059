# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies whose formulation has an energy: Newton's method takes their steps, as those of dynamic flesh.

Green's strain turns Hooke's law into that of St. Venant and Kirchhoff; HS04's hybrid uses it for pressure alone. Their
tets carry all stress themselves, also nearly incompressible ones, as in the papers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...mechanics.hierarchical.hierarchical_bodies import hierarchical_numbers
from ...mechanics.model import Model
from ...scene.formulation import GREEN, HYBRID, NEWTON_FORMULATIONS, FormulationSettings
from ..solver_context import StepWorkspace

if TYPE_CHECKING:
    from ..dynamic_flesh_forces import DynamicFlesh

LAW_BY_METHOD = {GREEN: "stvk", HYBRID: "hybrid"}


def scheme_of(method: FormulationSettings) -> str:
    """Returns how such a body is stepped: "euler" or "once"."""
    from ..dynamic_flesh_forces import EULER, SINGLE_SOLVE

    return SINGLE_SOLVE if method.one_step else EULER


def nonlinear_bodies(model: Model, workspace: StepWorkspace) -> DynamicFlesh | None:
    """Returns the bodies of a model whose formulation asks for Newton's method; None: none do."""
    own = [number for number, method in enumerate(model.methods) if method.name in NEWTON_FORMULATIONS]
    levels = hierarchical_numbers(model)
    if not own and not levels:
        return None
    from ...mechanics.hyperelastic.hyperelastic_bodies import hyperelastic
    from ...mechanics.submodel import make_submodel
    from ..dynamic_flesh_forces import DynamicFlesh, dynamic_flesh
    from .lagged_hybrid_shear import pressure_only

    if not own:
        return DynamicFlesh(None, None, levels=levels)
    inputs, cached = (model.mu, model.lam, model.methods), workspace.nonlinear_bodies
    if cached is None or any(a is not b for a, b in zip(cached[0], inputs, strict=True)):
        part, methods = make_submodel(model, own), [model.methods[number] for number in own]
        law = hyperelastic(part.model, [LAW_BY_METHOD[method.name] for method in methods], None)
        law = pressure_only(part.model, law)
        cached = inputs, dynamic_flesh(model, part, law, [scheme_of(method) for method in methods])
        workspace.nonlinear_bodies = cached
    return replace(cached[1], levels=levels) if levels else cached[1]
