"""The published language: generated from proto/caipan/v1 by `make proto`."""
