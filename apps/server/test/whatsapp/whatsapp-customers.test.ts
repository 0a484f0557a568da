/**
 * What Meta really posts and answers about customers, values and prices (contract §3, §7, §13). The fixtures are posts
 * and a template as Meta writes them; only the time and the ids of our own messages are filled in.
 */
import { assert, layer } from "@effect/vitest"
import type { CloudApi } from "@wac/simulator"
import { Clock, Effect } from "effect"
import { createHmac } from "node:crypto"
import * as fs from "node:fs"
import * as checks from "../checks.ts"
import { call, isReplayed, send } from "../harness.ts"
import { png, upload } from "../media/files.ts"
import { withKey } from "../processes.ts"
import { accepted, anyone, generous, silent, template, text, World } from "./whatsapp.ts"

const fixture = (name: string): string => fs.readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), "utf8")

let posts = 0

/** Posts a fixture as Meta would, signed, and waits until it is processed. Each message has an id of its own. */
const posted = Effect.fnUntraced(function*(name: string, ids: { readonly [placeholder: string]: string } = {}) {
  const world = yield* World
  // upstream's times are whole seconds: each post is later than the one before
  yield* world.pass("1 second")
  const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  const filled = { NOW: `${now}`, "wamid.TEST": `wamid.TEST${++posts}`, ...ids }
  const body = Object.entries(filled).reduce((all, [from, to]) => all.replaceAll(`"${from}"`, `"${to}"`), fixture(name))
  const signature = `sha256=${createHmac("sha256", world.api.identity.appSecret).update(body).digest("hex")}`
  const answer = yield* world.post(body, signature)
  assert.strictEqual(answer.status, 200, answer.text)
  yield* world.quiet
})

/** A customer writes; it is processed when this returns. */
const writes = Effect.fnUntraced(function*(inbound: CloudApi.Inbound) {
  const world = yield* World
  yield* world.pass("1 second")
  yield* Effect.orDie(world.api.receive(inbound))
  yield* world.quiet
})

const marketing = (to: string) => template(to, "promo", ["20 %"])

const outsideWindow = { code: "forbidden", reason: "outside_service_window", param: "type" }
const optedOut = { code: "forbidden", reason: "opted_out", param: "to" }
const mismatch = { code: "invalid_body", reason: "template_params_mismatch" }

/** Our id of a message, and upstream's. */
const sent = Effect.fnUntraced(function*(body: unknown) {
  const world = yield* World
  const answer = yield* send(world, body)
  assert.strictEqual(answer.status, 200, answer.text)
  return { MSG_ID: answer.body.message_id as string, WAMID_OF_SEND: answer.body.provider_message_id as string }
})

const assertRefused = Effect.fnUntraced(function*(to: string) {
  const world = yield* World
  const before = (yield* world.callsTo(to)).length
  checks.assertError(yield* send(world, marketing(to)), 403, optedOut)
  assert.lengthOf(yield* world.callsTo(to), before)
})

layer(
  World.layer({ environment: checks.unlimited, api: { settings: { ...generous, ...silent } } }),
  checks.live
)("what Meta posts about customers", (it) => {
  it.effect("a customer who writes from the older form of their number is answered by it and by the newer one", () =>
    Effect.gen(function*() {
      const world = yield* World
      const [older, newer] = ["+22997123456", "+2290197123456"]
      const first = yield* accepted(world, template(newer))
      yield* posted("message-from-benin")
      const [event] = yield* world.toldOf(older, 1)
      assert.deepInclude(event.data, { from: older, text: { body: "hola" } })
      const ids = [first]
      for (const to of [older, newer]) ids.push(yield* accepted(world, text(to)))
      for (const to of [older, newer]) {
        const listed = yield* call(`${world.url}/v1/messages?to=${encodeURIComponent(to)}`, {
          headers: { authorization: `Bearer ${world.key.apiKey}` }
        })
        assert.strictEqual(listed.status, 200, listed.text)
        const listedIds = listed.body.data.map((message: { readonly message_id: string }) => message.message_id)
        assert.sameMembers(listedIds, ids)
      }
    }))

  it.effect.each<readonly [fixture: string, to: string]>([
    ["marketing-stopped-other-form", "+2290197000901"],
    ["marketing-stopped-no-recipient", "+16505551903"]
  ])(
    "a report that the customer stopped marketing opts out whom the message was sent to: %s",
    ([name, to]) =>
      Effect.gen(function*() {
        const world = yield* World
        const ids = yield* sent(marketing(to))
        yield* posted(name, ids)
        const { body } = yield* checks.untilStatus(world, ids.MSG_ID, "failed")
        assert.deepInclude(body.error, { code: "forbidden", reason: "opted_out" })
        yield* assertRefused(to)
      })
  )

  it.effect("a customer whose user id changes keeps their window and their opt-out under both ids", () =>
    Effect.gen(function*() {
      const world = yield* World
      const [previous, current] = ["CO.880001", "CO.880002"]
      yield* posted("message-from-user-id")
      checks.assertError(yield* send(world, text(current)), 403, outsideWindow)
      yield* posted("user-id-update")
      for (const to of [current, previous]) yield* accepted(world, text(to))
      yield* writes({ userId: current, text: "STOP" })
      for (const to of [current, previous]) yield* assertRefused(to)
    }))

  it.effect("an opt-out that was written before the user id changed holds under the new id", () =>
    Effect.gen(function*() {
      yield* writes({ userId: "CO.880001", text: "START" })
      yield* writes({ userId: "CO.880001", text: "STOP" })
      yield* posted("user-id-update")
      for (const to of ["CO.880002", "CO.880001"]) yield* assertRefused(to)
    }))

  it.effect("a customer is answered by the parent of their user id", () =>
    Effect.gen(function*() {
      const world = yield* World
      const parent = "US.ENT.880039"
      checks.assertError(yield* send(world, text(parent)), 403, outsideWindow)
      yield* posted("message-from-parent-user-id")
      for (const to of [parent, "US.880031"]) yield* accepted(world, text(to))
      yield* writes({ userId: "US.880031", text: "STOP" })
      yield* assertRefused(parent)
    }))

  it.effect("STOP by the user id that a status named beside the number blocks the number", () =>
    Effect.gen(function*() {
      const world = yield* World
      const [to, userId] = ["+16505550177", "US.880177"]
      const { MSG_ID, WAMID_OF_SEND } = yield* sent(template(to))
      yield* world.api.announce("messages", {
        messaging_product: "whatsapp",
        metadata: { display_phone_number: "15550783881", phone_number_id: world.api.identity.numbers[0].id },
        contacts: [{ wa_id: to.slice(1), user_id: userId, profile: { name: "A" } }],
        statuses: [{
          id: WAMID_OF_SEND,
          status: "delivered",
          timestamp: `${Math.floor((yield* Clock.currentTimeMillis) / 1000)}`,
          recipient_id: to.slice(1),
          recipient_user_id: userId,
          biz_opaque_callback_data: MSG_ID
        }]
      })
      yield* world.quiet
      yield* writes({ userId, text: "STOP" })
      yield* assertRefused(to)
      checks.assertError(yield* send(world, text(to)), 403, optedOut)
      yield* writes({ userId, text: "START" })
      for (const name of [to, userId]) yield* accepted(world, text(name))
    }))

  it.effect("a price without billable is billed by its type", () =>
    Effect.gen(function*() {
      const world = yield* World
      const ids = yield* sent(marketing("+16505550000"))
      yield* posted("delivered-without-billable", ids)
      const pricing = { billable: true, model: "PMP", type: "regular", category: "marketing" }
      const stored = yield* checks.untilStatus(world, ids.MSG_ID, "delivered")
      assert.deepStrictEqual(stored.body.pricing, pricing)
      const events = yield* world.toldOf("+16505550000", 2)
      const delivered = events.find(({ type }) => type === "message.delivered")
      assert.deepStrictEqual(delivered.data.pricing, pricing)
    }))

  it.effect("a template with a form is sent with the button that opens it", () =>
    Effect.gen(function*() {
      const world = yield* World
      const { components, name, parameter_format: parameterFormat } = JSON.parse(fixture("flow-template"))
      yield* world.api.changeTemplate({ name, parameterFormat, components })
      yield* world.quiet
      const to = anyone()
      yield* checks.until(
        Effect.suspend(() => send(world, template(to, name, ["Ana"]))),
        ({ status }) => status === 200
      )
      const [asked] = yield* world.callsTo(to)
      assert.deepStrictEqual(JSON.parse(asked!.body).template.components, [
        { type: "body", parameters: [{ type: "text", text: "Ana" }] },
        { type: "button", sub_type: "flow", index: "0" }
      ])
    }))

  it.effect("a value with a line break is refused before the provider is asked, and reported by a campaign's check", () =>
    Effect.gen(function*() {
      const world = yield* World
      const to = "+16505558001"
      const headers = { "idempotency-key": "line-break" }
      const refused = yield* send(world, template(to, "order_update", ["a\nb", "1"]), headers)
      checks.assertError(refused, 400, { ...mismatch, param: "template.bodyParams[0]" })
      assert.deepStrictEqual(yield* world.callsTo(to), [])
      // the key is free
      yield* accepted(world, template(to, "order_update", ["a b", "1"]), headers)

      const created = yield* call(`${world.url}/internal/campaigns`, {
        headers: world.session,
        body: { name: "Values", template: { name: "order_update", language: "en_US" } }
      })
      const at = `${world.url}/internal/campaigns/${created.body.id}`
      const values = ["a\nb", "five     spaces", "a\tb", "a b"]
      const uploaded = yield* call(`${at}/recipients`, {
        method: "PUT",
        headers: { ...world.session, "content-type": "application/x-ndjson" },
        body: values.map((value) => JSON.stringify({ to: anyone(), bodyParams: [value, "1"] })).join("\n")
      })
      assert.strictEqual(uploaded.status, 200, uploaded.text)
      yield* call(`${at}/check`, { method: "POST", headers: world.session })
      yield* checks.until(call(at, { headers: world.session }), ({ body }) => body.status === "ready")
      const rows = yield* call(`${at}/recipients`, { headers: world.session })
      assert.deepStrictEqual(
        rows.body.data.map(({ problem }: { readonly problem: { readonly reason: string } | null }) => problem?.reason),
        [mismatch.reason, mismatch.reason, mismatch.reason, undefined]
      )
    }))

  it.effect("Meta's refusal of a value is a mismatch of the template's values", () =>
    Effect.gen(function*() {
      const world = yield* World
      const to = anyone()
      const details = "Param text cannot have new-line/tab characters or more than 4 consecutive spaces"
      yield* world.api.behave(to, { refuse: { code: 132018, http: 400, details } })
      const refused = yield* send(world, template(to, "order_update", ["Ana", "1"]))
      assert.strictEqual(refused.status, 400, refused.text)
      assert.deepInclude(refused.body.error, { ...mismatch, param: "template.bodyParams" })
      assert.strictEqual(refused.body.error.provider.code, "132018")
    }))

  const temporary: ReadonlyArray<readonly [http: number, code: number, status: number, reason: string]> = [
    [429, 999_999, 429, "provider"],
    [400, 17, 429, "provider"],
    [400, 341, 429, "provider"],
    [400, 80008, 429, "provider"],
    [401, 102, 502, "provider_error"]
  ]
  it.effect.each(temporary)("Meta's %i with code %i is not stored, and a retry with the key is sent", (
    [http, code, status, reason]
  ) =>
    Effect.gen(function*() {
      const world = yield* World
      yield* world.pass("1 minute")
      const to = anyone()
      yield* world.api.behave(to, { refuse: { code, http, times: 1 } })
      const key = withKey(crypto.randomUUID())
      const refused = yield* send(world, template(to), key)
      assert.strictEqual(refused.status, status, refused.text)
      assert.strictEqual(refused.body.error.reason, reason)
      assert.strictEqual(refused.headers.has("retry-after"), status === 429)
      if (http === 401) yield* world.untilNumber(({ status }) => status === "blocked")
      // a block for the token, or the wait that the answer named
      yield* world.pass("1 minute")
      const again = yield* send(world, template(to), key)
      assert.strictEqual(again.status, 200, again.text)
      assert.isFalse(isReplayed(again))
      assert.strictEqual(yield* world.api.processed(again.body.message_id), 1)
    }))

  it.effect("an image of over 5 MB is refused as a document before the provider is asked", () =>
    Effect.gen(function*() {
      const world = yield* World
      const to = "+16505556100"
      yield* writes({ from: to, text: "hello" })
      const bytes = Buffer.concat([png, Buffer.alloc(5_300_070 - png.length)])
      const uploaded = yield* upload(
        { url: world.url, authorization: `Bearer ${world.key.apiKey}` },
        { bytes, filename: "large.png" }
      )
      assert.strictEqual(uploaded.status, 201, uploaded.text)
      const before = yield* world.api.uploads
      for (let i = 0; i < 2; i++) {
        const refused = yield* send(
          world,
          { to, type: "document", document: { media: uploaded.body.media_id } },
          withKey("large-image")
        )
        checks.assertError(refused, 400, { code: "invalid_body", reason: "invalid_field", param: "document.media" })
      }
      assert.strictEqual(yield* world.api.uploads, before)
      assert.deepStrictEqual(yield* world.callsTo(to), [])
    }))
})
