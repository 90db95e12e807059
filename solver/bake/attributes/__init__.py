# SPDX-License-Identifier: GPL-3.0-or-later
"""What shaders may ask of the inside, written per render vertex and frame."""
