"""What the tests would miss: small changes of the product that some test must notice."""
