/**
 * A change of the master key over processes that share a database.
 */
import { assert, it } from "@effect/vitest"
import { requestPayload, sign, SIGNATURE_HEADER, verify } from "@wac/verifier"
import { Effect } from "effect"
import * as checks from "../checks.ts"
import { createKey, hello, receiver, send, setWebhook, signIn } from "../harness.ts"
import { freshDatabase, kill, masterKey, postgres, start, withKey } from "../processes.ts"

it.live(
  "after the three steps nothing needs the previous master key",
  () =>
    Effect.gen(function*() {
      const hook = yield* receiver
      const env = { DATABASE_URL: yield* Effect.flatMap(postgres, freshDatabase) }
      const [before, after] = [masterKey(), masterKey()]
      const a = yield* start({ ...env, WAC_MASTER_KEY: before, WAC_MASTER_KEY_PREVIOUS: after })
      const session = yield* signIn(a.url)
      const key = yield* createKey(a.url, session, { name: "signs", requireSignature: true })
      const { signingSecret } = yield* setWebhook({ url: a.url, session }, { url: hook.url })
      const b = yield* start({ ...env, WAC_MASTER_KEY: after, WAC_MASTER_KEY_PREVIOUS: before })
      yield* checks.until(Effect.sync(() => b.output.stdout), (text) => text.includes("can be removed"))
      yield* kill(a)
      yield* kill(b)

      const c = yield* start({ ...env, WAC_MASTER_KEY: after })
      const idempotencyKey = crypto.randomUUID()
      const body = JSON.stringify(hello())
      const signed = requestPayload({ method: "POST", target: "/v1/messages", idempotencyKey, body })
      const sent = yield* send({ url: c.url, key }, body, {
        ...withKey(idempotencyKey),
        [SIGNATURE_HEADER]: yield* Effect.promise(() => sign(signed, key.signingSecret))
      })
      assert.strictEqual(sent.status, 200, sent.text)
      const [delivery] = yield* hook.take(1)
      const verified = yield* Effect.promise(() =>
        verify(delivery!.body, delivery!.headers[SIGNATURE_HEADER.toLowerCase()], signingSecret)
      )
      assert.isTrue(verified.ok)
      const output = [a, b, c].map(({ output }) => output.stdout + output.stderr).join("")
      for (const secret of [before, after, key.signingSecret, signingSecret]) assert.notInclude(output, secret)
    }).pipe(Effect.scoped)
)
