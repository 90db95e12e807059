# SPDX-License-Identifier: GPL-3.0-or-later
"""Cache folders and the files in them: where they lie and what they hold."""
