# SPDX-License-Identifier: GPL-3.0-or-later
"""Skeletal muscle: fibres that contract, shear along and across them, and fascia, beside an isotropic law."""
