"""Every op with a kernel has recorded answers (tests/oracle/ops), or a reason why a single call cannot be compared."""

import fnmatch
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
import ops_oracle  # noqa: E402

from penstock import _core  # noqa: E402

# Reasons, and the ops (with wildcards) that they hold for.
OTHERWISE = {
    "makes values of its own or is fed, not called: tests/python/framework, tests/python/client": """
        Const HostConst Placeholder PlaceholderV2 VarHandleOp VariableV2 Variable Timestamp
        DestroyResourceOp DisableCopyOnRead TemporaryVariable DestroyTemporaryVariable
        """,
    "means something among other nodes only: tests/cc/runtime, tests/python/runtime": """
        RefIdentity DebugGradientRefIdentity Switch RefSwitch Merge RefMerge RefSelect Enter RefEnter Exit RefExit
        NextIteration RefNextIteration LoopCond ControlTrigger Abort PartitionedCall StatefulPartitionedCall
        SymbolicGradient RemoteCall FakeParam _Send _HostSend _Recv _HostRecv _Fused* *While *If *Case For* ToBool*
        _ProductSum* _AddProduct _Select*
        """,
    "holds state over several calls: tests/python/ops": """
        *Queue *QueueV2 Queue* Stack*V2 TensorArrayGradWithShape TensorArray*V3 Barrier* *Accumulator* Stage* Unstage
        MapStage MapPeek MapUnstage MapUnstageNoKey MapSize MapIncompleteSize MapClear OrderedMap* *Table*
        Reader* *Reader *ReaderV2 RecordInput
        AddSparseToTensorsMap AddManySparseToTensorsMap TakeManySparseFromTensorsMap *TensorList*
        Mutex* ConsumeMutexLock
        """,
    "is of graphs of old: tests/python/ops/test_old_arrays.py": "TensorArray* Stack StackP* StackClose",
    "waits for other calls: tests/python/ops/test_batch_function.py": "BatchFunction",
    "draws points, or compares distances that are close: tests/python/ops/test_clustering.py": """
        KmeansPlusPlusInitialization KMC2ChainInitialization NearestNeighbors
        """,
    "is of tf.contrib, which version 2 has not: tests/python/contrib/test_image.py": "BipartiteMatch",
    "takes or gives messages of types known when it runs: tests/python/ops/test_message_fields.py": """
        DecodeProtoV2 EncodeProto
        """,
    "takes or gives a map: tests/python/ops/test_tensor_map.py": "EmptyTensorMap TensorMap*",
    "keeps a tensor in its session: tests/python/client/test_session_tensors.py": """
        GetSessionHandle* GetSessionTensor DeleteSessionTensor
        """,
    "takes or gives variants: tests/python/eager/test_ragged.py": "RaggedTensor*Variant*",
    "counts what NumPy counts: tests/python/ops/test_bincount.py": "SparseBincount RaggedBincount *CountSparseOutput",
    "gives a ragged tensor's parts: tests/python/ops/test_ragged.py": "RaggedCross",
    "is made by optimize_for_inference: tests/python/ops/test_convolution.py": "FusedPadConv2D FusedResizeAndPadConv2D",
    "makes a dataset, an iterator or a part of one: tests/python/data": """
        *Dataset *DatasetV? *DatasetCardinality *DatasetToTFRecord DatasetToSingleElement *Iterator* Optional* MapDefun
        GetElementAtIndex GetOptions *MemoryCache *SeedGenerator *ThreadPoolHandle DatasetFromGraph DatasetToGraph*
        DatasetFingerprint WrapDatasetVariant UnwrapDatasetVariant *StatsAggregator*
        """,
    "reads or writes files, prints, calls Python: tests/python/ops, tests/python/training": """
        SaveV2 RestoreV2 MergeV2Checkpoints ReadFile WriteFile MatchingFiles Print PrintV2 PyFunc
        GenerateVocabRemapping LoadAndRemapMatrix PyFuncStateless EagerPyFunc Save* Restore*
        *SummaryWriter* *SummaryFileWriter Write*Summary* ImportEvent*
        """,
    "gives a message or a compressed file that may be written in more ways than one: tests/python/ops": """
        ImageSummary* TensorSummary* Parse*Example* Encode*ng* DecodeCompressed* EncodeProto*
        """,
    "the decomposition is not unique, or draws at random: tests/python/ops": """
        Qr* Eig* Fractional* CTCBeam* *Glimpse* SampleDistorted*
        """,
    "takes or gives image files: tests/python/ops/test_image_files.py": """
        DecodeJpeg DecodeAndCropJpeg EncodeJpeg EncodeJpegVariableQuality ExtractJpegShape DecodePng EncodePng DecodeGif
        DecodeBmp DecodeImage
        """,
    "draws numbers that follow from no seed alone, or from the machine: tests/python/ops": """
        *CandidateSampler NonDeterministicInts StatelessRandomGetKeyCounterAlg StatelessRandomGetAlg StatelessShuffle
        """,
    "refused by TensorFlow 2.21, an earlier version of an op that is compared": """
        Conv3DBackpropInput Conv3DBackpropFilter BatchMatrixDiag BatchMatrixDiagPart
        BatchMatrixSetDiag BatchMatrixBandPart QuantizeAndDequantize RandomPoisson
        BatchNormWithGlobalNormalization* CompareAndBitpack AudioSummary
        BatchCholesky BatchCholeskyGrad BatchMatrixInverse BatchMatrixDeterminant BatchMatrixSolve BatchMatrixSolveLs
        BatchMatrixTriangularSolve BatchSvd BatchSelfAdjointEig BatchSelfAdjointEigV2 SelfAdjointEig MatrixExponential
        AdjustContrast StatefulStandardNormal
        """,
    "takes or gives quantized numbers: tests/python/ops/test_quantized.py": """
        QuantizeV2 Dequantize Requantiz* QuantizeDownAndShrinkRange Quantized*
        """,
    "is a recurrent cell, or its gradient, which wants what the cell gave: tests/python/ops/test_rnn_block.py": """
        LSTMBlockCell* BlockLSTM* GRUBlockCell*
        """,
    "has no kernel on TensorFlow's CPU": """
        SegmentSumV2 SegmentProdV2 SegmentMaxV2 SegmentMinV2
        """,
}


def _recorded():
    return {key.split("/")[0] for family in ops_oracle.families.NAMES for key in ops_oracle.answers(family)}


def test_every_op_is_recorded():
    recorded, patterns = _recorded(), [p for names in OTHERWISE.values() for p in names.split()]
    lacking = [
        n
        for n in _core.op_names()
        if _core.op_def(n).has_kernel and n not in recorded and not any(fnmatch.fnmatchcase(n, p) for p in patterns)
    ]
    assert not lacking, "describe these in tests/oracle/ops/cases_*.py and run record.py: " + " ".join(lacking)


def test_reasons_are_needed():
    recorded = _recorded()
    idle = [
        n
        for names in OTHERWISE.values()
        for n in names.split()
        if "*" not in n and (n in recorded or n not in _core.op_names())
    ]
    assert not idle, "these are recorded, or no ops: " + " ".join(idle)
