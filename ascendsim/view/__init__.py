"""Views: a run, a declaration or a concept as text (and later HTML, traces, a stepper)."""
