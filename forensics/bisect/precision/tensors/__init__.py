"""What the tensors of a model are like in FP32 and in 16 bits: their ranges, and what is lost of them."""
