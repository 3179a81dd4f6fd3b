"""Judges builds: rules over parsed logs, models and replays say what is wrong, why, where, and what to do."""
