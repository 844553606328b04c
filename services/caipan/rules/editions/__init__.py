"""Rule texts as data: one file for each edition, read by ``caipan.rules.edition``."""
