# SPDX-License-Identifier: GPL-3.0-or-later
"""Damage to files, drawn by lot: to their bytes, words, JSON values and arrays, or to the file as a whole."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

Random = np.random.Generator
TEXT_ENDINGS = (".obj", ".off", ".veg", ".mesh")
NUMBERS = (
    "nan inf -inf 1e160 -1e160 1e-300 1e308 1e999 1e8 0 -0.0 -1 0.5 1e20 2147483647 2147483648 4294967295 4294967296 "
    "4294967297 -2147483648 9223372036854775807 99999999999999999999 1000000000 0x10 1_0 ١٢"
).split()
WORDS = ("", "x", "tetra", "TRIANGLE", "ß", "None", "-", "$", "*", "\x00")
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 1e160, 1e-300, float("nan"), float("inf"), 2**31, 2**63, 10**30, "", "word", "nan",
    [], {}, [[]], [1, 2, 3], {"array": "gone"}, {"array": 3}, "x" * 300, "../up", "ü/\0",
)  # fmt: skip
COUNTS = (2**31 - 1, 2**30, 2**24, -1, -(2**31), 0, 1)
Damage = Callable[[Random, Path], str]


def damage(random: Random, path: Path) -> str:
    """Damages a file in one way that fits it, and returns in words which."""
    kinds: list[Damage] = [bit_flip, truncation, count, span_lost, span_doubled, byte_noise, whole_file]
    data = path.read_bytes()
    if data:
        if path.suffix == ".npz":
            kinds += [arrays] * 12
        elif path.suffix in (".json", ".jsonl"):
            kinds += [tree] * 12
        elif path.suffix in TEXT_ENDINGS or b"\0" not in data:
            kinds += [number, number, number, number, word, line, line, text_bytes]
        elif path.suffix in (".vtu", ".vtk", ".msh", ".ply", ".pc2", ".stl"):
            kinds += [number, number, coordinates, coordinates, count]
    return kinds[random.integers(len(kinds))](random, path)


def bit_flip(random: Random, path: Path) -> str:
    """Flips one bit."""
    data = bytearray(path.read_bytes())
    if not data:
        return whole_file(random, path)
    at, bit = int(random.integers(len(data))), int(random.integers(8))
    data[at] ^= 1 << bit
    path.write_bytes(data)
    return f"bit {bit} of byte {at} flipped"


def truncation(random: Random, path: Path) -> str:
    """Cuts off the end."""
    data = path.read_bytes()
    left = int(random.integers(len(data) + 1))
    if random.random() < 0.3:
        left = max(0, len(data) - int(random.integers(1, 20)))
    path.write_bytes(data[:left])
    return f"truncated to {left} of {len(data)} bytes"


def count(random: Random, path: Path) -> str:
    """Writes a huge, negative or small whole number of four bytes over some of the first bytes, or anywhere."""
    data = bytearray(path.read_bytes())
    if len(data) < 8:
        return whole_file(random, path)
    reach = min(len(data), 256) if random.random() < 0.7 else len(data)
    at, value = int(random.integers(reach // 4)) * 4, COUNTS[random.integers(len(COUNTS))]
    data[at : at + 4] = int(value).to_bytes(4, "little" if random.random() < 0.8 else "big", signed=True)
    path.write_bytes(data)
    return f"number {value} at byte {at}"


def coordinates(random: Random, path: Path) -> str:
    """Writes a float that is no number, huge or tiny over some bytes."""
    data = bytearray(path.read_bytes())
    kind = np.float32 if random.random() < 0.5 else np.float64
    with np.errstate(over="ignore"):
        value = np.array(random.choice([np.nan, np.inf, 1e160, 1e30, 1e-300, -1e8])).astype(kind)
    if len(data) < 16:
        return whole_file(random, path)
    at = int(random.integers(len(data) - 8))
    data[at : at + value.nbytes] = value.tobytes()
    path.write_bytes(data)
    return f"{value.dtype} {value} at byte {at}"


def span_lost(random: Random, path: Path) -> str:
    """Leaves out some bytes in the middle."""
    data = path.read_bytes()
    first = int(random.integers(len(data) + 1))
    last = min(len(data), first + int(random.integers(1, 64)))
    path.write_bytes(data[:first] + data[last:])
    return f"bytes {first} to {last} lost"


def span_doubled(random: Random, path: Path) -> str:
    """Repeats some bytes."""
    data = path.read_bytes()
    first = int(random.integers(len(data) + 1))
    last = min(len(data), first + int(random.integers(1, 64)))
    path.write_bytes(data[:last] + data[first:])
    return f"bytes {first} to {last} doubled"


def byte_noise(random: Random, path: Path) -> str:
    """Writes noise over some bytes."""
    data = bytearray(path.read_bytes())
    first, size = int(random.integers(len(data) + 1)), int(random.integers(1, 16))
    data[first : first + size] = random.bytes(size)
    path.write_bytes(data)
    return f"noise over {size} bytes from {first}"


def whole_file(random: Random, path: Path) -> str:
    """Empties a file, takes it away, or puts a folder, noise or a link to itself in its place."""
    kind = ("empty", "missing", "folder", "noise", "link to itself")[random.integers(5)]
    path.unlink()
    if kind == "empty":
        path.write_bytes(b"")
    elif kind == "folder":
        path.mkdir()
    elif kind == "noise":
        path.write_bytes(random.bytes(int(random.integers(1, 4000))))
    elif kind == "link to itself":
        path.symlink_to(path.name)
    return kind


def number(random: Random, path: Path) -> str:
    """Writes another number over one of those in a text."""
    words, places = _words(path, is_number=True)
    if not places:
        return bit_flip(random, path)
    place, new = places[random.integers(len(places))], NUMBERS[random.integers(len(NUMBERS))]
    old, words[place] = words[place], new.encode()
    path.write_bytes(b"".join(words))
    return f"number {old.decode(errors='replace')!r} turned into {new!r}"


def word(random: Random, path: Path) -> str:
    """Writes another word over one of those in a text."""
    words, places = _words(path, is_number=False)
    if not places:
        return bit_flip(random, path)
    place = places[random.integers(len(places))]
    new = WORDS[random.integers(len(WORDS))]
    old, words[place] = words[place], new.encode()
    path.write_bytes(b"".join(words))
    return f"word {old.decode(errors='replace')!r} turned into {new!r}"


def line(random: Random, path: Path) -> str:
    """Doubles a line, leaves it out, or changes two of them."""
    lines = path.read_bytes().splitlines(keepends=True)
    if not lines:
        return whole_file(random, path)
    a, b = (int(k) for k in random.integers(len(lines), size=2))
    kind = ("doubled", "left out", "changed with another", "repeated 1000 times")[random.integers(4)]
    if kind == "doubled":
        lines.insert(a, lines[a])
    elif kind == "left out":
        del lines[a]
    elif kind == "repeated 1000 times":
        lines[a] *= 1000
    else:
        lines[a], lines[b] = lines[b], lines[a]
    path.write_bytes(b"".join(lines))
    return f"line {a} {kind}"


def text_bytes(random: Random, path: Path) -> str:
    """Puts bytes into a text that are no UTF-8."""
    data = path.read_bytes()
    at = int(random.integers(len(data) + 1))
    path.write_bytes(data[:at] + b"\xff\xfe\xe4" + data[at:])
    return f"no UTF-8 at byte {at}"


def tree(random: Random, path: Path) -> str:
    """Puts another value at some place of JSON, or leaves out or adds a name."""
    try:
        rows = path.read_text(encoding="utf-8").splitlines() if path.suffix == ".jsonl" else [path.read_text("utf-8")]
        at = int(random.integers(len(rows)))
        holder = [json.loads(rows[at])]
    except ValueError:  # it was damaged before
        return bit_flip(random, path)
    places = list(_places(holder))
    inside, name = places[random.integers(len(places))]
    kind = ("value", "value", "value", "missing", "added", "scaled")[random.integers(6)]
    old = inside[name]
    if kind == "missing" and isinstance(inside, dict):
        del inside[name]
    elif kind == "added" and isinstance(inside, dict):
        inside["surprise"] = VALUES[random.integers(len(VALUES))]
    elif kind == "scaled" and isinstance(old, int | float) and not isinstance(old, bool):
        inside[name] = old * float(random.choice([-1.0, 1e9, 1e-9, 1e300]))
    else:
        kind, inside[name] = "value", VALUES[random.integers(len(VALUES))]
    rows[at] = json.dumps(holder[0], ensure_ascii=False)
    path.write_text("\n".join(rows) + "\n", encoding="utf-8", errors="replace")
    new = inside.get(name, "") if isinstance(inside, dict) else inside[name]
    return f"{kind} at {name!r} of line {at}: {str(old)[:40]!r} → {str(new)[:40]!r}"


def arrays(random: Random, path: Path) -> str:
    """Changes an array of a .npz: its values, type or shape; or leaves it out, or doubles it."""
    try:
        with np.load(path) as stored:
            found = {name: stored[name] for name in stored.files}
    except Exception:
        return bit_flip(random, path)
    names = sorted(found)
    name = names[random.integers(len(names))]
    kind = str(random.choice(["value", "value", "value", "type", "shape", "missing", "rows", "scalar", "objects"]))
    values = found[name]
    if kind == "value" and values.size and values.dtype.kind in "fiu":
        values = values.copy()
        wild = [np.nan, np.inf, 1e160, 1e-300, -1e8] if values.dtype.kind == "f" else [-1, 10**6, 2**31 - 1, 2**30, 0]
        new = wild[random.integers(len(wild))]
        with np.errstate(all="ignore"):
            values.reshape(-1)[random.integers(values.size)] = np.array(new).astype(values.dtype)
        kind = f"value {new}"
    elif kind == "type":
        new_type = str(random.choice(["float32", "int64", "int8", "complex128", "U5", "bool", "uint32", ">f8"]))
        with np.errstate(all="ignore"):
            values = values.astype(new_type) if values.dtype.kind in "fiub" else np.zeros(values.shape, new_type)
        kind = f"type {new_type}"
    elif kind == "shape":
        values = values.reshape(-1) if random.random() < 0.5 else values[None]
    elif kind == "rows" and values.ndim and len(values):
        rows = int(random.integers(3))
        values = (values[:-1], np.concatenate([values, values[:1]]), values[:0])[rows]
        kind = ("one row less", "one row more", "no rows")[rows]
    elif kind == "scalar":
        values = np.array(7)
    elif kind == "objects":
        values = np.array([{"a": 1}], dtype=object)
    else:
        kind = "missing"
    found[name] = values
    if kind == "missing":
        del found[name]
    with open(path, "wb") as file:
        np.savez(file, **found)
    return f"array {name}: {kind}"


def harmless(random: Random, path: Path) -> str:
    """Changes a text so that it says the same: a byte-order mark, or the line ends of Windows."""
    data = path.read_bytes()
    if random.random() < 0.5:
        path.write_bytes(b"\xef\xbb\xbf" + data)
        return "byte-order mark"
    path.write_bytes(data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    return "line ends of Windows"


def folder_lost(random: Random, folder: Path) -> str:
    """Takes a folder away, or puts an empty one or a file in its place."""
    shutil.rmtree(folder)
    kind = ("missing", "empty", "a file")[random.integers(3)]
    if kind == "empty":
        folder.mkdir()
    elif kind == "a file":
        folder.write_bytes(b"x")
    return kind


def _words(path: Path, is_number: bool) -> tuple[list[bytes], list[int]]:
    """Returns a text in pieces, and which of them are numbers, or other words."""
    pieces = re.split(rb"([\s,<>=\"/]+)", path.read_bytes())
    numbers = re.compile(rb"[-+]?[0-9.]+(e[-+]?[0-9]+)?", re.IGNORECASE)
    places = range(0, len(pieces), 2)
    return pieces, [k for k in places if pieces[k] and (numbers.fullmatch(pieces[k]) is not None) == is_number]


def _places(inside: Any) -> Iterator[tuple[Any, Any]]:
    """Yields all places of a tree: what holds a value, and its name or number there."""
    named = inside.items() if isinstance(inside, dict) else enumerate(inside)
    for name, value in list(named):
        yield inside, name
        if isinstance(value, dict | list):
            yield from _places(value)
