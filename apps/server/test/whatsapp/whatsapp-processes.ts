/**
 * Processes with `PROVIDER=whatsapp` between one PostgreSQL database and one simulated Cloud API.
 */
import { assert } from "@effect/vitest"
import { CloudApi } from "@wac/simulator"
import { Duration, Effect } from "effect"
import { kill, masterKey, proxied, signedIn, startSteered, type Steered } from "../processes.ts"
import { generous, path, silent } from "./whatsapp.ts"

/**
 * Processes over a database, and a simulated Cloud API with these settings, each on its own port; upstream posts to the
 * latest.
 */
export const processesOn = Effect.fnUntraced(function*(database: string, settings: CloudApi.Options["settings"]) {
  const api = yield* Effect.orDie(CloudApi.make({ settings: { retryAfter: [200], ...settings } }))
  const env = { ...api.environment, DATABASE_URL: database, WAC_MASTER_KEY: masterKey() }
  let ahead = 0
  /** A process that upstream posts to from now on; `env` may lead it another way to the database. */
  const start = Effect.fnUntraced(function*(over: { readonly [name: string]: string } = {}) {
    const process = yield* startSteered({ ...env, ...over }, "http://127.0.0.1:9", ahead)
    const { problem } = yield* api.courier.subscribe(process.url + path, api.identity.verifyToken)
    assert.isUndefined(problem)
    return process
  })
  const first = yield* start()
  const { key, session } = yield* signedIn(first)
  yield* kill(first)
  return {
    api,
    key,
    session,
    start,
    /** Time passes, for processes that are started later and for this one. */
    pass: (duration: Duration.Duration, process?: Steered) => {
      ahead += Duration.toMillis(duration)
      return process === undefined
        ? Effect.void
        : process.order({ _tag: "Advance", millis: Duration.toMillis(duration) })
    }
  }
})

/** One process after the other; upstream tells nothing but what the test tells. */
export const processes = Effect.gen(function*() {
  const { database, proxy } = yield* proxied
  const made = yield* processesOn(database, { ...generous, ...silent })
  return {
    ...made,
    database,
    proxy,
    startByProxy: Effect.suspend(() => made.start({ DATABASE_URL: proxy.url }))
  }
})
