"""`python -m caipan.cli` is the same as `caipan`."""

from caipan.cli import main

main()
