"""Uses the tools of the service as an assistant does, by the SDK of the Model Context Protocol, and prints the transcript."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

program, url, key, video, audio, output = sys.argv[1:]


async def notice(progress, total, message):
    print(f"    {message} {progress:.0f} of {total:.0f}")


async def call(session, tool, **arguments):
    print(f"{tool} {json.dumps(arguments)}")
    result = await session.call_tool(tool, arguments, progress_callback=notice)
    text = result.content[0].text
    print(("  error: " if result.is_error else "  → ") + text)
    try:
        return json.loads(text)
    except ValueError:
        return None


async def begin(session):
    await session.initialize()
    tools = await session.list_tools()
    print("tools: " + ", ".join(sorted(tool.name for tool in tools.tools)))


async def use(session):
    await begin(session)
    made = await call(session, "create", video=video, audio=audio, idempotency_key="talk", options={"sync_mode": "loop"})
    request = made
    while request["status"] in ("queued", "processing"):
        request = await call(session, "get", id=made["id"], wait_seconds=50, save_to=output)
    await call(session, "cancel", id=made["id"])
    await call(session, "create", video=video, audio=audio, options={"mode": "loop"})
    await call(session, "list", limit=1)


async def main():
    server = StdioServerParameters(command=program, args=["mcp"], env={"LIPSYNC_URL": url, "LIPSYNC_KEY": key})
    async with stdio_client(server) as (read, write):
        async with ClientSession(read, write) as session:
            await use(session)
    headers = {"Authorization": f"Bearer {key}"}
    for path in ("/mcp", "/api/mcp"):
        async with create_mcp_http_client(headers=headers) as http, streamable_http_client(url + path, http_client=http) as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                await begin(session)
                await call(session, "list", limit=1)


asyncio.run(main())
