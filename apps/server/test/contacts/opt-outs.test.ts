/**
 * Opt-outs that people and programs set, their import and export, and the words of a workspace (contract §13).
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as checks from "../checks.ts"
import { call, createKey, ready, send } from "../harness.ts"

const customer = "+15551239001"

const promo = (to: string) => ({
  to,
  type: "template",
  template: { name: "promo", language: "en_US", bodyParams: ["20%"] }
})

const optedOut = { code: "forbidden", reason: "opted_out", param: "to" }

it.live("a program opts a customer out whom nobody knows, and in again; both can be repeated, with or without a body", () =>
  Effect.gen(function*() {
    const server = yield* ready({ environment: checks.unlimited })
    const at = (name: string) => `${server.url}/v1/contacts/${encodeURIComponent(name)}/opt-out`
    const { apiKey } = yield* createKey(server.url, server.session, { name: "consent", scopes: ["contacts:write"] })
    const headers = { authorization: `Bearer ${apiKey}` }
    const choose = (method: string, body?: unknown, name = customer) =>
      call(at(name), { method, headers, ...(body === undefined ? {} : { body }) })
    const out = yield* choose("PUT")
    assert.deepStrictEqual([out.status, out.body], [200, {
      contact: customer,
      opted_out: true,
      opted_out_at: out.body.opted_out_at,
      source: "api"
    }])
    assert.match(out.body.opted_out_at, checks.timeShape)
    const { body: again } = yield* choose("PUT", {})
    // it counts from the last time on
    assert.deepStrictEqual({ ...again, opted_out_at: out.body.opted_out_at }, out.body)
    assert.isAtLeast(Date.parse(again.opted_out_at), Date.parse(out.body.opted_out_at))
    checks.assertError(yield* send(server, promo(customer)), 403, optedOut)
    for (const body of [undefined, {}]) {
      const back = yield* choose("DELETE", body)
      assert.deepStrictEqual([back.status, back.body], [200, {
        contact: customer,
        opted_out: false,
        opted_out_at: null,
        source: null
      }])
    }
    assert.strictEqual((yield* send(server, promo(customer))).status, 200)

    const numbers = yield* call(`${server.url}/internal/phone-numbers`, { headers: server.session })
    const [{ id }] = numbers.body.data
    assert.strictEqual((yield* choose("PUT", { phone_number_id: id })).body.opted_out, true)
    checks.assertError(yield* send(server, promo(customer)), 403, optedOut)
    checks.assertInvalid(yield* choose("PUT", { phone_number_id: "pn_nobody" }), "invalid_field", "phone_number_id")
    checks.assertInvalid(yield* choose("PUT", { phoneNumberId: id }), "unknown_field", "phoneNumberId")
    checks.assertInvalid(yield* choose("PUT", {}, "+4407123456789"), "invalid_field", "name")
    checks.assertInvalid(yield* choose("PUT", {}, "a b"), "invalid_field", "name")
    checks.assertInvalid(yield* choose("PUT", {}, "+15"), "invalid_field", "name")
  }).pipe(Effect.scoped))

it.live("a person imports a list of opt-outs, exports it, and opts a contact in", () =>
  Effect.gen(function*() {
    const server = yield* ready({ environment: checks.unlimited })
    const url = `${server.url}/internal/suppressions`
    const put = (type: string, body: string) =>
      Effect.promise(async () => {
        const response = await fetch(url, {
          method: "PUT",
          headers: { ...server.session, "content-type": type },
          body
        })
        return { status: response.status, body: await response.json() }
      })
    const csv = "name,why\r\n+1 (555) 123-9001,old list\r\n12,\r\n+15551239001,\r\nUS.13491208655302741918,\r\n+15,\r\n"
    const imported = yield* put("text/csv", csv)
    assert.strictEqual(imported.status, 200)
    assert.deepInclude(imported.body, { added: 2, already: 1 })
    assert.deepStrictEqual(imported.body.refused.map(({ line, value }: never) => [line, value]), [[3, "12"], [
      6,
      "+15"
    ]])
    for (const { reason } of imported.body.refused) assert.match(reason, /^name must be /)
    const lines = "\"+15551239002\"\n{\"name\":\"+15551239003\",\"source\":\"api\"}\n[]\n"
    const more = yield* put("application/x-ndjson", lines)
    assert.deepInclude(more.body, { added: 2, already: 0 })
    assert.deepStrictEqual(more.body.refused.map(({ line }: never) => line), [3])
    assert.deepInclude((yield* put("text/csv", "+15551239002\n")).body, { added: 0, already: 1, refused: [] })
    for (const n of [1, 2, 3]) checks.assertError(yield* send(server, promo(`+1555123900${n}`)), 403, optedOut)

    const listed = yield* call(url, { headers: server.session })
    assert.strictEqual(listed.body.others, 0)
    assert.deepStrictEqual(
      listed.body.names.map(({ name, phoneNumberId, source }: never) => [name, phoneNumberId, source]),
      ["+15551239001", "+15551239002", "+15551239003", "US.13491208655302741918"].map((name) => [name, null, "import"])
    )
    const file = yield* Effect.promise(async () =>
      (await fetch(url, { headers: { ...server.session, accept: "text/csv" } })).text()
    )
    assert.match(file, /^name,phoneNumberId,optedOutAt,source\n'\+15551239001,,2/)
    const audit = yield* call(`${server.url}/internal/audit`, { headers: server.session })
    assert.deepInclude(audit.body.data[0], {
      action: "contact.import_opt_outs",
      target: null,
      detail: { added: "0", already: "1", refused: "0" }
    })
    // what was exported can be imported
    assert.deepInclude((yield* put("text/csv", file)).body, { added: 0, already: 4, refused: [] })
  }).pipe(Effect.scoped))

it.live("the words of a workspace are shown with the defaults, and changed", () =>
  Effect.gen(function*() {
    const { session, url } = yield* ready()
    const settings = `${url}/internal/settings/opt-out`
    const before = yield* call(settings, { headers: session })
    assert.deepInclude(before.body, { stopWords: [], startWords: [], removed: [] })
    assert.isAtLeast(before.body.defaults.length, 25)
    const words = { stopWords: ["Genug"], startWords: ["Weiter"], removed: ["END"] }
    const set = yield* call(settings, { method: "PUT", headers: session, body: words })
    assert.deepStrictEqual([set.status, set.body], [200, { ...before.body, ...words }])
    assert.deepStrictEqual((yield* call(settings, { headers: session })).body, set.body)
    const refused = yield* call(settings, {
      method: "PUT",
      headers: session,
      body: { ...words, startWords: ["genug!"] }
    })
    checks.assertInvalid(refused, "invalid_field", "startWords[0]")
  }).pipe(Effect.scoped))
