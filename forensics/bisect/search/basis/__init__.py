"""What every search needs: its interface, subsets and what was seen of them, chains of subsets, what finders offer."""
