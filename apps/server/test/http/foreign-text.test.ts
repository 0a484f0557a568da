/**
 * Text that no storage can hold, in every text of a request that the OpenAPI document knows: the caller is told which
 * one it is, and no request is answered as if storage had failed.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as checks from "../checks.ts"
import { type Answer, call, hello, ownPage } from "../harness.ts"
import { freshDatabase, masterKey, postgres } from "../processes.ts"

type Json = ReturnType<typeof JSON.parse>

/** A NUL, and a lone surrogate. */
const unstorable = ["a\u0000b", "\u0000", "a\ud800b"]

/** The same in a target; `%ED%A0%80` is a surrogate in what is nearly UTF-8. */
const unstorableInTarget = ["%00", "a%00b", "%ED%A0%80", "a%ED%A0%80b"]

const served = Layer.unwrap(
  Effect.map(Effect.flatMap(postgres, freshDatabase), (url) =>
    checks.Served.layer({
      environment: { ...checks.unlimited, DATABASE_URL: url, WAC_MASTER_KEY: masterKey() }
    }))
)

/** What ends the sessions of the test, or has no end. */
const leftOut = new Set(["DELETE /internal/session", "GET /internal/stream"])

/** Free text that is only judged, never stored: what a receiver got. */
const anyText = new Set(["POST /internal/webhook/verify"])

interface Operation {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly parameters: ReadonlyArray<Json>
  readonly body: Json
  /** The media type of a body that is a file. */
  readonly file: string | undefined
}

const operations = ({ paths }: Json): ReadonlyArray<Operation> =>
  Object.entries<Json>(paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).filter(([method]) => ["get", "put", "post", "patch", "delete"].includes(method)).map(
      ([method, { parameters = [], requestBody }]) => ({
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        parameters,
        body: requestBody?.content["application/json"],
        file: Object.keys(requestBody?.content ?? {}).find((type) => type !== "application/json")
      })
    )
  ).filter(({ name }) => !leftOut.has(name))

/** A body with another value at a path; containers that it lacks are made. */
const withAt = (body: Json, [name, ...rest]: ReadonlyArray<string | number>, value: unknown): Json => {
  if (name === undefined) return value
  const isKept = typeof body === "object" && body !== null && Array.isArray(body) === (typeof name === "number")
  const copy: Json = !isKept ? typeof name === "number" ? [] : {} : Array.isArray(body) ? [...body] : { ...body }
  copy[name] = withAt(copy[name], rest, value)
  return copy
}

type Path = ReadonlyArray<string | number>

/** Where a value has text. */
const textsIn = (value: Json, path: Path = []): ReadonlyArray<Path> =>
  typeof value === "string"
    ? [path]
    : typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, inner]) =>
      textsIn(inner, [...path, Array.isArray(value) ? Number(name) : name])
    )
    : []

/** Where a schema may have text. */
const textsOf = (
  document: Json,
  schema: Json,
  path: Path = [],
  seen: ReadonlyArray<string> = []
): ReadonlyArray<Path> => {
  const { $ref, additionalProperties, allOf = [], anyOf = [], items, oneOf = [], properties = {}, type } = schema
  if ($ref !== undefined) {
    if (seen.includes($ref)) return []
    const named = $ref.split("/").slice(1).reduce((at: Json, name: string) => at[name], document)
    return textsOf(document, named, path, [...seen, $ref])
  }
  return [
    ...type === "string" ? [path] : [],
    ...[...allOf, ...anyOf, ...oneOf].flatMap((one) => textsOf(document, one, path, seen)),
    ...Object.entries(properties).flatMap(([name, one]) => textsOf(document, one, [...path, name], seen)),
    ...items === undefined ? [] : textsOf(document, items, [...path, 0], seen),
    ...typeof additionalProperties === "object" ? textsOf(document, additionalProperties, [...path, "any"], seen) : []
  ]
}

const examplesOf = ({ example, examples }: Json): ReadonlyArray<Json> =>
  examples === undefined ? [example ?? {}] : Object.values<Json>(examples).map(({ value }) => value)

const distinct = (
  paths: ReadonlyArray<Path>
): ReadonlyArray<Path> => [...new Map(paths.map((path) => [JSON.stringify(path), path])).values()]

layer(served, checks.live)("text that no storage can hold", (it) => {
  const requests = Effect.map(checks.Served, ({ key, session, url }) => ({
    url,
    /** Who calls this, with a key of the request's own. */
    headers: (path: string) => ({
      ...(path.startsWith("/v1/") ? { authorization: `Bearer ${key.apiKey}` } : { ...ownPage, ...session }),
      "idempotency-key": crypto.randomUUID()
    })
  }))

  const documented = Effect.flatMap(
    requests,
    ({ url }) => Effect.map(call(`${url}/openapi.json`), ({ body }): Json => body)
  )

  it.effect("a query with it gets 400 with the parameter's name if the parameter is free text, and never a 5xx", () =>
    Effect.gen(function*() {
      const { headers, url } = yield* requests
      let count = 0
      for (const { file, method, name, parameters, path } of operations(yield* documented)) {
        const target = path.replaceAll(/\{[^}]*\}/g, `x_${checks.nobody}`)
        for (const parameter of parameters.filter((one) => one.in === "query")) {
          for (const text of unstorableInTarget) {
            const address = `${url}${target}?${parameter.name}=${text}`
            const { body, status, text: answer } = yield* call(address, {
              method,
              headers: { ...headers(path), ...(file === undefined ? {} : { "content-type": file }) },
              ...(file === undefined ? {} : { body: "{}" })
            })
            const told = `${name} ${parameter.name}=${text}: ${status} ${answer}`
            assert.isBelow(status, 500, told)
            // what is nearly UTF-8 is read as U+FFFD, which is text
            if (text.includes("%00") && status !== 404) {
              assert.deepStrictEqual(
                [status, body.error.code, body.error.param],
                [400, "invalid_body", parameter.name],
                told
              )
              assert.strictEqual(body.error.reason, "invalid_field", told)
            }
            count++
          }
        }
      }
      assert.isAbove(count, 100)
    }))

  it.effect("a path with it names nothing", () =>
    Effect.gen(function*() {
      const { headers, url } = yield* requests
      for (const { body, method, name, path } of operations(yield* documented)) {
        if (!path.includes("{")) continue
        for (const text of [...unstorableInTarget, `msg_${checks.nobody}%00`, `con_${checks.nobody}:%00`]) {
          const target = path.replaceAll(/\{[^}]*\}/g, text)
          const { status, text: answer } = yield* call(`${url}${target}`, {
            method,
            headers: headers(path),
            ...(body === undefined ? {} : { body: examplesOf(body)[0] })
          })
          assert.include([400, 404, 415], status, `${name} ${text}: ${status} ${answer}`)
        }
      }
    }))

  it.effect("a body with it gets 400 with the field's name, wherever the document has text", () =>
    Effect.gen(function*() {
      const { headers, url } = yield* requests
      const document = yield* documented
      let count = 0
      for (const { body, method, name, path } of operations(document)) {
        if (body === undefined) continue
        const target = path.replaceAll(/\{[^}]*\}/g, `x_${checks.nobody}`)
        const examples = examplesOf(body)
        const asked = [
          ...examples.flatMap((example) => textsIn(example).map((at) => ({ example, at }))),
          ...distinct(textsOf(document, body.schema)).map((at) => ({ example: examples[0], at }))
        ]
        for (const { at, example } of asked) {
          const text = unstorable[count++ % unstorable.length]
          const { body, status, text: answer } = yield* call(`${url}${target}`, {
            method,
            headers: headers(path),
            body: withAt(example, at, text)
          })
          const told = `${name} ${JSON.stringify(at)} = ${JSON.stringify(text)}: ${status} ${answer}`
          if (anyText.has(name)) assert.isBelow(status, 500, told)
          else {
            // a message of a batch is refused by itself
            const refused = name === "POST /v1/messages/batch" && status === 200
              ? body.results.find(({ status }: Answer["body"]) => status === "refused")
              : { http_status: status, error: body.error }
            assert.strictEqual(refused?.http_status, 400, told)
            assert.isString(refused.error.param, told)
          }
        }
      }
      assert.isAbove(count, 200)
    }))

  it.effect("the name of a file or of a form's field with it is cleaned or gets 400, and never a 5xx", () =>
    Effect.gen(function*() {
      const { headers, url } = yield* requests
      const bytes = [Buffer.from("\0"), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from("%00")]
      const forms = bytes.flatMap((odd) => [
        [Buffer.from("name=\"file\"; filename=\"a"), odd, Buffer.from("b.txt\"")],
        [Buffer.from("name=\"file\"; filename=\"a.txt\"; filename*=UTF-8''a"), odd, Buffer.from(".txt")],
        [Buffer.from("name=\"file"), odd, Buffer.from("\"; filename=\"a.txt\"")],
        [Buffer.from("name=\"x"), odd, Buffer.from("\"")]
      ])
      for (const form of forms) {
        const body = Buffer.concat([
          Buffer.from("--b\r\nContent-Disposition: form-data; "),
          ...form,
          Buffer.from("\r\nContent-Type: text/plain\r\n\r\nhello\r\n--b--\r\n")
        ])
        const status = yield* Effect.promise(async () => {
          const response = await fetch(`${url}/v1/media`, {
            method: "POST",
            headers: { ...headers("/v1/media"), "content-type": "multipart/form-data; boundary=b" },
            body
          })
          await response.arrayBuffer()
          return response.status
        })
        assert.include([201, 400], status, Buffer.concat(form).toString("latin1"))
      }
    }))

  it.effect("free JSON with it, or any JSON that nests too deep, gets 400 with the field's name", () =>
    Effect.gen(function*() {
      const { headers, url } = yield* requests
      const flow = (data: string) =>
        `{"to":"+15551234567","type":"interactive","interactive":{"type":"flow","body":{"text":"x"},"action":{` +
        `"name":"flow","parameters":{"flow_message_version":"3","flow_token":"t","flow_id":"1","flow_cta":"Go",` +
        `"flow_action":"navigate","flow_action_payload":{"screen":"A","data":${data}}}}}}`
      const unknown = (json: string) => `${JSON.stringify(hello()).slice(0, -1)},"x":${json}}`
      const objects = (levels: number) => `${"{\"a\":".repeat(levels)}1${"}".repeat(levels)}`
      const arrays = (levels: number) => `${"[".repeat(levels)}1${"]".repeat(levels)}`
      const bodies = [
        ...["\"\\u0000\"", "\"\\ud800\"", "[{\"\\u0000\":1}]", "{\"\\udfff\":1}"].map((json) => flow(`{"a":${json}}`)),
        flow("{\"\\u0000\":1}"),
        ...[33, 60, 1000, 6500, 9000].map((levels) => flow(objects(levels))),
        ...[40, 6500, 30_000].map((levels) => flow(`{"a":${arrays(levels)}}`)),
        // up to 64 levels, what is wrong is that there is no such field
        ...[65, 6500, 30_000].map((levels) => unknown(arrays(levels)))
      ]
      for (const body of bodies) {
        const sent = yield* call(`${url}/v1/messages`, {
          headers: { ...headers("/v1/messages"), "content-type": "application/json" },
          body
        })
        const told = `${body.slice(0, 300)}: ${sent.status} ${sent.text}`
        assert.strictEqual(sent.status, 400, told)
        assert.strictEqual(sent.body.error.reason, "invalid_field", told)
        assert.isString(sent.body.error.param, told)
      }
    }))
})
