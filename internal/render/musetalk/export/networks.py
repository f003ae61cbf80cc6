"""The four networks of MuseTalk 1.5, by the names of the published checkpoints.

Painter, a UNet: latents of both pictures and sound to latents of the painted one.
Encoder and decoder of the VAE sd-vae-ft-mse: pictures to latents, and back. Hearing,
the encoder of whisper-tiny: a spectrogram of 30 s to five states of each 20 ms.
"""

from collections import namedtuple

import numpy as np

SCALE = 0.18215  # of the VAE's latents
LATENT = 32  # side of latents
PARTS = 4  # halvings of the painter and the VAE, and one more

# unet and vae: channels of each part. blocks: of each part. d, heads, inner: of whisper.
Size = namedtuple("Size", "unet vae blocks d heads inner")
FULL = Size((320, 640, 1280, 1280), (128, 256, 512, 512), 2, 384, 6, 1536)
SMALL = Size((32, 64, 64, 64), (32, 32, 32, 64), 1, 32, 2, 64)

LAYERS, STEPS, MELS = 4, 1500, 80  # of whisper
HEADS = 8  # of the painter


def resnet(g, x, name, inputs, outputs, eps, time=None):
    """Two convolutions beside a shortcut.

    time is a function of the embedded time, and its size. The time is always 0, so
    that its part is a constant, which joins the bias of the first convolution."""
    y = g.group_norm(x, name + ".norm1", inputs, eps)
    bias = g.state.take(name + ".conv1.bias", outputs)
    if time is not None:
        embedded, size = time
        weight, more = g.state.take(name + ".time_emb_proj.weight", outputs, size), g.state.take(name + ".time_emb_proj.bias", outputs)
        plain = bias

        def bias():
            return plain() + weight().astype(np.float64) @ embedded() + more()
    y = g.conv(y, name + ".conv1", inputs, outputs, bias=bias)
    y = g.conv(g.group_norm(y, name + ".norm2", outputs, eps), name + ".conv2", outputs, outputs)
    if inputs != outputs:
        x = g.conv(x, name + ".conv_shortcut", inputs, outputs, 1)
    return g.node("Add", x, y)


def transformer(g, x, name, channels, side, sound, d):
    """Attention to the picture itself and to the sound, then two layers."""

    def attention(y, context, width, name):
        q = g.linear(y, name + ".to_q", channels, channels, False)
        k, v = (g.linear(context, name + kind, width, channels, False) for kind in (".to_k", ".to_v"))
        return g.linear(g.attention(q, k, v, HEADS), name + ".to_out.0", channels, channels)

    y = g.conv(g.group_norm(x, name + ".norm", channels, 1e-6, False), name + ".proj_in", channels, channels, 1)
    y = g.node("Reshape", g.node("Transpose", y, perm=[0, 2, 3, 1]), g.ints(0, side * side, channels))
    block = name + ".transformer_blocks.0"
    n = g.layer_norm(y, block + ".norm1", channels)
    y = g.node("Add", y, attention(n, n, channels, block + ".attn1"))
    n = g.layer_norm(y, block + ".norm2", channels)
    y = g.node("Add", y, attention(n, sound, d, block + ".attn2"))
    n = g.layer_norm(y, block + ".norm3", channels)
    value, gate = (g.linear(n, block + ".ff.net.0.proj", channels, 8 * channels, half=half) for half in (0, 1))
    n = g.linear(g.node("Mul", value, g.node("Gelu", gate)), block + ".ff.net.2", 4 * channels, channels)
    y = g.node("Reshape", g.node("Add", y, n), g.ints(0, side, side, channels))
    y = g.conv(g.node("Transpose", y, perm=[0, 3, 1, 2]), name + ".proj_out", channels, channels, 1)
    return g.node("Add", x, y)


def time_of(state, width):
    """The embedding of the time 0, with what each resnet does to it first, and its size."""
    size = 4 * width
    layers = [[state.take(f"time_embedding.linear_{i}.{kind}", *shape) for kind, shape in (("weight", (size, inputs)), ("bias", [size]))]
              for i, inputs in ((1, width), (2, size))]
    kept = []

    def embedded():
        if not kept:
            x = np.repeat([1., 0.], width // 2)  # cosines and sines of 0
            for weight, bias in layers:
                x = weight().astype(np.float64) @ x + bias()
                x = x / (1 + np.exp(-x))
            kept.append(x)
        return kept[0]

    return embedded, size


def positions(d, length):
    """Sines on even columns, cosines on odd ones."""
    angles = np.arange(length)[:, None] * 10000. ** (-np.arange(0, d, 2) / d)
    return np.stack([np.sin(angles), np.cos(angles)], 2).reshape(1, length, d)


def painter(g, size):
    widths, side, seen = size.unet, LATENT, []
    time = time_of(g.state, widths[0])
    sound = g.node("Add", "sound", g.weight("positions", (1, 50, size.d), lambda: positions(size.d, 50)))

    def block(x, part, i, inputs, outputs, attends):
        x = resnet(g, x, f"{part}.resnets.{i}", inputs, outputs, 1e-5, time)
        return transformer(g, x, f"{part}.attentions.{i}", outputs, side, sound, size.d) if attends else x

    def keep(x, channels):
        seen.append((x, channels))
        return x

    x = keep(g.conv("latents", "conv_in", 8, widths[0]), widths[0])
    inputs = widths[0]
    for p, outputs in enumerate(widths):
        last, part = p == PARTS - 1, f"down_blocks.{p}"
        for i in range(size.blocks):
            x = keep(block(x, part, i, inputs, outputs, not last), outputs)
            inputs = outputs
        if not last:
            x = keep(g.conv(x, part + ".downsamplers.0.conv", outputs, outputs, stride=2), outputs)
            side //= 2
    x = block(x, "mid_block", 0, inputs, inputs, True)
    x = block(x, "mid_block", 1, inputs, inputs, False)
    for p, outputs in enumerate(reversed(widths)):
        part = f"up_blocks.{p}"
        for i in range(size.blocks + 1):
            before, channels = seen.pop()
            x = block(g.node("Concat", x, before, axis=1), part, i, inputs + channels, outputs, p > 0)
            inputs = outputs
        if p < PARTS - 1:
            x = g.upsample(x, part + ".upsamplers.0.conv", outputs, outputs)
            side *= 2
    g.conv(g.group_norm(x, "conv_norm_out", inputs, 1e-5), "conv_out", inputs, 4)
    return [("latents", 8, LATENT, LATENT), ("sound", 50, size.d)], ("latent", 4, LATENT, LATENT)


def middle(g, x, name, channels):
    """The middle of the VAE's parts: attention of one head between two resnets."""
    x = resnet(g, x, name + ".resnets.0", channels, channels, 1e-6)
    name, end = name + ".attentions.0", name + ".resnets.1"
    y = g.group_norm(x, name + ".group_norm", channels, 1e-6, False)
    y = g.node("Transpose", g.node("Reshape", y, g.ints(0, channels, LATENT * LATENT)), perm=[0, 2, 1])
    q, k, v = (g.linear(y, name + kind, channels, channels) for kind in (".to_q", ".to_k", ".to_v"))
    # Plain operators: a head of 512 numbers is more than the fused kernels of GPUs are made for.
    scale = g.weight("scale", [1], lambda: np.full(1, channels ** -.5))
    y = g.node("MatMul", g.node("Mul", q, scale), g.node("Transpose", k, perm=[0, 2, 1]))
    y = g.linear(g.node("MatMul", g.node("Softmax", y, axis=-1), v), name + ".to_out.0", channels, channels)
    y = g.node("Reshape", g.node("Transpose", y, perm=[0, 2, 1]), g.ints(0, channels, LATENT, LATENT))
    return resnet(g, g.node("Add", x, y), end, channels, channels, 1e-6)


def encoder(g, size):
    inputs = size.vae[0]
    x = g.conv("picture", "encoder.conv_in", 3, inputs)
    for p, outputs in enumerate(size.vae):
        part = f"encoder.down_blocks.{p}"
        for i in range(size.blocks):
            x = resnet(g, x, f"{part}.resnets.{i}", inputs, outputs, 1e-6)
            inputs = outputs
        if p < PARTS - 1:  # it pads on the right and below only
            x = g.conv(x, part + ".downsamplers.0.conv", outputs, outputs, stride=2, pads=[0, 0, 1, 1])
    x = g.group_norm(middle(g, x, "encoder.mid_block", inputs), "encoder.conv_norm_out", inputs, 1e-6)
    # The last two convolutions are one. Of the result, only the scaled mean is wanted.
    weight, bias = g.state.take("encoder.conv_out.weight", 8, inputs, 3, 3), g.state.take("encoder.conv_out.bias", 8)
    mix, add = g.state.take("quant_conv.weight", 8, 8, 1, 1), g.state.take("quant_conv.bias", 8)

    def mean():
        return SCALE * mix()[:4, :, 0, 0].astype(np.float64)

    g.conv(x, "mean", inputs, 4, weight=lambda: np.tensordot(mean(), weight(), 1), bias=lambda: mean() @ bias() + SCALE * add()[:4])
    return [("picture", 3, 8 * LATENT, 8 * LATENT)], ("latent", 4, LATENT, LATENT)


def decoder(g, size):
    inputs = size.vae[-1]
    mix = g.state.take("post_quant_conv.weight", 4, 4, 1, 1)
    x = g.conv("latent", "post_quant_conv", 4, 4, 1, weight=lambda: mix() / SCALE)
    x = middle(g, g.conv(x, "decoder.conv_in", 4, inputs), "decoder.mid_block", inputs)
    for p, outputs in enumerate(reversed(size.vae)):
        part = f"decoder.up_blocks.{p}"
        for i in range(size.blocks + 1):
            x = resnet(g, x, f"{part}.resnets.{i}", inputs, outputs, 1e-6)
            inputs = outputs
        if p < PARTS - 1:
            x = g.upsample(x, part + ".upsamplers.0.conv", outputs, outputs)
    x = g.group_norm(x, "decoder.conv_norm_out", inputs, 1e-6)
    weight, bias = g.state.take("decoder.conv_out.weight", 3, inputs, 3, 3), g.state.take("decoder.conv_out.bias", 3)
    g.conv(x, "decoder.conv_out", inputs, 3, weight=lambda: weight() / 2, bias=lambda: bias() / 2 + .5)  # from -1..1 to 0..1
    return [("latent", 4, LATENT, LATENT)], ("picture", 3, 8 * LATENT, 8 * LATENT)


def hearing(g, size):
    d = size.d

    def conv(x, name, inputs, stride):
        weight, bias = g.taken(name + ".weight", d, inputs, 3), g.taken(name + ".bias", d)
        return g.node("Gelu", g.node("Conv", x, weight, bias, kernel_shape=[3], strides=[stride], pads=[1, 1]))

    x = g.node("Transpose", conv(conv("mel", "conv1", MELS, 1), "conv2", d, 2), perm=[0, 2, 1])
    x = g.node("Add", x, g.taken("embed_positions.weight", STEPS, d))
    states = [x]
    for i in range(LAYERS):
        name = f"layers.{i}."
        y = g.layer_norm(x, name + "self_attn_layer_norm", d)
        q, k, v = (g.linear(y, f"{name}self_attn.{kind}_proj", d, d, kind != "k") for kind in "qkv")
        x = g.node("Add", x, g.linear(g.attention(q, k, v, size.heads), name + "self_attn.out_proj", d, d))
        y = g.linear(g.layer_norm(x, name + "final_layer_norm", d), name + "fc1", d, size.inner)
        x = g.node("Add", x, g.linear(g.node("Gelu", y), name + "fc2", size.inner, d))
        states.append(x)
    states[-1] = g.layer_norm(x, "layer_norm", d)
    g.node("Concat", *(g.node("Unsqueeze", state, g.ints(2)) for state in states), axis=2)
    return [("mel", MELS, 2 * STEPS)], ("states", STEPS, LAYERS + 1, d)
