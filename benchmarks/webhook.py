"""How fast deliveries are accepted: those that need something, durably, and those that need nothing; beside a minimal
Probot app on the same machine, where npm can install one.

    python benchmarks/webhook.py [--seconds 5] [--database postgresql://…]

The server has a process of its own, held to one core where the system can do that; so has the sender.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import aiohttp

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from bot.github.signatures import sign  # noqa: E402

SECRET = "a secret of the benchmark"
CONNECTIONS = 32
PROBOT = "probot@13.4.5"
FIGURE_RATE, FIGURE_P99 = 500, 0.050

SERVER = """
import asyncio, sys
from bot.hazards import load_rules
from bot.jobs.kinds import job_of
from bot.store import Database, Jobs
from bot.web.server import Server, listening

async def main():
    jobs = Jobs(Database(sys.argv[1]), {})
    await jobs.start(work=False)
    server = Server(sys.argv[2], job_of, jobs.inbox.accept, load_rules())
    async with listening(server.application(), "127.0.0.1", 0) as url:
        print(url, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""

PROBOT_APP = """
import { run } from "probot";
run((app) => { app.on("pull_request.opened", async () => {}); });
"""


def payload(number: int) -> bytes:
    """A pull request, about as large as GitHub's."""
    return json.dumps(
        {
            "action": "opened",
            "number": number,
            "pull_request": {"number": number, "head": {"sha": f"{number:040x}"}, "body": "x" * 20_000},
            "repository": {"full_name": "acme/serving", "default_branch": "main"},
            "installation": {"id": 1},
        }
    ).encode()


@asynccontextmanager
async def started(*command: str, core: int, **more: str) -> AsyncIterator[Process]:
    """A process on one core."""
    pinned = ["taskset", "-c", str(core)] if shutil.which("taskset") else []
    process = await asyncio.create_subprocess_exec(
        *pinned, *command, stdout=PIPE, stderr=DEVNULL, env={**os.environ, "PYTHONPATH": str(ROOT), **more}
    )
    try:
        yield process
    finally:
        process.kill()
        await process.wait()


@dataclass(frozen=True)
class Rate:
    """Answers a second, the seconds within which 99 of 100 come, and the server's seconds of CPU for each."""

    per_second: float
    p99: float
    cpu: float

    def __str__(self) -> str:
        by_cpu = f", {1 / self.cpu:,.0f}/s of CPU" if self.cpu else ""
        return f"{self.per_second:,.0f}/s, p99 {self.p99 * 1000:.1f} ms{by_cpu}"


def cpu_seconds(pid: int) -> float:
    """What a process has used; 0 where the system doesn't say. (On a busy machine only this can be compared.)"""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def rate(process: Process, url: str, event: str, body: bytes, expected: int, seconds: float) -> Rate:
    """Sends deliveries for so many seconds."""
    times: list[float] = []
    numbers = count()
    signature = sign(SECRET, body)
    end = time.perf_counter() + seconds

    async def send(session: aiohttp.ClientSession) -> None:
        while time.perf_counter() < end:
            headers = {
                "X-GitHub-Event": event,
                "X-GitHub-Delivery": f"{os.getpid()}-{event}-{next(numbers)}-{time.time_ns()}",
                "X-Hub-Signature-256": signature,
                "Content-Type": "application/json",
            }
            began = time.perf_counter()
            async with session.post(url, data=body, headers=headers) as answer:
                await answer.read()
                assert answer.status == expected, answer.status
            times.append(time.perf_counter() - began)

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=CONNECTIONS)) as session:
        began, used_before = time.perf_counter(), cpu_seconds(process.pid)
        await asyncio.gather(*(send(session) for _ in range(CONNECTIONS)))
        took = time.perf_counter() - began
    times.sort()
    used = cpu_seconds(process.pid) - used_before
    return Rate(len(times) / took, times[int(len(times) * 0.99)], used / len(times))


async def seamguard(database: str, seconds: float) -> tuple[Rate, Rate]:
    """Durable, and needing nothing."""
    async with started(sys.executable, "-c", SERVER, database, SECRET, core=0) as process:
        assert process.stdout is not None
        url = (await process.stdout.readline()).decode().strip() + "/webhook"
        await rate(process, url, "ping", b"{}", 200, 0.5)
        durable = await rate(process, url, "pull_request", payload(7), 202, seconds)
        return durable, await rate(process, url, "star", payload(7), 200, seconds)


def installed_probot(folder: Path) -> bool:
    """Whether npm gives us Probot."""
    if shutil.which("npm") is None:
        return False
    (folder / "package.json").write_text(json.dumps({"type": "module", "private": True}))
    (folder / "app.js").write_text(PROBOT_APP)
    done = subprocess.run(
        ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", PROBOT], cwd=folder, check=False
    )
    return done.returncode == 0


async def probot(folder: Path, seconds: float) -> Rate:
    """The same deliveries to a minimal Probot app, which keeps nothing."""
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()
    port = "39517"
    environment = {
        "APP_ID": "1",
        "PRIVATE_KEY": pem,
        "WEBHOOK_SECRET": SECRET,
        "PORT": port,
        "LOG_LEVEL": "fatal",
        "NODE_ENV": "production",
        "WEBHOOK_PATH": "/webhook",
    }
    async with started("node", str(folder / "app.js"), core=0, **environment) as process:
        url = f"http://127.0.0.1:{port}/webhook"
        for _ in range(100):
            try:
                await rate(process, url, "star", b"{}", 200, 0.05)
                break
            except aiohttp.ClientError:
                await asyncio.sleep(0.1)
        return await rate(process, url, "star", payload(7), 200, seconds)


async def main() -> None:
    """Prints the figures and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--database", help="an address of PostgreSQL; a new SQLite file by default")
    parser.add_argument("--no-probot", action="store_true")
    asked = parser.parse_args()
    if shutil.which("taskset"):
        os.sched_setaffinity(0, {1 % (os.cpu_count() or 1)})
    with tempfile.TemporaryDirectory(prefix="seamguard-bench-") as name:
        folder = Path(name)
        durable, idle = await seamguard(asked.database or f"sqlite:///{folder}/store.sqlite", asked.seconds)
        print(f"accepted durably: {durable}", flush=True)
        print(f"needing nothing:  {idle}", flush=True)
        if durable.per_second < FIGURE_RATE or durable.p99 > FIGURE_P99:
            print(f"below the figure of {FIGURE_RATE}/s with p99 under {FIGURE_P99 * 1000:.0f} ms")
        if asked.no_probot or not await asyncio.to_thread(installed_probot, folder):
            print("no Probot to compare with (npm is missing, or gives none)")
            return
        other = await probot(folder, asked.seconds)
        print(f"minimal Probot:   {other}")
        print(f"ratio, needing nothing: {idle.per_second / other.per_second:.2f}")
        if idle.cpu and other.cpu:
            print(f"ratio by CPU: needing nothing {other.cpu / idle.cpu:.2f}, durable {other.cpu / durable.cpu:.2f}")


if __name__ == "__main__":
    asyncio.run(main())
