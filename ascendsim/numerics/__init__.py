"""The arithmetic of the vector unit: slow exact truth, array twins, compiled bodies."""
