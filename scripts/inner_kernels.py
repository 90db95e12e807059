# SPDX-License-Identifier: GPL-3.0-or-later
"""Which kernels only kernels call, by the sources. Numba keeps a file of each, though its callers contain it.

A name that anything but a kernel uses counts as called, whatever it names there: a kernel of that name stays.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

DECORATOR = "kernel"  # of solver/runtime/jit.py


def inner_kernels(files: Iterable[Path]) -> set[str]:
    """Returns the names of kernels that no other code in these files mentions."""
    names = _Names()
    for file in files:
        names.visit(ast.parse(file.read_text(encoding="utf-8")))
    return names.kernels - names.mentioned


class _Names(ast.NodeVisitor):
    """The names of kernels, and all names that stand outside of them; imports mention nothing."""

    def __init__(self) -> None:
        self.kernels: set[str] = set()
        self.mentioned: set[str] = set()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Enters all functions but kernels."""
        if any(isinstance(each, ast.Call) and _name(each.func) == DECORATOR for each in node.decorator_list):
            self.kernels.add(node.name)
        else:
            self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        """Notes a name."""
        self.mentioned.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Notes what belongs to something, such as a module's kernel."""
        self.mentioned.add(node.attr)
        self.generic_visit(node)


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
