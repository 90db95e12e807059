# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared by `make papers` and `make bench`: results, tables, pictures, and child processes."""
