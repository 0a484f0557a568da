/**
 * A second factor that a person switches on, for tests.
 */
import { assert } from "@effect/vitest"
import { Totp } from "@wac/core"
import { type Clock, Effect, Redacted } from "effect"
import { call } from "../harness.ts"
import type { Headers } from "./joining.ts"

/** Switches a session's second factor on. Returns what an app shows, and the recovery codes. */
export const enrol = Effect.fnUntraced(function*(url: string, session: Headers, clock: Clock.Clock) {
  const started = yield* call(`${url}/internal/factor`, { method: "PUT", headers: session })
  assert.strictEqual(started.status, 200, started.text)
  const secret = Redacted.make(started.body.secret as string)
  /** The code of the current step, or of one after it. */
  const code = (after = 0) => Totp.codeAt(secret, clock.currentTimeMillisUnsafe() + after * 30_000)
  const confirmed = yield* call(`${url}/internal/factor/confirm`, { headers: session, body: { code: code() } })
  assert.strictEqual(confirmed.status, 200, confirmed.text)
  return { code, uri: started.body.uri as string, recoveryCodes: confirmed.body.recoveryCodes as ReadonlyArray<string> }
})
