# SPDX-License-Identifier: GPL-3.0-or-later
"""Checksums inside the data: SHA-256 in .npz files and JSON objects, CRC-32 in the lines of a report.

    an .npz file         the archive's comment, "sha256:" and 64 hex digits, covers all bytes before it
    a JSON object        its member "checksum" covers the object without it, with sorted names
    a line of a report   its last member, "checksum", covers the text of the line without it

So one write stores a file and its checksum. Files of earlier versions of Sinew have none.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

CHECKSUM_KEY = "checksum"
MISMATCH_TEXT = "its checksum does not match"
_COMMENT_MARK = b"sha256:"
_COMMENT_BYTES = len(_COMMENT_MARK) + 64
_END_OF_ARCHIVE = (
    b"PK\5\6"  # start of the last record of a zip file, 22 bytes; the last two are the length of the comment
)
_END_BYTES = 22
_LINE_END = ', "checksum": "%08x"}'
_LINE_END_CHARACTERS = len(_LINE_END % 0)


def npz_with_checksum(data: bytes) -> bytes:
    """Returns the bytes of an .npz file without a comment, with its checksum as the comment."""
    body = b"".join((memoryview(data)[:-2], struct.pack("<H", _COMMENT_BYTES)))
    return b"".join((body, _COMMENT_MARK, hashlib.sha256(body).hexdigest().encode()))


def npz_has_checksum(data: bytes) -> bool:
    """Whether an .npz file has a checksum; checks it.

    Raises:
        ValueError: The checksum is wrong, or the end of the file is damaged.
    """
    if data[-_END_BYTES:].startswith(_END_OF_ARCHIVE) and data[-2:] == b"\0\0":
        return False
    body = memoryview(data)[:-_COMMENT_BYTES]
    if data[len(body) :] != _COMMENT_MARK + hashlib.sha256(body).hexdigest().encode():
        raise ValueError(MISMATCH_TEXT)
    return True


def tree_with_checksum(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a JSON object with its checksum as the last member."""
    return {**tree, CHECKSUM_KEY: _tree_checksum(tree)}


def tree_without_checksum(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a JSON object without its checksum; checks it, if there is one.

    Raises:
        ValueError: The checksum is wrong, or `tree` is not a JSON object.
    """
    if not isinstance(tree, dict):
        raise ValueError("not a JSON object")
    rest = {name: value for name, value in tree.items() if name != CHECKSUM_KEY}
    if CHECKSUM_KEY in tree and tree[CHECKSUM_KEY] != _tree_checksum(rest):
        raise ValueError(MISMATCH_TEXT)
    return rest


def line_with_checksum(line: Mapping[str, Any]) -> str:
    """Returns a non-empty JSON object as one line without a line end, with its checksum as the last member."""
    text = json.dumps(line)
    return text[:-1] + _LINE_END % zlib.crc32(text.encode())


def line_has_checksum(text: str) -> bool:
    """Whether a line has a checksum; checks it.

    Raises:
        ValueError: The checksum is wrong.
    """
    body, end = text[:-_LINE_END_CHARACTERS] + "}", text[-_LINE_END_CHARACTERS:]
    if end != _LINE_END % zlib.crc32(body.encode()):
        if '"checksum"' in text:
            raise ValueError(MISMATCH_TEXT)
        return False
    return True


def sha256(data: bytes | memoryview) -> str:
    """Returns the SHA-256 of bytes as 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def _tree_checksum(tree: Mapping[str, Any]) -> str:
    return sha256(json.dumps(tree, sort_keys=True, ensure_ascii=False).encode(errors="surrogatepass"))


def npz_bytes(arrays: Mapping[str, Any]) -> bytes:
    """Returns the bytes of an uncompressed .npz without dates, with its checksum."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return npz_with_checksum(buffer.getvalue())


def digest(parts: Iterable[bytes | str | npt.NDArray]) -> str:
    """Returns the SHA-256 of the parts, arrays with their type and shape, as 64 hex digits."""
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            total.update(f"{part.dtype.str}{part.shape}".encode())
            total.update(np.ascontiguousarray(part).data)
        else:
            total.update(part.encode() if isinstance(part, str) else part)
        total.update(b"\0")
    return total.hexdigest()
