"""Writes a network as an ONNX file, node by node.

The weights are made one after the other while the file is written, so that memory
holds one of them. onnx's own way would hold the whole file three times.
"""

import base64
import math
import os

import numpy as np
from onnx import GraphProto, ModelProto, TensorProto, helper

# The key of a model's metadata with the nodes for NVIDIA's GPUs, as in internal/network/vet/nodes.go.
CUDA = "lipsync.cuda.nodes"

# A number of an upsampled picture is made of rows i-1, i, and i+1 of the picture itself, and a row of this
# matrix says which rows of a kernel for the upsampled picture meet the same one.
MEET = np.array([[0, 0, 1], [0, 1, 1], [1, 1, 0], [1, 0, 0]])


class Graph:
    """The graph while it is made.

    Its methods add nodes, and return the name of the output. The weights come from
    state, which gives a weight by name and shape, see networks.py."""

    def __init__(self, state, half):
        self.state, self.dtype = state, np.float16 if half else np.float32
        self.nodes, self.weights = [], {}
        self.norms = []  # of each group normalisation: its first node, the node after it, and the nodes for GPUs

    def node(self, op, *inputs, domain="", **attributes):
        output = f"x{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [output], domain=domain, **attributes))
        return output

    def weight(self, name, shape, make, dtype=None):
        """An initializer. make returns its values when they are written."""
        self.weights[name] = (tuple(shape), np.dtype(dtype or self.dtype), make)
        return name

    def taken(self, name, *shape):
        """A weight of the checkpoint as it is."""
        return self.weight(name, shape, self.state.take(name, *shape))

    def ints(self, *values):
        return self.weight("ints_" + "_".join(map(str, values)), [len(values)], lambda: np.array(values), np.int64)

    def conv(self, x, name, inputs, outputs, kernel=3, stride=1, pads=None, weight=None, bias=None):
        """A convolution, of the checkpoint's weight and bias unless others are given."""
        weight = weight or self.state.take(name + ".weight", outputs, inputs, kernel, kernel)
        bias = bias or self.state.take(name + ".bias", outputs)
        return self.node("Conv", x, self.weight(name + ".weight", (outputs, inputs, kernel, kernel), weight),
                         self.weight(name + ".bias", [outputs], bias),
                         kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=pads or [kernel // 2] * 4)

    def linear(self, x, name, inputs, outputs, bias=True, half=None):
        """A matrix product, or one half of it: the first or the second of the outputs."""
        rows, end = slice(None), ""
        weight = self.state.take(name + ".weight", outputs, inputs)
        if half is not None:
            outputs //= 2
            rows, end = slice(half * outputs, (half + 1) * outputs), f".{half}"
        x = self.node("MatMul", x, self.weight(name + ".weight" + end, (inputs, outputs), lambda: weight()[rows].T))
        if not bias:
            return x
        values = self.state.take(name + ".bias", outputs if half is None else 2 * outputs)
        return self.node("Add", x, self.weight(name + ".bias" + end, [outputs], lambda: values()[rows]))

    def silu(self, x):
        return self.node("Mul", x, self.node("Sigmoid", x))

    def upsample(self, x, name, inputs, outputs):
        """A convolution of the picture with each pixel four times, as one transposed convolution."""
        weight = self.state.take(name + ".weight", outputs, inputs, 3, 3)

        def sums():
            return np.einsum("ik,jl,ockl->coij", MEET, MEET, weight().astype(np.float64), optimize=True)
        return self.node("ConvTranspose", x, self.weight(name + ".weight", (inputs, outputs, 4, 4), sums), self.taken(name + ".bias", outputs),
                         kernel_shape=[4, 4], strides=[2, 2], pads=[1] * 4)

    def group_norm(self, x, name, channels, eps, silu=True):
        """Group normalisation of 32 groups: for GPUs as one node of ONNX Runtime, which the CPU doesn't have."""
        first = len(self.nodes)
        y = self.plain_group_norm(x, name, channels, eps, silu)
        scale, shift = (self.weight(f"{name}{kind}.cuda", [channels], self.state.take(name + kind, channels), np.float32)
                        for kind in (".weight", ".bias"))
        self.norms.append((first, len(self.nodes), [
            helper.make_node("Transpose", [x], [y + "_in"], perm=[0, 2, 3, 1]),
            helper.make_node("GroupNorm", [y + "_in", scale, shift], [y + "_out"], domain="com.microsoft",
                             activation=int(silu), channels_last=1, epsilon=eps, groups=32),
            helper.make_node("Transpose", [y + "_out"], [y], perm=[0, 3, 1, 2])]))
        return y

    def cuda_nodes(self):
        """The nodes for GPUs, as metadata."""
        graph, at = GraphProto(), 0
        for first, after, fused in self.norms:
            graph.node.extend(self.nodes[at:first] + fused)
            at = after
        graph.node.extend(self.nodes[at:])
        return base64.b64encode(graph.SerializeToString()).decode()

    def plain_group_norm(self, x, name, channels, eps, silu):
        """Group normalisation as instance normalisation of 32 rows."""
        if self.dtype == np.float16:
            ones = self.weight("ones", [32], lambda: np.ones(32))
            zeros = self.weight("zeros", [32], lambda: np.zeros(32))
            y = self.node("InstanceNormalization", self.node("Reshape", x, self.ints(0, 32, -1)), ones, zeros, epsilon=eps)
        else:
            # The CPU's kernel sums the numbers of a row one by one: a black half of a picture makes it
            # err by 1e-4, which is less than 16 bits do. So short rows are summed first.
            y = self.node("Reshape", x, self.ints(0, 32, -1))
            y = self.node("Sub", y, self.mean(y))
            variance = self.mean(self.node("Mul", y, y))
            least = self.weight(f"epsilon_{eps}", [1], lambda: np.full(1, eps))
            y = self.node("Div", y, self.node("Sqrt", self.node("Add", variance, least)))
        y = self.node("Reshape", y, self.node("Shape", x))
        for op, kind in ("Mul", ".weight"), ("Add", ".bias"):
            value = self.state.take(name + kind, channels)
            y = self.node(op, y, self.weight(name + kind, (channels, 1, 1), lambda value=value: value().reshape(-1, 1, 1)))
        return self.silu(y) if silu else y

    def mean(self, x):
        """The mean of each row, by those of its parts of 16 numbers."""
        means = self.node("ReduceMean", self.node("Reshape", x, self.ints(0, 32, -1, 16)), self.ints(3), keepdims=0)
        return self.node("ReduceMean", means, self.ints(2), keepdims=1)

    def layer_norm(self, x, name, channels):
        return self.node("LayerNormalization", x, self.taken(name + ".weight", channels), self.taken(name + ".bias", channels),
                         axis=-1, epsilon=1e-5)

    def attention(self, q, k, v, heads):
        return self.node("MultiHeadAttention", q, k, v, domain="com.microsoft", num_heads=heads)

    def save(self, path, name, inputs, output):
        """Writes the file. Inputs and the output are a name and the sizes behind n.

        The last node makes the output."""
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(self.dtype))

        def info(name, *shape):
            return helper.make_tensor_value_info(name, kind, ["n", *shape])

        self.nodes[-1].output[0] = output[0]
        graph = helper.make_graph(self.nodes, name, [info(*i) for i in inputs], [info(*output)]).SerializeToString()
        heads = {name: tensor_head(name, *about) for name, about in self.weights.items()}
        size = len(graph) + sum(len(head) + size for head, size in heads.values())
        if size >= 2 << 30:
            raise ValueError(f"{name} would have {size >> 20} MiB, and an ONNX file has less than 2048: write it with 16 bits")
        model = ModelProto(ir_version=9, opset_import=[helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)])
        if self.norms:
            model.metadata_props.add(key=CUDA, value=self.cuda_nodes())
        with open(path + ".part", "wb") as file:
            file.write(model.SerializeToString() + head(ModelProto.GRAPH_FIELD_NUMBER, size) + graph)
            for name, (shape, dtype, make) in self.weights.items():
                with np.errstate(over="raise"):
                    try:
                        value = np.ascontiguousarray(make(), dtype)
                    except FloatingPointError:
                        raise ValueError(f"{name} has numbers that are too large for 16 bits") from None
                if value.shape != shape:
                    raise ValueError(f"{name} is of the shape {value.shape}, not {shape}")
                file.write(heads[name][0])
                value.tofile(file)
        os.replace(path + ".part", path)


def head(field, size):
    """The head of a field of a protobuf message: its number, and its length in bytes."""
    return varint(field << 3 | 2) + varint(size)


def varint(n):
    text = b""
    while n > 127:
        text += bytes([n & 127 | 128])
        n >>= 7
    return text + bytes([n])


def tensor_head(name, shape, dtype, _):
    """All of an initializer that comes before its values, and the size of the values."""
    size = dtype.itemsize * math.prod(shape)
    about = TensorProto(name=name, dims=shape, data_type=helper.np_dtype_to_tensor_dtype(dtype)).SerializeToString()
    about += head(TensorProto.RAW_DATA_FIELD_NUMBER, size)
    return head(GraphProto.INITIALIZER_FIELD_NUMBER, len(about) + size) + about, size
