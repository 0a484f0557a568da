/**
 * Campaigns of programs (contract §11 and §14): `/v1/campaigns` with an API key.
 */
import { assert, layer } from "@effect/vitest"
import { createClient } from "@wac/client"
import { Id, PhoneNumberStore } from "@wac/core"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import * as checks from "../checks.ts"
import { type Answer, call, createKey, isReplayed } from "../harness.ts"

const customer = (n: number) => `+1202555${String(n).padStart(4, "0")}`

const plan = { name: "Everyone", template: { name: "hello_world", language: "en_US" }, share: 0.9 }

const lines = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => `{"to":"${customer(from + n)}"}\n`).join("")

/** Adds a second number of the workspace at the default number's provider. */
const addNumber = Effect.fnUntraced(function*(phoneNumber: string, isDefault: boolean) {
  const { services, session, url } = yield* checks.Served
  const workspaceId = (yield* call(`${url}/internal/session`, { headers: session })).body.workspaceId
  return yield* Effect.gen(function*() {
    const id = yield* Id.generate(yield* SecureRandom.SecureRandom, "pn")
    const store = yield* PhoneNumberStore.PhoneNumberStore
    const [number] = (yield* store.list(workspaceId)).filter(({ isDefault }) => isDefault)
    const made = { ...number!, id, phoneNumber, providerNumberId: `p-${id}`, isDefault }
    assert.isTrue(yield* store.add(made))
    return made
  }).pipe(Effect.provide(SecureRandom.layerWebCrypto), Effect.provideContext(services), Effect.orDie)
})

/** A key that runs campaigns, and what it calls. */
const program = Effect.fnUntraced(function*(options: { readonly [name: string]: unknown } = {}) {
  const { session, url } = yield* checks.Served
  const key = yield* createKey(url, session, { name: "campaigner", scopes: ["campaigns:write"], ...options })
  const authorization = `Bearer ${key.apiKey}`
  const ask = (
    method: string,
    path: string,
    { body, headers }: { readonly body?: unknown; readonly headers?: { readonly [name: string]: string } } = {}
  ) =>
    call(`${url}/v1/campaigns${path}`, {
      method,
      headers: { authorization, ...(method === "POST" ? { "idempotency-key": crypto.randomUUID() } : {}), ...headers },
      ...(body === undefined ? {} : { body })
    })
  const create = Effect.fnUntraced(function*(fields: { readonly [name: string]: unknown } = {}) {
    const created = yield* ask("POST", "", { body: { ...plan, ...fields } })
    assert.strictEqual(created.status, 201, created.text)
    return created.body.id as string
  })
  const upload = (id: string, body: string, query = "", type = "application/x-ndjson") =>
    ask("PUT", `/${id}/recipients${query}`, { body, headers: { "content-type": type } })
  const until = (id: string, status: string) => checks.until(ask("GET", `/${id}`), ({ body }) => body.status === status)
  return { key, ask, create, upload, until, url, session }
})

/** Every name of a field, at any depth but in templates. */
const namesIn = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value)
    ? value.flatMap(namesIn)
    : typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([name, part]) => [name, ...(name.startsWith("template") ? [] : namesIn(part))])

const assertSnakeCase = ({ body }: Answer) => {
  for (const name of namesIn(body)) assert.match(name, /^[a-z0-9]+(_[a-z0-9]+)*$/)
}

layer(checks.Served.layer({ environment: checks.unlimited }), checks.live)("campaigns of programs", (it) => {
  it.effect("a key takes a campaign from its file to its completion, and names are in snake_case throughout", () =>
    Effect.gen(function*() {
      const { ask, create, until, upload } = yield* program()
      const id = yield* create({ template_b: plan.template, max_failure_rate: 0.4 })
      const csv = `Phone;name\n${customer(0)};Ana\n0202 5550001;Ben\n${customer(0)};again\n`
      const uploaded = yield* upload(id, csv, "?to_column=Phone&default_country=US", "text/csv")
      assert.deepInclude(uploaded.body, { id, rows: 3, max_failure_rate: 0.4, paused_reason: null, start_at: null })
      assert.deepStrictEqual((yield* ask("POST", `/${id}/check`)).body.status, "checking")
      const ready = yield* until(id, "ready")
      assertSnakeCase(ready)
      assert.deepInclude(ready.body, { checked: 3, template_b: plan.template })
      assert.containsAllKeys(ready.body.forecast, ["limited_customers", "messaging_limit", "costs"])
      assert.strictEqual((yield* ask("POST", `/${id}/start`)).body.status, "running")
      const done = yield* until(id, "completed")
      assert.isNotNull(done.body.completed_at)
      const first = yield* ask("GET", `/${id}/recipients?limit=2`)
      assertSnakeCase(first)
      assert.deepStrictEqual([first.body.data.length, first.body.has_more], [2, true])
      const rest = yield* ask("GET", `/${id}/recipients?limit=2&cursor=${first.body.next_cursor}`)
      assert.deepStrictEqual([rest.body.data.length, rest.body.has_more, rest.body.next_cursor], [1, false, null])
      assert.deepStrictEqual(
        [...first.body.data, ...rest.body.data].map(({ message_id, problem, row }: Answer["body"]) => [
          row,
          message_id === null,
          problem?.reason
        ]),
        [[1, false, undefined], [2, true, "malformed"], [3, true, "duplicate"]]
      )
      const file = yield* ask("GET", `/${id}/recipients?reason=duplicate`, { headers: { accept: "text/csv" } })
      assert.include(file.headers.get("content-type"), "text/csv")
      assert.lengthOf(file.text.trim().split("\n"), 2)
    }))

  it.effect("a campaign is listed, changed and deleted by a key, and pauses, resumes and is cancelled", () =>
    Effect.gen(function*() {
      const { ask, create, until, upload } = yield* program()
      const id = yield* create({ start_at: "2096-01-02T03:04:05.000Z" })
      const other = yield* create()
      const listed = yield* ask("GET", "?limit=2")
      assertSnakeCase(listed)
      assert.deepStrictEqual(listed.body.data.map(({ id }: Answer["body"]) => id), [other, id])
      const edited = yield* ask("PATCH", `/${id}`, { body: { max_failure_rate: 0.5, not_after: null } })
      assert.deepInclude(edited.body, { max_failure_rate: 0.5, not_after: null, start_at: "2096-01-02T03:04:05.000Z" })
      checks.assertInvalid(
        yield* ask("PATCH", `/${id}`, { body: { maxFailureRate: 1 } }),
        "unknown_field",
        "maxFailureRate"
      )
      checks.assertInvalid(yield* ask("PATCH", `/${id}`, { body: { start_at: "soon" } }), "invalid_field", "start_at")
      yield* upload(id, lines(3, 100))
      assert.strictEqual((yield* upload(id, lines(2, 200), "?replace=true")).body.rows, 2)
      yield* ask("POST", `/${id}/check`)
      yield* until(id, "ready")
      assert.strictEqual((yield* ask("POST", `/${id}/start`)).body.status, "scheduled")
      assert.deepInclude((yield* ask("POST", `/${id}/pause`)).body, { status: "paused", paused_reason: "person" })
      assert.strictEqual((yield* ask("POST", `/${id}/resume`)).body.status, "scheduled")
      assert.strictEqual((yield* ask("POST", `/${id}/cancel`)).body.status, "cancelled")
      checks.assertError(yield* ask("DELETE", `/${id}`), 403, { code: "forbidden", reason: "campaign_state" })
      assert.strictEqual((yield* ask("DELETE", `/${other}`)).status, 204)
      checks.assertError(yield* ask("GET", `/${other}`), 404, { code: "not_found" })
    }))

  it.effect("each POST is done once under its Idempotency-Key, whichever key of the workspace repeats it", () =>
    Effect.gen(function*() {
      const { ask, key, upload, url } = yield* program()
      const { ask: askAgain } = yield* program()
      const headers = { "idempotency-key": crypto.randomUUID() }
      const [first, joined] = yield* Effect.all(
        [ask("POST", "", { body: plan, headers }), ask("POST", "", { body: plan, headers })],
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual([first.status, joined.status, joined.body], [201, 201, first.body])
      assert.lengthOf([first, joined].filter(isReplayed), 1)
      const again = yield* askAgain("POST", "", { body: plan, headers })
      assert.deepStrictEqual([again.status, again.body, isReplayed(again)], [201, first.body, true])
      checks.assertError(yield* ask("POST", "", { body: { ...plan, share: 0.1 }, headers }), 409, {
        code: "idempotency_conflict",
        reason: "payload_mismatch"
      })
      const { id } = first.body
      // a refusal binds nothing
      checks.assertError(yield* ask("POST", `/${id}/check`, { headers }), 403, {
        code: "forbidden",
        reason: "campaign_state"
      })
      yield* upload(id, lines(1, 300))
      const checked = yield* ask("POST", `/${id}/check`, { headers })
      assert.deepStrictEqual([checked.body.status, isReplayed(checked)], ["checking", false])
      const repeated = yield* ask("POST", `/${id}/check`, { headers })
      assert.deepStrictEqual([repeated.body, isReplayed(repeated)], [checked.body, true])
      for (const verb of ["check", "start", "pause", "resume", "cancel"]) {
        checks.assertInvalid(
          yield* call(`${url}/v1/campaigns/${id}/${verb}`, {
            method: "POST",
            headers: { authorization: `Bearer ${key.apiKey}` }
          }),
          "missing_idempotency_key",
          "Idempotency-Key"
        )
      }
    }))

  it.effect("what a key does is in the audit, once, with the key's id and name", () =>
    Effect.gen(function*() {
      const { ask, key, session, upload, url } = yield* program({ name: "night job" })
      const headers = { "idempotency-key": crypto.randomUUID() }
      const { body: { id } } = yield* ask("POST", "", { body: plan, headers })
      yield* ask("POST", "", { body: plan, headers })
      yield* ask("GET", `/${id}`)
      yield* upload(id, lines(1, 400))
      const audit = yield* call(`${url}/internal/audit?target=${id}`, { headers: session })
      assert.deepStrictEqual(
        audit.body.data.map(({ action, by }: Answer["body"]) => [action, by]),
        ["campaign.upload", "campaign.create"].map((action) => [action, { apiKeyId: key.id, name: "night job" }])
      )
      const byKey = yield* call(`${url}/internal/audit?userId=${key.id}`, { headers: session })
      assert.lengthOf(byKey.body.data, 2)
    }))

  it.effect("the signature of a file is checked at its end, and a wrong one leaves the campaign as it was", () =>
    Effect.gen(function*() {
      const { ask, create } = yield* program()
      const { key, upload, url } = yield* program({ requireSignature: true })
      const id = yield* create()
      const file = { bytes: new TextEncoder().encode(lines(2000, 0)), type: "application/x-ndjson" as const }
      const client = (signingSecret: string) =>
        createClient({ baseUrl: `${url}/v1`, apiKey: key.apiKey, signingSecret, retries: 0 })
      const refused = yield* Effect.promise(() =>
        client("whsec_other").campaigns.upload(id, file).catch((error: unknown) => error)
      )
      assert.deepInclude(refused, { status: 401, reason: "invalid_signature" })
      checks.assertError(yield* upload(id, lines(1)), 401, {
        code: "unauthorized",
        reason: "missing_signature",
        param: "X-Service-Signature"
      })
      assert.strictEqual((yield* ask("GET", `/${id}`)).body.rows, 0)
      const uploaded = yield* Effect.promise(() => client(key.signingSecret).campaigns.upload(id, file))
      assert.strictEqual(uploaded.rows, 2000)
    }))

  it.effect("the list is filtered by status and by a part of the name, and a client finds the same", () =>
    Effect.gen(function*() {
      const { ask, create, key, session, url } = yield* program()
      const [older, newer] = [yield* create({ name: "Winter one" }), yield* create({ name: "Two of WINTER" })]
      const idsOf = ({ body }: Answer): ReadonlyArray<string> => body.data.map(({ id }: { id: string }) => id)
      assert.deepStrictEqual(idsOf(yield* ask("GET", "?name_contains=winter")), [newer, older])
      assert.deepStrictEqual(idsOf(yield* ask("GET", "?name_contains=winter&status=draft&limit=1")), [newer])
      assert.deepStrictEqual(idsOf(yield* ask("GET", "?name_contains=winter&status=running")), [])
      const shown = yield* call(`${url}/internal/campaigns?nameContains=winter%20ONE`, { headers: session })
      assert.deepStrictEqual(idsOf(shown), [older])
      const client = createClient({ baseUrl: `${url}/v1`, apiKey: key.apiKey })
      const found = yield* Effect.promise(() => client.campaigns.list({ nameContains: "of winter" }).toArray())
      assert.deepStrictEqual(found.map(({ id }) => id), [newer])
      for (const [query, param] of [["status=sent", "status"], ["name_contains=", "name_contains"]] as const) {
        checks.assertError(yield* ask("GET", `?${query}`), 400, {
          code: "invalid_body",
          reason: "invalid_field",
          param
        })
      }
    }))

  it.effect("a key that is bound to numbers has the campaigns of these alone", () =>
    Effect.gen(function*() {
      const { session, url } = yield* checks.Served
      const numbers = yield* call(`${url}/internal/phone-numbers`, { headers: session })
      const own = numbers.body.data.find(({ isDefault }: Answer["body"]) => isDefault)
      const second = yield* addNumber("+15005550178", false)
      const free = yield* program()
      const first = yield* program({ phoneNumberIds: [own.id] })
      const other = yield* program({ phoneNumberIds: [second.id] })
      const refused = { code: "forbidden", reason: "sender_not_available" }
      // without `from` it is the default number's
      const ofDefault = yield* first.create()
      const ofOwn = yield* first.create({ from: own.phoneNumber })
      const ofSecond = yield* other.create({ from: second.phoneNumber })
      yield* free.upload(ofDefault, lines(1, 500))
      for (const fields of [{}, { from: own.id }, { from: "+15005550999" }]) {
        checks.assertError(yield* other.ask("POST", "", { body: { ...plan, ...fields } }), 403, {
          ...refused,
          param: "from"
        })
      }
      checks.assertError(yield* other.ask("PATCH", `/${ofSecond}`, { body: { from: null } }), 403, {
        ...refused,
        param: "from"
      })
      for (const id of [ofDefault, ofOwn]) {
        for (const verb of ["check", "start", "pause", "resume", "cancel"]) {
          checks.assertError(yield* other.ask("POST", `/${id}/${verb}`), 403, refused)
        }
        for (const [method, path] of [["GET", ""], ["DELETE", ""], ["GET", "/recipients"]] as const) {
          checks.assertError(yield* other.ask(method, `/${id}${path}`), 403, refused)
        }
        checks.assertError(
          yield* other.ask("GET", `/${id}/recipients`, { headers: { accept: "text/csv" } }),
          403,
          refused
        )
        checks.assertError(yield* other.ask("PATCH", `/${id}`, { body: { from: second.id } }), 403, refused)
        checks.assertError(yield* other.upload(id, lines(1)), 403, refused)
      }
      const ids = ({ body }: Answer) => body.data.map(({ id }: Answer["body"]) => id)
      assert.deepStrictEqual(ids(yield* other.ask("GET", "")), [ofSecond])
      assert.includeMembers(ids(yield* first.ask("GET", "?limit=100")), [ofDefault, ofOwn])
      assert.notInclude(ids(yield* first.ask("GET", "?limit=100")), ofSecond)
      assert.strictEqual((yield* other.ask("GET", `/${ofSecond}`)).status, 200)
      // nor by another's Idempotency-Key
      const headers = { "idempotency-key": crypto.randomUUID() }
      assert.strictEqual((yield* first.ask("POST", "", { body: plan, headers })).status, 201)
      checks.assertError(yield* other.ask("POST", "", { body: plan, headers }), 403, { ...refused, param: "from" })
    }))

  it.effect("a campaign without a number shows the number with which its recipients were checked, whichever is the default later", () =>
    Effect.gen(function*() {
      const { session, url } = yield* checks.Served
      const { ask, create, upload } = yield* program()
      const numbers = yield* call(`${url}/internal/phone-numbers`, { headers: session })
      const { phoneNumber } = numbers.body.data.find(({ isDefault }: Answer["body"]) => isDefault)
      const id = yield* create()
      yield* upload(id, lines(2, 600))
      assert.deepInclude((yield* ask("GET", `/${id}`)).body, { from: null, checked_from: null })
      yield* ask("POST", `/${id}/check`)
      yield* checks.until(ask("GET", `/${id}`), ({ body }) => body.status === "ready")
      yield* addNumber("+15005550179", true)
      assert.deepInclude((yield* ask("GET", `/${id}`)).body, { from: null, checked_from: phoneNumber })
      const shown = yield* call(`${url}/internal/campaigns/${id}`, { headers: session })
      assert.deepInclude(shown.body, { from: null, checkedFrom: phoneNumber })
      const named = yield* ask("PATCH", `/${id}`, { body: { from: phoneNumber } })
      assert.deepInclude(named.body, { from: phoneNumber, checked_from: null })
    }))
})
