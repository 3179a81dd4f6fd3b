"""Why one build is slower than another: what was run otherwise, the totals with their spread, the layers by Δms."""
