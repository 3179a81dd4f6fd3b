"""Tactic replays: load, show, check, convert and mix them."""
