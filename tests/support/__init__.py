"""What the tests share: events built in one line, games played through the fold, an independent board."""
