// Makes every call of the API by the client that openapi-generator made of its document.
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { AccountApi, BatchesApi, Configuration, DeletionApi, EstimatesApi, EventType, LipSyncApi, MediaKind, ResponseError, ServiceApi, Status, UploadsApi, WebhooksApi } from "./index.js";
import type { Input, LipsyncRequest } from "./index.js";

const [url, key, video, audio, receiver] = process.argv.slice(2) as [string, string, string, string, string];
const configuration = new Configuration({ basePath: `${url}/api`, accessToken: key });
const service = new ServiceApi(configuration);
const lipSync = new LipSyncApi(configuration);

function want(what: string, got: unknown, expected: unknown) {
  if (!isDeepStrictEqual(got, expected)) throw new Error(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(expected)}`);
}

// upload sends a file and returns the input that names it.
async function upload(type: MediaKind, path: string): Promise<Input> {
  const body = await readFile(path);
  const made = await new UploadsApi(configuration).createUpload({
    uploadBody: { type, size: body.length, contentType: "application/octet-stream", fileName: basename(path) },
  });
  const sent = await fetch(made.uploadUrl, { method: "PUT", headers: made.headers, body });
  want("upload", sent.status, 200);
  return { type, url: made.url };
}

async function finished(id: string): Promise<LipsyncRequest> {
  for (;;) {
    const request = await lipSync.getRequest({ id });
    if (request.status === Status.Completed || request.status === Status.Failed) return request;
    await new Promise((next) => setTimeout(next, 500));
  }
}

want("health", await service.health(), { status: "ok" });
want("document", (await (await service.documentRaw()).raw.text()).slice(0, 14), "openapi: 3.1.0");
want("document", (await service.documentJSON()).openapi, "3.1.0");
want("overview", (await (await service.overviewRaw()).raw.text()).slice(0, 18), "# Lip Sync Service");
want("guide", (await (await service.guideRaw()).raw.text()).slice(0, 11), "# API guide");
want("me", await new AccountApi(configuration).me(), { name: "test" });
const { name, _default, needs, secondsPerMinute } = (await lipSync.listModels()).data[0]!;
want("models", [name, _default, needs, secondsPerMinute], ["warp", true, undefined, undefined]);

const inputs = [await upload(MediaKind.Video, video), await upload(MediaKind.Audio, audio)];
const options = { voiceGain: 0.5, duck: true, syncMode: null, preview: { start: 0, seconds: 10 } };
const { requestId: id, status } = await lipSync.generate({
  idempotencyKey: "once",
  generateBody: { inputs, referenceId: "named", disableActiveSpeakerDetection: false, options },
});
want("made", status, "success");
const request = await finished(id);
want("named", [request.id, request.status, request.referenceId], [id, "completed", "named"]);
want("times in order", request.createdAt <= request.startedAt! && request.startedAt! <= request.finishedAt!, true);
want("output", (await fetch(request.outputUrl!)).status, 200);

const sent = await lipSync.generateWithMedia({
  video: new File([await readFile(video)], "video.mp4"), audio: new File([await readFile(audio)], "speech.wav"), referenceId: "sent",
});
const canceled = await lipSync.cancelRequest({ id: sent.requestId });
want("canceled", [canceled.status, canceled.errorMessage], ["failed", "canceled by the client"]);
want("progress", (await lipSync.getProgress({ id: "named" })).percent, 100);
const details = await lipSync.getDetails({ id });
want("details", details.engine, "warp");
want("options", [details.options?.voiceGain, details.options?.preview?.seconds].join(), "0.5,10");
const estimates = new EstimatesApi(configuration);
const estimate = await estimates.estimate({ generateBody: { inputs } });
let estimated = await estimates.getEstimate({ id: estimate.id });
for (; !estimated.finishedAt; estimated = await estimates.getEstimate({ id: estimate.id })) await new Promise((next) => setTimeout(next, 500));
want("estimate", [estimated.status, estimated.problems?.length, estimated.queuePosition].join(), "completed,0,1");
want("estimated times", estimated.etaSeconds! >= estimated.estimatedSeconds! && estimated.frames! > 0, true);
const analysis = await lipSync.analyze({ analyzeBody: { url: inputs[0].url } });
let found = await lipSync.getAnalysis({ id: analysis.id });
for (; !found.finishedAt; found = await lipSync.getAnalysis({ id: analysis.id })) await new Promise((next) => setTimeout(next, 500));
want("analysis", [found.status, found.faces?.length].join(), "completed,1");
want("analysis deleted", (await lipSync.deleteAnalysis({ id: analysis.id })).faces, undefined);
const deletion = new DeletionApi(configuration);
want("deleted", (await deletion.deleteMedia({ id })).outputUrl, undefined);
want("erased", (await deletion.eraseRequest({ id: analysis.id })).erased, 1);

const hooks = new WebhooksApi(configuration);
const hook = await hooks.createWebhook({ webhookBody: { url: receiver, events: [EventType.LipsyncFailed] } });
want("webhook", [hook.secret.slice(0, 6), (await hooks.getWebhook({ id: hook.id })).events.join()], ["whsec_", "lipsync.failed"]);
want("rotated", (await hooks.rotateWebhook({ id: hook.id })).secret !== hook.secret, true);
want("enabled", (await hooks.enableWebhook({ id: hook.id })).id, hook.id);
want("webhooks", (await hooks.listWebhooks()).data.map((w) => w.id), [hook.id]);
const test = await hooks.testWebhook({ id: hook.id });
while ((await hooks.listDeliveries({ id: hook.id, limit: 1 })).data[0].status !== "delivered") await new Promise((next) => setTimeout(next, 100));
want("redeliver", (await hooks.redeliver({ id: hook.id, delivery: test.id })).id, test.id);
want("redeliver all", (await hooks.redeliverAll({ id: hook.id })).more, false);
want("webhook deleted", (await hooks.deleteWebhook({ id: hook.id })).id, hook.id);

const page = await lipSync.listRequests({ limit: 1, status: Status.Completed });
want("list", [page.data.map((r) => r.id), page.pagination.total], [[id], 1]);
const unknown = await lipSync.getRequest({ id: "unknown" }).catch((refusal: ResponseError) => refusal.response);
want("unknown", unknown instanceof Response && [unknown.status, await unknown.json()], [404, { error: "lipsync request not found" }]);
want("account erased", (await deletion.eraseAccount()).more, false);

const batches = new BatchesApi(configuration);
const speech = await upload(MediaKind.Audio, audio);
const batchBody = { video: (await upload(MediaKind.Video, video)).url, variants: [{ audio: speech.url, options: { duck: true } }] };
const checked = await batches.createBatch({ batchBody: { ...batchBody, dryRun: true } });
want("checked", [checked.counts.lines, checked.problems], [1, []]);
const batch = await batches.createBatch({ batchBody });
const line = batch.lines![0];
want("its request", (await finished(line.requestId!)).status, "completed");
want("batch read", (await batches.getBatch({ id: batch.id! })).counts.completed, 1);
want("batches", (await batches.listBatches({ limit: 1 })).data.map((b) => b.id), [batch.id]);
const stopped = await batches.createBatch({ batchBody: { ...batchBody, variants: Array(50).fill(batchBody.variants[0]) } });
want("batch canceled", (await batches.cancelBatch({ id: stopped.id! })).counts.lines, 50);
