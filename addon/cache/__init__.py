# SPDX-License-Identifier: GPL-3.0-or-later
"""Cache folders: their paths and files."""
