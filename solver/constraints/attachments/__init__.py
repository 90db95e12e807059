# SPDX-License-Identifier: GPL-3.0-or-later
"""Attachments: links between the surface of a body and another surface, along which it slides or to which it sticks."""
