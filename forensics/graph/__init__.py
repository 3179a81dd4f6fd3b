"""The graph of one build, and the forms in which it is written."""
