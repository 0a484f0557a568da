import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync, statSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { until } from "../checks.ts"
import { call, ownPage } from "../harness.ts"
import * as processes from "../processes.ts"

/** No owner in the environment, so that there is a set-up link. */
const withoutOwner = { WAC_OWNER_EMAIL: "", WAC_OWNER_PASSWORD: "", LOG_FORMAT: "json" }

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "wac-setup-test-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/** Starts a server, and gives the file that its log names. */
const started = Effect.fnUntraced(function*(env: Record<string, string>) {
  const server = yield* processes.start({ ...withoutOwner, ...env })
  const naming = /open the link in the file ([^ "]+) to create the owner/
  const path = yield* until(
    Effect.sync(() => naming.exec(server.output.stdout)?.[1]),
    (path) => path !== undefined
  )
  return { ...server, path: path! }
})

const setUp = (url: string, path: string) => {
  const link = readFileSync(path, "utf8")
  assert.match(link, new RegExp(`^${url}/setup#[0-9A-Za-z]{32}\n$`))
  return call(`${url}/internal/setup`, {
    headers: ownPage,
    body: {
      token: link.trim().split("#")[1],
      email: "owner@example.com",
      password: "correct horse battery",
      workspaceName: "First"
    }
  })
}

describe("with LOG_FORMAT=json", () => {
  it.live(
    "every line is JSON without the set-up link, which is in a file of mode 600 until it is used",
    () =>
      Effect.gen(function*() {
        const directory = yield* folder
        const places = [
          [{ DATABASE_URL: "memory:", TMPDIR: directory }, /\/wac-[^/]+\/setup-link$/],
          [{ DATABASE_URL: `pglite:${directory}/data` }, /\/data\/setup-link$/],
          [{ DATABASE_URL: "memory:", WAC_SETUP_FILE: `${directory}/given` }, /\/given$/]
        ] as const
        for (const [env, place] of places) {
          const { output, path, url, ...running } = yield* started(env)
          assert.match(path, place)
          assert.isTrue(path.startsWith(directory), path)
          assert.strictEqual(statSync(path).mode & 0o777, 0o600)
          const token = readFileSync(path, "utf8").trim().split("#")[1]!
          assert.strictEqual((yield* setUp(url, path)).status, 201)
          yield* until(Effect.sync(() => existsSync(path)), (exists) => !exists)
          yield* processes.stop({ output, ...running })
          const lines = `${output.stdout}${output.stderr}`.split("\n").filter((line) => line !== "")
          assert.isAbove(lines.length, 2)
          for (const line of lines) assert.isObject(JSON.parse(line))
          assert.notInclude(output.stdout, token)
          assert.notInclude(output.stdout, token.slice(-12))
        }
      })
  )

  it.live("a file whose link was not used is removed when the server stops", () =>
    Effect.gen(function*() {
      const { path, ...running } = yield* started({ DATABASE_URL: "memory:" })
      assert.isTrue(existsSync(path))
      yield* processes.stop(running)
      assert.isFalse(existsSync(path))
    }))
})
