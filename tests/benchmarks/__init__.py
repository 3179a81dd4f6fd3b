"""Benchmarks: run by hand, never by pytest; they print and judge nothing."""
