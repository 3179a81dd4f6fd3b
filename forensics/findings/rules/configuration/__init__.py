"""Rules of codes TF4xx: profiles, flags and the installation."""
