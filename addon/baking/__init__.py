# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the bake in a child process and attaches its results."""
