/**
 * The OpenAPI document: well-formed, and the same as what is served.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Access, Api, EndpointAnnotations } from "@wac/api"
import { Event } from "@wac/core"
import { Context, Effect } from "effect"
import * as checks from "../checks.ts"
import { type Answer, call, hello, ownPage, send } from "../harness.ts"

/** Any part of the document; its shape is what is tested. */
type Json = ReturnType<typeof JSON.parse>

const endpoints = Object.values(Api.groups).flatMap((group) => Object.values(group.endpoints))

/** The operations that take a file. */
const takesFile = new Set(
  Object.values(Api.groups).flatMap((group) =>
    Object.values(group.endpoints).flatMap(({ annotations, identifier }) =>
      Context.get(annotations, EndpointAnnotations.TakesFile).length === 0 ? [] : [`${group.identifier}.${identifier}`]
    )
  )
)

/** `/a/:id` as the document writes it. */
const templateOf = (path: string): string => path.replaceAll(/:(\w+)/g, "{$1}")

/** Every operation of the document, with its name. */
const operationsOf = (document: Json): ReadonlyArray<readonly [name: string, path: string, operation: Json]> =>
  Object.entries<Json>(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) =>
      [`${method.toUpperCase()} ${path}`, path, operation] as const
    )
  )

const document = Effect.gen(function*() {
  const { url } = yield* checks.Served
  return (yield* call(`${url}/openapi.json`)).body as Json
})

/** Follows references until there is none. */
const resolve = (document: Json, schema: Json): Json => {
  if (schema.$ref === undefined) return schema
  const found = schema.$ref.split("/").slice(1).reduce((part: Json, key: string) => part?.[key], document)
  assert.isDefined(found, schema.$ref)
  return resolve(document, found)
}

/** What is wrong with a value, by a schema of the words that the document uses. */
const problems = (document: Json, schema: Json, value: Json, at = "$"): ReadonlyArray<string> => {
  const { $ref: _, ...own } = resolve(document, schema)
  if (own.anyOf !== undefined) {
    const tries = own.anyOf.map((member: Json) => problems(document, member, value, at))
    return tries.some((found: ReadonlyArray<string>) => found.length === 0) ? [] : tries[0]
  }
  if (own.enum !== undefined) return own.enum.includes(value) ? [] : [`${at}: ${value} is none of ${own.enum}`]
  if (Array.isArray(own.type)) {
    return own.type.some((type: string) => problems(document, { type }, value, at).length === 0)
      ? []
      : [`${at}: none of ${own.type}`]
  }
  switch (own.type) {
    case "object": {
      if (typeof value !== "object" || value === null || Array.isArray(value)) return [`${at}: no object`]
      const properties = own.properties ?? {}
      return [
        ...(own.required ?? []).filter((key: string) => !(key in value)).map((key: string) => `${at}.${key}: missing`),
        ...Object.keys(value).flatMap((key) =>
          key in properties
            ? problems(document, properties[key], value[key], `${at}.${key}`)
            : own.additionalProperties === false
            ? [`${at}.${key}: not declared`]
            : []
        )
      ]
    }
    case "array":
      return Array.isArray(value)
        ? value.flatMap((item, i) => problems(document, own.items ?? {}, item, `${at}[${i}]`))
        : [`${at}: no array`]
    case "string":
    case "boolean":
    case "number":
      return typeof value === own.type ? [] : [`${at}: no ${own.type}`]
    case "integer":
      return Number.isInteger(value) ? [] : [`${at}: no integer`]
    case "null":
      return value === null ? [] : [`${at}: not null`]
    default:
      return []
  }
}

layer(checks.Served.layer({ environment: checks.unlimited }), checks.live)("the OpenAPI document", (it) => {
  it.effect("the document is structurally valid OpenAPI 3.1", () =>
    Effect.gen(function*() {
      const { url } = yield* checks.Served
      const answer = yield* call(`${url}/openapi.json`)
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.headers.get("content-type"), "application/json")
      const whole = answer.body
      assert.match(whole.openapi, /^3\.1\.\d+$/)
      assert.isString(whole.info.title)
      assert.isString(whole.info.version)
      for (const field of Object.keys(whole)) {
        assert.include(["openapi", "info", "servers", "paths", "webhooks", "components", "security", "tags"], field)
      }
      const tags = whole.tags.map(({ name }: { readonly name: string }) => name)
      const ids = new Set<string>()
      for (const [name, path, operation] of operationsOf(whole)) {
        assert.match(path, /^\/[^:?#]*$/, name)
        assert.match(name, /^(GET|PUT|POST|DELETE|PATCH) /)
        assert.isFalse(ids.has(operation.operationId), `${operation.operationId} twice`)
        ids.add(operation.operationId)
        assert.isNotEmpty(operation.summary, name)
        for (const tag of operation.tags) assert.include(tags, tag)
        const parameters = operation.parameters as ReadonlyArray<Json>
        for (const parameter of parameters) {
          assert.include(["path", "query", "header", "cookie"], parameter.in, name)
          assert.isObject(parameter.schema, name)
          if (parameter.in === "path") assert.isTrue(parameter.required, name)
        }
        const names = parameters.map((parameter) => `${parameter.in} ${parameter.name}`)
        assert.strictEqual(new Set(names).size, names.length, name)
        assert.deepStrictEqual(
          parameters.filter((parameter) => parameter.in === "path").map((parameter) => `{${parameter.name}}`),
          path.match(/\{\w+\}/g) ?? [],
          name
        )
        for (const requirement of operation.security as ReadonlyArray<Json>) {
          for (const scheme of Object.keys(requirement)) {
            assert.isDefined(whole.components.securitySchemes[scheme], name)
          }
        }
        assert.isNotEmpty(Object.keys(operation.responses), name)
        for (const [status, response] of Object.entries<Json>(operation.responses)) {
          assert.match(status, /^[1-5]\d\d$/, name)
          assert.isString(response.description, name)
        }
        if (operation.requestBody !== undefined) {
          const files = Object.keys(operation.requestBody.content).filter((type) => type !== "application/json")
          assert.strictEqual(files.length > 0, takesFile.has(operation.operationId), name)
          assert.isTrue(operation.requestBody.required, name)
        }
      }
      // every reference leads somewhere, and every schema, header and example is used
      const references = new Set([...answer.text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference!))
      for (const reference of references) resolve(whole, { $ref: reference })
      assert.deepStrictEqual(
        ["schemas", "headers", "examples"].flatMap((kind) =>
          Object.keys(whole.components[kind]).map((name) => `#/components/${kind}/${name}`)
        ).sort(),
        [...references].sort()
      )
    }))

  it.effect("the document describes exactly the existing endpoints, with their errors", () =>
    Effect.gen(function*() {
      const whole = yield* document
      assert.deepStrictEqual(
        operationsOf(whole).map(([name]) => name).sort(),
        endpoints.map(({ method, path }) => `${method} ${templateOf(path)}`).sort()
      )
      for (const endpoint of endpoints) {
        const { annotations, method, path, payload } = endpoint
        const operation = whole.paths[templateOf(path)][method.toLowerCase()]
        const access = Context.getOrUndefined(annotations, Access.Access)
        const name = `${method} ${path}`
        assert.deepStrictEqual(
          operation.security,
          access?._tag === "ApiKey" ? [{ apiKey: [] }] : access?._tag === "Session" ? [{ session: [] }] : [],
          name
        )
        if (access?._tag === "ApiKey") assert.include(operation.description, `the scope \`${access.scope}\``, name)
        assert.strictEqual(operation.requestBody !== undefined, payload.size > 0, name)
        assert.strictEqual(
          operation.parameters.find((parameter: Json) =>
            parameter.in === "header" && parameter.name === "idempotency-key"
          )?.required,
          EndpointAnnotations.useOfKey(endpoint) === "none"
            ? undefined
            : EndpointAnnotations.has(endpoint, EndpointAnnotations.NeedsIdempotencyKey),
          name
        )
        for (const [status, response] of Object.entries<Json>(operation.responses)) {
          if (Number(status) < 400) continue
          const { examples, schema } = response.content["application/json"]
          assert.deepStrictEqual(schema, { $ref: "#/components/schemas/Error" }, `${name} ${status}`)
          assert.isNotEmpty(Object.keys(examples), `${name} ${status}`)
        }
      }
    }))

  it.effect("every operation has examples of its request, its response and its possible errors", () =>
    Effect.gen(function*() {
      const whole = yield* document
      const unfit = (value: Json, schema: Json) => problems(whole, schema, value)
      for (const [name, , operation] of operationsOf(whole)) {
        assert.isNotEmpty(operation.description, name)
        if (operation.requestBody !== undefined && !takesFile.has(operation.operationId)) {
          const { example, examples, schema } = operation.requestBody.content["application/json"]
          const values = examples === undefined ? [example] : Object.values<Json>(examples).map(({ value }) => value)
          for (const value of values) assert.deepStrictEqual(unfit(value, schema), [], name)
        }
        for (const [status, response] of Object.entries<Json>(operation.responses)) {
          assert.deepStrictEqual(response.headers["Request-Id"], { $ref: "#/components/headers/Request-Id" }, name)
          // server-sent events and files have no schema to speak of
          if (response.content === undefined || !("application/json" in response.content)) continue
          const { example, examples, schema } = response.content["application/json"]
          const values = examples === undefined
            ? [example]
            : Object.values<Json>(examples).map((one) => resolve(whole, one).value)
          for (const value of values) assert.deepStrictEqual(unfit(value, schema), [], `${name} ${status}`)
        }
      }
      for (const [type, { post }] of Object.entries<Json>(whole.webhooks)) {
        const { example, schema } = post.requestBody.content["application/json"]
        assert.deepStrictEqual(unfit(example, schema), [], type)
      }
      const send = whole.paths["/v1/messages"].post.responses
      assert.deepStrictEqual(Object.keys(send[503].content["application/json"].examples), [
        "overloaded",
        "storage_unavailable",
        "in_progress"
      ])
      assert.containsAllKeys(send[200].headers, ["RateLimit", "RateLimit-Policy", "Idempotent-Replayed"])
      assert.containsAllKeys(send[429].headers, ["Retry-After"])
      assert.containsAllKeys(send[401].headers, ["WWW-Authenticate"])
    }))

  it.effect("every list documents its limit, and every Idempotency-Key its form", () =>
    Effect.gen(function*() {
      const parameters: ReadonlyArray<Json> = operationsOf(yield* document).flatMap(([, , { parameters }]) =>
        parameters
      )
      const limits = parameters.filter(({ name }) => name === "limit")
      assert.isAbove(limits.length, 8)
      for (const { schema } of limits) {
        const { default: usual, maximum, minimum, type } = schema
        assert.deepStrictEqual([type, minimum, maximum, usual], ["integer", 1, 100, 25])
      }
      for (const { description, schema } of parameters.filter(({ name }) => name === "idempotency-key")) {
        assert.deepStrictEqual([schema.type, schema.minLength, schema.maxLength], ["string", 1, 255])
        assert.isString(description)
      }
    }))

  it.effect("besides the documented operations, the server serves only pages", () =>
    Effect.gen(function*() {
      const { url } = yield* checks.Served
      const whole = yield* document
      for (const path of ["/", "/setup"]) assert.strictEqual((yield* call(url + path)).status, 302, path)
      const pages = [
        "/dashboard",
        "/dashboard/setup",
        "/status",
        "/docs",
        "/docs/errors",
        "/docs/reference.js",
        "/docs/reference.css",
        "/openapi.json",
        "/postman.json",
        "/schemas/events.json",
        "/llms.txt",
        "/docs/operating.md",
        "/favicon.ico",
        "/favicon.svg"
      ]
      for (const path of pages) assert.strictEqual((yield* call(url + path)).status, 200, path)
      const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
      /** Whether an operation whose path has a parameter in its last place serves a path. */
      const serves = (path: string, method: string) =>
        method.toLowerCase() in (whole.paths[path.replace(/[^/{}]+$/, "{id}")] ?? {})
      for (const [template, operations] of Object.entries<Json>(whole.paths)) {
        for (const method of methods) {
          const { status } = yield* call(url + template.replaceAll(/\{\w+\}/g, checks.nobody), { method })
          if (method.toLowerCase() in operations) assert.notInclude([404, 405], status, `${method} ${template}`)
          // `/sync` is an id to the operations on one of them
          else if (!serves(template, method)) assert.strictEqual(status, 405, `${method} ${template}`)
        }
      }
      // what others of its kind have, and what the contract has for later
      for (
        const path of [
          "/openapi.yaml",
          "/swagger",
          "/v1/openapi.json",
          "/debug",
          "/admin",
          "/v1/contacts",
          "/providers/whatsapp/webhook",
          "/.env"
        ]
      ) checks.assertError(yield* call(url + path), 404, { code: "not_found" })
    }))

  it.effect("the document describes errors as they are", () =>
    Effect.gen(function*() {
      const whole = yield* document
      const { error } = whole.components.schemas.Error.properties
      assert.deepStrictEqual(whole.components.schemas.Error.required, ["error"])
      assert.deepStrictEqual([...error.required].sort(), ["code", "doc_url", "message", "request_id"])
      assert.deepStrictEqual(Object.keys(error.properties).sort(), [
        "challenge",
        "code",
        "doc_url",
        "message",
        "param",
        "provider",
        "reason",
        "request_id"
      ])
      assert.deepStrictEqual([...error.properties.code.enum].sort(), [
        "forbidden",
        "idempotency_conflict",
        "invalid_body",
        "not_found",
        "rate_limited",
        "server_error",
        "unauthorized"
      ])
    }))

  describe("responses", () => {
    /** Checks answers against what the document says of their operations. */
    const checking = Effect.map(document, (whole) => {
      const operations = new Map(operationsOf(whole).map(([name, , operation]) => [name, operation]))
      return (name: string, answer: Answer): number => {
        const declared = operations.get(name).responses[`${answer.status}`]
        assert.isDefined(declared, `${name} ${answer.status} is not declared: ${answer.text}`)
        const schema = declared.content?.["application/json"]?.schema
        if (schema === undefined) assert.strictEqual(answer.text, "", name)
        else assert.deepStrictEqual(problems(whole, schema, answer.body), [], name)
        return answer.status
      }
    })

    it.effect("successful responses match the document", () =>
      Effect.gen(function*() {
        const { key, session, url } = yield* checks.Served
        const bearer = { authorization: `Bearer ${key.apiKey}` }
        const sent = yield* send({ key, url }, hello())
        const failed = yield* send({ key, url }, hello("+15005550002"))
        yield* checks.untilStatus({ key, url }, failed.body.message_id, "failed")
        const created = yield* call(`${url}/internal/api-keys`, {
          headers: { ...session, "idempotency-key": "openapi" },
          body: { name: "x" }
        })
        const good: ReadonlyArray<readonly [name: string, answer: Effect.Effect<Answer>]> = [
          ["POST /v1/messages", Effect.succeed(sent)],
          ["GET /v1/messages/{id}", checks.stored({ key, url }, sent.body.message_id)],
          ["GET /v1/messages/{id}", checks.stored({ key, url }, failed.body.message_id)],
          ["GET /v1/templates", call(`${url}/v1/templates?limit=2`, { headers: bearer })],
          ["POST /internal/api-keys", Effect.succeed(created)],
          ["GET /internal/api-keys", call(`${url}/internal/api-keys`, { headers: session })],
          ["GET /internal/api-keys/{id}", call(`${url}/internal/api-keys/${created.body.id}`, { headers: session })],
          [
            "DELETE /internal/api-keys/{id}",
            call(`${url}/internal/api-keys/${created.body.id}`, { method: "DELETE", headers: session })
          ],
          [
            "PUT /internal/webhook",
            call(`${url}/internal/webhook`, { method: "PUT", headers: session, body: { url: "http://127.0.0.1:9/" } })
          ],
          ["GET /internal/webhook", call(`${url}/internal/webhook`, { headers: session })],
          ["DELETE /internal/webhook", call(`${url}/internal/webhook`, { method: "DELETE", headers: session })],
          ["GET /internal/session", call(`${url}/internal/session`, { headers: session })],
          [
            "POST /internal/session",
            call(`${url}/internal/session`, {
              headers: ownPage,
              body: { email: "owner@example.com", password: "correct horse battery" }
            })
          ],
          ["GET /healthz", call(`${url}/healthz`)],
          ["GET /readyz", call(`${url}/readyz`)]
        ]
        const check = yield* checking
        for (const [name, ask] of good) assert.isBelow(check(name, yield* ask), 300, name)
      }))

    it.effect("error responses match the document", () =>
      Effect.gen(function*() {
        const { key, session, url } = yield* checks.Served
        const check = yield* checking
        const seen = new Set<number>()
        for (const { method, path, payload } of endpoints) {
          const name = `${method} ${templateOf(path)}`
          const target = url + path.replaceAll(/:\w+/g, checks.nobody)
          const who = path.startsWith("/v1/") ? { authorization: `Bearer ${key.apiKey}` } : session
          const caller = { ...who, "idempotency-key": crypto.randomUUID() }
          // this one ends the session where it succeeds
          const isSignOut = name === "DELETE /internal/session"
          const json = { "content-type": "application/json" }
          const bodies = payload.size === 0 ? [] : [
            { headers: { ...caller, ...json }, body: "{" },
            { headers: { ...caller, ...json }, body: "{}" },
            { headers: { ...caller, ...json }, body: " ".repeat(65_537) },
            { headers: { ...caller, "content-type": "text/plain" }, body: "x" },
            { headers: { ...who, ...json }, body: "{}" }
          ]
          for (
            const request of [
              { headers: {} },
              { headers: { cookie: "wac_session=x", authorization: "Bearer x" } },
              { headers: caller, target: `${target}?unknown=1&limit=0&cursor=x` },
              ...(isSignOut ? [] : [{ headers: caller }]),
              { headers: { ...caller, "sec-fetch-site": "cross-site" } },
              ...bodies
            ]
          ) {
            const answer = yield* call("target" in request ? request.target! : target, { method, ...request })
            seen.add(check(name, answer))
          }
        }
        assert.includeMembers([...seen], [200, 400, 401, 403, 404, 413, 415])
        // what only a send meets
        const shared = { "idempotency-key": "openapi" }
        const statuses = yield* Effect.forEach([
          send({ key, url }, hello("+15005550001")),
          send({ key, url }, hello("+15005550004")),
          send({ key, url }, hello("+15005550005")),
          send({ key, url }, hello("+15005550006")),
          send({ key, url }, hello(), shared),
          send({ key, url }, hello("+15551234568"), shared),
          send({ key, url }, { ...hello(), from: "nobody" })
        ], (ask) => Effect.map(ask, (answer) => check("POST /v1/messages", answer)))
        assert.deepStrictEqual(statuses, [400, 429, 502, 504, 200, 409, 403])
      }))
  })

  it.effect("the authentication scheme is in lower case, as in HTTP's registry", () =>
    Effect.gen(function*() {
      const { apiKey } = (yield* document).components.securitySchemes
      assert.deepStrictEqual([apiKey.type, apiKey.scheme], ["http", "bearer"])
    }))

  it.effect("the document describes the delivery of every type of event, as receivers get it", () =>
    Effect.gen(function*() {
      const { key, url } = yield* checks.Served
      const whole = yield* document
      assert.deepStrictEqual(Object.keys(whole.webhooks), [...Event.EventType.literals])
      const sent = yield* send({ key, url }, hello("+15005550008"))
      const failed = yield* send({ key, url }, hello("+15005550002"))
      yield* checks.untilStatus({ key, url }, sent.body.message_id, "read")
      yield* checks.untilStatus({ key, url }, failed.body.message_id, "failed")
      const list = call(`${url}/v1/events?limit=100`, { headers: { authorization: `Bearer ${key.apiKey}` } })
      const events: ReadonlyArray<Json> = (yield* list).body.data
      const types = new Set(events.map(({ type }) => type))
      assert.includeMembers([...types], ["message.sent", "message.delivered", "message.read", "message.failed"])
      for (const event of events) {
        const { schema } = whole.webhooks[event.type].post.requestBody.content["application/json"]
        assert.deepStrictEqual(problems(whole, schema, event), [], event.type)
        assert.deepStrictEqual(resolve(whole, schema).properties.type.enum, [event.type])
      }
    }))
})
