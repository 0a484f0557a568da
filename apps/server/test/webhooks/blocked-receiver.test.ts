/**
 * A webhook that was saved while its address was allowed, on a server that no longer allows it: nothing connects to it,
 * and whoever looks is told why.
 */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { assertInvalid, live, until } from "../checks.ts"
import { call, hello, ready, receiver, send, setWebhook } from "../harness.ts"
import { freshDatabase, masterKey, postgres } from "../processes.ts"

/** Whom the sandbox tells nothing of beyond `sent`, so that a message has one event. */
const sentOnce = "+15005550003"

/**
 * What the operator has taken back, the host that the webhook is at, what he says now, and what is said of the host.
 */
const cases = [
  ["private ranges", "127.0.0.1", { WEBHOOK_ALLOW_CIDRS: "" }, "has a host that is a loopback address"],
  ["this range", "127.0.0.1", { WEBHOOK_ALLOW_CIDRS: "10.0.0.0/8" }, "has a host that is a loopback address"],
  ["private ranges", "localhost", { WEBHOOK_ALLOW_CIDRS: "" }, "has a host that is a name of the server itself"],
  ["http", "127.0.0.1", { WEBHOOK_ALLOW_INSECURE: "false" }, "has a URL that is not https"]
] as const

class Postgres extends Context.Service<Postgres, string>()("@wac/server/test/webhooks/blocked-receiver.test/Postgres") {
  static readonly layer = Layer.effect(Postgres, postgres)
}

layer(Postgres.layer, live)("a receiver that is no longer allowed", (it) => {
  it.effect.each(cases)(
    "a server that no longer allows %s makes no attempt at %s",
    ([, host, environment, why]) =>
      Effect.gen(function*() {
        const storage = {
          DATABASE_URL: yield* Effect.flatMap(Postgres, freshDatabase),
          WAC_MASTER_KEY: masterKey()
        }
        const customer = yield* receiver
        const url = customer.url.replace("127.0.0.1", host)
        const key = yield* Effect.scoped(Effect.gen(function*() {
          const server = yield* ready({ environment: storage })
          yield* setWebhook(server, { url })
          return server.key
        }))

        const server = yield* ready({ environment: { ...storage, ...environment } })
        const ask = (path: string, method = "GET", body?: unknown) =>
          call(`${server.url}/internal/webhook${path}`, { method, headers: server.session, body })
        assertInvalid(yield* ask("", "PUT", { url }), "invalid_field", "url")

        yield* send({ url: server.url, key }, hello(sentOnce))
        const tried = (
          { body }: { readonly body: { readonly data: ReadonlyArray<{ readonly attemptCount: number }> } }
        ) => body.data[0]!.attemptCount >= 2
        const { body: { data: [{ id }] } } = yield* until(ask("/deliveries"), tried)
        const { body: { attempts, status } } = yield* ask(`/deliveries/${id}`)
        const { body: test } = yield* ask("/test", "POST")
        const { body: { lastFailure } } = yield* ask("")
        assert.strictEqual(status, "pending")
        for (const { message, outcome, request, response, statusCode } of [...attempts, test]) {
          assert.deepStrictEqual([outcome, statusCode, response, request.address], [
            "blocked_address",
            null,
            null,
            null
          ])
          assert.include(message, why)
        }
        assert.strictEqual(lastFailure.message, attempts[0].message)
        assert.strictEqual(yield* customer.connections, 0)
      })
  )
})
