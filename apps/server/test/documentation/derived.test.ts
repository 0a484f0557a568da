/**
 * What is made from the OpenAPI document: the Postman collection and the JSON Schemas of events.
 */
import { assert, layer } from "@effect/vitest"
import { PostmanValidator } from "@har-sdk/validator"
import { Event } from "@wac/core"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Effect } from "effect"
import * as checks from "../checks.ts"
import { call, hello, send, start } from "../harness.ts"

type Json = ReturnType<typeof JSON.parse>

const read = (path: string) =>
  Effect.gen(function*() {
    const { url } = yield* checks.Served
    const answer = yield* call(url + path)
    assert.strictEqual(answer.status, 200, path)
    assert.strictEqual(answer.headers.get("content-type"), "application/json")
    return answer.body as Json
  })

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Compiles the schemas; fails if they are no schemas of draft 2020-12. */
const validator = (schemas: Json) => {
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    strictRequired: false,
    strictTypes: false,
    formats: { "date-time": timestamp, int32: true, int64: true }
  })
  return { ajv, validate: ajv.compile(schemas) }
}

/** Every request of a collection, with the folder that it is in. */
const requestsOf = (collection: Json): ReadonlyArray<Json> => collection.item.flatMap(({ item }: Json) => item)

layer(checks.Served.layer({ environment: checks.unlimited }), checks.live)("the schemas of events", (it) => {
  it.effect("they are JSON Schema 2020-12, with one for each type of event", () =>
    Effect.gen(function*() {
      const { url } = yield* checks.Served
      const schemas = yield* read("/schemas/events.json")
      assert.strictEqual(schemas.$id, `${url}/schemas/events.json`)
      validator(schemas)
      assert.deepStrictEqual(
        schemas.oneOf,
        Event.EventType.literals.map((type) => ({ $ref: `#/$defs/${type}` }))
      )
      assert.notInclude(JSON.stringify(schemas), "#/components/")
    }))

  it.effect("every example of an event in the OpenAPI document matches its type's schema and no other", () =>
    Effect.gen(function*() {
      const document = yield* read("/openapi.json")
      const schemas = yield* read("/schemas/events.json")
      const { ajv, validate } = validator(schemas)
      const examples: ReadonlyArray<Json> = [
        ...Object.values<Json>(document.webhooks).map(({ post }) =>
          post.requestBody.content["application/json"].example
        ),
        ...document.paths["/v1/events"].get.responses[200].content["application/json"].example.data
      ]
      assert.deepStrictEqual([...new Set(examples.map(({ type }) => type))], [...Event.EventType.literals])
      for (const example of examples) {
        assert.isTrue(validate(example), `${example.type}: ${JSON.stringify(validate.errors)}`)
        for (const type of Event.EventType.literals) {
          const own = ajv.getSchema(`${schemas.$id}#/$defs/${type}`)!
          assert.strictEqual(own(example), type === example.type, `${example.type} as ${type}`)
        }
        const { [Object.keys(example.data)[0]!]: _left, ...data } = example.data
        assert.isFalse(validate({ ...example, data }), `${example.type} without its first field`)
        assert.isFalse(validate({ ...example, created_at: "yesterday" }))
      }
    }))

  it.effect("events match the schemas as they are recorded", () =>
    Effect.gen(function*() {
      const { key, url } = yield* checks.Served
      const { validate } = validator(yield* read("/schemas/events.json"))
      const sent = yield* send({ key, url }, hello("+15005550008"))
      const failed = yield* send({ key, url }, hello("+15005550002"))
      yield* checks.untilStatus({ key, url }, sent.body.message_id, "read")
      yield* checks.untilStatus({ key, url }, failed.body.message_id, "failed")
      const list = yield* call(`${url}/v1/events?limit=100`, { headers: { authorization: `Bearer ${key.apiKey}` } })
      const types = new Set<string>()
      for (const event of list.body.data) {
        assert.isTrue(validate(event), `${event.type}: ${JSON.stringify(validate.errors)}`)
        types.add(event.type)
      }
      assert.includeMembers([...types], ["message.sent", "message.delivered", "message.read", "message.failed"])
    }))
})

layer(checks.Served.layer({ environment: checks.unlimited }), checks.live)("the Postman collection", (it) => {
  it.effect("it is valid by Postman's schema of format 2.1", () =>
    Effect.gen(function*() {
      const collection = yield* read("/postman.json")
      const wrong = yield* Effect.promise(() => new PostmanValidator().verify(collection))
      assert.deepStrictEqual(wrong.map(({ instancePath, message }) => `${instancePath} ${message}`), [])
    }))

  it.effect("it has every operation of the OpenAPI document, in its folder, and each example of a body", () =>
    Effect.gen(function*() {
      const document = yield* read("/openapi.json")
      const collection = yield* read("/postman.json")
      const nameOf = ({ request: { method, url } }: Json) => `${method} /${url.path.join("/")}`
      const expected = Object.entries<Json>(document.paths).flatMap(([path, operations]) =>
        Object.entries<Json>(operations).flatMap(([method, { requestBody, tags }]) => {
          const { example, examples = { "": { value: example } } } = requestBody?.content["application/json"] ?? {}
          return Object.values<Json>(examples).map(({ value }) => [
            tags[0],
            `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`,
            value
          ])
        })
      )
      const found = collection.item.flatMap(({ item, name }: Json) =>
        item.map((one: Json) => [
          name,
          nameOf(one),
          one.request.body?.options?.raw.language === "json" ? JSON.parse(one.request.body.raw) : undefined
        ])
      )
      assert.sameDeepMembers(found, expected)
      const names = requestsOf(collection).map(nameOf)
      assert.includeMembers(names, ["POST /v1/messages", "GET /v1/messages/:id"])
    }))

  it.effect("its requests are answered once the variables have their values", () =>
    Effect.gen(function*() {
      const { key, url } = yield* checks.Served
      const collection = yield* read("/postman.json")
      const { apiKey, baseUrl } = Object.fromEntries(
        collection.variable.map((one: Json) => [one.key, one.value])
      )
      assert.deepStrictEqual([baseUrl, apiKey], [url, ""])
      const values: Record<string, string> = { baseUrl, apiKey: key.apiKey, $guid: "0b9d1c1e" }
      const filled = (text: string) => text.replaceAll(/\{\{([$\w]+)\}\}/g, (_, name: string) => values[name]!)
      const [{ value: bearer }] = collection.auth.bearer
      const ask = ({ request }: Json) =>
        call(filled(request.url.raw), {
          method: request.method,
          headers: {
            ...request.auth === undefined ? { authorization: `Bearer ${filled(bearer)}` } : {},
            ...Object.fromEntries(
              request.header.filter(({ disabled }: Json) => disabled !== true)
                .map((one: Json) => [one.key.toLowerCase(), filled(one.value)])
            )
          },
          ...request.body === undefined ? {} : { body: JSON.parse(request.body.raw) }
        })
      const named = (name: string) => requestsOf(collection).find((one) => one.name.startsWith(name))
      const sends = requestsOf(collection).filter(({ request }) =>
        request.method === "POST" && request.url.raw === "{{baseUrl}}/v1/messages"
      )
      assert.strictEqual((yield* ask(sends[0])).status, 200)
      for (const request of [named("List deliveries"), named("Sign in")]) {
        assert.strictEqual((yield* ask(request)).status, 401, request.name)
      }
      for (const { request } of requestsOf(collection)) {
        assert.notInclude(JSON.stringify(request.url), "{id}")
      }
    }))

  it.effect("it has the service's public address", () =>
    Effect.gen(function*() {
      const behind = yield* start({ environment: { PUBLIC_URL: "https://chat.example.com/wac/" } })
      const { variable } = (yield* call(`${behind.url}/postman.json`)).body
      assert.deepInclude(variable, { key: "baseUrl", value: "https://chat.example.com/wac", type: "string" })
      assert.strictEqual(
        (yield* call(`${behind.url}/schemas/events.json`)).body.$id,
        "https://chat.example.com/wac/schemas/events.json"
      )
    }))
})
