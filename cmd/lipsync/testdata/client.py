"""Makes every call of the API by the client that openapi-python-client made of its document."""

import os
import sys
import time
from urllib.request import Request, urlopen

from lip_sync_service_client import AuthenticatedClient
from lip_sync_service_client.api.account import me
from lip_sync_service_client.api.lip_sync import (
    cancel_request, delete_media, generate, generate_with_media, get_details, get_progress, get_request, list_models,
    list_requests,
)
from lip_sync_service_client.api.service import document_json, health
from lip_sync_service_client.api.uploads import create_upload
from lip_sync_service_client.models import Error, GenerateBody, Input, MediaForm, MediaKind, Status, UploadBody
from lip_sync_service_client.types import File

url, key, video, audio = sys.argv[1:]
client = AuthenticatedClient(base_url=url + "/api", token=key)


def want(what, got, expected):
    if got != expected:
        sys.exit(f"{what}: got {got!r}, want {expected!r}")


def upload(kind, path):
    """Sends a file and returns the input that names it."""
    size = os.path.getsize(path)
    made = create_upload.sync(
        client=client,
        body=UploadBody(type_=kind, size=size, content_type="application/octet-stream", file_name=os.path.basename(path)))
    with open(path, "rb") as file:
        headers = {**made.headers.to_dict(), "Content-Length": str(size)}
        urlopen(Request(made.upload_url, data=file, headers=headers, method="PUT")).close()
    return Input(type_=kind, url=made.url)


def finished(id):
    while True:
        request = get_request.sync(id, client=client)
        if request.status in (Status.COMPLETED, Status.FAILED):
            return request
        time.sleep(0.5)


want("health", health.sync(client=client).status, "ok")
want("document", document_json.sync(client=client).to_dict()["openapi"][:3], "3.1")
want("me", me.sync(client=client).name, "test")
want("models", list_models.sync(client=client).data[0].name, "warp")

inputs = [upload(MediaKind.VIDEO, video), upload(MediaKind.AUDIO, audio)]
named = generate.sync(client=client, body=GenerateBody(inputs=inputs, reference_id="named"), idempotency_key="once").request_id
request = finished(str(named))
want("named", (request.id, request.status, request.reference_id), (named, Status.COMPLETED, "named"))
want("times in order", request.created_at <= request.started_at <= request.finished_at, True)
with urlopen(request.output_url) as answer:
    want("output", answer.status, 200)

with open(video, "rb") as v, open(audio, "rb") as a:
    form = MediaForm(video=File(v, "video.mp4"), audio=File(a, "speech.wav"), reference_id="sent")
    sent = generate_with_media.sync(client=client, body=form).request_id
canceled = cancel_request.sync(str(sent), client=client)
want("canceled", (canceled.status, canceled.error_message), (Status.FAILED, "canceled by the client"))
want("progress", get_progress.sync("named", client=client).percent, 100)
details = get_details.sync(str(named), client=client)
want("details", (details.engine, details.attempts), ("warp", 1))
want("deleted", delete_media.sync(str(named), client=client).status, Status.COMPLETED)
want("deleted at", get_details.sync(str(named), client=client).media_deleted_at >= request.finished_at, True)

page = list_requests.sync(client=client, limit=1, status=Status.COMPLETED)
want("list", ([r.id for r in page.data], page.pagination.total), ([named], 1))
unknown = get_request.sync("unknown", client=client)
want("unknown", (isinstance(unknown, Error), unknown.error), (True, "lipsync request not found"))
print("every call was made")
