"""The project's tests: a package, so that `tests.support` and `tests.emulator` can be imported."""
