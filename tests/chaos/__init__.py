"""The service as a process of its own, hurt from outside while clients send it real games."""
