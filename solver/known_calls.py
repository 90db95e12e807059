# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets Numba remember what a built-in function means for arguments of some types: a sixth of all compiling.

Whenever a kernel adds two numbers or reads an entry of an array, Numba asks all that is known of "+" or "[]", one
after the other, whether it is meant: in every pass over a function until all its types are known, and again for the
next function. What was found for the same types under the same flags is taken again here, with what lowering is to
call for it. Nothing that is compiled changes; what was not found is sought again. A Numba that is not built as this
one, 0.68, is left as it is.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

TYPES, FLAGS = "numba.core.types.functions", "numba.core.targetconfig"


def remember_calls(load: Callable[[str], ModuleType] = importlib.import_module) -> bool:
    """Lets Numba remember from now on, in this process; returns whether it is built so that it can."""
    try:
        functions: Any = load(TYPES).BaseFunction
        flags: Callable[[], Any] = load(FLAGS).ConfigStack.top_or_none
        arguments = list(inspect.signature(functions.get_call_type).parameters)
        keeps = "_impl_keys" in functions.get_impl_key.__code__.co_names
    except (ImportError, AttributeError):
        return False
    if arguments != ["self", "context", "args", "kws"] or not keeps:
        return False
    functions.get_call_type = remembering(functions.get_call_type, flags)
    return True


def remembering(find: Any, flags: Callable[[], Any]) -> Any:
    """Returns what finds a signature as `find` does, `BaseFunction.get_call_type`, but asks that only once.

    Once more is known of a function it has another type, which is asked anew. `flags` returns those that hold.
    """
    found: dict[Any, Any] = {}

    @functools.wraps(find)
    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        # a list of which nothing is known yet has a type that changes
        if kws or not all(arg.is_precise() for arg in args):
            return find(self, context, args, kws)
        present = flags()
        known = found.get((id(self), id(context), args, present))
        if known is not None:
            signature, meant, *_ = known
            # lowering calls what was found last
            self._impl_keys[signature.args] = meant
            return signature
        signature = find(self, context, args, kws)
        if signature is not None:
            # what numbers in the key stand for lives as long as they do, and flags may change
            key = id(self), id(context), args, present and present.copy()
            found[key] = signature, self._impl_keys[signature.args], self, context
        return signature

    return get_call_type
