#!/usr/bin/env python3
r"""Writes MediaPipe's networks of faces as files that package conv reads.

    pip install --require-hashes -r requirements.txt
    pip download --no-deps --require-hashes --only-binary :all: --python-version 3.11 \
        --platform manylinux2014_x86_64 -r mediapipe.txt
    export.py mediapipe-0.10.14-*.whl ..     writes ../mesh.bin and ../search.bin

mesh.bin is the attention mesh (face_landmark_with_attention.tflite) with its branch of the lips. The branches of the
eyes and irises are left out. search.bin is BlazeFace for the full range (face_detection_full_range_sparse.tflite).

A file is the length of a list as a 32-bit number, the list as JSON, and all weights as half-precision floats; numbers
are little-endian. The list has the networks' layers in the order of their runs. A layer has the operation, the tensors
that it is computed from, and its settings. Tensor 0 is the input, and tensor i the output of layer i. The networks
have half-precision weights as published, so none of them changes. Rectifiers become slopes of 0, and layers without
one have slopes of 1.
"""

import argparse
import hashlib
import json
import struct
import zipfile
from pathlib import Path

import numpy as np
import tflite
from flatbuffers import flexbuffers

FOLDER = "mediapipe/modules/"
MESH = FOLDER + "face_landmark/face_landmark_with_attention.tflite"
SEARCH = FOLDER + "face_detection/face_detection_full_range_sparse.tflite"
DIGESTS = {
    MESH: "e06a804e0144f9929eda782122916b35d60c697c3c9344013ca2bbe76a6ce2b4",
    SEARCH: "2c3728e6da56f21e21a320433396fb06d40d9088f2247c05e5635a688d45dfe1",
}
NAMES = {value: name for name, value in vars(tflite.BuiltinOperator).items() if isinstance(value, int)}
TYPES = {0: np.float32, 1: np.float16, 2: np.int32}


def dense(tensor, values, shape):
    """The values of a sparse tensor in their places."""
    sparsity = tensor.Sparsity()
    order = [int(x) for x in sparsity.TraversalOrderAsNumpy()]
    blocks = [int(x) for x in sparsity.BlockMapAsNumpy()] if sparsity.BlockMapLength() else []
    levels = [level(sparsity.DimMetadata(i)) for i in range(sparsity.DimMetadataLength())]
    size = {d: levels[len(shape) + i] for i, d in enumerate(blocks)}
    out = np.zeros(shape, values.dtype)

    def fill(depth, parent, index):
        if depth == len(order):
            place = [index[order.index(d)] for d in range(len(shape))]
            for i, d in enumerate(blocks):
                place[d] = place[d] * size[d] + index[len(shape) + i]
            out[tuple(place)] = values[parent]
        elif isinstance(levels[depth], int):
            for i in range(levels[depth]):
                fill(depth + 1, parent * levels[depth] + i, [*index, i])
        else:
            segments, indices = levels[depth]
            for i in range(segments[parent], segments[parent + 1]):
                fill(depth + 1, i, [*index, int(indices[i])])

    fill(0, 0, [])
    return out


def level(dimension):
    """The size of a dense dimension, or the segments and indices of a sparse one."""
    if dimension.Format() == tflite.DimensionType.DENSE:
        return dimension.DenseSize()

    def numbers(kind, table):
        vector = {1: tflite.Int32Vector, 2: tflite.Uint16Vector, 3: tflite.Uint8Vector}[kind]()
        vector.Init(table.Bytes, table.Pos)
        return vector.ValuesAsNumpy()

    return (numbers(dimension.ArraySegmentsType(), dimension.ArraySegments()),
            numbers(dimension.ArrayIndicesType(), dimension.ArrayIndices()))


class Node:
    """An operator of a .tflite file."""

    def __init__(self, model, operator):
        code = model.OperatorCodes(operator.OpcodeIndex())
        self.op = NAMES[max(code.BuiltinCode(), code.DeprecatedBuiltinCode())]
        self.inputs = [int(i) for i in operator.InputsAsNumpy()]
        self.outputs = [int(i) for i in operator.OutputsAsNumpy()]
        self.settings = {}
        if self.op == "CUSTOM":
            self.op = code.CustomCode().decode()
            if operator.CustomOptionsLength():
                self.settings = flexbuffers.Loads(bytes(operator.CustomOptionsAsNumpy()))
        self.table = operator.BuiltinOptions()

    def options(self, kind):
        options = kind()
        options.Init(self.table.Bytes, self.table.Pos)
        return options


class Graph:
    """A .tflite file: its constants, and its operators by the tensors that they make."""

    def __init__(self, content):
        model = tflite.Model.GetRootAsModel(content, 0)
        graph = model.Subgraphs(0)
        self.shape, self.constants, self.maker, self.users, self.outputs = {}, {}, {}, {}, {}
        self.input = int(graph.Inputs(0))
        for i in range(graph.TensorsLength()):
            tensor = graph.Tensors(i)
            self.shape[i] = [int(x) for x in tensor.ShapeAsNumpy()] if tensor.ShapeLength() else []
            data = model.Buffers(tensor.Buffer())
            if data.DataLength():
                values = np.frombuffer(data.DataAsNumpy().tobytes(), TYPES[tensor.Type()])
                self.constants[i] = (dense(tensor, values, self.shape[i]) if tensor.Sparsity()
                                     else values.reshape(self.shape[i]))
        for i in range(graph.OperatorsLength()):
            node = Node(model, graph.Operators(i))
            if node.op in ("DENSIFY", "DEQUANTIZE"):
                self.constants[node.outputs[0]] = self.constants[node.inputs[0]]
                continue
            self.maker[node.outputs[0]] = node
            for x in node.inputs:
                self.users.setdefault(x, []).append(node)
        for i in graph.OutputsAsNumpy():
            self.outputs[graph.Tensors(int(i)).Name().decode()] = int(i)


class Exporter:
    """The layers while they are made."""

    def __init__(self, graph):
        self.graph, self.layers, self.weights = graph, [], []
        self.made = {graph.input: 0}  # tensors of the graph, by their numbers in the file

    def layer(self, op, tensor, sources, **settings):
        """Adds a layer that makes a tensor of the graph, and those that it needs before it."""
        sources = [self.of(x) for x in sources]
        self.layers.append({"op": op, "from": sources} | settings)
        self.made[tensor] = len(self.layers)
        return self.made[tensor]

    def keep(self, *tensors):
        for values in tensors:
            if not np.array_equal(values, values.astype(np.float16)):
                raise SystemExit("a weight is no half-precision float")
            self.weights.append(values.astype("<f2").tobytes())

    def of(self, tensor):
        """The number of a tensor of the graph."""
        if tensor in self.made:
            return self.made[tensor]
        node = self.graph.maker[tensor]
        match node.op:
            case "PRELU" | "ADD" | "CONV_2D":
                return self.product(tensor)
            case "DEPTHWISE_CONV_2D":
                source, settings, weights = self.depthwise(node)
                number = self.layer("depthwise", tensor, [source], **settings)
                self.keep(*weights)
                return number
            case "MAX_POOL_2D":
                return self.layer("pool", tensor, node.inputs)
            case "DEPTH_TO_SPACE":
                return self.layer("spread", tensor, node.inputs)
            case "Landmarks2TransformMatrix":
                return self.frame(tensor, node)
            case "TransformTensorBilinear":
                return self.layer("crop", tensor, node.inputs, size=node.settings["output_width"])
            case "TransformLandmarks":
                return self.place(tensor, node)
            case "RESHAPE" | "STRIDED_SLICE":
                self.made[tensor] = self.of(node.inputs[0])
                return self.made[tensor]
        raise SystemExit(f"there is no layer for {node.op}")

    def product(self, tensor):
        """A matrix product of each pixel, with what is before it and after it in one layer."""
        node, slopes, add = self.graph.maker[tensor], None, []
        if node.op == "PRELU":
            slopes = self.graph.constants[node.inputs[1]].reshape(-1)
            node = self.graph.maker[node.inputs[0]]
        if node.op == "ADD":
            slopes = self.slopes(node, tflite.AddOptions, slopes)
            a, b = sorted(node.inputs, key=self.fits)
            add, node = [self.unpadded(a)], self.graph.maker[b]
            if node.op == "RESIZE_BILINEAR":
                options = node.options(tflite.ResizeBilinearOptions)
                assert options.HalfPixelCenters() and not options.AlignCorners() and slopes is None
                return self.layer("double", tensor, [node.inputs[0], a])
        assert node.op == "CONV_2D", node.op
        slopes = self.slopes(node, tflite.Conv2DOptions, slopes)
        weights, bias = (self.graph.constants[i] for i in node.inputs[1:])
        outputs, height, width, _ = weights.shape
        source, options = node.inputs[0], node.options(tflite.Conv2DOptions)
        op, settings, before = "product", {}, []
        if (height, width) != (1, 1) and options.StrideH() >= height:
            assert self.graph.shape[source][1:3] == [height, width]
            op = "whole"
        elif (height, width) != (1, 1):
            source, settings = self.window(node, options)
            op = "patches"
        elif self.graph.maker[source].op == "DEPTHWISE_CONV_2D":
            source, settings, before = self.depthwise(self.graph.maker[source])
            op = "separable"
        number = self.layer(op, tensor, [source, *add], channels=outputs, **settings)
        if slopes is None:
            slopes = np.ones(outputs)
        self.keep(*before, weights.reshape(outputs, -1).T, bias, slopes)
        return number

    def fits(self, tensor):
        """Rates a tensor as the one that the layer of an addition makes. The other is added to it."""
        op = self.graph.maker[tensor].op
        return 2 if op == "RESIZE_BILINEAR" else op == "CONV_2D" and len(self.graph.users[tensor]) == 1

    def slopes(self, node, kind, slopes):
        """The slopes after an operator that may have a rectifier of its own."""
        rectifier = node.options(kind).FusedActivationFunction()
        if rectifier == tflite.ActivationFunctionType.NONE:
            return slopes
        assert rectifier == tflite.ActivationFunctionType.RELU and slopes is None
        return np.zeros(self.graph.shape[node.outputs[0]][3])

    def unpadded(self, tensor):
        """The tensor to which an addition appends channels of 0."""
        node = self.graph.maker.get(tensor)
        if node is None or node.op != "PAD":
            return tensor
        assert not self.graph.constants[node.inputs[1]][:3].any()
        return node.inputs[0]

    def window(self, node, options):
        """The source of a convolution, and how its windows of 3×3 lie."""
        source, stride = node.inputs[0], options.StrideH()
        maker = self.graph.maker.get(source)
        if maker is not None and maker.op == "PAD":
            assert self.graph.constants[maker.inputs[1]].tolist() == [[0, 0], [1, 1], [1, 1], [0, 0]]
            return maker.inputs[0], {"stride": stride, "before": 1}
        assert options.Padding() == tflite.Padding.SAME
        size, result = self.graph.shape[source][1], self.graph.shape[node.outputs[0]][1]
        return source, {"stride": stride, "before": max((result - 1) * stride + 3 - size, 0) // 2}

    def depthwise(self, node):
        options = node.options(tflite.DepthwiseConv2DOptions)
        assert options.FusedActivationFunction() == tflite.ActivationFunctionType.NONE
        weights, bias = (self.graph.constants[i] for i in node.inputs[1:])
        assert weights.shape[1:3] == (3, 3), weights.shape
        source, settings = self.window(node, options)
        return source, settings, [weights, bias]

    def frame(self, tensor, node):
        """Where the picture of a part of the face lies, by landmarks."""
        scaled, s = self.graph.maker[node.inputs[0]], node.settings
        assert scaled.op == "MUL" and s["target_rotation_radians"] == 0
        assert s["scale_x"] == s["scale_y"] and s["output_width"] == s["output_height"]
        return self.layer("frame", tensor, scaled.inputs[:1], size=s["output_width"], scale=s["scale_x"],
                          share=self.share(scaled), level=[s["left_rotation_idx"], s["right_rotation_idx"]],
                          points=list(s["subset_idxs"]))

    def share(self, scaled):
        return float(self.graph.constants[scaled.inputs[1]].item())

    def place(self, tensor, node):
        """Points of that picture as points of the whole one. The graph scales the shift back to the whole picture."""
        scaled = self.graph.maker[node.inputs[1]]
        frame, factors = scaled.inputs[0], self.graph.constants[scaled.inputs[1]].reshape(4, 4)
        share = self.share(self.graph.maker[self.graph.maker[frame].inputs[0]])
        assert factors[:2, [0, 1, 3]].tolist() == [[1, 1, 1 / share]] * 2
        return self.layer("place", tensor, [node.inputs[0], frame], share=share)

    def write(self, path, outputs):
        side = self.graph.shape[self.graph.input]
        results = [{"of": self.of(self.graph.outputs[name]), **how} for name, how in outputs]
        text = json.dumps({"input": side[1], "layers": self.layers, "outputs": results}, separators=(",", ":")).encode()
        path.write_bytes(struct.pack("<I", len(text)) + text + b"".join(self.weights))
        print(f"{path}: {len(self.layers)} layers, {sum(map(len, self.weights)) / 2e6:.2f} million weights")


def main():
    parser = argparse.ArgumentParser(description="Write MediaPipe's networks of faces as files that package conv reads.")
    parser.add_argument("wheel", help="mediapipe 0.10.14 as a wheel")
    parser.add_argument("folder", type=Path, help="where to write mesh.bin and search.bin")
    args = parser.parse_args()
    exporters = {}
    with zipfile.ZipFile(args.wheel) as wheel:
        for name, digest in DIGESTS.items():
            content = wheel.read(name)
            if hashlib.sha256(content).hexdigest() != digest:
                parser.error(f"{name} is another file than that of mediapipe 0.10.14")
            exporters[name] = Exporter(Graph(content))
    pixels = {"by": 1 / 192}
    exporters[MESH].write(args.folder / "mesh.bin", [
        ("output_mesh_identity", pixels), ("output_lips", pixels), ("conv_faceflag", {"by": 1, "sigmoid": True})])
    exporters[SEARCH].write(args.folder / "search.bin", [("Identity", {"by": 1}), ("Identity_1", {"by": 1})])


if __name__ == "__main__":
    main()
