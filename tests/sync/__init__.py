"""Order between instructions: graph, conflicts, schedules, verdicts."""
