# SPDX-License-Identifier: GPL-3.0-or-later
"""One file per subcommand of `sinew`: `add_parser(subparsers)` adds its options, `run(options)` runs it.

`run` imports the solver, so that `sinew --help` loads neither Numba nor SciPy.
"""
