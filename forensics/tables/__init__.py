"""Tables of what is known of a build: columns, filters over rows, and the forms that they are written in."""
