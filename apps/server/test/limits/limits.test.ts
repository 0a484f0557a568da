/**
 * Rate limits, quota, messaging limit and suspension (contract §7), and the headers that tell of them.
 */
import { assert, describe, it } from "@effect/vitest"
import { type PhoneNumber, PhoneNumberStore, WorkspaceStore } from "@wac/core"
import { Context, Effect } from "effect"
import { parseList } from "structured-headers"
import * as checks from "../checks.ts"
import { type Answer, call, hello, ownPage, ready, send } from "../harness.ts"
import { still } from "../movable.ts"

/** A structured field of named items with whole numbers, as an object. */
const numbersOf = (
  answer: Answer,
  header: string
): { readonly [name: string]: { readonly [parameter: string]: number } } => {
  const value = answer.headers.get(header)
  assert.isNotNull(value, header)
  return Object.fromEntries(
    parseList(value!).map(([name, parameters]) => {
      assert.isString(name)
      for (const number of parameters.values()) assert.isTrue(Number.isInteger(number), `${header}: ${value}`)
      return [name as string, Object.fromEntries(parameters) as { readonly [parameter: string]: number }]
    })
  )
}

const policies = (answer: Answer) => numbersOf(answer, "ratelimit-policy")
const states = (answer: Answer) => numbersOf(answer, "ratelimit")

const limits = (parts: object) => ({ environment: { WAC_LIMITS: JSON.stringify(parts) } })

/** Fast where a test is about something else. */
const fast = { workspaceTiers: { standard: 10_000 }, phoneNumberTiers: { standard: 10_000 } }

const wide = { everySeconds: 0.001, burst: 100_000 }

const limited = (reason: string) => ({ code: "rate_limited", reason })

const templates = ({ key, url }: Pick<checks.Ready, "key" | "url">): Effect.Effect<Answer> =>
  call(`${url}/v1/templates`, { headers: { authorization: `Bearer ${key.apiKey}` } })

/** What only the operator can do. */
const operator = Effect.fnUntraced(function*({ services, ...server }: checks.Ready) {
  const store = Context.get(services, WorkspaceStore.WorkspaceStore)
  const numbers = Context.get(services, PhoneNumberStore.PhoneNumberStore)
  const workspaceId = yield* checks.workspaceOf(server)
  const [number] = (yield* Effect.orDie(numbers.list(workspaceId))) as readonly [PhoneNumber.PhoneNumber]
  return {
    configure: (settings: Parameters<typeof store.configure>[1]) =>
      Effect.orDie(store.configure(workspaceId, settings)),
    configureNumber: (settings: PhoneNumberStore.PhoneNumberSettings) =>
      Effect.orDie(numbers.configure(number.id, settings))
  }
})

const statuses = (answers: ReadonlyArray<Answer>) => {
  const counts: { [status: number]: number } = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** A server of which no bucket fills by itself. */
const atRest = (options?: Parameters<typeof ready>[0]) => still(ready(options))

let customers = 0

/** A number that nobody wrote to before. */
const someone = (): string => `+1555400${`${customers++}`.padStart(4, "0")}`

describe("the headers", () => {
  it.live("by default, the headers show the contract's limits", () =>
    Effect.gen(function*() {
      const server = yield* atRest()
      const sent = yield* send(server, hello())
      assert.deepStrictEqual(policies(sent), {
        workspace: { q: 200, w: 2 },
        phone_number: { q: 160, w: 2 },
        pair: { q: 45, w: 270 }
      })
      assert.deepStrictEqual(Object.keys(states(sent)), ["workspace", "phone_number", "pair"])
      assert.deepStrictEqual(states(sent), {
        workspace: { r: 199, t: 1 },
        phone_number: { r: 159, t: 1 },
        pair: { r: 44, t: 6 }
      })
      const again = yield* send(server, hello())
      assert.deepStrictEqual(states(again)["pair"], { r: 43, t: 12 })
      const listed = yield* templates(server)
      assert.deepStrictEqual(policies(listed), { workspace: { q: 200, w: 2 } })
      assert.deepStrictEqual(Object.keys(states(listed)), ["workspace"])
    }).pipe(Effect.scoped))

  it.live("only responses to requests that spent a limiter carry the headers", () =>
    Effect.gen(function*() {
      const server = yield* atRest()
      const { key, session, url } = server
      const bearer = { authorization: `Bearer ${key.apiKey}` }
      const asked = [
        yield* call(`${url}/v1/messages/x`, { headers: bearer }),
        yield* call(`${url}/v1/templates?x=1`, { headers: bearer }),
        yield* send(server, { ...hello(), template: { name: "x", language: "en" } }),
        yield* send(server, hello("+15005550001"))
      ]
      for (const answer of asked) {
        assert.isAtLeast(answer.status, 400)
        assert.property(states(answer), "workspace")
      }
      const unasked = [
        yield* call(`${url}/v1/templates`),
        yield* call(`${url}/v1/nothing`, { headers: bearer }),
        yield* send(server, {}),
        yield* send(server, "x", { "content-type": "text/plain" }),
        yield* call(`${url}/internal/session`, { headers: session }),
        yield* call(`${url}/healthz`)
      ]
      for (const { headers } of unasked) {
        assert.isNull(headers.get("ratelimit"))
        assert.isNull(headers.get("ratelimit-policy"))
      }
    }).pipe(Effect.scoped))
})

describe("the workspace's limit", () => {
  it.live("requests beyond the burst are refused, and one succeeds after the wait in Retry-After", () =>
    Effect.gen(function*() {
      const server = yield* atRest(limits({ ...fast, workspaceTiers: { standard: 1 } }))
      const first = yield* templates(server)
      const second = yield* send(server, hello())
      assert.deepStrictEqual([first.status, second.status], [200, 200])
      assert.deepStrictEqual(policies(first), { workspace: { q: 2, w: 2 } })
      assert.deepStrictEqual(states(first), { workspace: { r: 1, t: 1 } })
      assert.deepStrictEqual(states(second)["workspace"], { r: 0, t: 2 })
      for (const ask of [templates(server), send(server, hello()), checks.stored(server, second.body.message_id)]) {
        const refused = yield* ask
        checks.assertError(refused, 429, limited("workspace"))
        assert.strictEqual(refused.headers.get("retry-after"), "1")
        assert.deepStrictEqual(states(refused), { workspace: { r: 0, t: 1 } })
        assert.deepStrictEqual(policies(refused), { workspace: { q: 2, w: 2 } })
      }
      yield* server.pass("1 second")
      assert.strictEqual((yield* templates(server)).status, 200)
      checks.assertError(yield* templates(server), 429, limited("workspace"))
    }).pipe(Effect.scoped))

  it.live("each workspace has one limit for all its keys, by the tier that the operator sets", () =>
    Effect.gen(function*() {
      const server = yield* atRest(limits({ ...fast, workspaceTiers: { standard: 1, quick: 500 } }))
      const { services, session, url } = server
      const inServer = Effect.provideContext(services)
      const other = yield* checks.anotherWorkspace("other", "+15005550101").pipe(inServer)
      const quick = yield* checks.anotherWorkspace("quick", "+15005550102", { tier: "quick" }).pipe(inServer)
      const unknown = yield* checks.anotherWorkspace("unknown", "+15005550103", { tier: "__proto__" }).pipe(inServer)
      const created = yield* call(`${url}/internal/api-keys`, {
        headers: { ...session, "idempotency-key": "second" },
        body: { name: "second" }
      })
      assert.strictEqual((yield* templates(server)).status, 200)
      assert.strictEqual((yield* templates({ url, key: created.body })).status, 200)
      checks.assertError(yield* templates(server), 429, limited("workspace"))
      checks.assertError(yield* templates({ url, key: created.body }), 429, limited("workspace"))
      assert.strictEqual((yield* templates({ url, key: other.key })).status, 200)
      assert.deepStrictEqual(policies(yield* templates({ url, key: quick.key })), { workspace: { q: 1000, w: 2 } })
      // a tier that is none counts as the default one
      assert.deepStrictEqual(policies(yield* templates({ url, key: unknown.key })), { workspace: { q: 2, w: 2 } })
    }).pipe(Effect.scoped))

  it.live("of many requests at once, as many succeed as there are tokens", () =>
    Effect.gen(function*() {
      const server = yield* atRest(limits({ ...fast, workspaceTiers: { standard: 10 } }))
      const answers = yield* Effect.all(Array.from({ length: 100 }, () => templates(server)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(statuses(answers), { 200: 20, 429: 80 })
    }).pipe(Effect.scoped))
})

describe.concurrent("the number's and the pair's limits", () => {
  it.live("the phone number's limit counts sends to all recipients", () =>
    Effect.gen(function*() {
      const server = yield* atRest(limits({ ...fast, phoneNumberTiers: { standard: 1 } }))
      for (const remaining of [1, 0]) {
        const sent = yield* send(server, hello(someone()))
        assert.strictEqual(sent.status, 200, sent.text)
        assert.strictEqual(states(sent)["phone_number"]!["r"], remaining)
      }
      const shared = { "idempotency-key": "refused" }
      const to = someone()
      const refused = yield* send(server, hello(to), shared)
      checks.assertError(refused, 429, limited("phone_number"))
      assert.strictEqual(refused.headers.get("retry-after"), "1")
      assert.deepStrictEqual(states(refused)["phone_number"], { r: 0, t: 1 })
      // it left the key unbound, and nothing spent: the pair is untouched
      assert.strictEqual((yield* templates(server)).status, 200)
      yield* server.pass("1 second")
      const sent = yield* send(server, { ...hello(to), client_reference: "another body" }, shared)
      assert.strictEqual(sent.status, 200, sent.text)
      assert.strictEqual(states(sent)["pair"]!["r"], 44)
    }).pipe(Effect.scoped))

  it.live("the pair's limit counts one recipient; sends to others succeed", () =>
    Effect.gen(function*() {
      const server = yield* atRest(limits({ ...fast, pair: { everySeconds: 600, burst: 2 } }))
      const to = someone()
      const key = { "idempotency-key": "first" }
      const first = yield* send(server, hello(to), key)
      assert.deepStrictEqual(policies(first)["pair"], { q: 2, w: 1200 })
      assert.deepStrictEqual(states(first)["pair"], { r: 1, t: 600 })
      assert.strictEqual((yield* send(server, hello(to))).status, 200)
      const refused = yield* send(server, hello(to))
      checks.assertError(refused, 429, limited("pair"))
      assert.strictEqual(refused.headers.get("retry-after"), "600")
      assert.strictEqual((yield* send(server, hello(someone()))).status, 200)
      // an answer that is repeated asks nothing of the pair
      const replayed = yield* send(server, hello(to), key)
      assert.deepStrictEqual([replayed.status, replayed.text], [200, first.text])
      assert.deepStrictEqual(Object.keys(states(replayed)), ["workspace"])
    }).pipe(Effect.scoped))

  it.live("of many sends to one recipient at once, exactly the burst succeeds", () =>
    Effect.gen(function*() {
      const server = yield* atRest(limits({ ...fast, pair: { everySeconds: 600, burst: 5 } }))
      const to = someone()
      const answers = yield* Effect.all(Array.from({ length: 40 }, () => send(server, hello(to))), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(statuses(answers), { 200: 5, 429: 35 })
      for (const answer of answers.filter(({ status }) => status === 429)) {
        checks.assertError(answer, 429, limited("pair"))
        assert.strictEqual(answer.headers.get("retry-after"), "600")
      }
    }).pipe(Effect.scoped))

  it.live("if several limits refuse, the first gives the reason and the longest gives the wait", () =>
    Effect.gen(function*() {
      const server = yield* atRest(limits({
        ...fast,
        phoneNumberTiers: { standard: 0.5 },
        pair: { everySeconds: 30, burst: 1 }
      }))
      const to = someone()
      assert.strictEqual((yield* send(server, hello(to))).status, 200)
      const refused = yield* send(server, hello(to))
      checks.assertError(refused, 429, limited("phone_number"))
      assert.strictEqual(refused.headers.get("retry-after"), "30")
      assert.strictEqual((yield* send(server, hello(someone()))).headers.get("retry-after"), "2")
    }).pipe(Effect.scoped))
})

describe.concurrent("the quota", () => {
  const exhausted = { code: "forbidden", reason: "quota_exhausted" }

  it.live("the quota counts messages per month; a replay costs nothing, and a raised quota applies immediately", () =>
    Effect.gen(function*() {
      const server = yield* ready(limits({ ...fast, pair: wide, defaults: { monthlyQuota: 3 } }))
      const { configure } = yield* operator(server)
      const key = { "idempotency-key": "first" }
      const first = yield* send(server, hello(), key)
      for (let i = 0; i < 5; i++) assert.strictEqual((yield* send(server, hello(), key)).text, first.text)
      for (let i = 0; i < 2; i++) assert.strictEqual((yield* send(server, hello())).status, 200)
      const refused = yield* send(server, hello())
      checks.assertError(refused, 403, exhausted)
      assert.strictEqual((yield* send(server, hello(), key)).text, first.text)
      yield* configure({ monthlyQuota: 4 })
      assert.strictEqual((yield* send(server, hello())).status, 200)
      checks.assertError(yield* send(server, hello()), 403, exhausted)
      yield* configure({ monthlyQuota: 0 })
      checks.assertError(yield* send(server, hello()), 403, exhausted)
      assert.strictEqual((yield* templates(server)).status, 200)
    }).pipe(Effect.scoped))

  it.live("a final refusal gives the quota back, and a message that waits for a retry keeps it", () =>
    Effect.gen(function*() {
      const server = yield* ready(limits({ ...fast, pair: wide, defaults: { monthlyQuota: 1 } }))
      for (let i = 0; i < 3; i++) {
        assert.strictEqual((yield* send(server, hello("+15005550001"))).body.error.reason, "undeliverable")
      }
      const waiting = { "idempotency-key": "waiting" }
      for (let i = 0; i < 3; i++) {
        checks.assertError(yield* send(server, hello("+15005550005"), waiting), 502, {
          code: "server_error",
          reason: "provider_unavailable",
          provider: { code: "131016", message: "Service unavailable" }
        })
      }
      checks.assertError(yield* send(server, hello()), 403, exhausted)
    }).pipe(Effect.scoped))

  it.live("the quota holds for many sends at once", () =>
    Effect.gen(function*() {
      const server = yield* ready(limits({ ...fast, pair: wide, defaults: { monthlyQuota: 7 } }))
      const answers = yield* Effect.all(Array.from({ length: 40 }, () => send(server, hello(someone()))), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(statuses(answers), { 200: 7, 403: 33 })
    }).pipe(Effect.scoped))
})

describe.concurrent("the messaging limit", () => {
  const reached = { code: "forbidden", reason: "messaging_limit_reached" }

  it.live("the messaging limit counts customers outside a service window, not messages", () =>
    Effect.gen(function*() {
      const server = yield* ready(limits({ ...fast, pair: wide, defaults: { messagingLimit: 2 } }))
      const { configureNumber } = yield* operator(server)
      const [one, two] = ["+15005550008", someone()]
      for (const to of [one, two, one, two]) assert.strictEqual((yield* send(server, hello(to))).status, 200)
      const three = someone()
      checks.assertError(yield* send(server, hello(three)), 403, reached)
      assert.strictEqual((yield* send(server, hello(one))).status, 200)
      const text = { to: one, type: "text", text: { body: "in the window" } }
      const replied = yield* checks.until(send(server, text), ({ status }) => status !== 403)
      assert.strictEqual(replied.status, 200)
      checks.assertError(yield* send(server, hello(three)), 403, reached)
      yield* configureNumber({ messagingLimit: 3 })
      assert.strictEqual((yield* send(server, hello(three))).status, 200)
      checks.assertError(yield* send(server, hello(someone())), 403, reached)
      // within a window they may be written to however many have been
      yield* configureNumber({ messagingLimit: 0 })
      assert.strictEqual((yield* send(server, hello(one))).status, 200)
      assert.strictEqual((yield* send(server, hello(two))).status, 200, "counted already")
    }).pipe(Effect.scoped))

  it.live("the messaging limit holds for many sends at once, separately for each number", () =>
    Effect.gen(function*() {
      const server = yield* ready(limits({ ...fast, pair: wide, defaults: { messagingLimit: 3 } }))
      const answers = yield* Effect.all(Array.from({ length: 20 }, () => send(server, hello(someone()))), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(statuses(answers), { 200: 3, 403: 17 })
      const other = yield* checks.anotherWorkspace("other", "+15005550101").pipe(Effect.provideContext(server.services))
      assert.strictEqual((yield* send({ ...server, key: other.key }, hello(someone()))).status, 200)
    }).pipe(Effect.scoped))
})

describe.concurrent("a suspended workspace", () => {
  it.live("a suspended workspace sends nothing until the operator lifts the suspension", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const { configure } = yield* operator(server)
      const suspended = { code: "forbidden", reason: "workspace_suspended" }
      const key = { "idempotency-key": "before" }
      const before = yield* send(server, hello(), key)
      assert.strictEqual(before.status, 200)
      yield* configure({ suspended: true })
      const refused = { "idempotency-key": "meanwhile" }
      checks.assertError(yield* send(server, hello(), refused), 403, suspended)
      checks.assertError(yield* send(server, hello("+15005550001")), 403, suspended)
      // what it has it may look at
      assert.strictEqual((yield* checks.stored(server, before.body.message_id)).status, 200)
      assert.strictEqual((yield* call(`${server.url}/internal/session`, { headers: server.session })).status, 200)
      yield* configure({ suspended: false })
      const after = yield* send(server, { ...hello(), client_reference: "x" }, refused)
      assert.deepStrictEqual([after.status, after.headers.get("idempotent-replayed")], [200, null])
      assert.strictEqual((yield* send(server, hello(), key)).text, before.text)
    }).pipe(Effect.scoped))

  it.live("a suspended workspace does not affect sends or sign-ins of others", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const other = yield* checks.anotherWorkspace("other", "+15005550101", { suspended: true }).pipe(
        Effect.provideContext(server.services)
      )
      assert.strictEqual((yield* send({ ...server, key: other.key }, hello())).status, 403)
      assert.strictEqual((yield* send(server, hello())).status, 200)
      const again = yield* call(`${server.url}/internal/session`, {
        headers: ownPage,
        body: { email: "owner@example.com", password: "correct horse battery" }
      })
      assert.strictEqual(again.status, 200)
    }).pipe(Effect.scoped))
})
