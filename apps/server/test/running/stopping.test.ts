/**
 * Stopping while the storage does not answer: the process ends in its time, whatever the storage does.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as checks from "../checks.ts"
import { call, hello, send } from "../harness.ts"
import { masterKey, proxied, type Running, signedIn, start } from "../processes.ts"

/** Contract §8: at most 9.5 s in all; and what the machine takes to end a process and tell of it. */
const bound = 9500 + 1500

const stopped = ({ child, ended }: Running) =>
  Effect.promise(async () => {
    const begun = performance.now()
    child.kill("SIGTERM")
    return { end: await ended, took: performance.now() - begun }
  })

describe("SIGTERM", () => {
  it.live("SIGTERM ends the process in time even if every connection to PostgreSQL is silent", () =>
    checks.assertBelow(
      bound,
      Effect.gen(function*() {
        const { proxy } = yield* proxied
        const running = yield* start({ DATABASE_URL: proxy.url, WAC_MASTER_KEY: masterKey() })
        const { key } = yield* signedIn(running)
        const at = { url: running.url, key }
        yield* Effect.replicateEffect(send(at, hello()), 12, { concurrency: "unbounded" })
        proxy.freeze()
        // somebody is waiting for it
        yield* Effect.forkChild(Effect.sandbox(send(at, hello())))
        yield* Effect.sandbox(call(`${running.url}/readyz`))
        const { end, took } = yield* stopped(running)
        assert.deepStrictEqual(end, { code: 0, signal: null })
        return took
      }).pipe(Effect.scoped)
    ))
})
