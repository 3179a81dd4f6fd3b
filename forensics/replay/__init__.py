"""Tactic replays: showing, checking, converting and mixing them, and making them from a build's log."""
