"""Engine layers and a profile as TensorRT's tools export them."""

from __future__ import annotations

DETAILED = """{"Layers": [{
  "Name": "conv1 + relu1",
  "LayerType": "CaskConvolution",
  "Inputs": [
  {
    "Name": "x",
    "Location": "Device",
    "Dimensions": [1,3,8,8],
    "Format/Datatype": "Row major linear FP32"
  }],
  "Outputs": [
  {
    "Name": "r",
    "Location": "Device",
    "Dimensions": [1,16,8,8],
    "Format/Datatype": "Channel major FP16 format where channel % 8 == 0"
  }],
  "ParameterType": "Convolution",
  "Kernel": [3,3],
  "Weights": {"Type": "Half", "Count": 432},
  "TacticName": "sm80_xmma_fprop",
  "TacticValue": "0x7e1e4d26cfa285f9",
  "StreamId": 0,
  "Metadata": "[ONNX Layer: conv1]\\u001e[ONNX Layer: relu1]"
},{
  "Name": "{ForeignNode[a...b]}",
  "LayerType": "Myelin",
  "Inputs": [],
  "Outputs": [],
  "TacticValue": "0x0000000000000000",
  "StreamId": 0,
  "Metadata": ""
}],
"Bindings": ["x"
,"y"
]}
"""
ELEVEN = """{"Layers": [{"Name": "k", "LayerType": "gemm", "Inputs": [{"Name": "a", "Dimensions": [1, 4],
 "Strides": [4, 1], "StrideOrder": [1, 0], "Datatype": "Half", "Format": "(Linear) Row major linear format"}],
 "Outputs": [], "TacticName": "sm90", "StreamId": 0, "Metadata": ""}],
"I/O Tensors": [{"Name": "a", "IOMode": "Input", "DataType": "Half", "Dimensions": [-1, 4], "Location": "Device"}]}
"""
NAMES = '{"Layers": ["conv1 + relu1"\n,"fc [profile 1]"\n],\n"Bindings": ["x"]}\n'
PROFILE = """[
  { "count" : 10 }
, { "name" : "conv1 + relu1", "timeMs" : 2.5, "averageMs" : 0.25, "medianMs" : 0.24, "percentage" : 80 }
, { "name" : "fc", "timeMs" : 0.5, "averageMs" : 0.05, "percentage" : 20 }
]
"""
