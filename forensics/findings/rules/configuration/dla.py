"""What TensorRT says about DLA: what it refuses, and what it took."""

from __future__ import annotations

from trtforensics.findings.finding import Severity
from trtforensics.findings.rule import said

one_graph = said(
    "TF440",
    Severity.ERROR,
    "The network does not become one DLA graph",
    kinds=("dla_single_graph",),
    cause="--buildDLAStandalone and safe mode want the whole network as one graph on DLA. A layer that is not "
    "supported on DLA, or not in this precision, splits the network into several graphs.",
    confirm="Build with --allowGPUFallback and read which layers run on the GPU.",
    fixes=("Make every layer fit for DLA (or cut the others out of the model), in FP16 or INT8 with scales.",),
    sources=("foreignNode.cpp of 8.6",),
)

profiles = said(
    "TF441",
    Severity.WARNING,
    "DLA takes no dynamic shapes",
    kinds=("dla_no_dynamic", "dla_profiles"),
    cause="DLA needs a static shape: the same min, opt and max in every optimization profile (min = opt = max). All "
    "layers therefore run on the GPU. Where DLA was not requested, nothing changes.",
    confirm="Whether --useDLACore or default_device_type asks for DLA at all.",
    fixes=("Give min = opt = max, or a model of fixed shape, if DLA is wanted; else ignore it.",),
    sources=("TensorRT 8.x and 10.x, builder warning",),
)

refused = said(
    "TF442",
    Severity.WARNING,
    "DLA does not support an operation",
    kinds=("dla_refused",),
    says="DLA does not support {text}",
    cause="The DLA hardware has no such operation, or not with these parameters; the layer falls back to the GPU where "
    "that is allowed, which costs two transfers if the layers around it run on DLA.",
    confirm="The lists of layers on DLA and on GPU in the log.",
    fixes=("Leave light layers at the network's end on the GPU; replace others by operations that DLA has.",),
    sources=("TensorRT 10.3 on Jetson",),
)

candidates = said(
    "TF443",
    Severity.NOTE,
    "How many candidates run on DLA",
    kinds=("dla_candidates",),
    says="{first} of {second} candidates are offloaded to DLA",
    cause="The builder offered these parts of the network to DLA, and DLA took them as far as the figure says. Where "
    "all "
    "candidates were offloaded, a slow engine is not due to layers that fall back to the GPU.",
    confirm="The lines 'successfully offloaded to DLA' name the parts.",
    fixes=("If it is slow although all run on DLA: use INT8 there, for which DLA is built; FP16 is its slower path.",),
    sources=("TensorRT 8.x and 10.3 on Jetson",),
)

core = said(
    "TF445",
    Severity.ERROR,
    "The DLA core that is asked for is not there",
    kinds=("dla_core",),
    cause="The program asks for DLA, and this device has no core of that number, or does not show it. Jetson Nano, TX2 "
    "and Orin Nano have no DLA, nor have discrete GPUs such as T4. In a container, the device files of DLA may be "
    "missing.",
    confirm="builder.num_DLA_cores (getNbDLACores) on this device, inside the container.",
    fixes=(
        "Ask for a core from 0 to that number less one (--useDLACore, DLA_core), also where the engine is loaded.",
        "Or build for the GPU: leave out --useDLACore and default_device_type.",
        "In a container: start it with the NVIDIA runtime of JetPack, so that it sees the DLA.",
    ),
    settle="How many DLA cores the device has: builder.num_DLA_cores.",
    sources=("dlaExecuteRunner.cpp of 7; trtexec of 8.5; NVIDIA-ISAAC-ROS/isaac_ros_depth_segmentation#12",),
)

alone = said(
    "TF448",
    Severity.ERROR,
    "A layer cannot run on DLA, and may not run on the GPU",
    kinds=("dla_alone",),
    says="{layer} cannot run on DLA, and may not run on the GPU",
    cause="All layers are to run on DLA (--useDLACore, default_device_type). DLA does not take this one, and without "
    "GPU fallback there is nowhere else to run it. The reformats at the network's inputs and outputs need the GPU too.",
    confirm="Build with --allowGPUFallback and read which layers run on the GPU.",
    fixes=(
        "Allow it: --allowGPUFallback, BuilderFlag.GPU_FALLBACK.",
        "Or make the layer fit for DLA, and give the network formats of DLA (--inputIOFormats, --outputIOFormats).",
    ),
    sources=("TensorRT 5 to 10, builder; NVIDIA/TensorRT#3438",),
)

driver = said(
    "TF452",
    Severity.ERROR,
    "DLA refuses its part of the engine",
    kinds=("dla_failed",),
    cause="The driver of DLA could not load or run a part that TensorRT built for it. Likeliest first: TensorRT is not "
    "the one of this JetPack or DRIVE release; the part is too large for DLA's memory; other programs hold DLA.",
    confirm="The TensorRT version against the release notes of JetPack or DRIVE OS; the model with a DLA part of a "
    "few layers.",
    fixes=(
        "Install the TensorRT that comes with the JetPack or DRIVE release, and build the engine on the device.",
        "Give DLA less: a smaller input, fewer layers (setDeviceType, --layerDeviceTypes), one engine at a time.",
    ),
    settle="Whether a model of one convolution runs on DLA.",
    sources=("dlaUtils.cpp of 5, nvdlaUtils.cpp and nvmediaTensorCache.cpp of 8; NVIDIA/TensorRT#2252, #2307, #2426",),
)
