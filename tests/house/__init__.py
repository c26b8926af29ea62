"""The house checks: what the code must look like, and that README and wheel say the truth."""
