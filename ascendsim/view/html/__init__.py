"""HTML faces: pure functions from data to self-contained HTML, without scripts or network."""
