"""Learning from runs: from attempts and their outcomes to lessons, and to a guard that warns before a call."""
