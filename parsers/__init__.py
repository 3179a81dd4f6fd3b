"""Bytes in, typed model out."""
