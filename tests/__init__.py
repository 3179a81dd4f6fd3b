"""The project's tests; a package only so that `tests.emulator` can be imported."""
