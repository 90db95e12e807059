# SPDX-License-Identifier: GPL-3.0-or-later
"""The stretch limit of tets: an energy of principal stretches beyond a limit, beside that of any material."""
