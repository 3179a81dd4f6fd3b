"""What is wrong with a build, why, where, and what to do: rules over parsed logs, models and tactic files."""
