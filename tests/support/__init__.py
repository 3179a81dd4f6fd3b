"""What tests of several parts share: samples, readers and counters of their own. No test, and never product."""
