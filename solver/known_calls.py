# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets Numba remember what a built-in function means for arguments of some types: a sixth of all compiling.

Whenever a kernel adds two numbers or reads an entry of an array, Numba asks all that is known of "+" or "[]", one
after the other, whether it is meant: in every pass over a function until all its types are known, and again for the
next function. What was found for the same types under the same flags is taken again here, with what lowering is to
call for it. Nothing that is compiled changes; what was not found is sought again.
"""

from __future__ import annotations

import functools
from typing import Any

from numba.core.targetconfig import ConfigStack
from numba.core.types.functions import BaseFunction


def remember_calls() -> None:
    """Lets Numba remember from now on, in this process."""
    functions: Any = BaseFunction
    functions.get_call_type = remembering(functions.get_call_type)


def remembering(find: Any) -> Any:
    """Returns what finds a signature as `find` does, `BaseFunction.get_call_type`, but asks that only once.

    Once more is known of a function it has another type, which is asked anew.
    """
    found: dict[Any, Any] = {}

    @functools.wraps(find)
    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        # a list of which nothing is known yet has a type that changes
        if kws or not all(arg.is_precise() for arg in args):
            return find(self, context, args, kws)
        flags = ConfigStack.top_or_none()
        known = found.get((id(self), id(context), args, flags))
        if known is not None:
            signature, meant, *_ = known
            # lowering calls what was found last
            self._impl_keys[signature.args] = meant
            return signature
        signature = find(self, context, args, kws)
        if signature is not None:
            # what numbers in the key stand for lives as long as they do, and flags may change
            key = id(self), id(context), args, flags and flags.copy()
            found[key] = signature, self._impl_keys[signature.args], self, context
        return signature

    return get_call_type
