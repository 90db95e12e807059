# SPDX-License-Identifier: GPL-3.0-or-later
"""Loads modules without garbage collection, since they stay."""

from __future__ import annotations

import gc
import importlib
import pkgutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# modules that functions import when they are called; most bakes need none of them
LAZY_MODULES = ("scipy.spatial",)


@contextmanager
def loading_permanently() -> Iterator[None]:
    """Loads modules without garbage collection, and excludes them from later collections: a tenth of a small bake."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def preload_modules() -> None:
    """Loads all modules of the solver except the command line, and their late imports."""
    package, folder = __name__.rsplit(".", 2)[0], str(Path(__file__).parents[1])
    for found in pkgutil.walk_packages([folder], f"{package}."):
        if found.name.removeprefix(f"{package}.").split(".")[0] not in ("cli", "__main__"):
            importlib.import_module(found.name)
    for name in LAZY_MODULES:
        importlib.import_module(name)
