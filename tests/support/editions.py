"""An edition that only a test knows: judged as if its file lay in the package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from caipan.rules import edition as editions


@contextmanager
def invented(edition_id: str, text: str) -> Iterator[None]:
    """While it lasts, ``text`` is the file of an edition of this id."""
    files = editions._files()
    with patch.object(editions, "_files", lambda: {**files, edition_id: (f"{edition_id.lower()}.toml", text.encode())}):
        yield
    editions.edition.cache_clear()
    editions._base_name.cache_clear()
