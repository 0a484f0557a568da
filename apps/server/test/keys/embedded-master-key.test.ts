/**
 * A change of the master key of an embedded database, by the commands of the guide.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { cp, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as checks from "../checks.ts"
import * as guide from "../guide.ts"
import { hello, send } from "../harness.ts"
import { signedIn, start, stop } from "../processes.ts"

it.live("after the guide's commands, the file beside an embedded database has the key that opens it", () =>
  Effect.gen(function*() {
    const directory = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "wac-embedded-key-"))),
      (made) => Effect.promise(() => rm(made, { recursive: true }))
    )
    const place = "a folder with an embedded database"
    const [begin] = yield* guide.blocks("rotation.md", place)
    const [replace] = yield* guide.blocks("rotation.md", `${place}, later`)
    const follow = (commands: string) =>
      guide.run(commands, { directory, replaced: [["npx wac start", "env | grep ^WAC_MASTER_KEY"]] })
    const env = { DATABASE_URL: `pglite:${join(directory, ".data")}` }

    const first = yield* start(env)
    const { key } = yield* signedIn(first)
    yield* stop(first)
    const backup = join(directory, "backup")
    yield* Effect.promise(() => cp(join(directory, ".data"), backup, { recursive: true }))

    const variables = Object.fromEntries(
      (yield* follow(begin!)).trim().split("\n").map((line) => line.split("=") as [string, string])
    )
    assert.hasAllKeys(variables, ["WAC_MASTER_KEY_FILE", "WAC_MASTER_KEY_PREVIOUS_FILE"])
    const second = yield* start({ ...env, ...variables })
    yield* checks.until(Effect.sync(() => second.output.stdout), (text) => text.includes("can be removed"))
    yield* stop(second)
    yield* follow(replace!)

    // neither needs a variable: the copy has the key of its time
    for (const data of [".data", "backup"]) {
      const { url } = yield* start({ DATABASE_URL: `pglite:${join(directory, data)}`, WAC_RESTORED: "true" })
      assert.strictEqual((yield* send({ url, key }, hello())).status, 200)
    }
  }).pipe(Effect.scoped))
