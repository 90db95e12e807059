# SPDX-License-Identifier: GPL-3.0-or-later
"""No module imports itself in a circle, neither when it is loaded nor inside its functions."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import pytest

from fixtures.source_imports import imports, imports_for_types, name_of, sources


def import_graph(top: str) -> dict[str, set[str]]:
    """Returns the modules of a package, and the others of it that each imports at any time."""
    graph = {}
    for path in sources(top):
        module, for_types = name_of(path), imports_for_types(path)
        graph[module] = {name for line, name in imports(path) if line not in for_types} - {module}
    return {module: {name for name in names if name in graph} for module, names in graph.items()}


@pytest.mark.parametrize("top", ["solver", "addon"])
def test_no_module_imports_itself_in_a_circle(top: str) -> None:
    graph = import_graph(top)
    assert len(graph) > 100
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as found:
        pytest.fail(" ← ".join(found.args[1]))
