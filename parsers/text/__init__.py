"""Bytes to windows of lines."""
