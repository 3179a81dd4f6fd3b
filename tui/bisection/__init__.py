"""The screen of a bisection's artifacts directory."""
