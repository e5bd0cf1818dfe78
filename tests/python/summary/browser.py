"""Chromium without a window, asked for what its pages show, over its DevTools protocol."""
import asyncio
import contextlib
import json
import shutil
import subprocess
import time
import urllib.parse
import urllib.request

# All text of a page, that inside of its components (shadow roots) too.
DEEP_TEXT = """(function text(node) {
  let all = '';
  for (const child of [...(node.shadowRoot ? [node.shadowRoot] : []), ...node.childNodes]) {
    if (child.nodeType === Node.TEXT_NODE) all += child.data + ' ';
    else if (!['STYLE', 'SCRIPT', 'TEMPLATE'].includes(child.tagName)) all += text(child);
  }
  return all;
})(document.body).replace(/\\s+/g, ' ')"""
# [width, height] of all pictures that are loaded.
PICTURES = """(function find(node) {
  let all = [];
  for (const child of [...(node.shadowRoot ? [node.shadowRoot] : []), ...node.childNodes]) {
    if (child.tagName === 'IMG' && child.naturalWidth) all.push([child.naturalWidth, child.naturalHeight]);
    all = all.concat(find(child));
  }
  return all;
})(document.body)"""


def executable():
    """Chromium's path, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@contextlib.contextmanager
def opened(profile):
    """Chromium with a profile directory of its own; gives the address of its DevTools."""
    process = subprocess.Popen(
        [executable(), "--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1600,1200",
         "--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank"],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        for line in process.stderr:
            if "DevTools listening on ws://" in line:
                yield line.split("ws://")[1].split("/")[0]
                break
        else:
            raise RuntimeError("Chromium did not start")
    finally:
        process.kill()
        process.stderr.close()
        process.wait()


def ask(address, url, expression, until, seconds=60):
    """Opens a page and evaluates a JavaScript expression until `until(value)` is true; returns the value.
    AssertionError with the last value if that does not come."""
    request = urllib.request.Request(f"http://{address}/json/new?{urllib.parse.quote(url, safe=':/')}", method="PUT")
    with urllib.request.urlopen(request, timeout=30) as answer:
        page = json.load(answer)["webSocketDebuggerUrl"]
    return asyncio.run(_ask(page, expression, until, time.time() + seconds))


async def _ask(page, expression, until, deadline):
    import aiohttp
    message = {"id": 1, "method": "Runtime.evaluate", "params": {"expression": expression, "returnByValue": True}}
    value = None
    async with aiohttp.ClientSession() as http, http.ws_connect(page, max_msg_size=0) as socket:
        while time.time() < deadline:
            await socket.send_json(message)
            value = (await socket.receive_json())["result"].get("result", {}).get("value")
            if value is not None and until(value):
                return value
            await asyncio.sleep(0.5)
    raise AssertionError(f"the page shows {value!r}")
