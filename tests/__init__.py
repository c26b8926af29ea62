"""Tests; helpers.py holds what they share."""
