# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads tets from Vega's text format: sections *VERTICES and *ELEMENTS TET; materials and regions are passed over."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...runtime.arrays import Floats, Indices
from .text_decoding import decode_text


def read_veg(path: Path) -> tuple[Floats, Indices]:
    """Returns nodes, (n, 3), and tets, (m, 4).

    Raises:
        ValueError: The file is not what it should be, or its elements are not tets.
    """
    sections = _sections(path)
    numbers, nodes = _table(sections, "*VERTICES", 3, 1)
    _, corners = _table(sections, "*ELEMENTS", 4, 2)
    order = np.argsort(numbers, kind="stable")
    if len(numbers) > 1 and (np.diff(numbers[order]) == 0).any():
        raise ValueError("two vertices have the same number")
    if len(corners) and not np.isin(corners, numbers).all():
        raise ValueError("an element asks for a vertex that is not there")
    wanted = corners.astype(np.int64)
    return nodes, order[np.searchsorted(numbers, wanted, sorter=order)].astype(np.int32).reshape(-1, 4)


def included_files(path: Path) -> list[Path]:
    """Returns the files that a file includes.

    Raises:
        OSError: It cannot be read.
    """
    lines = decode_text(path.read_bytes()).splitlines()
    words = [line.split("#")[0].replace(",", " ").split() for line in lines if line.lstrip().startswith("*")]
    return [path.parent / found[1] for found in words if len(found) > 1 and found[0].upper() == "*INCLUDE"]


def _sections(path: Path, including: tuple[Path, ...] = ()) -> dict[str, list[list[str]]]:
    """Returns the lines of every section, in words; *INCLUDE is followed.

    Args:
        path: The file.
        including: The files that include it.
    """
    if path.resolve() in including:
        raise ValueError(f"{path.name} includes itself")
    sections: dict[str, list[list[str]]] = {}
    current: list[list[str]] = []
    try:
        lines = decode_text(path.read_bytes()).splitlines()
    except OSError as problem:
        if including:
            raise ValueError(f"{path.name}, which it includes, cannot be read ({problem.strerror})") from problem
        raise
    for line in lines:
        words = line.split("#")[0].replace(",", " ").split()
        if not words:
            continue
        if words[0].upper() == "*INCLUDE":
            if len(words) < 2:
                raise ValueError("an *INCLUDE names no file")
            sections.update(_sections(path.parent / words[1], (*including, path.resolve())))
        elif words[0].startswith("*"):
            current = sections.setdefault(words[0].upper(), [])
        else:
            current.append(words)
    return sections


def _table(sections: dict[str, list[list[str]]], name: str, columns: int, head: int) -> tuple[np.ndarray, Floats]:
    """Returns numbers (k,) and values (k, columns) of a section that starts with `head` lines of description."""
    lines = sections.get(name, [])
    if name == "*ELEMENTS" and lines and lines[0][0].upper() != "TET":
        raise ValueError(f"its elements are {lines[0][0]}, not TET")
    if len(lines) < head:
        raise ValueError(f"it has no section {name}")
    count = int(lines[head - 1][0])
    rows = lines[head : head + count]
    if len(rows) < count or any(len(row) < columns + 1 for row in rows):
        raise ValueError(f"section {name} has fewer than {count} whole lines")
    if count < 0:
        raise ValueError(f"section {name} announces {count} lines")
    numbers = np.array([int(row[0]) for row in rows], np.int64)
    return numbers, np.array([[float(word) for word in row[1 : columns + 1]] for row in rows]).reshape(-1, columns)
