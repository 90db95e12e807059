# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies whose formulation has an energy of its own: they are stepped as dynamic flesh is, by Newton's method.

Green's strain makes of Hooke's law that of St. Venant and Kirchhoff; HS04's hybrid takes it for pressure alone.
Their tets bear everything themselves, also where their volume hardly changes, as those of the papers do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ...linalg.block_pattern import BlockPattern
from ...mechanics.hierarchical.hierarchical_bodies import hierarchical_numbers
from ...mechanics.model import Model
from ...scene.formulation import GREEN, HYBRID, NEWTON_FORMULATIONS, FormulationSettings

if TYPE_CHECKING:
    from .dynamic_flesh import DynamicFlesh

LAW_BY_METHOD = {GREEN: "stvk", HYBRID: "hybrid"}

_cache: WeakKeyDictionary[BlockPattern, tuple[tuple[object, ...], DynamicFlesh]] = WeakKeyDictionary()


def scheme_of(method: FormulationSettings) -> str:
    """Returns how such a body is stepped: "euler" or "once"."""
    from .dynamic_flesh import EULER, SINGLE_SOLVE

    return SINGLE_SOLVE if method.one_step else EULER


def nonlinear_bodies(model: Model) -> DynamicFlesh | None:
    """Returns the bodies of a model whose formulation asks for Newton's method as `step` takes them; None: none do."""
    if not model.methods:
        return None
    own = [number for number, method in enumerate(model.methods) if method.name in NEWTON_FORMULATIONS]
    levels = hierarchical_numbers(model)
    if not own and not levels:
        return None
    from ...mechanics.hyperelastic.hyperelastic_element import hyperelastic
    from ...mechanics.submodel import make_submodel
    from .dynamic_flesh import DynamicFlesh, dynamic_flesh
    from .lagged_shear import pressure_only

    if not own:
        return DynamicFlesh(None, None, levels=levels)
    of = (model.mu, model.lam, model.methods)
    kept = _cache.get(model.pattern)
    if kept is None or any(a is not b for a, b in zip(kept[0], of, strict=True)):
        part, methods = make_submodel(model, own), [model.methods[number] for number in own]
        law = hyperelastic(part.model, [LAW_BY_METHOD[method.name] for method in methods], None)
        law = pressure_only(part.model, law)
        kept = of, dynamic_flesh(model, part, law, [scheme_of(method) for method in methods])
        _cache[model.pattern] = kept
    return replace(kept[1], levels=levels) if levels else kept[1]
