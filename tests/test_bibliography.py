# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/bibliography.md has every source that a docstring names, and its map names files that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "bibliography.md").read_text(encoding="utf-8")
PAPERS = ("MDMJC02", "HS04", "NPF05", "MG04", "S07")
TAG = re.compile(r"\b[A-Z]{1,6}\d{2}\b")
YEAR = re.compile(r"\b(?:1[5-9]|20)\d{2}\b")
PASSAGE_LINES = 4  # of a docstring, that a "Source:" may go on for


def references() -> dict[str, str]:
    """Returns tag → reference."""
    rows = re.findall(r"^\| ([A-Z]{1,7}\d{2}) \| (.+) \|$", PAGE, re.MULTILINE)
    assert len(rows) == len(dict(rows)), "a tag stands twice"
    return dict(rows)


def map_rows() -> list[tuple[str, str]]:
    """Returns (what a row of the map says, its file)."""
    return re.findall(r"^\| (.+) \| `([^`]+)` \|$", PAGE, re.MULTILINE)


def passages() -> Iterator[tuple[str, str]]:
    """Yields (place, what follows "Source:" up to the end of its paragraph)."""
    for folder in ("solver", "addon", "scripts", "benchmarks"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            lines = path.read_text(encoding="utf-8").split("\n")
            for number, line in enumerate(lines):
                found = re.search(r"\bSources?: (.+)", line)
                if found is None:
                    continue
                words = [found[1]]
                for following in lines[number + 1 : number + PASSAGE_LINES]:
                    ends = not following.strip() or following.strip().startswith('"""')
                    if ends or following.lstrip().startswith("#") != line.lstrip().startswith("#"):
                        break
                    words.append(following.strip(" #"))
                yield f"{path.relative_to(ROOT)}:{number + 1}", " ".join(words)


def surname(reference: str) -> str:
    """Returns the surname of the first author: "Bærentzen" of "J. A. Bærentzen, H. Aanæs (2005). …"."""
    return re.split(r",| \(", reference)[0].split()[-1]


def has_reference(passage: str, year: str, known: dict[str, str]) -> bool:
    """Whether a reference of that year is by an author whom the passage names."""
    return any(f"({year})" in text and surname(text) in passage for text in known.values())


def test_the_five_papers_are_there():
    assert set(PAPERS) <= set(references())


def test_every_source_is_in_the_bibliography():
    known, missing, count = references(), [], 0
    for place, passage in passages():
        for tag in TAG.findall(passage):
            count += 1
            if tag not in known:
                missing.append(f"{place} names {tag}")
        for year in YEAR.findall(passage):
            count += 1
            if not has_reference(passage, year, known):
                missing.append(f"{place} names something of {year}: {passage}")
    assert not missing, "\n".join(missing)
    assert count > 60, "the lines were not found"


def test_a_source_that_is_not_there_would_be_noticed():
    known = references()
    assert has_reference("Higham, Computing the polar decomposition, 1986", "1986", known)
    assert not has_reference("Higham, Computing the polar decomposition, 1987", "1987", known)
    assert TAG.findall("S07, section 3.10, and MDMJC02 (14)") == ["S07", "MDMJC02"] and "S08" not in known


def test_every_file_of_the_map_exists():
    rows = map_rows()
    assert len(rows) > 80
    missing = [f"{what}: {name}" for what, name in rows if not (ROOT / name).is_file()]
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_paper_has_its_map(paper: str):
    section = PAGE.split(f"### {paper}\n")[1].split("\n#")[0]
    assert section.count("\n| ") > 10
