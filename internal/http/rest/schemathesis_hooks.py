"""Tells schemathesis how to send JSON Lines: as the text that the document describes."""

import schemathesis

schemathesis.serializer.alias(["application/jsonl", "application/x-ndjson"], "text/plain")
