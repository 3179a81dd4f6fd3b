"""Rules of codes TF2xx: types and numbers, from the request for FP32 to a wrong result."""
