# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast Sinew is, beside others and beside what the machine can do: `make bench`."""
