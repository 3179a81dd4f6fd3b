"""Columns of events to builds."""
