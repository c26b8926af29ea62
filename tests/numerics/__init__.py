"""Tests of the arithmetic; a package, since names of test files recur elsewhere."""
