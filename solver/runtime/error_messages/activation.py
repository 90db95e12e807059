# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about what activates muscles: heads, sources, keys and controls."""

TEXTS: dict[str, tuple[str, str]] = {
    # solver/scene/activation/data_columns.py
    "data-file": (
        "{path}, which activates a muscle, could not be read: {problem}.",
        "Choose another File (panel Activation).",
    ),
    "data-header": (
        '{path} has no line "endheader", which ends the header of a .sto or .mot file.',
        "Export it again, or save the rows as .csv.",
    ),
    "data-column": (
        '{path} has no column "{column}": it has {columns}.',
        "Choose one of these as Column (panel Activation).",
    ),
    "data-row": (
        "Line {line} of {path} has {count} values, but there are {wanted} columns.",
        "Correct the line, or export the file again.",
    ),
    "data-cell": (
        'Line {line} of {path} has "{cell}" where a number has to be.',
        "Correct the line, or export the file again.",
    ),
    "data-time-falls": (
        "Line {line} of {path} is at {at}, before the line above it at {before}.",
        "Sort the rows by time.",
    ),
    "data-no-rows": (
        "{path} has names of columns, but no rows.",
        "Export the file again.",
    ),
}
