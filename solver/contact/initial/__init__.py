# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts and overlaps before the first step, and of colliders that appear later."""
