# SPDX-License-Identifier: GPL-3.0-or-later
"""Every failure has its words: kinds that are raised exist, are filled in, and none is left over."""

from __future__ import annotations

import ast
import json
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.source_trees import nodes_of
from sinew.solver.runtime import errors
from sinew.solver.runtime.error_messages import TEXTS

ROOT = Path(__file__).resolve().parent.parent
ERRORS = {"SinewError", "BadInput", "SolveFailed", "StorageFailed", "Cancelled"}


def sources() -> list[Path]:
    files = [path for folder in ("solver", "addon") for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in [*files, ROOT / "__main__.py"] if "error_messages" not in path.parts and path.is_file()]


def raised() -> Iterator[tuple[str, str, set[str] | None]]:
    """Yields (place, kind, names of the details or None where they are not written out)."""
    for path in sources():
        for node in nodes_of(path):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            kind = node.args[0]
            if name in ERRORS and isinstance(kind, ast.Constant) and isinstance(kind.value, str):
                details = {word.arg for word in node.keywords}
                known = None if None in details else {str(word) for word in details}
                yield f"{path.relative_to(ROOT)}:{node.lineno}", kind.value, known


def fields(kind: str) -> set[str]:
    """Returns the names that the words of a kind want to have filled in."""
    names = {name for text in TEXTS[kind] for _, name, _, _ in string.Formatter().parse(text) if name is not None}
    return {name.split(".")[0].split("[")[0] for name in names}


def test_every_kind_that_is_raised_has_its_words():
    unknown = [f'{place} raises "{kind}"' for place, kind, _ in raised() if kind not in TEXTS]
    assert not unknown, "\n".join(unknown)


def test_every_sentence_can_be_filled_in():
    wrong = [
        f'{place}: "{kind}" lacks {sorted(fields(kind) - details)}'
        for place, kind, details in raised()
        if kind in TEXTS and details is not None and fields(kind) - details
    ]
    assert not wrong, "\n".join(wrong)


def test_every_kind_is_used_somewhere():
    words = {
        node.value
        for path in sources()
        for node in nodes_of(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    left_over = sorted(set(TEXTS) - words)
    assert not left_over, left_over


@pytest.mark.parametrize("kind", sorted(TEXTS))
def test_words_are_one_sentence_and_a_next_step(kind: str):
    sentence, next_step = TEXTS[kind]
    assert sentence == sentence.strip() and next_step == next_step.strip()
    assert sentence.endswith((".", ")", "!")) and "\n" not in sentence + next_step
    assert sentence[0].isupper() or sentence[0] in '"{', sentence
    assert not next_step or (next_step.endswith((".", ")")) and (next_step[0].isupper() or next_step[0] in '"{'))


def test_an_error_tells_its_sentence_and_its_exit_code():
    problem = errors.BadInput("mesh-empty", name="Cube")
    assert str(problem) == '"Cube" has no faces. Give it at least one face.'
    event = json.loads(json.dumps(problem.as_event()))
    assert event["exit_code"] == 2 and event["kind"] == "mesh-empty" and event["details"] == {"name": "Cube"}
    assert (errors.SolveFailed.exit_code, errors.StorageFailed.exit_code, errors.Cancelled().exit_code) == (3, 3, 130)


def test_an_error_says_at_which_frame_it_happened():
    problem = errors.SolveFailed("bone-mirrored", name="Femur", time=0.0833)
    assert problem.sentence.startswith('At 0.0833 s the bone "Femur"')
    problem.with_frame(3, 24.0)
    assert problem.sentence.startswith('At frame 5 (0.0833 s) the bone "Femur"')
    assert str(problem) == problem.text and problem.as_event()["details"] == {"name": "Femur", "time": 0.0833}
    unchanged = errors.BadInput("mesh-empty", name="Cube")
    unchanged.with_frame(3, 24.0)
    assert unchanged.sentence == '"Cube" has no faces.'
