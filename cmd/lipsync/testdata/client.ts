// Makes every call of the API by openapi-fetch, whose types openapi-typescript made of its document.
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

const [url, key, video, audio] = process.argv.slice(2) as [string, string, string, string];
const client = createClient<paths>({ baseUrl: `${url}/api`, headers: { Authorization: `Bearer ${key}` } });

function want(what: string, got: unknown, expected: unknown) {
  if (JSON.stringify(got) !== JSON.stringify(expected)) throw new Error(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(expected)}`);
}

// good returns the data of an answer that is no error.
async function good<T>(call: Promise<{ data?: T; error?: { error: string } }>): Promise<T> {
  const { data, error } = await call;
  if (error || data === undefined) throw new Error(error?.error ?? "no data");
  return data;
}

// upload sends a file and returns the input that names it.
async function upload(type: "video" | "audio", path: string): Promise<components["schemas"]["Input"]> {
  const body = await readFile(path);
  const made = await good(client.POST("/v1/uploads", {
    body: { type, size: body.length, content_type: "application/octet-stream", file_name: basename(path) },
  }));
  const sent = await fetch(made.upload_url, { method: "PUT", headers: made.headers, body });
  want("upload", sent.status, 200);
  return { type, url: made.url };
}

async function finished(id: string) {
  for (;;) {
    const request = await good(client.GET("/v1/lipsync/requests/{id}", { params: { path: { id } } }));
    if (request.status === "completed" || request.status === "failed") return request;
    await new Promise((next) => setTimeout(next, 500));
  }
}

want("health", await good(client.GET("/health")), { status: "ok" });
want("document", (await good(client.GET("/openapi.json"))).openapi, "3.1.0");
want("document", (await good(client.GET("/openapi.yaml", { parseAs: "text" }))).slice(0, 14), "openapi: 3.1.0");
want("me", await good(client.GET("/v1/users/me")), { name: "test" });
want("models", (await good(client.GET("/v1/models"))).data[0], { name: "warp", default: true });

const inputs = [await upload("video", video), await upload("audio", audio)];
const { request_id: id } = await good(client.POST("/v1/lipsync/generate", {
  params: { header: { "Idempotency-Key": "once" } },
  body: { inputs, reference_id: "named", disable_active_speaker_detection: false },
}));
const request = await finished(id);
want("named", [request.id, request.status, request.reference_id], [id, "completed", "named"]);
want("output", (await fetch(request.output_url!)).status, 200);

const form = new FormData();
form.set("video", new Blob([await readFile(video)]), "video.mp4");
form.set("audio", new Blob([await readFile(audio)]), "speech.wav");
const sent = await good(client.POST("/v1/lipsync/generate-with-media", {
  body: { video: "", audio: "", disable_active_speaker_detection: "false" }, bodySerializer: () => form,
}));
const byID = { params: { path: { id } } };
const canceled = await good(client.DELETE("/v1/lipsync/requests/{id}", { params: { path: { id: sent.request_id } } }));
want("canceled", [canceled.status, canceled.error_message], ["failed", "canceled by the client"]);
want("progress", (await good(client.GET("/v1/lipsync/requests/{id}/progress", byID))).percent, 100);
want("details", (await good(client.GET("/v1/lipsync/requests/{id}/details", byID))).engine, "warp");
want("deleted", (await good(client.DELETE("/v1/lipsync/requests/{id}/media", byID))).output_url, undefined);

const page = await good(client.GET("/v1/lipsync/requests", { params: { query: { limit: 1, status: "completed" } } }));
want("list", [page.data.map((r) => r.id), page.pagination.total], [[id], 1]);
const unknown = await client.GET("/v1/lipsync/requests/{id}", { params: { path: { id: "unknown" } } });
want("unknown", [unknown.response.status, unknown.error], [404, { error: "lipsync request not found" }]);
console.log("every call was made");
