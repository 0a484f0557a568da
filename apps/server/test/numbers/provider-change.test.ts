/**
 * Another provider on the same data: numbers, their accounts and templates belong to one, and only those of the one
 * that runs are sent from, listed and asked about.
 */
import { assert, it } from "@effect/vitest"
import { CloudApi } from "@wac/simulator"
import { Effect } from "effect"
import { call, createKey, hello, send, signIn, start } from "../harness.ts"
import { freshDatabase, masterKey, postgres } from "../processes.ts"

it.live("a server that switches from the sandbox to WhatsApp and back sends with the provider's own number and templates", () =>
  Effect.gen(function*() {
    const kept = { DATABASE_URL: yield* Effect.flatMap(postgres, freshDatabase), WAC_MASTER_KEY: masterKey() }
    const api = yield* CloudApi.make()

    const running = (environment: Record<string, string>, apiKey: string | undefined) =>
      Effect.gen(function*() {
        const { url } = yield* start({ environment: { ...kept, ...environment } })
        // at once, as whoever waited for the start does
        const key = { apiKey: apiKey ?? (yield* createKey(url, yield* signIn(url))).apiKey }
        const sent = yield* send({ url, key }, hello())
        assert.strictEqual(sent.status, 200, sent.text)
        assert.strictEqual((yield* call(`${url}/readyz`)).status, 200)
        const session = yield* signIn(url)
        const synced = yield* call(`${url}/internal/templates/sync`, {
          method: "POST",
          headers: { ...session, "idempotency-key": crypto.randomUUID() }
        })
        assert.strictEqual(synced.status, 200, synced.text)
        const { body: templates } = yield* call(`${url}/v1/templates?limit=100`, {
          headers: { authorization: `Bearer ${key.apiKey}` }
        })
        const { body: message } = yield* call(`${url}/v1/messages/${sent.body.message_id}`, {
          headers: { authorization: `Bearer ${key.apiKey}` }
        })
        const { body: numbers } = yield* call(`${url}/internal/phone-numbers`, { headers: session })
        return {
          key,
          url,
          from: message.from,
          templates: templates.data.map(({ id }: { readonly id: string }) => id),
          numbers: numbers.data,
          byDefault: numbers.data
            .filter(({ isDefault }: { readonly isDefault: boolean }) => isDefault)
            .map(({ provider }: { readonly provider: string }) => provider)
        }
      })

    const before = yield* Effect.scoped(running({}, undefined))
    assert.deepStrictEqual([before.byDefault, before.numbers.length], [["sandbox"], 1])
    assert.lengthOf(before.templates, 5)

    const { apiKey } = before.key
    const between = yield* Effect.scoped(Effect.gen(function*() {
      const whatsapp = yield* running(api.environment, apiKey)
      const sandbox = before.numbers[0]
      const refused = yield* send(whatsapp, { ...hello(), from: sandbox.phoneNumber })
      assert.strictEqual(refused.status, 403)
      assert.deepInclude(refused.body.error, { code: "forbidden", reason: "sender_not_available", param: "from" })
      assert.match(refused.body.error.message, /sandbox/)
      return whatsapp
    }))
    assert.deepStrictEqual([between.byDefault, between.numbers.length], [["whatsapp"], 2])
    for (const id of before.templates) assert.notInclude(between.templates, id)
    assert.lengthOf((yield* api.calls).filter(({ method }) => method === "POST"), 1)
    // nobody asks Meta about the sandbox
    for (const { path } of yield* api.calls) assert.notMatch(path, /sandbox/)

    const after = yield* Effect.scoped(running({}, apiKey))
    assert.deepStrictEqual([after.byDefault, after.numbers.length], [["sandbox"], 2])
    assert.deepStrictEqual(after.templates, before.templates)
    assert.strictEqual(after.from, before.from)
    assert.notStrictEqual(between.from, before.from)
  }).pipe(Effect.scoped))
