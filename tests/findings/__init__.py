"""Each rule of the findings on logs where it must speak, and on look-alikes where it must not."""
