"""The samples that a model is judged on: read from files and scripts, or drawn at random from what the graph allows."""
