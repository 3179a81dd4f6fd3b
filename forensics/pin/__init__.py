"""Freezes the tactics of a build, as they won or as conditions ask, and proves that a later build used them."""
