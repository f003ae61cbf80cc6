"""Makes every call of the API by a client that a generator made of its document."""

import json
import os
import sys
import time
from importlib import import_module
from pkgutil import walk_packages
from urllib.request import Request, urlopen

import lipsync_client
from lipsync_client import api, models

generator, url, key, video, audio, receiver = sys.argv[1:]


class OpenAPIPythonClient:
    """The calls as openapi-python-client makes them: a module for each, which returns errors."""

    def __init__(self):
        self.client = lipsync_client.AuthenticatedClient(base_url=url + "/api", token=key)
        self.modules = {found.name.split(".")[-1]: found.name for found in walk_packages(api.__path__, "lipsync_client.api.")}

    def call(self, name, *id, **options):
        return import_module(self.modules[name]).sync(*id, client=self.client, **options)

    def send(self, name, body, **options):
        return self.call(name, body=body, **options)

    def send_files(self, video, audio, **fields):
        from lipsync_client.types import File

        with open(video, "rb") as v, open(audio, "rb") as a:
            form = models.MediaForm(video=File(v, "video.mp4"), audio=File(a, "speech.wav"), **fields)
            return self.send("generate_with_media", form)

    def read(self, name):
        return import_module(self.modules[name]).sync_detailed(client=self.client).content

    def error_of(self, name, *ids):
        return self.call(name, *ids).error


class OpenAPIGenerator:
    """The calls as openapi-generator makes them: a method for each, which raises errors."""

    def __init__(self):
        client = lipsync_client.ApiClient(lipsync_client.Configuration(host=url + "/api", access_token=key))
        self.apis = [getattr(api, name)(client) for name in ("AccountApi", "BatchesApi", "DeletionApi", "EstimatesApi", "LipSyncApi", "ServiceApi", "UploadsApi", "WebhooksApi")]

    def call(self, name, *arguments, **options):
        return next(getattr(found, name) for found in self.apis if hasattr(found, name))(*arguments, **options)

    send = call

    def send_files(self, video, audio, **fields):
        return self.call("generate_with_media", video, audio, **fields)

    def read(self, name):
        return self.call(name + "_without_preload_content").read()

    def error_of(self, name, *ids):
        try:
            return self.call(name, *ids)
        except lipsync_client.ApiException as refusal:
            return json.loads(refusal.body)["error"]


client = {"openapi-python-client": OpenAPIPythonClient, "openapi-generator": OpenAPIGenerator}[generator]()


def want(what, got, expected):
    if got != expected:
        sys.exit(f"{what}: got {got!r}, want {expected!r}")


def upload(kind, path):
    """Sends a file and returns the input that names it."""
    size = os.path.getsize(path)
    body = {"type": kind, "size": size, "content_type": "application/octet-stream", "file_name": os.path.basename(path)}
    made = client.send("create_upload", models.UploadBody.from_dict(body))
    with open(path, "rb") as file:
        headers = {**made.to_dict()["headers"], "Content-Length": str(size)}
        urlopen(Request(made.upload_url, data=file, headers=headers, method="PUT")).close()
    return {"type": kind, "url": made.url}


def finished(id, call="get_request"):
    while True:
        request = client.call(call, id)
        if request.status in ("completed", "failed"):
            return request
        time.sleep(0.5)


want("health", client.call("health").status, "ok")
want("document", client.read("document")[:14], b"openapi: 3.1.0")
want("document", client.call("document_json").openapi, "3.1.0")
want("overview", client.read("overview")[:18], b"# Lip Sync Service")
want("guide", client.read("guide")[:11], b"# API guide")
want("me", client.call("me").name, "test")
want("models", client.call("list_models").data[0].name, "warp")

body = {"inputs": [upload("video", video), upload("audio", audio)], "reference_id": "named"}
body["options"] = {"voice_gain": 0.5, "duck": True, "sync_mode": None, "preview": {"start": 0, "seconds": 10}}
made = client.send("generate", models.GenerateBody.from_dict(body), idempotency_key="once")
want("made", made.status, "success")
named = str(made.request_id)
request = finished(named)
want("named", (str(request.id), request.status, request.reference_id), (named, "completed", "named"))
want("times in order", request.created_at <= request.started_at <= request.finished_at, True)
with urlopen(request.output_url) as answer:
    want("output", answer.status, 200)

sent = client.send_files(video, audio, reference_id="sent")
canceled = client.call("cancel_request", str(sent.request_id))
want("canceled", (canceled.status, canceled.error_message), ("failed", "canceled by the client"))
want("progress", client.call("get_progress", "named").percent, 100)
details = client.call("get_details", named)
want("details", (details.engine, details.attempts), ("warp", 1))
want("options", (details.options.voice_gain, details.options.duck, details.options.preview.seconds), (0.5, True, 10))
estimate = client.send("estimate", models.GenerateBody.from_dict(body))
found = finished(str(estimate.id), "get_estimate")
want("estimate", (found.status, found.problems, found.queue_position), ("completed", [], 1))
want("estimated times", found.output_seconds > 0 and found.frames > 0 and found.eta_seconds >= found.estimated_seconds > 0, True)
analysis = client.send("analyze", models.AnalyzeBody.from_dict({"url": body["inputs"][0]["url"]}))
found = finished(str(analysis.id), "get_analysis")
want("analysis", (found.status, len(found.faces)), ("completed", 1))
want("analysis deleted", bool(client.call("delete_analysis", str(analysis.id)).faces), False)
want("deleted", client.call("delete_media", named).status, "completed")
want("deleted at", client.call("get_details", named).media_deleted_at >= request.finished_at, True)
want("erased", client.call("erase_request", str(analysis.id)).erased, 1)

hook = client.send("create_webhook", models.WebhookBody.from_dict({"url": receiver, "events": ["lipsync.failed"]}))
want("webhook", (hook.secret[:6], client.call("get_webhook", str(hook.id)).events), ("whsec_", ["lipsync.failed"]))
want("rotated", client.call("rotate_webhook", str(hook.id)).secret != hook.secret, True)
want("enabled", str(client.call("enable_webhook", str(hook.id)).id), str(hook.id))
want("webhooks", [str(w.id) for w in client.call("list_webhooks").data], [str(hook.id)])
test = client.call("test_webhook", str(hook.id))
while client.call("list_deliveries", str(hook.id), limit=1).data[0].status != "delivered":
    time.sleep(0.1)
want("redeliver", client.call("redeliver", str(hook.id), test.id).id, test.id)
want("redeliver all", client.call("redeliver_all", str(hook.id)).more, False)
want("no delivery", client.error_of("redeliver", str(hook.id), "x"), "delivery not found")
want("webhook deleted", str(client.call("delete_webhook", str(hook.id)).id), str(hook.id))

page = client.call("list_requests", limit=1, status=models.Status("completed"))
want("list", ([str(r.id) for r in page.data], page.pagination.total), ([named], 1))
want("unknown", client.error_of("get_request", "unknown"), "lipsync request not found")
want("account erased", client.call("erase_account").more, False)

lines = {"video": upload("video", video)["url"], "variants": [{"audio": upload("audio", audio)["url"], "options": {"duck": True}}, {"audio": "upload://x"}]}
checked = client.send("create_batch", models.BatchBody.from_dict({**lines, "dry_run": True}))
want("checked", (checked.counts.refused, checked.problems[0].line, checked.problems[0].message), (1, 2, "audio upload does not exist"))
lines["variants"].pop()
batch = client.send("create_batch", models.BatchBody.from_dict(lines), idempotency_key="batch")
want("batch", (batch.counts.lines, len(batch.lines)), (1, 1))
want("its request", finished(str(batch.lines[0].request_id)).status, "completed")
want("batch read", client.call("get_batch", str(batch.id)).counts.completed, 1)
want("batches", [str(b.id) for b in client.call("list_batches", limit=1).data], [str(batch.id)])
stopped = client.send("create_batch", models.BatchBody.from_dict({**lines, "variants": lines["variants"] * 50}))
want("batch canceled", client.call("cancel_batch", str(stopped.id)).counts.lines, 50)
