# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays that travel together travel as one object: functions and kernels have few parameters; no hidden caches."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from fixtures.source_trees import tree_of

ROOT = Path(__file__).resolve().parent.parent
MAX_PARAMETERS = 8  # of a Python function, `self` and `cls` not counted
MAX_KERNEL_PARAMETERS = 12
MAX_EXCEPTIONS = 5

# (file, function): why it keeps more parameters, with what was measured
EXCEPTIONS: dict[tuple[str, str], str] = {}


def sources() -> Iterator[tuple[str, ast.Module]]:
    for top in ("solver", "addon"):
        for path in sorted((ROOT / top).rglob("*.py")):
            if "__pycache__" not in path.parts:
                yield path.relative_to(ROOT).as_posix(), tree_of(path)


def is_kernel(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Returns whether Numba compiles a function: whether a decorator is called `kernel` or `njit`."""
    for decorator in function.decorator_list:
        made_by = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = made_by.attr if isinstance(made_by, ast.Attribute) else getattr(made_by, "id", "")
        if name in ("kernel", "njit", "jit"):
            return True
    return False


def parameter_count(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    given = function.args
    names = [argument.arg for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def too_long(tree: ast.Module) -> set[str]:
    """Returns the names of functions with more parameters than they may have."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {
        function.name
        for function in functions
        if parameter_count(function) > (MAX_KERNEL_PARAMETERS if is_kernel(function) else MAX_PARAMETERS)
    }


def module_caches(tree: ast.Module) -> set[str]:
    """Returns the names of weak dictionaries that belong to a module."""
    names = set()
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call):
            made = ast.unparse(node.value.func)
            if made.split(".")[-1] in ("WeakKeyDictionary", "WeakValueDictionary"):
                names.add(ast.unparse(node.target if isinstance(node, ast.AnnAssign) else node.targets[0]))
    return names


def test_functions_have_few_parameters():
    found = {(file, name) for file, tree in sources() for name in too_long(tree)}
    assert found <= EXCEPTIONS.keys()


def test_exceptions_are_long_functions():
    """So that an entry goes with the last reason for it."""
    found = {(file, name) for file, tree in sources() for name in too_long(tree)}
    assert found >= EXCEPTIONS.keys()
    assert len(EXCEPTIONS) <= MAX_EXCEPTIONS and all(EXCEPTIONS.values())


def test_no_module_keeps_a_cache():
    assert not {file: caches for file, tree in sources() if (caches := module_caches(tree))}


def test_the_count_is_that_of_the_signature():
    code = """
@kernel(inline=True)
def device(a, b, /, c, *, d): ...
class A:
    def method(self, a, *rest, b): ...
kept: WeakKeyDictionary[int, int] = WeakKeyDictionary()
"""
    tree = ast.parse(code)
    device, method = tree.body[0], tree.body[1].body[0]
    assert parameter_count(device) == 4 and is_kernel(device)
    assert parameter_count(method) == 2 and not is_kernel(method)
    assert module_caches(tree) == {"kept"}
    long = "def f({}): ...\n".format(", ".join(f"a{k}" for k in range(MAX_PARAMETERS + 1)))
    assert too_long(ast.parse(long)) == {"f"} and not too_long(ast.parse("@kernel()\n" + long))
