"""Fixtures for all tests: none so far."""
