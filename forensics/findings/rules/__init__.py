"""The rules: a folder for each family of codes, a module for each topic. The registry finds every rule in them."""
