/**
 * An embedded database whose disk is full: a disk of the test's own, which only root can mount.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Disk from "@wac/testbed/Disk"
import { needed } from "@wac/testbed/Program"
import { Effect } from "effect"
import * as checks from "../checks.ts"
import { call, hello, send } from "../harness.ts"
import * as processes from "../processes.ts"

const unavailable = { code: "server_error", reason: "storage_unavailable" } as const

const smallDisk = Effect.acquireRelease(
  Effect.promise(() => Disk.mount(160)),
  (disk) => Effect.promise(disk.close)
)

const isFull = "storage cannot be written: the disk of the database is full"

const needs = needed({
  programs: [Disk.check],
  untested: "an embedded database on a full disk",
  install: "run as root, where file systems can be mounted"
})

describe("an embedded database on a full disk", needs, () => {
  it.live("callers, /readyz, /status and doctor say so until there is room, and nothing accepted is lost", () =>
    Effect.gen(function*() {
      const disk = yield* smallDisk
      const env = { DATABASE_URL: `pglite:${disk.directory}/data` }
      const running = yield* processes.start(env)
      const server = { ...running, ...yield* processes.signedIn(running) }
      const { url } = server
      const readiness = call(`${url}/readyz`)
      const accepted: Array<string> = []

      /** Sends a message. What is not accepted is refused because of the storage, with the reason. */
      const sent = Effect.gen(function*() {
        const answer = yield* send(server, hello())
        if (answer.status === 200) {
          accepted.push(answer.body.message_id)
          return true
        }
        // accepted by the storage and sent, but then there was no room for the outcome
        if (answer.status === 504) {
          checks.assertError(answer, 504, { code: "server_error", reason: "outcome_unknown" })
          return false
        }
        checks.assertError(answer, 503, unavailable)
        assert.include(answer.text, "storage cannot be written at the moment")
        return false
      })
      const areStored = Effect.fnUntraced(function*(server: Parameters<typeof checks.stored>[0]) {
        for (const id of accepted) assert.strictEqual((yield* checks.stored(server, id)).status, 200, id)
      })

      for (let i = 0; i < 5; i++) assert.isTrue(yield* sent)
      disk.fill()
      // the first few may fit the pages that the tables have
      yield* checks.until(sent, (isAccepted) => !isAccepted)
      for (let i = 0; i < 20; i++) yield* sent
      const ready = yield* readiness
      checks.assertError(ready, 503, unavailable)
      assert.include(ready.text, isFull)
      const status = yield* checks.until(call(`${url}/status`), ({ status }) => status === 503)
      assert.strictEqual(status.body.parts.requests, "down")
      const doctor = yield* processes.carryOut(env, "doctor")
      assert.strictEqual(doctor.code, 1)
      assert.match(doctor.stdout, /^check {2}database: .* is in use by process \d+/m)
      assert.include(doctor.stdout, `WRONG  database: ${isFull}\n       → free disk space`)
      assert.include(doctor.stderr, "one thing is wrong")
      const told = server.output.stdout.split("\n").filter((line) => line.includes("MessageStore.accept failed"))
      assert.lengthOf(told, 1)
      assert.include(told[0], "No space left on device")

      disk.free()
      yield* checks.until(readiness, ({ status }) => status === 200)
      assert.include(server.output.stdout, "storage can be written again")
      assert.isTrue(yield* sent)
      yield* areStored(server)

      // the process dies while the disk is full once more
      disk.fill()
      yield* checks.until(sent, (isAccepted) => !isAccepted)
      yield* processes.kill(running)
      const stopped = yield* processes.carryOut(env, "doctor")
      assert.include(stopped.stdout, "ENOSPC")
      assert.include(stopped.stdout, "→ free disk space")
      const refused = yield* processes.carryOut(env, "start")
      assert.strictEqual(refused.code, 1)
      assert.match(JSON.parse(refused.stderr).message, /^DATABASE_URL: .*ENOSPC/)
      disk.free()
      const again = yield* processes.start(env)
      yield* areStored({ ...again, key: server.key })
      assert.strictEqual((yield* send({ ...again, key: server.key }, hello())).status, 200)
    }))
})
