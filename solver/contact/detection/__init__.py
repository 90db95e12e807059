# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of one step: which points, edges and surfaces meet, and what each contact is attached to."""
