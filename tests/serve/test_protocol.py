"""The Open Inference Protocol, what models say of themselves, and what is counted."""

import json
import struct

import numpy as np
import pytest
from tests.checks.record_laws import records_of

import lyceum


def tensors(server, frame, name="credit"):
    about = server.get(f"/v2/models/{name}")
    return [
        {
            **tensor,
            "shape": [len(frame)],
            "data": [record[tensor["name"]] for record in records_of(frame)],
        }
        for tensor in about["inputs"]
    ]


def test_health_and_metadata(server):
    assert server.ask("GET", "/v2/health/live")[0] == 200
    assert server.ask("GET", "/v2/health/ready")[0] == 200
    assert server.ask("GET", "/v2/models/credit/ready")[0] == 200
    assert server.ask("GET", "/v2/models/nobody/ready")[0] == 404
    about = server.get("/v2")
    assert about["name"] == "lyceum"
    assert "lyceum_explain" in about["extensions"]
    model = server.get("/v2/models/credit")
    assert len(model["inputs"]) == 20
    assert {tensor["datatype"] for tensor in model["inputs"]} == {"BYTES", "FP64"}
    assert [tensor["name"] for tensor in model["outputs"]] == [
        "predicted",
        "probabilities",
    ]


def test_infer_gives_what_the_model_predicts(server, models, credit):
    frame = credit.drop(columns="class").iloc[:7]
    model = lyceum.load(models / "credit.lyceum")
    asked = {"id": "42", "inputs": tensors(server, frame)}
    answer = server.post("/v2/models/credit/infer", asked)
    outputs = {output["name"]: output for output in answer["outputs"]}
    rows = lyceum.scan(frame)
    assert answer["id"] == "42"
    assert outputs["predicted"]["data"] == model.predict(rows).tolist()
    assert outputs["probabilities"]["shape"] == [7, 2]
    assert (
        outputs["probabilities"]["data"] == model.predict_proba(rows).ravel().tolist()
    )
    asked["outputs"] = [{"name": "predicted"}]
    answer = server.post("/v2/models/credit/infer", asked)
    assert [output["name"] for output in answer["outputs"]] == ["predicted"]


def test_binary_tensors_are_json_s(server, credit):
    frame = credit.drop(columns="class").iloc[:3]
    inputs = tensors(server, frame)
    plain = server.post("/v2/models/credit/infer", {"inputs": inputs})
    parts = []
    for tensor in inputs:
        data = tensor.pop("data")
        if tensor["datatype"] == "BYTES":
            texts = [str(text).encode() for text in data]
            part = b"".join(struct.pack("<I", len(text)) + text for text in texts)
        else:
            part = np.array(data, dtype="<f8").tobytes()
        tensor["parameters"] = {"binary_data_size": len(part)}
        parts.append(part)
    wanted = {"name": "probabilities", "parameters": {"binary_data": True}}
    head = json.dumps({"inputs": inputs, "outputs": [wanted]}).encode()
    status, headers, data = server.ask(
        "POST",
        "/v2/models/credit/infer",
        b"".join([head, *parts]),
        kind="application/octet-stream",
        Inference_Header_Content_Length=str(len(head)),
    )
    assert status == 200, data
    length = int(headers["Inference-Header-Content-Length"])
    assert json.loads(data[:length])["outputs"][0]["shape"] == [3, 2]
    shares = np.frombuffer(data[length:], dtype="<f8").tolist()
    assert shares == plain["outputs"][1]["data"]


def test_a_public_client_understands_it(server, models, credit):
    client_of = pytest.importorskip(
        "tritonclient.http", reason="tritonclient[http] is not installed"
    )
    client = client_of.InferenceServerClient(f"{server.host}:{server.port}")
    assert client.is_server_live()
    assert client.is_server_ready()
    assert client.is_model_ready("credit")
    frame = credit.drop(columns="class").iloc[:5]
    inputs = []
    for about in client.get_model_metadata("credit")["inputs"]:
        cells = frame[about["name"]].to_numpy()
        if about["datatype"] == "BYTES":
            cells = cells.astype(str).astype(np.object_)
        else:
            cells = cells.astype(np.float64)
        tensor = client_of.InferInput(about["name"], [5], about["datatype"])
        tensor.set_data_from_numpy(cells)
        inputs.append(tensor)
    result = client.infer("credit", inputs)
    model = lyceum.load(models / "credit.lyceum")
    rows = lyceum.scan(frame)
    predicted = [label.decode() for label in result.as_numpy("predicted")]
    assert predicted == model.predict(rows).tolist()
    shares = result.as_numpy("probabilities")
    assert shares.tolist() == model.predict_proba(rows).tolist()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda asked: asked.pop("inputs"), "list of inputs"),
        (lambda asked: asked["inputs"].pop(), "send every column"),
        (lambda asked: asked["inputs"][0].update(shape=[9]), "shape"),
        (lambda asked: asked["inputs"][0].update(shape=[2, 2]), "shape"),
        (lambda asked: asked["inputs"][0].update(data="x"), "is a list"),
        (lambda asked: asked["inputs"][0].update(data=[[1], 2]), "unevenly"),
        (lambda asked: asked.update(outputs=[{"name": "x"}]), "no output 'x'"),
        (
            lambda asked: asked["inputs"][0].update(
                parameters={"binary_data_size": 99}
            ),
            "bytes",
        ),
    ],
)
def test_what_is_no_request_gets_a_sentence(change, said, server, credit):
    asked = {"inputs": tensors(server, credit.drop(columns="class").iloc[:2])}
    change(asked)
    status, _, answer = server.ask("POST", "/v2/models/credit/infer", asked)
    assert status == 400
    assert said in answer["error"]


def test_models_describe_themselves(server):
    listed = server.get("/models")["models"]
    assert {model["name"] for model in listed} == {"credit", "costly", "mass"}
    about = server.get("/models/costly")
    assert about["loss"] == {
        "bad": {"bad": 0.0, "good": 5.0},
        "good": {"bad": 1.0, "good": 0.0},
    }
    assert about["doubt"] == 0.4
    assert about["training_rows"] == 1000
    assert about["target"] == "class"
    answer = server.post("/models/costly/predict", about["example"])
    assert answer["warnings"] == []  # the example is a typical record


def test_openapi_has_the_real_columns(server, credit):
    made = server.get("/openapi.json")
    assert made["openapi"] == "3.1.0"
    record = made["components"]["schemas"]["credit.record"]
    assert record["required"] == list(credit.columns.drop("class"))
    assert "/models/credit/predict" in made["paths"]
    names = [name for name in credit if credit[name].dtype.kind == "i"]
    low, high = record["properties"][names[0]]["x-range"]
    assert (low, high) == (credit[names[0]].min(), credit[names[0]].max())
    # every reference leads somewhere
    for part in json.dumps(made).split('"$ref": "#/components/schemas/')[1:]:
        assert part.partition('"')[0] in made["components"]["schemas"]


def test_the_page_is_whole_and_asks_nobody_else(server):
    for path in ("/", "/page.js", "/page.css"):
        status, headers, data = server.ask("GET", path)
        assert status == 200
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert b"http://" not in data.replace(b"http://www.w3.org/2000/svg", b"")
        assert b"https://" not in data
        assert b"innerHTML" not in data
        assert b"style=" not in data
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_requests_are_counted_and_logged(server, credit):
    record = records_of(credit.drop(columns="class").iloc[[0]])[0]
    server.post("/models/credit/predict", record)
    text = server.get("/metrics").decode()
    count = [
        line for line in text.splitlines() if 'verb="predict",status="200"' in line
    ]
    assert count
    assert "lyceum_request_seconds_bucket" in text
    assert 'lyceum_rows_total{model="credit"' in text
    lines = [json.loads(line) for line in server.log.read_text().splitlines()]
    last = [line for line in lines if line["path"] == "/models/credit/predict"][-1]
    assert last.keys() == {"time", "client", "method", "path", "status", "bytes", "ms"}
    assert (last["method"], last["status"]) == ("POST", 200)
