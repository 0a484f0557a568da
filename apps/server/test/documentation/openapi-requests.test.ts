/**
 * The OpenAPI document and the server say the same of requests: what the document allows the server reads, and what is
 * just outside of it the server refuses, and every answer is one that the document has. The fields are those of the
 * document, so that none can be forgotten; what no schema can say is listed here, with its reason.
 */
import { assert, layer } from "@effect/vitest"
import * as Extent from "@wac/testbed/Extent"
import { Arbitrary, Effect, Schema, SchemaRepresentation } from "effect"
import * as checks from "../checks.ts"
import * as Documented from "../documented.ts"
import { type Answer, call } from "../harness.ts"

/** Any part of the document, or a value by it. */
type Json = ReturnType<typeof JSON.parse>

type Path = ReadonlyArray<string | number>

const seed = "openapi-requests"

/** How many values of each body, and of each parameter. */
const samples = Extent.of(3, 100)

/** The same address at a receiver. */
const atReceiver = (url: string) => url.replace(/^(.{8})(?:\[[^\]]*\]|[^/?#:]*)/, "$1receiver.example")

/** Of a few fields exactly one stays: the first. */
const oneOf = (value: Json, names: ReadonlyArray<string>): Json => {
  const [, ...others] = names.filter((name) => value[name] !== undefined)
  return Object.fromEntries(Object.entries(value).filter(([name]) => !others.includes(name)))
}

/** Quiet hours are from one time to another. */
const differentTimes = (hours: Json) =>
  hours !== null && hours.from === hours.to ? { from: "21:00", to: "08:00" } : hours

/** What the fields of a message must have to do with each other, by the name that they stand under. */
const sendable: { readonly [name: string]: (value: Json, place: number) => Json } = {
  ...Object.fromEntries(
    ["image", "video", "audio", "document", "sticker"].map((name) => [
      name,
      (file: Json) =>
        oneOf(file.media === undefined ? { ...file, link: "https://files.example/" } : file, ["link", "media"])
    ])
  ),
  // which numbers exist and which names the workspace knows, no pattern says
  to: (name: Json) => {
    if (typeof name !== "string") return name
    return name.startsWith("+") ? "+15551234567" : /^[A-Za-z]/.test(name) ? "US.13491208655302741918" : name
  },
  // which addresses parse, no pattern says
  link: () => "https://files.example/a",
  url: (url: Json) => typeof url === "string" && url.startsWith("http") ? "https://shop.example/" : url,
  expiresAt: () => "2096-01-02T03:04:05Z",
  header: (header: Json) => {
    if (header.type !== undefined) return header
    const one = oneOf(header, ["text", "image", "video", "document", "location"])
    return Object.keys(one).length === 0 ? { text: "x" } : one
  },
  name: (name: Json) => typeof name === "object" ? { ...name, first_name: "x" } : name,
  quietHours: differentTimes,
  quiet_hours: differentTimes,
  emoji: () => "👍",
  flow_id: (id: Json) => id,
  parameters: (parameters: Json) =>
    parameters.flow_message_version === undefined
      ? parameters
      : oneOf({ ...parameters, ...(parameters.flow_name === undefined ? { flow_id: "1" } : {}) }, [
        "flow_id",
        "flow_name"
      ])
}

/** Elements of lists, by the name of the list. */
const listed: { readonly [name: string]: (elements: ReadonlyArray<Json>) => ReadonlyArray<Json> } = {
  // the template's own: no element twice, and each with one value
  buttons: (buttons) =>
    buttons.map(({ flowData: _, ...button }, i) =>
      button.index === undefined
        // ids differ
        ? { ...button, ...(button.reply === undefined ? {} : { reply: { ...button.reply, id: `${i}` } }) }
        : oneOf(
          { index: i, payload: "x", ...button },
          ["urlSuffix", "code", "flowToken", "thumbnailProductRetailerId", "payload"]
        )
    ),
  sections: (sections) =>
    sections.slice(0, 1).map((section) => ({
      ...section,
      ...(section.rows === undefined
        ? {}
        : { rows: section.rows.map((row: Json, i: number) => ({ ...row, id: `${i}` })) })
    })),
  // of one shape
  cards: (cards) =>
    cards[0]?.card_index === undefined
      ? cards
      : cards.map((_, i) => ({
        ...cards[0],
        card_index: i,
        ...(cards[0].action.catalog_id === undefined ? { action: address } : {})
      }))
}

/** The operation's example of a request, or the first of several. */
const exampleOf = ({ requestBody }: Json): Json => {
  const { example, examples } = requestBody.content["application/json"]
  return examples === undefined ? example : Object.values<Json>(examples)[0].value
}

const address = { name: "cta_url", parameters: { display_text: "x", url: "https://shop.example/" } }

const meant = (value: Json, name: string): Json => {
  // what a form or a bill holds is its own matter
  if (["data", "flowData", "bodyParams"].includes(name) || name === "parameters" && value.order !== undefined) {
    return value
  }
  if (Array.isArray(value)) {
    const elements = value.map((element) => meant(element, ""))
    return Object.hasOwn(listed, name) ? listed[name]!(elements) : elements
  }
  const made = typeof value === "object" && value !== null
    ? Object.fromEntries(
      Object.entries(value).filter(([, part]) => part !== undefined).map(([name, part]) => [name, meant(part, name)])
    )
    : value
  // a random object may have a field such as `toString`
  return Object.hasOwn(sendable, name) ? sendable[name]!(made, 0) : made
}

let templates = 0

/** Names are taken once, and components have to go together. */
const meantTemplate = (body: Json): Json => ({
  name: `made_${templates++}`,
  language: body.language,
  category: "utility",
  parameterFormat: "positional",
  components: [
    { type: "HEADER", format: "TEXT", text: "For {{1}}", example: { header_text: ["Ana"] } },
    { type: "BODY", text: "Hi {{1}}.", example: { body_text: [["Ana"]] } },
    { type: "FOOTER", text: "Bye" },
    {
      type: "BUTTONS",
      buttons: [{ type: "QUICK_REPLY", text: "Yes" }, {
        type: "PHONE_NUMBER",
        text: "Call",
        phone_number: "+15551234567"
      }]
    }
  ],
  messageSendTtlSeconds: 60
})

/** An address of the same length whose letters look like no others. */
const plainEmail = (email: string): string => email.replaceAll(/[^!-~]/gu, "x")

/** A time in the past means now, and the last time is only for a message that is queued. */
const timely = ({ send_at, send_until, ...body }: Json): Json => ({
  ...body,
  ...(send_at === undefined ? {} : { send_at: send_at.replace(/^\d{4}/, "1996") }),
  ...(send_at === undefined || send_until === undefined ? {} : { send_until: checks.timeIn(3_600_000) })
})

/** What no schema says of a body: makes one that the document allows one that means something. */
const meaningful: { readonly [operationId: string]: (body: Json) => Json } = {
  // a word has a letter or a digit, and is not a word of both kinds
  "suppressions.setWords": ({ removed, startWords, stopWords, ...body }: Json) => ({
    ...body,
    stopWords: stopWords.map((_: Json, i: number) => `stop${i}`),
    startWords: startWords.map((_: Json, i: number) => `start${i}`),
    removed: removed.map((_: Json, i: number) => `removed${i}`)
  }),
  // the id of a phone number that the workspace has
  "optOuts.set": ({ phone_number_id: _, ...rest }: Json) => rest,
  "optOuts.end": ({ phone_number_id: _, ...rest }: Json) => rest,
  // later than now; numbers of the workspace are no matter of form, nor which texts of these characters are networks
  "apiKeys.create": ({ allowedCidrs, expiresAt, phoneNumberIds: _, ...body }) => ({
    ...body,
    ...(expiresAt === undefined ? {} : { expiresAt: expiresAt.replace(/^\d{4}/, "2096") }),
    ...(allowedCidrs === undefined ? {} : { allowedCidrs: allowedCidrs.map(() => "203.0.113.0/24") })
  }),
  // one after the other; both years are leap years, as whatever was there may have been
  "replays.create": ({ since, until, ...body }) => ({
    ...body,
    since: since.replace(/^\d{4}/, "1996"),
    ...(until === undefined ? {} : { until: until.replace(/^\d{4}/, "2096") })
  }),
  // which addresses are public, and that port and name go together, is for the guard
  "messages.send": (body) => meant(timely(body), "body"),
  "campaigns.create": (body) => meant(body, "body"),
  "campaigns.edit": (body) => meant(body, "body"),
  "campaignsDashboard.create": (body) => meant(body, "body"),
  "campaignsDashboard.edit": (body) => meant(body, "body"),
  "messagesDashboard.send": (body) => meant(timely(body), "body"),
  "templatesDashboard.create": meantTemplate,
  "alerts.configure": ({ emails, url }) => ({
    emails: emails.map(plainEmail),
    url: url === null ? null : atReceiver(url)
  }),
  // by one proof or the other
  "account.confirmSession": (body) =>
    oneOf(Object.keys(body).length === 0 ? { password: "x" } : body, ["password", "code", "credential"]),
  "invitations.accept": (body) => oneOf(body, ["code", "credential"]),
  "signInFactor.end": (body) => oneOf({ ...body, code: body.code ?? "x" }, ["code", "credential"]),
  "members.invite": ({ email, ...body }) => ({ ...body, email: plainEmail(email) }),
  "signIn.setUp": ({ email, ...body }) => ({ ...body, email: plainEmail(email) }),
  "webhook.put": (body) => ({ ...body, url: atReceiver(body.url) })
}

/** Queries that name something which the server has given out. */
const opaque = new Set(["cursor"])

/** The document's schemas as JSON Schema has them. */
const local = (part: Json): Json => JSON.parse(JSON.stringify(part).replaceAll("#/components/schemas/", "#/$defs/"))

/** A schema of which nothing is left out that can be there. */
const filled = (part: Json): Json =>
  Array.isArray(part)
    ? part.map(filled)
    : typeof part !== "object" || part === null
    ? part
    : {
      ...Object.fromEntries(Object.entries(part).map(([key, value]) => [key, filled(value)])),
      ...(part.type === "object" && part.properties !== undefined ? { required: Object.keys(part.properties) } : {})
    }

const reader = (definitions: Json) => {
  const made = new Map<string, Schema.Codec<Json>>()
  /** One for all that are the same: each is made from all definitions. */
  const schemaOf = (schema: Json): Schema.Codec<Json> => {
    const key = JSON.stringify(local(schema))
    const known = made.get(key)
    if (known !== undefined) return known
    const one = SchemaRepresentation.fromJsonSchemaDocument(
      { dialect: "draft-2020-12", schema: JSON.parse(key), definitions },
      { patterns: "apply" }
    ) as Schema.Codec<Json>
    made.set(key, one)
    return one
  }
  const resolve = (schema: Json): Json =>
    schema.$ref === undefined ? schema : resolve(definitions[schema.$ref.split("/").at(-1)])
  /** The fields of a value, each with its schema and path; those of lists by their first item. */
  const fields = (schema: Json, value: Json, path: Path = []): ReadonlyArray<readonly [Path, Json]> => {
    const whole = resolve(local(schema))
    const here: ReadonlyArray<readonly [Path, Json]> = path.length === 0 ? [] : [[path, whole]]
    if (whole.anyOf !== undefined) {
      const member = whole.anyOf.find((one: Json) => Schema.is(schemaOf(one))(value))
      return [...here, ...fields(member, value, path).filter(([inner]) => inner.length > path.length)]
    }
    if (whole.properties !== undefined) {
      return [
        ...here,
        ...Object.entries(whole.properties).flatMap(([name, part]) =>
          value[name] === undefined ? [] : fields(part, value[name], [...path, name])
        )
      ]
    }
    if (whole.type === "array" && value.length > 0) return [...here, ...fields(whole.items, value[0], [...path, 0])]
    return here
  }
  return {
    fields,
    allows: (schema: Json): (value: unknown) => boolean => Schema.is(schemaOf(schema)),
    sample: (schema: Json, count = samples): Effect.Effect<ReadonlyArray<Json>> =>
      Effect.orDie(Arbitrary.sampleEffect(Arbitrary.schema(schemaOf(schema)), { count, seed }))
  }
}

/** Values beside one that is allowed. */
const beside = (value: Json, schema: Json): ReadonlyArray<Json> => {
  const others: ReadonlyArray<Json> = [null, true, 17, 1.5, -1, "", " ", "x", [], {}, ["x"], { x: 1 }, "1\u00002"]
  if (typeof value === "string") {
    const longest = schema.maxLength ?? 300
    return [
      ...others,
      `${value} `,
      ` ${value}`,
      `${value}\n`,
      `${value}x`,
      value.slice(0, -1),
      value.slice(1),
      value.toUpperCase(),
      value.toLowerCase(),
      value + value,
      value.padEnd(longest + 1, "x"),
      value.padEnd(longest + 1, "1"),
      "2026-02-30",
      "2026-13-01T00:00:00Z",
      "2026-01-02T25:00Z",
      "2026-01-02 03:04",
      "1767323045",
      "+1 202 555 0123",
      "0012025550123",
      "+120255501",
      "http://receiver.example/",
      "https://user@receiver.example/",
      "https://receiver.example:0/",
      "receiver.example"
    ]
  }
  if (typeof value === "number") return [...others, (schema.minimum ?? 0) - 1, (schema.maximum ?? 1e15) + 1]
  if (Array.isArray(value)) return [...others, [...value, ...value], [17], [null]]
  return others
}

const set = (value: Json, [key, ...rest]: Path, part: Json): Json => {
  if (key === undefined) return part
  const copy = Array.isArray(value) ? [...value] : { ...value }
  copy[key] = set(copy[key], rest, part)
  return copy
}

const without = (value: Json, path: Path): Json => {
  const copy = structuredClone(value)
  const parent = path.slice(0, -1).reduce((part: Json, key) => part[key], copy)
  delete parent[path.at(-1)!]
  return copy
}

/** A name in a path. As in `to` of a message, not everything of its form can be a customer's. */
const customer = "+15551234567"

/** Whether the form of a request was refused. */
const isRefused = ({ body, status }: Answer): boolean => status === 400 && body.error.code === "invalid_body"

layer(checks.Served.layer({ environment: { ...checks.unlimited, WEBHOOK_ALLOW_INSECURE: "false" } }), checks.live)(
  "requests by the OpenAPI document",
  (it) => {
    const operations = Effect.gen(function*() {
      const { key, session, url } = yield* checks.Served
      const document: Json = (yield* call(`${url}/openapi.json`)).body
      const documented = Documented.make(document)
      const all = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
        Object.entries<Json>(methods).map(([method, operation]) => {
          const isSigningIn = operation.security.length === 0
          const who: Record<string, string> = path.startsWith("/v1")
            ? { authorization: `Bearer ${key.apiKey}` }
            : isSigningIn
            ? { "sec-fetch-site": "same-origin" }
            : session
          const ask = (part: {
            readonly body?: Json
            readonly query?: readonly [name: string, value: string]
            readonly headers?: { readonly [name: string]: string }
            readonly id?: string
          }) => {
            const query = part.query === undefined ? "" : `?${new URLSearchParams([[...part.query]])}`
            const filled = path.replaceAll("{name}", encodeURIComponent(customer))
              .replaceAll(/\{\w+\}/g, encodeURIComponent(part.id ?? "none"))
            const request = { method: method.toUpperCase(), target: filled + query }
            return Effect.tap(
              call(url + request.target, {
                method: request.method,
                headers: { ...who, "idempotency-key": crypto.randomUUID(), ...part.headers },
                ...(part.body === undefined ? {} : { body: part.body })
              }),
              (answer) => Effect.sync(() => assert.deepStrictEqual(documented.faults(request, answer), [], answer.text))
            )
          }
          return { operation, id: operation.operationId as string, ask }
        })
      )
      // once it is set, other operations would have something to do
      return {
        all: [...all.filter(({ id }) => id !== "webhook.put"), ...all.filter(({ id }) => id === "webhook.put")],
        ...reader(local(document.components.schemas))
      }
    })

    it.effect(
      "the server accepts exactly the bodies that the document allows, field by field",
      () =>
        Effect.gen(function*() {
          const { all, allows, fields, sample } = yield* operations
          const definitions = reader(filled(local((yield* documentOf).components.schemas)))
          const seen = new Set<string>()
          for (const { ask, id, operation } of all) {
            if (operation.requestBody?.content["application/json"] === undefined) continue
            const { schema } = operation.requestBody.content["application/json"]
            const mean = meaningful[id] ?? ((body: Json) => body)
            for (const body of yield* sample(schema)) {
              const answer = yield* ask({ body: mean(body) })
              assert.isFalse(isRefused(answer), `${id} ${JSON.stringify(mean(body))} ${answer.text}`)
            }
            for (const whole of yield* definitions.sample(filled(local(schema)), samples)) {
              const body = mean(whole)
              for (const [path, part] of fields(schema, body)) {
                const name = `${id} ${path.join(".")}`
                if (seen.has(name)) continue
                seen.add(name)
                const isAllowed = allows(part)
                const value = path.reduce((inner: Json, key) => inner[key], body)
                const misses = beside(value, part).filter((miss) => !isAllowed(miss))
                assert.isNotEmpty(misses, name)
                for (const miss of misses) {
                  const answer = yield* ask({ body: set(body, path, miss) })
                  assert.isTrue(isRefused(answer), `${name} ${JSON.stringify(miss)} ${answer.status} ${answer.text}`)
                  assert.include(answer.body.error.param ?? "", String(path[0]), name)
                }
              }
              const required = fields(schema, body).filter(([path]) => typeof path.at(-1) === "string").filter(
                ([path]) => !allows(schema)(without(body, path))
              )
              for (const [path] of required.slice(0, 3)) {
                assert.isTrue(isRefused(yield* ask({ body: without(body, path) })), `${id} without ${path.join(".")}`)
              }
            }
            assert.isTrue(isRefused(yield* ask({ body: { ...mean((yield* sample(schema, 1))[0]), unknown: 1 } })), id)
          }
          assert.isAbove(seen.size, 25)
        })
    )

    it.effect(
      "the server accepts exactly the parameters that the document allows",
      () =>
        Effect.gen(function*() {
          const { all, allows, sample } = yield* operations
          const seen = new Set<string>()
          let asked = 0
          for (const { ask, id, operation } of all) {
            for (const parameter of operation.parameters as ReadonlyArray<Json>) {
              const name = `${id} ${parameter.name}`
              const isText = parameter.schema.type !== "integer"
              const isAllowed = allows(parameter.schema)
              const body = operation.requestBody?.content["application/json"] === undefined ? {} : {
                body: (meaningful[id] ?? ((body: Json) => body))(exampleOf(operation))
              }
              // what is no file is refused before its query is read
              const [file] = Object.keys(operation.requestBody?.content ?? {})
              const upload = file === undefined || file === "application/json"
                ? {}
                : { body: "{}", headers: { "content-type": file } }
              for (const value of yield* sample(parameter.schema)) {
                asked += 1
                if (parameter.in === "query") {
                  const answer = yield* ask({ ...upload, query: [parameter.name, String(value)] })
                  if (opaque.has(parameter.name)) assert.include([200, 400], answer.status, name)
                  else assert.isFalse(isRefused(answer), `${name} ${JSON.stringify(value)} ${answer.text}`)
                  if (seen.has(name)) continue
                  seen.add(name)
                  for (const miss of beside(value, parameter.schema)) {
                    if (
                      typeof miss === "object" || (isText ? typeof miss !== "string" : isAllowed(Number(miss)))
                    ) continue
                    if (isAllowed(miss)) continue
                    const refused = yield* ask({ ...upload, query: [parameter.name, String(miss)] })
                    assert.isTrue(
                      isRefused(refused),
                      `${name} ${JSON.stringify(miss)} ${refused.status} ${refused.text}`
                    )
                    assert.strictEqual(refused.body.error.param, parameter.name)
                  }
                } else if (parameter.in === "path") {
                  assert.notStrictEqual((yield* ask({ id: value, ...body })).status, 400, `${name} ${value}`)
                } else if (parameter.name === "idempotency-key") {
                  const answer = yield* ask({ ...body, headers: { "idempotency-key": value } })
                  assert.isFalse(isRefused(answer), `${name} ${JSON.stringify(value)} ${answer.text}`)
                }
              }
            }
          }
          assert.isAbove(asked, 200)
        })
    )

    it.effect("requests without a required Idempotency-Key, or with an invalid one, are refused", () =>
      Effect.gen(function*() {
        const { all, allows } = yield* operations
        const needy = all.filter(({ operation }) => operation.requestBody?.content["application/json"] !== undefined)
          .flatMap(({ ask, id, operation }) =>
            (operation.parameters as ReadonlyArray<Json>).filter((parameter: Json) =>
              parameter.name === "idempotency-key" && parameter.required
            )
              .map(({ schema }: Json) => ({ ask, id, operation, schema }))
          )
        assert.isAbove(needy.length, 1)
        for (const { ask, id, operation, schema } of needy) {
          const body = exampleOf(operation)
          for (const key of ["", "\"\"", "a b", "x".repeat(256), "\u00e9"]) {
            assert.isFalse(allows(schema)(key), key)
            assert.isTrue(isRefused(yield* ask({ body, headers: { "idempotency-key": key } })), `${id} ${key}`)
          }
        }
      }))
  }
)

const documentOf = Effect.gen(function*() {
  const { url } = yield* checks.Served
  return (yield* call(`${url}/openapi.json`)).body as Json
})
