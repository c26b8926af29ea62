"""Mutation score: faults, copies, judges, and that nothing is left behind."""
