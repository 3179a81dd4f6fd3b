"""The options of trtexec: since and before which TensorRT version each exists, and what it is for.

From trtexec's option parser (samples/common/sampleOptions.cpp of NVIDIA/TensorRT) at its tags 6.0 to 11.1: a version is
the first tag that has the option, ``before`` the release that refuses it as unknown. The tag 9.2, whose samples are of
8.6, is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trtforensics.findings.versions import Version

_TABLE = """
build switch - -: allowGPUFallback
build switch - 10: explicitBatch
build switch - 11: fp16 int8
build switch - 9: uffNHWC
build switch 7.1.3 -: noTF32 noBuilderCache
build switch 7.1.3 11: best
build switch 7.2.1 -: refit
build switch 8.0.1 10: explicitPrecision
build switch 8.2 -: consistency
build switch 8.2 11: restricted
build switch 8.2 8.2.1: strictTypes
build switch 8.2.1 -: directIO
build switch 8.5.1 10: heuristic
build switch 8.6 -: versionCompatible vc excludeLeanRuntime
build switch 8.6 11: fp8
build switch 8.6.1 -: buildDLAStandalone
build switch 9.1 -: stronglyTyped noCompilationCache errorOnTimingCacheMiss
build switch 9.1 10: nativeInstanceNorm ni
build switch 9.1 11: bf16
build switch 9.3 11: weightless
build switch 10.0 -: stripWeights pluginInstanceNorm pi
build switch 10.1 -: stripAllWeights
build switch 10.1 11: int4
build switch 10.6 -: monitorMemory
build switch 10.11 -: uint8AsymmetricQuantizationDLA
build switch 10.12 -: distributiveIndependence markUnfusedTensorsAsDebugTensors
build switch 10.13 -: dumpKernelText
build switch 10.15 -: enablePluginOverride cpuOnly
build switch 10.16 -: reportCapabilityDLA adjustForDLA
build switch 11.1 -: saveAllEngines dryRun continue
build value - -: onnx minShapes optShapes maxShapes inputIOFormats outputIOFormats avgTiming saveEngine
build value - 10: workspace minTiming
build value - 11: calib
build value - 9: uff uffInput model deploy output maxBatch
build value 7.1.3 10: nvtxMode
build value 7.1.3 11: minShapesCalib optShapesCalib maxShapesCalib
build value 7.2.1 -: tacticSources
build value 8.0.1 -: sparsity timingCacheFile
build value 8.2 -: profilingVerbosity
build value 8.2.1 11: precisionConstraints
build value 8.4.1 -: memPoolSize
build value 8.4.1 11: layerPrecisions layerOutputTypes
build value 8.5.1 -: preview
build value 8.6 -: layerDeviceTypes builderOptimizationLevel hardwareCompatibilityLevel maxAuxStreams
build value 9.1 -: profile
build value 9.1 11: calibProfile
build value 10.0 -: markDebug
build value 10.2 -: runtimePlatform
build value 10.4 -: maxTactics
build value 10.8 -: tilingOptimizationLevel l2LimitForTiling
build value 10.13 -: remoteAutoTuningConfig
build value 10.14 -: decomposableAttentions
build value 11.1 -: setBuildRoute tuneBuildRoutes tuneBuildRouteFile tuningSearch tuningCacheFile tuningTimeOut
    tuningResultFile helpBuildRoute
run switch - -: threads useCudaGraph dumpOutput dumpProfile
run switch - 10: buildOnly
run switch 7.0 -: exposeDMA useSpinWait
run switch 7.2.1 -: noDataTransfers separateProfileRun dumpRefit
run switch 8.0.1 -: timeDeserialize timeRefit
run switch 8.2 -: useManagedMemory
run switch 8.6 -: skipInference dumpRawBindingsToFile
run switch 9.1 -: getPlanVersionOnly dumpOptimizationProfile
run switch 10.7 -: asyncFileReader
run switch 11.0 -: includeDataTransfers noSpinWait noCudaGraph
run value - -: shapes loadEngine iterations warmUp duration streams avgRuns percentile exportTimes exportProfile
run value - 9: batch
run value 7.0 -: loadInputs sleepTime exportOutput
run value 8.2.1 -: idleTime
run value 8.5.1 -: persistentCacheRatio
run value 8.6 -: useRuntime leanDLLPath tempdir tempfileControls infStreams
run value 9.1 -: useProfile
run value 10.0 -: allocationStrategy weightStreamingBudget saveDebugTensors
run value 10.12 -: saveAllDebugTensors
run value 10.14 -: refitFromOnnx
run value 11.1 -: loadRefOutputs refPair accuracyAlgorithm atol rtol accuracyThreshold
both switch - -: safe verbose help
both switch 7.1.3 -: h
both switch 8.2 -: dumpLayerInfo
both switch 8.6 -: ignoreParsedPluginLibs
both switch 10.0 -: allowWeightStreaming
both value - -: device useDLACore plugins
both value 8.2 -: exportLayerInfo
both value 8.6 -: staticPlugins dynamicPlugins setPluginsToSerialize
both value 10.13 -: safetyPlugins
"""
"""Lines ``WHEN FORM SINCE BEFORE: options``; ``-`` stands for no bound, an indented line continues the one above."""


@dataclass(frozen=True, slots=True)
class Flag:
    """An option. ``when``: it takes effect in a ``build``, in a ``run`` of the engine, or in ``both``.

    ``since`` and ``before`` bound the versions that have it; empty means no bound.
    """

    name: str
    when: str
    takes_value: bool
    since: str
    before: str

    def exists_in(self, version: Version | None) -> bool:
        """Whether a version has the option; for an unknown version, whether every version since TensorRT 6 has it."""
        if version is None:
            return not self.since and not self.before
        return version.has(self.since, self.before)


@cache
def flags() -> Mapping[str, Flag]:
    """Return every option by its name (``--onnx``)."""
    found = {}
    for entry in _TABLE.strip().replace("\n    ", " ").split("\n"):
        head, _, names = entry.partition(": ")
        when, form, since, before = head.split()
        for name in names.split():
            flag = f"--{name}" if len(name) > 1 else f"-{name}"
            found[flag] = Flag(flag, when, form == "value", since.strip("-"), before.strip("-"))
    return found


def has_flag(version: Version | None, option: str) -> bool:
    """Whether a version's trtexec takes an option, given with or without a value (``--fp16``, ``--device=1``)."""
    flag = flags().get(option.partition("=")[0])
    return flag is not None and flag.exists_in(version)
