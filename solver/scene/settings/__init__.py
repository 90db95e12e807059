# SPDX-License-Identifier: GPL-3.0-or-later
"""Every setting, declared once: tables by subject (`tables.py` has all of them)."""
