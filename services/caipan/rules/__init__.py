"""The rules: a pure core, which reads no clock, random, environment or file but its own editions."""
