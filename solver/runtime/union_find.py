# SPDX-License-Identifier: GPL-3.0-or-later
"""Union-find: joins sets of numbers, whose label is their lowest member.

A label array begins with every number as its own label. Source: Tarjan and van Leeuwen (1984), path halving.
"""

from __future__ import annotations

from .jit import kernel


@kernel(device_only=True)
def union_sets(label, a, b):
    """Joins the sets of a and b; the lower root stays root."""
    while label[a] != a:
        label[a] = label[label[a]]
        a = label[a]
    while label[b] != b:
        label[b] = label[label[b]]
        b = label[b]
    if a < b:
        label[b] = a
    elif b < a:
        label[a] = b


@kernel(device_only=True)
def flatten_labels(label):
    """Makes every label the root of its set: roots are the lowest of their sets, so one pass in order is enough."""
    for number in range(len(label)):
        label[number] = label[label[number]]


@kernel()
def union_pairs(first, second, label):
    """Joins the sets of first[k] and second[k] for every k, and writes the lowest member of every number's set."""
    for k in range(len(first)):
        union_sets(label, first[k], second[k])
    flatten_labels(label)
