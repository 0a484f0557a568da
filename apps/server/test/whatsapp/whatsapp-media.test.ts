/**
 * Files of the workspace that are sent through the simulated Cloud API (contract §10).
 */
import { assert, layer } from "@effect/vitest"
import type { CloudApi } from "@wac/simulator"
import { Duration, Effect } from "effect"
import { createHash } from "node:crypto"
import * as checks from "../checks.ts"
import { type Answer, call, send } from "../harness.ts"
import { jpeg, png, upload } from "../media/files.ts"
import { generous, World } from "./whatsapp.ts"

const stored = Effect.fnUntraced(function*(bytes: Uint8Array, filename: string) {
  const { key, url } = yield* World
  const { body, text } = yield* upload({ url, authorization: `Bearer ${key.apiKey}` }, { bytes, filename })
  assert.isString(body.media_id, text)
  return body.media_id as string
})

const image = (to: string, media: string) => ({ to, type: "image", image: { media, caption: "Your order" } })

const customer = "+16505560400"

/** A customer sends a picture. Gives our id of it, and the event's words. */
const received = Effect.fnUntraced(function*(file: CloudApi.InboundFile) {
  const { api, quiet, session, url } = yield* World
  const wamid = yield* api.receive({ from: customer, kind: "image", file })
  yield* quiet
  const { body } = yield* checks.until(
    call(`${url}/internal/events?type=message.received&limit=100`, { headers: session }),
    ({ body }: Answer) => body.data.some((event: Answer["body"]) => event.data.provider_message_id === wamid)
  )
  const { image } = body.data.find((event: Answer["body"]) => event.data.provider_message_id === wamid).data
  return { id: String(image.media_id), image }
})

const opened = Effect.fnUntraced(function*(id: string) {
  const { key, url } = yield* World
  return yield* Effect.promise(async () => {
    const response = await fetch(`${url}/v1/media/${id}`, { headers: { authorization: `Bearer ${key.apiKey}` } })
    return { response, bytes: Buffer.from(await response.arrayBuffer()) }
  })
})

/** Opens the service window of a customer. */
const writes = Effect.fnUntraced(function*(from: string) {
  const world = yield* World
  yield* world.api.receive({ from, text: "hello" })
  yield* checks.until(
    send(world, { to: from, type: "text", text: { body: "Welcome" } }),
    ({ status }: Answer) => status === 200
  )
})

layer(
  World.layer({ environment: checks.unlimited, api: { settings: generous } }),
  checks.live
)("files sent through the simulated Cloud API", (it) => {
  it.effect("a file goes to the provider once per number, however many customers get it at the same time", () =>
    Effect.gen(function*() {
      const world = yield* World
      const media = yield* stored(png, "order.png")
      const customers = Array.from({ length: 8 }, (_, i) => `+1650556000${i}`)
      yield* Effect.forEach(customers, writes, { concurrency: "unbounded" })
      const before = yield* world.api.uploads
      const answers = yield* Effect.forEach(customers, (to) => send(world, image(to, media)), {
        concurrency: "unbounded"
      })
      for (const answer of answers) assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual((yield* world.api.uploads) - before, 1)
      const [sent] = (yield* world.callsTo(customers[0]!)).map(({ body }) => JSON.parse(body)).filter(({ type }) =>
        type === "image"
      )
      assert.deepInclude(sent.image, { caption: "Your order" })
      assert.match(sent.image.id, /^\d+$/)
      assert.notProperty(sent.image, "media")
    }))

  it.effect("a customer's file is downloaded, and read by the id in the event; nobody else reads it", () =>
    Effect.gen(function*() {
      const world = yield* World
      const { id, image } = yield* received({ base64: Buffer.from(png).toString("base64"), type: "image/png" })
      assert.deepInclude(image, { mime_type: "image/png", caption: "Schön, nicht?" })
      assert.notProperty(image, "id")
      assert.notProperty(image, "url")
      const { bytes, response } = yield* opened(id)
      assert.strictEqual(response.status, 200)
      assert.strictEqual(response.headers.get("content-type"), "image/png")
      assert.isTrue(Buffer.from(png).equals(bytes))
      assert.strictEqual(createHash("sha256").update(bytes).digest("hex"), image.sha256)
      // it may be sent on
      const sent = yield* send(world, { to: customer, type: "image", image: { media: id } })
      assert.strictEqual(sent.status, 200, sent.text)
    }))

  it.effect("a customer's file that is another one than upstream said is never handed out", () =>
    Effect.gen(function*() {
      const { id } = yield* received({
        base64: Buffer.from(png).toString("base64"),
        type: "image/png",
        lies: { sha256: createHash("sha256").update("another").digest("base64") }
      })
      const { response } = yield* opened(id)
      assert.include([502, 503], response.status)
    }))

  it.effect("a customer's file that upstream no longer has is gone", () =>
    Effect.gen(function*() {
      const { id } = yield* received({ base64: "", lives: 1 })
      const { bytes, response } = yield* opened(id)
      assert.strictEqual(response.status, 404)
      assert.strictEqual(JSON.parse(bytes.toString()).error.reason, "media_expired")
    }))

  it.effect("a file that the provider has deleted is uploaded again", () =>
    Effect.gen(function*() {
      const world = yield* World
      const to = "+16505560100"
      const media = yield* stored(jpeg, "again.jpg")
      yield* writes(to)
      const before = yield* world.api.uploads
      assert.strictEqual((yield* send(world, image(to, media))).status, 200)
      yield* world.pass(Duration.minutes(30 * 24 * 60 - 30))
      yield* writes(to)
      assert.strictEqual((yield* send(world, image(to, media))).status, 200)
      assert.strictEqual((yield* world.api.uploads) - before, 2)
    }))

  it.effect("a file that the provider lost before its time is uploaded again by the next try under the same key", () =>
    Effect.gen(function*() {
      const world = yield* World
      const { api } = world
      const to = "+16505560700"
      const media = yield* stored(png, "lost.png")
      yield* writes(to)
      const before = yield* api.uploads
      assert.strictEqual((yield* send(world, image(to, media))).status, 200)
      const sent = (yield* world.callsTo(to)).map(({ body }) => JSON.parse(body)).find(({ type }) => type === "image")
      const forgotten = yield* call(`${api.url}/v25.0/${sent.image.id}`, {
        method: "DELETE",
        headers: { authorization: `Bearer ${api.identity.accessToken}` }
      })
      assert.strictEqual(forgotten.status, 200, forgotten.text)
      const lost = yield* send(world, image(to, media), { "idempotency-key": "lost" })
      checks.assertError(lost, 502, {
        code: "server_error",
        reason: "provider_error",
        provider: {
          code: "100",
          message: "Param image['id'] is not a valid whatsapp business account media attachment ID"
        }
      })
      assert.strictEqual((yield* api.uploads) - before, 1)
      const again = yield* send(world, image(to, media), { "idempotency-key": "lost" })
      assert.strictEqual(again.status, 200, again.text)
      assert.strictEqual((yield* api.uploads) - before, 2)
    }))

  it.effect("a file that does not exist, or does not fit the kind, is refused before the provider is asked", () =>
    Effect.gen(function*() {
      const world = yield* World
      const to = "+16505560200"
      yield* writes(to)
      const calls = (yield* world.callsTo(to)).length
      const text = yield* stored(Buffer.from("not an image"), "a.txt")
      for (const media of [`med_${checks.nobody}`, text]) {
        checks.assertError(yield* send(world, image(to, media)), 400, {
          code: "invalid_body",
          reason: "invalid_field",
          param: "image.media"
        })
      }
      assert.strictEqual((yield* world.callsTo(to)).length, calls)
    }))

  it.effect("a file that is too large for its type is refused as a document before the provider is asked", () =>
    Effect.gen(function*() {
      const world = yield* World
      const to = "+16505560500"
      yield* writes(to)
      const calls = (yield* world.callsTo(to)).length
      const before = yield* world.api.uploads
      const media = yield* stored(Buffer.concat([png, Buffer.alloc(5_300_000)]), "large.png")
      for (let i = 0; i < 2; i++) {
        const refused = yield* send(world, { to, type: "document", document: { media } }, {
          "idempotency-key": "large"
        })
        checks.assertError(refused, 400, {
          code: "invalid_body",
          reason: "invalid_field",
          param: "document.media"
        })
      }
      assert.strictEqual(yield* world.api.uploads, before)
      assert.strictEqual((yield* world.callsTo(to)).length, calls)
      const small = yield* stored(png, "small.png")
      assert.strictEqual((yield* send(world, { to, type: "document", document: { media: small } })).status, 200)
    }))

  it.effect("a file that the provider does not take is refused for good, with its field", () =>
    Effect.gen(function*() {
      const world = yield* World
      const to = "+16505560600"
      const media = yield* stored(Buffer.concat([png, Buffer.from("broken")]), "broken.png")
      yield* writes(to)
      for (const [code, message] of [[131053, "Media upload error"], [100, "Invalid parameter"]] as const) {
        yield* world.api.fault({ target: "reads", next: [{ kind: "error", code }] })
        checks.assertError(yield* send(world, image(to, media)), 400, {
          code: "invalid_body",
          reason: "invalid_field",
          param: "image.media",
          provider: { code: `${code}`, message }
        })
      }
    }))

  it.effect("an upload that the provider loses sends nothing, and a retry with the key succeeds", () =>
    Effect.gen(function*() {
      const world = yield* World
      const to = "+16505560300"
      const media = yield* stored(png, "retried.png")
      yield* writes(to)
      const headers = { "idempotency-key": "retried-image" }
      yield* world.api.fault({ target: "reads", next: [{ kind: "reset_before" }] })
      const lost = yield* send(world, image(to, media), headers)
      assert.include([502, 503], lost.status, lost.text)
      const sent = yield* send(world, image(to, media), headers)
      assert.strictEqual(sent.status, 200, sent.text)
      assert.strictEqual(yield* world.api.processed(sent.body.message_id), 1)
    }))
})
