# SPDX-License-Identifier: GPL-3.0-or-later
"""What the scripts of the window test take of the extension is there: a name that has moved stops all of its parts."""

from __future__ import annotations

import ast
import importlib
import re

import pytest

pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.source_imports import ROOT, is_module, sources

EXTENSION = "bl_ext.user_default.sinew."


def test_the_window_test_imports_what_there_is() -> None:
    missing, count = [], 0
    for path in sources("tests/window"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(EXTENSION):
                continue
            inner = (node.module or "").removeprefix(EXTENSION)
            module = importlib.import_module(f"sinew.{inner}") if is_module(inner) else None
            for alias in node.names:
                count += 1
                if module is None or not (is_module(f"{inner}.{alias.name}") or hasattr(module, alias.name)):
                    missing.append(f"{path.relative_to(ROOT)}:{node.lineno}: {inner}.{alias.name}")
    assert count > 10 and not missing, missing


def test_the_window_test_presses_operators_that_there_are() -> None:
    known = {
        name
        for path in sources("addon")
        for name in re.findall(r'bl_idname = "sinew\.(\w+)"', path.read_text(encoding="utf-8"))
    }
    pressed = {
        name
        for path in sources("tests/window")
        for name in re.findall(r"bpy\.ops\.sinew\.(\w+)", path.read_text(encoding="utf-8"))
    }
    assert len(pressed) > 20 and not pressed - known, pressed - known
