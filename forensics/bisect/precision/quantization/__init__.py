"""Quantized models: which pairs of QuantizeLinear and DequantizeLinear cost the accuracy."""
