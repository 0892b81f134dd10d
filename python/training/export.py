"""A policy of stable-baselines3 as an ONNX file that `--scheme onnx:FILE` plays."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy
import onnx
import shape
from onnx import TensorProto, helper, numpy_helper


def export(
    weights: list[tuple[Any, Any]], mean: Any, deviation: Any, clip: float, path: pathlib.Path, about: str
) -> None:
    """``weights`` are matrix and bias of each layer; ``mean``, ``deviation`` and ``clip`` normalise what is seen."""
    # Relating and normalising are one product.
    relate = shape.RELATE / deviation
    constants = {
        "look": shape.LOOK,
        "floor": shape.FLOOR[None, :],
        "relate": relate,
        "centre": -mean / deviation,
        "least": numpy.float32(-clip),
        "most": numpy.float32(clip),
        "pick_base": numpy.eye(shape.SEEN, dtype=numpy.float32)[:, -1:] * shape.REACH,
        "reach": numpy.full((1, 1), shape.REACH),
        "begin": numpy.full((1, 1), -shape.REACH * numpy.log(shape.LOW) - 1),
        "minus_one": numpy.float32(-1),
        "one": numpy.float32(1),
    }
    nodes = [
        node("MatMul", ["observation", "look"], "looked"),
        node("Relu", ["looked"], "positive"),
        node("Add", ["positive", "floor"], "floored"),
        node("Log", ["floored"], "logarithms"),
        node("Gemm", ["logarithms", "relate", "centre"], "normal"),
        node("Clip", ["normal", "least", "most"], "layer0"),
    ]
    for place, (matrix, bias) in enumerate(weights):
        constants |= {f"matrix{place}": matrix.T, f"bias{place}": bias}
        last = place == len(weights) - 1
        out = "sum" if last else f"sum{place}"
        nodes.append(node("Gemm", [f"layer{place}", f"matrix{place}", f"bias{place}"], out))
        if not last:
            nodes.append(node("Tanh", [out], f"layer{place + 1}"))
    nodes += [
        node("Clip", ["sum", "minus_one", "one"], "answer"),
        node("Mul", ["answer", "reach"], "above"),
        node("MatMul", ["logarithms", "pick_base"], "base"),
        node("Add", ["base", "begin"], "from_low"),
        node("Add", ["from_low", "above"], "unbounded"),
        node("Clip", ["unbounded", "minus_one", "one"], "action"),
    ]
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info("observation", TensorProto.FLOAT, [1, 9 * shape.PLACES])],
        [helper.make_tensor_value_info("action", TensorProto.FLOAT, [1, 1])],
        [numpy_helper.from_array(numpy.asarray(value, numpy.float32), name) for name, value in constants.items()],
        doc_string=about,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8, producer_name="thalweg")
    terms = {"thalweg.observation": "mowgli", "thalweg.action": "rate", "thalweg.interval": "60ms"}
    helper.set_model_props(model, terms)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def node(operation: str, inputs: list[str], output: str) -> onnx.NodeProto:
    """A node with the name of its output: evaluators want names that no other node and no constant has."""
    return helper.make_node(operation, inputs, [output], output)
