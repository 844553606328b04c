"""The `caipan` command."""

from caipan.cli.app import main

__all__ = ["main"]
