# SPDX-License-Identifier: GPL-3.0-or-later
"""The only place that names Numba's flags; `kernel_cache/` says where compiled kernels are kept."""

from __future__ import annotations

import functools
import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numba
from numba.core import event
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.types import unliteral

from .kernel_cache.function_cache import KernelCache
from .kernel_cache.kernel_target import set_numba_target

set_numba_target()  # before anything is compiled


def kernel(
    *,
    allow_fma: bool = False,
    inline: bool = False,
    device_only: bool = False,
    no_refcount: bool = False,
) -> Callable[[Callable], Any]:
    """Returns a decorator that compiles a top-level function of arrays and numbers.

    Args:
        allow_fma: Whether a·b + c may be fused. Only for sums whose order is fixed anyway: the result
            stays the same for every number of threads.
        inline: Whether its instructions become part of every caller, however many they are. A loop that
            calls it can then work on several numbers at a time.
        device_only: Whether only kernels call it. What Python would call it by is not compiled then: a sixth of the
            time that `find_crossings` and `find_nearest_edges` take with all that they call.
        no_refcount: Whether references to arrays are not counted, here and in kernels that are compiled for it: for
            those that make no arrays. Where every call counts 30 of them, and threads count the same ones, that took
            longer than passes over a hundred rows.
    """

    def decorate(function: Callable) -> Any:
        flags: dict[str, Any] = {
            "fastmath": {"contract"} if allow_fma else False,
            "error_model": "numpy",
            "nogil": True,
            "forceinline": inline,
            # no kernel is handed over as a value, nor called by C
            "no_cfunc_wrapper": True,
            "no_cpython_wrapper": device_only,
            **({"_nrt": False} if no_refcount else {}),
        }
        return Kernel(function, flags, device_only)

    return decorate


class Kernel:
    """A function that is compiled, or loaded where it has been compiled before, when it is first called.

    Hardly one in ten of all kernels is called in a bake, and what Numba makes of each before takes it 0.2 ms.
    """

    def __init__(self, function: Callable, flags: dict[str, Any], is_inside: bool) -> None:
        """Compiles nothing yet; only kernels may call it if it `is_inside`."""
        functools.update_wrapper(self, function)
        self.py_func = function
        self._flags, self._is_device_only = flags, is_inside
        self._call: Callable = self._raise_device_only if is_inside else self._compile_and_call

    def __call__(self, *values: Any) -> Any:
        """Does what the function does.

        Raises:
            TypeError: It is for kernels only.
        """
        return self._call(*values)

    @property
    def signatures(self) -> list[Any]:
        """The types that it has been compiled for."""
        return self._compiled.signatures

    @property
    def _numba_type_(self) -> Any:
        """What Numba takes it for where a kernel calls it."""
        return self._compiled._numba_type_

    def _compile_and_call(self, *values: Any) -> Any:
        self._call = self._compiled
        with collecting_no_garbage():
            return self._call(*values)

    def _raise_device_only(self, *_: Any) -> None:
        raise TypeError(f"{self.py_func.__name__} is compiled for kernels only (kernel(device_only=True))")

    @property
    def _compiled(self) -> Any:
        """Numba's own object; there is one, whichever thread asks first."""
        with global_compiler_lock:  # Numba takes it as well: with one of our own, two threads could wait for each other
            return self._dispatcher

    @functools.cached_property
    def _dispatcher(self) -> Any:
        made: Any = numba.njit(pipeline_class=_KernelCompiler, **self._flags)(self.py_func)
        if self._is_device_only:
            made._insert = lambda *_: None  # what Numba would call is not there: nothing is entered for Python
        made.get_call_template = _template_without_literals(made.get_call_template)
        made._cache = KernelCache(self.py_func)
        return made


@contextmanager
def collecting_no_garbage() -> Iterator[None]:
    """Lets Python look for no garbage: while Numba compiles it would look a thousand times and find next to none."""
    was_enabled = gc.isenabled()  # another thread, or a caller, may have it disabled already
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _template_without_literals(template_of: Callable) -> Callable:
    """Returns what Numba asks how another kernel calls one, for the types of its arguments instead of their values.

    A kernel that is called with a constant would be compiled for this one alone.
    """
    return lambda values, named: template_of(
        tuple(map(unliteral, values)), {name: unliteral(value) for name, value in named.items()}
    )


class _KernelFlags(Flags):
    """Numba's flags of a kernel, compared by one text.

    Numba looks up by them what every operation in a kernel means, since functions of its own inherit some of them. Its
    own flags all have the same hash, and it compares their 25 values one by one, 70,000 times for the kernels of a body
    that falls. What Python calls a kernel by is not inherited, and told apart it doubled what there is to look up.
    """

    __slots__ = ("_text",)

    def __init__(self, copied: Flags | None = None) -> None:
        super().__init__(copied)
        inherited = Flags(self)  # complete: Numba copies the flags before it looks anything up
        inherited.discard("no_cpython_wrapper")
        self._text = inherited.summary()

    def __hash__(self) -> int:
        return hash(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _KernelFlags) and self._text == other._text


class _KernelCompiler(Compiler):
    """Numba's compiler, with such flags."""

    def __init__(self, *values: Any) -> None:
        super().__init__(*values)
        self.state.flags = _KernelFlags(self.state.flags)


class _FirstCompilation(event.Listener):
    """Calls a function once, when Numba begins to compile; it tells nobody that it loads."""

    def __init__(self, say: Callable[[], None]) -> None:
        self._say, self._lock, self._is_said = say, threading.Lock(), False

    def on_start(self, _: Any) -> None:
        with self._lock:
            is_first, self._is_said = not self._is_said, True
        if is_first:
            self._say()

    def on_end(self, _: Any) -> None:
        pass


def on_first_compilation(say: Callable[[], None]) -> AbstractContextManager[Any]:
    """Lets `say` be called once, when the first kernel is compiled that was not loaded, in whichever thread it is."""
    return event.install_listener("numba:compile", _FirstCompilation(say))
