# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of a file of meshes, whatever program wrote it."""

from __future__ import annotations

import codecs

# the marks that say how text is encoded, the longer ones first
BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def decode_text(data: bytes) -> str:
    """Returns the text without its byte-order mark; what cannot be decoded, such as in names, is replaced."""
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, errors="replace")
    return data.decode("utf-8", errors="replace")
