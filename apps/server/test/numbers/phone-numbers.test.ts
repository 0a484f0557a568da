/**
 * The numbers of a workspace, as the dashboard shows them.
 */
import { assert, describe, it } from "@effect/vitest"
import { Id, Limits, PhoneNumber, PhoneNumberStore, Provider } from "@wac/core"
import { SandboxProvider } from "@wac/sandbox"
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as checks from "../checks.ts"
import { call, hello, ready, send, signIn, start } from "../harness.ts"
import { freshDatabase, masterKey, postgres } from "../processes.ts"

const listed = ({ session, url }: Pick<checks.Ready, "session" | "url">, query = "") =>
  call(`${url}/internal/phone-numbers${query}`, { headers: session })

const stored = ({ services }: Pick<checks.Ready, "services">) =>
  Context.get(services, PhoneNumberStore.PhoneNumberStore)

/** The sandbox, whose number is another one. */
const providing = (firstNumber: Provider.Provider["Service"]["firstNumber"]) => ({
  provider: Layer.effect(
    Provider.Provider,
    Effect.map(Provider.Provider, (sandbox) => Provider.Provider.of({ ...sandbox, firstNumber }))
  ).pipe(Layer.provide(SandboxProvider.layer))
})

describe.concurrent("phone numbers", () => {
  it.live("phone numbers are shown with the limits and blocks in force", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const answer = yield* listed(server)
      assert.strictEqual(answer.status, 200, answer.text)
      const [{ id }] = answer.body.data
      const number = {
        id,
        phoneNumber: SandboxProvider.firstNumber.phoneNumber,
        isDefault: true,
        provider: "sandbox",
        providerNumberId: "sandbox-1",
        providerAccountId: "sandbox",
        portfolioId: null,
        status: "available",
        tier: "standard",
        messagesPerSecond: Limits.standard.phoneNumberTiers["standard"],
        messagingLimit: null,
        block: null,
        quality: null
      }
      const list = (data: unknown) => ({ data, hasMore: false, nextCursor: null })
      assert.deepStrictEqual(answer.body, list([number]))

      const since = Date.parse("2026-01-02T03:04:05.678Z")
      const provider = { code: "131048", message: "Spam rate limit hit" }
      const block = { reason: "quality", scope: "all", basis: "report", since, until: null, provider } as const
      yield* Effect.orDie(
        stored(server).observe({
          name: { providerNumberId: "sandbox-1" },
          now: since,
          at: since,
          change: { block, tier: "high", messagingLimit: 2000, quality: "red" }
        })
      )
      const blocked = (yield* listed(server)).body
      const { message } = blocked.data[0].block
      assert.match(message, /quality/)
      assert.deepStrictEqual(
        blocked,
        list([{
          ...number,
          status: "blocked",
          block: { reason: "quality", scope: "all", message, since: "2026-01-02T03:04:05.678Z", until: null, provider },
          tier: "high",
          messagesPerSecond: 1000,
          messagingLimit: 2000,
          quality: "red"
        }])
      )
      // a send is told the same
      const refused = yield* send(server, hello())
      checks.assertError(refused, 403, { code: "forbidden", reason: "sender_not_available", provider })
      assert.strictEqual(refused.body.error.message, message)

      yield* Effect.orDie(
        stored(server).observe({
          name: { providerNumberId: "sandbox-1" },
          now: since,
          at: since,
          change: { block: { ...block, reason: "credentials" } }
        })
      )
      checks.assertError(yield* send(server, hello()), 502, {
        code: "server_error",
        reason: "provider_error",
        provider
      })

      yield* Effect.orDie(
        stored(server).observe({
          name: { providerAccountId: "sandbox" },
          now: since,
          at: since,
          change: { block: null }
        })
      )
      assert.strictEqual((yield* send(server, hello())).status, 200)
      yield* Effect.orDie(stored(server).configure(id, { available: false }))
      assert.strictEqual((yield* listed(server)).body.data[0].status, "disabled")
    }))

  it.live("the list contains the phone numbers of the caller's workspace, newest first, by page", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      yield* checks.anotherWorkspace("other", "+15005550101").pipe(Effect.provideContext(server.services))
      const [first] = (yield* listed(server)).body.data
      const workspaceId = yield* checks.workspaceOf(server)
      const added = PhoneNumber.fresh({
        ...SandboxProvider.firstNumber,
        id: yield* Id.generate(Context.get(server.services, SecureRandom.SecureRandom), "pn"),
        workspaceId,
        provider: "sandbox",
        phoneNumber: "+15005550102",
        providerNumberId: "sandbox-2",
        isDefault: false
      })
      yield* Effect.orDie(stored(server).add(added))
      const one = yield* listed(server, "?limit=1")
      assert.deepStrictEqual(one.body.data.map(({ phoneNumber }: typeof added) => phoneNumber), ["+15005550102"])
      assert.isTrue(one.body.hasMore)
      const two = yield* listed(server, `?limit=1&cursor=${one.body.nextCursor}`)
      assert.deepStrictEqual(two.body, { data: [first], hasMore: false, nextCursor: null })
      checks.assertInvalid(yield* listed(server, "?limit=0"), "invalid_field", "limit")
      checks.assertInvalid(yield* listed(server, "?cursor=x"), "invalid_field", "cursor")
      checks.assertInvalid(yield* listed(server, "?status=x"), "unknown_field", "status")
    }))

  it.live(
    "after a start, the configured phone number is the workspace's default",
    () =>
      Effect.gen(function*() {
        const database = yield* Effect.flatMap(postgres, freshDatabase)
        const environment = { DATABASE_URL: database, WAC_MASTER_KEY: masterKey() }
        const [first] = (yield* Effect.scoped(Effect.flatMap(ready({ environment }), listed))).body.data
        const firstNumber = {
          ...SandboxProvider.firstNumber,
          phoneNumber: "+15005550177",
          providerNumberId: "configured"
        }
        const { url } = yield* start({ environment, adapters: providing(Effect.succeed(firstNumber)) })
        const { body } = yield* listed({ session: yield* signIn(url), url })
        assert.deepStrictEqual(body.data.slice(1), [{ ...first, isDefault: false }])
        assert.include(body.data[0], { phoneNumber: "+15005550177", providerNumberId: "configured", isDefault: true })
      }).pipe(Effect.scoped)
  )
})
