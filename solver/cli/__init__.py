# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: its commands, and how another Python starts it."""
