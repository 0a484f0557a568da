"""A receiver for Python: WEBHOOK_SECRET=whsec_... python3 receiver.py"""
import base64, hashlib, hmac, json, os, re, sys, time, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

INBOX = os.environ.get("INBOX", "inbox")


def verify(body: bytes, header: str, secret: str, now: float) -> bool:
    """Whether the header X-Service-Signature was made with this secret, over these raw bytes, within 300 seconds."""
    pairs = [pair.split("=", 1) for pair in header.split(",") if "=" in pair]
    times = [value for name, value in pairs if name == "t"]
    signatures = [value for name, value in pairs if name == "v1"][:8]
    if not secret or len(header) > 4096 or len(times) != 1 or not re.fullmatch("[0-9]{1,12}", times[0]):
        return False
    expected = hmac.new(secret.encode(), times[0].encode() + b"." + body, hashlib.sha256).hexdigest()
    genuine = [hmac.compare_digest(expected.encode(), each.encode()) for each in signatures]
    return any(genuine) and abs(int(now) - int(times[0])) <= 300


def store(event_id: str, body: bytes) -> None:
    """Keeps an event once, whole or not at all. Do the work later, from there: 5 seconds are soon over.

    Leave a file of this name there after the work: the event can come again.
    """
    temporary = f"{INBOX}/.{event_id}.{uuid.uuid4()}"
    with open(temporary, "wb") as file:
        file.write(body)
    try:
        os.link(temporary, f"{INBOX}/{event_id}.json")
    except FileExistsError:
        pass  # it came before: answer 200 again
    finally:
        os.unlink(temporary)


def id_of(body: bytes) -> str:
    """The id of the event, or "" if it has none: the webhook's envelope is b."""
    try:
        event = json.loads(body)
    except ValueError:
        return ""
    event_id = event.get("id") if isinstance(event, dict) else None
    return event_id if isinstance(event_id, str) and re.fullmatch(r"evt_\w+", event_id) else ""


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length) if 0 <= length <= 1 << 20 else b""
        header = self.headers.get("X-Service-Signature", "")
        genuine = verify(body, header, os.environ["WEBHOOK_SECRET"], time.time())
        event_id = id_of(body) if genuine else ""
        if event_id:
            store(event_id, body)
        self.send_response(200 if event_id else 400)
        self.send_header("Content-Length", "0")
        self.end_headers()


if sys.argv[1:] == ["check"]:
    for line in map(json.loads, sys.stdin):
        print("ok" if verify(base64.b64decode(line["body"]), line["header"], line["secret"], line["now"]) else "refused")
else:
    os.makedirs(INBOX, exist_ok=True)
    ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 3000))), Receiver).serve_forever()
