/**
 * Checks that a service keeps the guarantees it is compared by, such as idempotency. A service that does less must not
 * win.
 */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { because, BenchFailed } from "./BenchFailed.ts"
import * as Workload from "./Workload.ts"

const post = (target: Workload.Target, key: string, body: string) =>
  Effect.tryPromise({
    try: async (signal) => {
      const headers = Workload.headersOf(target, key)
      const response = await fetch(target.url + Workload.path, { method: "POST", headers, body, signal })
      return { status: response.status, text: await response.text() }
    },
    catch: because(target.url)
  })

export const check = (name: string, target: Workload.Target): Effect.Effect<void, BenchFailed> =>
  Effect.gen(function*() {
    const expect = (right: boolean, what: string, answer: { readonly status: number; readonly text: string }) =>
      right
        ? Effect.void
        : Effect.fail(new BenchFailed({ message: `${name}: ${what}, got ${answer.status} ${answer.text}` }))
    const key = randomUUID()
    const body = Workload.bodyTo(Workload.customer(0))

    const sent = yield* post(target, key, body)
    const fields = ["status", "message_id", "provider_message_id", "tenant_id", "api_key_id"]
    yield* expect(sent.status === 200 && fields.every((field) => sent.text.includes(`"${field}":"`)), "a send", sent)
    const replayed = yield* post(target, key, body)
    yield* expect(replayed.status === 200 && replayed.text === sent.text, "the same answer to a retry", replayed)
    const conflict = yield* post(target, key, Workload.bodyTo(Workload.customer(1)))
    yield* expect(conflict.status === 409, "409 for another body under the same key", conflict)
    const refused = yield* post({ ...target, apiKey: `${target.apiKey}x` }, randomUUID(), body)
    yield* expect(refused.status === 401, "401 for a key that does not exist", refused)
    const invalid = yield* post(target, randomUUID(), body.replace("}}", "},\"surplus\":1}"))
    yield* expect(invalid.status === 400, "400 for a field that does not exist", invalid)
  })
