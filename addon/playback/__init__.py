# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays baked motion and attributes on objects, by modifiers that need no add-on."""
