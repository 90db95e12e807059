# SPDX-License-Identifier: GPL-3.0-or-later
"""Dataclasses to JSON and back, checked against what their annotations declare."""
