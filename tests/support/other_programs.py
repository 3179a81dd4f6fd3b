"""What other programs print around TensorRT's lines, with secrets where such programs print them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Secrets(NamedTuple):
    """Who somebody is, where the machine stands, and what nobody may know."""

    user: str
    host: str
    name: str
    """Of a model, a project, a bucket."""
    serial: str
    uuid: str
    mac: str
    address: str
    address6: str
    account: str
    token: str


def _dashed(address: str) -> str:
    return address.replace(".", "-")


def nvidia_smi(s: Secrets) -> str:
    """The long form for one device, the table, and queries as CSV and XML."""
    return f"""\
==============NVSMI LOG==============

Timestamp                                 : Sat Nov 21 10:00:00 2026
Driver Version                            : 535.104.05
CUDA Version                              : 12.2

Attached GPUs                             : 1
GPU 00000000:3B:00.0
    Product Name                          : NVIDIA A100-SXM4-80GB
    Product Brand                         : NVIDIA
    Product Architecture                  : Ampere
    Persistence Mode                      : Enabled
    MIG Mode
        Current                           : Disabled
    Serial Number                         : {s.serial}
    GPU UUID                              : GPU-{s.uuid}
    Minor Number                          : 0
    VBIOS Version                         : 92.00.36.00.02
    MultiGPU Board                        : No
    Board ID                              : 0x{s.serial[:6]}
    Board Part Number                     : N/A
    GPU Part Number                       : 20B2-895-A1
    Chassis Serial Number                 : {s.serial}
    Inforom Version
        Image Version                     : G506.0212.00.01
    PCI
        Bus                               : 0x3B
        Bus Id                            : 00000000:3B:00.0
    FB Memory Usage
        Total                             : 81920 MiB
        Used                              : 1234 MiB
    Temperature
        GPU Current Temp                  : 31 C
    Processes
        Process ID                        : 4711
            Type                          : C
            Name                          : /home/{s.user}/{s.name}/bin/python
|    0   N/A  N/A      4711      C   ...{s.name}/bin/python        1230MiB |
index, name, serial, uuid, driver_version, memory.total [MiB]
0, NVIDIA A100-SXM4-80GB, {s.serial}, GPU-{s.uuid}, 535.104.05, 81920 MiB
GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-{s.uuid})
	<serial>{s.serial}</serial>
	<gpu_module_id>1</gpu_module_id>
"""


def packages(s: Secrets) -> str:
    """The lists of pip, conda and dpkg."""
    return f"""\
# packages in environment at /home/{s.user}/miniconda3/envs/{s.name}:
#
# Name                    Version                   Build  Channel
cudnn                     8.9.2.26               cuda12_0    conda-forge
numpy                     1.26.4          py310h5f9d8c6_0
onnx==1.15.0
nvidia-cudnn-cu12==8.9.2.26
nvidia-cublas-cu12==12.1.3.1
tensorrt==8.6.1.post1
torch==2.1.0+cu121
{s.name}==1.2.3
-e git+ssh://git@git.{s.host}/{s.user}/{s.name}.git@v1.2.3#egg={s.name}
{s.name} @ file:///home/{s.user}/src/{s.name}
--extra-index-url https://{s.user}:{s.token}@{s.host}/simple
ii  libnvinfer8                 8.6.1.6-1+cuda12.0      amd64        TensorRT runtime libraries
Location: /home/{s.user}/.local/lib/python3.10/site-packages
Author-email: {s.user}@{s.host}
"""


def environment(s: Secrets) -> str:
    """What env, export, docker -e, YAML, TOML and PowerShell say."""
    return f"""\
USER={s.user}
LOGNAME={s.user}
HOME=/home/{s.user}
HOSTNAME={s.host}
CUDA_VISIBLE_DEVICES=0,1
LD_LIBRARY_PATH=/usr/local/cuda/lib64:/home/{s.user}/TensorRT-8.6.1.6/lib
SSH_CONNECTION={s.address} 52411 {s.address} 22
AWS_ACCOUNT_ID={s.account}
AWS_SESSION_TOKEN={s.token}
MODEL_STORE=s3://{s.name}-{s.account}/models
OUTPUT=gs://{s.name}/engines
AZURE=https://{s.name}.blob.core.windows.net/{s.name}?sig={s.token}
export DB_PASSWORD={s.token}
export SERIAL_NUMBER={s.serial}
docker run --rm --gpus all --shm-size=8g -e API_TOKEN={s.token} -e HF_USER={s.user} -v /home/{s.user}:/work {s.name}
  - name: DEVICE_SERIAL
serial: {s.serial}
account: "{s.account}"
token: {s.account}{s.account}
user = "{s.user}"
hostname = '{s.host}'
set USERNAME={s.user}
$env:USERPROFILE = "C:\\Users\\{s.user}\\models"
C:\\Users\\{s.user}\\{s.name}\\net.onnx
{s.name.upper()}\\{s.user}
"""


def kernel(s: Secrets) -> str:
    """The ring buffer of the kernel, and addresses of its interfaces."""
    return f"""\
[    0.000000] Linux version 5.15.0-91-generic (buildd@{s.host}) (gcc (Ubuntu 11.4.0) 11.4.0) #101-Ubuntu SMP
[    1.234567] e1000e 0000:00:1f.6 eth0: (PCI Express:2.5GT/s:Width x1) {s.mac}
[    2.345670] systemd[1]: Set hostname to <{s.host}>.
[    2.345678] usb 1-1: SerialNumber: {s.serial}
[  100.000001] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  535.104.05
[  101.000001] NVRM: GPU at PCI:0000:3b:00: GPU-{s.uuid}
[  101.000002] NVRM: GPU Board Serial Number: {s.serial}
[  101.000003] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
[  102.000001] oom-kill:constraint=CONSTRAINT_MEMCG,task_memcg=/docker/{s.name},task={s.name},pid=4711,uid=1000
[  102.000002] Out of memory: Killed process 4711 ({s.name}) total-vm:123456kB, anon-rss:65432kB
    link/ether {s.mac} brd ff:ff:ff:ff:ff:ff
    inet {s.address}/24 scope global eth0
    inet6 {s.address6}/64 scope global
mlx5_0: Node GUID: 0x{s.serial}
"""


def docker(s: Secrets) -> str:
    """What Docker prints of a container, a Compose file, and the log of a container as JSON."""
    inspected = {
        "Id": (s.serial * 5)[:63] + "f",
        "Name": f"/{s.name}",
        "Config": {"Hostname": s.host, "User": s.user, "Env": [f"USER={s.user}", f"TOKEN={s.token}"]},
        "Image": "nvcr.io/nvidia/tensorrt:23.10-py3",
        "HostConfig": {"Runtime": "nvidia", "ShmSize": 67108864, "Binds": [f"/home/{s.user}/{s.name}:/workspace"]},
        "NetworkSettings": {"IPAddress": s.address, "MacAddress": s.mac, "GlobalIPv6Address": s.address6},
    }
    logged = {"log": f"[I] saved\n\t{s.name}\n", "user": s.user, "serial": int(s.serial), "account": s.account}
    return f"""\
{json.dumps([inspected], indent=4)}
{json.dumps(logged)}
{json.dumps(logged, ensure_ascii=False)}
services:
  {s.name}:
    image: registry.{s.host}/{s.name}:latest
    runtime: nvidia
    environment:
      - NVIDIA_VISIBLE_DEVICES=all
      - OWNER={s.user}
    volumes:
      - /home/{s.user}/.cache:/cache
"""


def triton(s: Secrets) -> str:
    """A model's configuration, and the server's lines."""
    return f"""\
name: "{s.name}"
platform: "tensorrt_plan"
max_batch_size: 8
input [ {{ name: "{s.name}" data_type: TYPE_FP32 dims: [ 3, 224, 224 ] }} ]
instance_group [ {{ count: 1 kind: KIND_GPU gpus: [ 0 ] }} ]
dynamic_batching {{ preferred_batch_size: [ 4, 8 ] max_queue_delay_microseconds: 100 }}
parameters: {{ key: "account_id" value: {{ string_value: "{s.account}" }} }}
I1121 10:00:00.123456 1 model_lifecycle.cc:459] loading: {s.name}:1
I1121 10:00:00.123456 1 grpc_server.cc:2451] Started GRPCInferenceService at {s.address}:8001
| model_repository_path[0]         | /home/{s.user}/{s.name}  |
| {s.name} | 1       | UNAVAILABLE: Internal: unable to load plan file |
"""


def deepstream(s: Secrets) -> str:
    """A configuration of an application and of nvinfer."""
    return f"""\
[source0]
enable=1
type=4
uri=rtsp://{s.user}:{s.token}@{s.address}:554/{s.name}
[property]
gpu-id=0
onnx-file=/home/{s.user}/{s.name}.onnx
model-engine-file=../{s.name}.onnx_b1_gpu0_fp16.engine
batch-size=1
network-mode=2
num-detected-classes=80
gie-unique-id=1
interval=0
custom-lib-path=/opt/nvidia/deepstream/deepstream-6.3/lib/lib{s.name}.so
[message-broker]
conn-str={s.host};9092;{s.name}
"""


def kubernetes(s: Secrets) -> str:
    """What kubectl describes of a pod."""
    return f"""\
Name:             {s.name}
Namespace:        {s.name}
Node:             ip-{_dashed(s.address)}.ec2.internal/{s.address}
Start Time:       Sat, 21 Nov 2026 10:00:00 +0000
Labels:           owner={s.user}
Annotations:      eks.amazonaws.com/role-arn: arn:aws:iam::{s.account}:role/{s.name}
IP:               {s.address}
Containers:
  {s.name}:
    Container ID:   containerd://{(s.serial * 5)[:63]}e
    Image:          {s.account}.dkr.ecr.eu-west-1.amazonaws.com/{s.name}:latest
    State:          Terminated
      Reason:       OOMKilled
      Exit Code:    137
    Limits:
      memory:          16Gi
      nvidia.com/gpu:  1
    Environment:
      USER:        {s.user}
      API_TOKEN:   {s.token}
Node:  ec2-{_dashed(s.address)}.compute-1.amazonaws.com
"""


def journal(s: Secrets) -> str:
    """Lines of systemd, sudo and sshd."""
    return f"""\
Nov 21 10:00:00 {s.host} systemd[1]: Started {s.name}.service - inference of {s.name}.
Nov 21 10:00:00 {s.host} sshd[4711]: Accepted publickey for {s.user} from {s.address} port 52411 ssh2
Nov 21 10:00:00 {s.host} sudo[4712]: {s.user} : TTY=pts/0 ; PWD=/home/{s.user} ; USER=root ; COMMAND=/usr/bin/nvidia-smi
Nov 21 10:00:01 {s.host} {s.name}[4713]: [TRT] [E] Error Code 1: Cuda Runtime (out of memory)
Nov 21 10:00:02 {s.host} systemd[1]: {s.name}.service: Main process exited, code=killed, status=9/KILL
Nov 21 10:00:03 {s.host} dhclient[99]: bound to {s.address}, {s.mac}
"""


def traceback(s: Secrets) -> str:
    """What Python says of an exception on Linux and on Windows."""
    return f"""\
Traceback (most recent call last):
  File "/home/{s.user}/{s.name}/build.py", line 226, in <module>
    engine = {s.name}.build("C:\\\\Users\\\\{s.user}\\\\{s.name}.onnx")
  File "C:\\Users\\{s.user}\\AppData\\Local\\Programs\\Python\\Python310\\lib\\site-packages\\{s.name}.py", line 7, in f
RuntimeError: CUDA error: out of memory
requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://{s.host}/api?token={s.token}
FileNotFoundError: [Errno 2] No such file or directory: '/Users/{s.user}/Desktop/{s.name}.onnx'
"""


def git_and_ssh(s: Secrets) -> str:
    """Remotes, commits, prompts and connections."""
    return f"""\
origin	git@{s.host}:{s.user}/{s.name}.git (fetch)
origin	https://{s.token}@{s.host}/{s.user}/{s.name} (push)
commit {(s.uuid * 2).replace("-", "")[:40]}
Author: {s.user} <{s.user}@{s.host}>
Date:   Sat Nov 21 10:00:00 2026 +0100
{s.user}@{s.host}:~/{s.name}$ trtexec --onnx={s.name}.onnx --fp16 --verbose
ssh {s.user}@{s.address} -p 2222
scp build.log {s.user}@{s.host}:/home/{s.user}/
The authenticity of host '{s.host} ({s.address})' can't be established.
{s.user}@{s.host}'s password:
"""


PROGRAMS: dict[str, tuple[Callable[[Secrets], str], tuple[str, ...]]] = {
    "nvidia-smi": (
        nvidia_smi,
        (
            *("Driver Version", "535.104.05", "NVIDIA A100-SXM4-80GB", "81920 MiB", "Serial Number", "CUDA Version"),
            *("FB Memory Usage", "MIG Mode", "VBIOS Version", "92.00.36.00.02", "Persistence Mode", ": Enabled"),
            *("GPU UUID", "Bus Id", "memory.total [MiB]", "Product Name", "Processes", "Temperature", ": N/A"),
        ),
    ),
    "packages": (
        packages,
        (
            *("cudnn ", "8.9.2.26 ", "cudnn-cu12==8.9.2.26", "cublas-cu12==12.1.3.1", "tensorrt==8.6.1.post1"),
            *("torch==2.1.0+cu121", "numpy", "onnx==1.15.0", "libnvinfer8", "8.6.1.6-1+cuda12.0", "site-packages"),
        ),
    ),
    "environment": (
        environment,
        (
            *("CUDA_VISIBLE_DEVICES=0,1", "LD_LIBRARY_PATH=/usr/local/cuda/lib64:/home/", "TensorRT-8.6.1.6/lib"),
            *("docker run --rm --gpus all --shm-size=8g", "AWS_ACCOUNT_ID=", "USER=", "HOSTNAME=", "s3://"),
        ),
    ),
    "dmesg": (
        kernel,
        (
            *("NVRM: Xid (PCI:0000:", "): 79, pid=", "GPU has fallen off the bus", "oom-kill:constraint="),
            *("Out of memory: Killed process 4711", "Kernel Module  535.104.05", "Linux version 5.15.0-91-generic"),
        ),
    ),
    "docker": (
        docker,
        (
            *('"Runtime": "nvidia"', '"ShmSize": 67108864', "nvcr.io/nvidia/tensorrt:23.10-py3", '"Hostname": "'),
            *("NVIDIA_VISIBLE_DEVICES=all", "runtime: nvidia", "services:", "environment:", "image:", r"saved\n\tx"),
        ),
    ),
    "triton": (
        triton,
        (
            *('platform: "tensorrt_plan"', "max_batch_size: 8", "data_type: TYPE_FP32 dims: [ 3, 224, 224 ]"),
            *("instance_group", "kind: KIND_GPU", "dynamic_batching", "preferred_batch_size: [ 4, 8 ]"),
            *("max_queue_delay_microseconds: 100", "UNAVAILABLE: Internal: unable to load plan file"),
        ),
    ),
    "deepstream": (
        deepstream,
        (
            *("[property]", "gpu-id=0", "onnx-file=", "model-engine-file=", "batch-size=1", "network-mode=2"),
            *("num-detected-classes=80", "gie-unique-id=1", "interval=0", "custom-lib-path=/opt/nvidia/deepstream/"),
            "_b1_gpu0_fp16.engine",
        ),
    ),
    "kubernetes": (
        kubernetes,
        (
            *("Reason:       OOMKilled", "Exit Code:    137", "Limits:", "memory:          16Gi", "nvidia.com/gpu:  1"),
            *("State:          Terminated", "Containers:", "Image:", "Namespace:"),
        ),
    ),
    "journal": (
        journal,
        (
            *("Nov 21 10:00:00 ", " systemd[1]: ", "[TRT] [E] Error Code 1: Cuda Runtime (out of memory)"),
            *("code=killed, status=9/KILL", "/usr/bin/nvidia-smi", "Main process exited"),
        ),
    ),
    "traceback": (
        traceback,
        (
            *("Traceback (most recent call last):", 'File "/home/', "line 226, in <module>", "HTTPError: 401 Client"),
            *("RuntimeError: CUDA error: out of memory", "No such file or directory", "site-packages"),
        ),
    ),
    "git and ssh": (
        git_and_ssh,
        ("trtexec --onnx=", ".onnx --fp16 --verbose", "(fetch)", "commit ", "Author: ", "Date:   Sat Nov 21"),
    ),
}
"""Each program, and what of its output a diagnosis needs."""
