import { assert, describe, it } from "@effect/vitest"
import * as FreePort from "@wac/testbed/FreePort"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { closeSync, openSync } from "node:fs"
import { Writable } from "node:stream"
import { fileURLToPath } from "node:url"
import { mostWaiting, toFile, toReader } from "../../src/LogOutput.ts"
import { until } from "../checks.ts"
import { call, environment } from "../harness.ts"
import * as processes from "../processes.ts"
import * as programs from "../programs.ts"

const env = { ...environment, DATABASE_URL: "memory:", LOG_LEVEL: "debug" }

const droppedLines = (url: string) =>
  Effect.map(
    call(`${url}/metrics`),
    ({ text }) => Number(/^wac_log_lines_dropped_total (\d+)/m.exec(text)?.[1])
  )

/** Waits until lines are lost, and holds that the process still responds. */
const losesLines = Effect.fnUntraced(function*(url: string) {
  yield* until(droppedLines(url), (count) => count > 0)
  assert.strictEqual((yield* call(`${url}/readyz`)).status, 200)
})

describe("a server's output", () => {
  it.live(
    "a server whose stdout and stderr lose their readers goes on, counts lost lines and stops gracefully",
    () =>
      Effect.gen(function*() {
        const server = yield* processes.start(env)
        assert.strictEqual(yield* droppedLines(server.url), 0)
        server.child.stdout!.destroy()
        server.child.stderr!.destroy()
        yield* losesLines(server.url)
        yield* processes.stop(server)
      })
  )

  it.live(
    "a server whose stdout and stderr are on a full disk starts, responds, counts lost lines and stops",
    () =>
      Effect.gen(function*() {
        const port = yield* Effect.promise(() => FreePort.find())
        const url = `http://127.0.0.1:${port}`
        const child = yield* Effect.acquireRelease(
          Effect.promise(async () => {
            const wac = await programs.path("wac")
            const full = openSync("/dev/full", "w")
            const child = spawn(process.execPath, [wac, "start"], {
              cwd: fileURLToPath(new URL("../../../..", import.meta.url)),
              env: { PATH: process.env["PATH"]!, ...env, PORT: `${port}`, HOST: "127.0.0.1" },
              stdio: ["ignore", full, full]
            })
            closeSync(full)
            return child
          }),
          (child) => Effect.sync(() => child.exitCode === null && child.kill("SIGKILL"))
        )
        const ended = new Promise((resolve) => child.on("exit", (code, signal) => resolve({ code, signal })))
        const isUp = Effect.map(Effect.promise(() => fetch(`${url}/healthz`).then(() => true, () => false)), (up) => {
          assert.isNull(child.exitCode, "the process ended")
          return up
        })
        yield* until(isUp, (up) => up)
        yield* losesLines(url)
        child.kill("SIGTERM")
        assert.deepStrictEqual(yield* Effect.promise(() => ended), { code: 0, signal: null })
      })
  )

  it.live("SIGHUP does not end a server, and SIGQUIT stops it like SIGTERM", () =>
    Effect.gen(function*() {
      const server = yield* processes.start({ ...env, LOG_LEVEL: "info" })
      server.child.kill("SIGHUP")
      assert.strictEqual((yield* call(`${server.url}/healthz`)).status, 200)
      server.child.kill("SIGQUIT")
      assert.deepStrictEqual(yield* Effect.promise(() => server.ended), { code: 0, signal: null })
      assert.match(server.output.stdout, /stopping: requests/)
    }))

  it("lines beyond 1 MiB that a slow reader has not read are dropped, so memory is bounded", () => {
    const stuck = new Writable({ write: () => {} })
    const write = toReader(stuck)
    const line = `${"x".repeat(1023)}\n`
    let lost = 0
    for (let i = 0; i < 3000; i++) write(line, () => lost++)
    assert.isAtMost(stuck.writableLength, mostWaiting + line.length)
    assert.strictEqual(lost, 3000 - stuck.writableLength / line.length)
  })

  it("once a full disk has room again, lines are whole: the rest of a torn line does not join the next one", () => {
    let [written, room] = ["", 8]
    const write = toFile((bytes) => {
      const count = Math.min(room, bytes.length)
      if (count === 0) throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" })
      written += Buffer.from(bytes.subarray(0, count)).toString()
      room -= count
      return count
    })
    let lost = 0
    const drop = () => lost++
    write("first\n", drop)
    write("second\n", drop)
    write("third\n", drop)
    room = 100
    write("fourth\n", drop)
    write("fifth\n", drop)
    assert.strictEqual(written, "first\nse\nfourth\nfifth\n")
    assert.strictEqual(lost, 2)
  })
})
