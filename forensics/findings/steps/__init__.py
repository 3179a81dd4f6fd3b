"""The next commands of findings: trtexec's and Polygraphy's options, and what depends on the GPU."""
