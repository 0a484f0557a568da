/**
 * The files that are written from the API definition, for packages that depend on nothing.
 * `npx vitest run --project api generated -u` writes them.
 */
import { Event, Idempotency, Media, Message, Recipient, SendTimes, WrittenName } from "@wac/core"
import { Context, Duration, type Schema, type SchemaAST } from "effect"
import { HttpApi, type HttpApiEndpoint, OpenApi } from "effect/http-api"
import { ReceivedContentByType } from "../src/events/ReceivedContent.ts"
import { exampleOf, RecordedEvent } from "../src/events/RecordedEvent.ts"
import { Api, EndpointAnnotations, ErrorReference, Lists, MessagesApi, StreamApi } from "../src/index.ts"
import * as AccountTemplates from "./AccountTemplates.ts"
import * as Constants from "./Constants.ts"
import * as Messaging from "./Messaging.ts"
import * as PlainTypes from "./PlainTypes.ts"

/** A file, by its path in the repository. */
export interface GeneratedFile {
  readonly path: string
  readonly text: string
}

/** The input and output of an endpoint, in encoded form. */
interface Endpoint {
  readonly route: string
  /** The description of the endpoint, for people. */
  readonly does: string
  readonly query: SchemaAST.AST | undefined
  readonly body: SchemaAST.AST | undefined
  /** One of these. */
  readonly responses: ReadonlyArray<SchemaAST.AST>
}

/** A codec has the schema that it was made from. */
const encoded = (codec: Schema.Top): SchemaAST.AST =>
  PlainTypes.encoded("schema" in codec ? codec.schema as Schema.Top : codec)

const isEmpty = (ast: SchemaAST.AST | undefined): boolean => ast !== undefined && PlainTypes.typeText(ast) === "{}"

const endpointOf = (endpoint: HttpApiEndpoint.Top): Endpoint => {
  const json = endpoint.payload.get("application/json")?.schemas[0]
  const query = endpoint.query === undefined ? undefined : encoded(endpoint.query)
  return {
    route: `${endpoint.method} ${endpoint.path}`,
    does: [
      Context.getOrUndefined(endpoint.annotations, OpenApi.Summary),
      Context.getOrUndefined(endpoint.annotations, OpenApi.Description)
    ].filter((text) => text !== undefined).join(". "),
    query: isEmpty(query) ? undefined : query,
    body: json === undefined ? undefined : encoded(json),
    // a client asks for JSON where there is a file as well; of a file alone there is no type
    responses: [...endpoint.success].map(encoded).filter(({ _tag }) => _tag !== "Declaration" && _tag !== "String")
  }
}

const endpoints = (() => {
  const all: Array<Endpoint> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      // EventSource reads a stream
      if (!EndpointAnnotations.has(endpoint, EndpointAnnotations.Streams)) all.push(endpointOf(endpoint))
    }
  })
  return all
})()

const under = (prefix: string) => endpoints.filter(({ route }) => route.includes(` ${prefix}`))

/** The types that the endpoints mention. */
const typesOf = (endpoints: ReadonlyArray<Endpoint>): PlainTypes.Types =>
  PlainTypes.typesIn(
    endpoints.flatMap(({ body, responses }) => [body, ...responses]).filter((ast) => ast !== undefined)
  )

const queriesOf = (endpoints: ReadonlyArray<Endpoint>): PlainTypes.Types =>
  PlainTypes.typesIn(endpoints.map(({ query }) => query).filter((ast) => ast !== undefined))

const routesTable = (name: string, endpoints: ReadonlyArray<Endpoint>): string => {
  const rows = endpoints.map(({ body, does, query, responses, route }) => {
    const parts = [
      ...(query === undefined ? [] : [`query: ${PlainTypes.typeText(query, "query")}`]),
      ...(body === undefined ? [] : [`body: ${PlainTypes.typeText(body)}`]),
      `response: ${responses.map((response) => PlainTypes.typeText(response)).join(" | ") || "undefined"}`
    ]
    const doc = PlainTypes.docstring(does, 2)
    const line = `  readonly "${route}": { ${parts.map((part) => `readonly ${part}`).join("; ")} }\n`
    return line.length <= PlainTypes.width + 1
      ? doc + line
      : `${doc}  readonly "${route}": {\n${parts.map((part) => `    readonly ${part}\n`).join("")}  }\n`
  })
  return `/** The endpoints by method and path. */\nexport interface ${name} {\n${rows.join("")}}\n`
}

/** Types that are written by hand, by the module that has them. */
const handWritten: ReadonlyMap<string, string> = new Map([
  ...["Json", "UnknownName", "Page", "TimeInput"].map((name) => [name, `../${name}.ts`] as const),
  ["TemplateMessage", "./AccountTemplates.ts"],
  ["InternalPage", "../Page.ts"]
])

/** Imports what a text mentions of these names, and does not declare. */
const importsOf = (text: string, modules: ReadonlyMap<string, string>): string => {
  const mentioned = [...modules].filter(([name]) =>
    new RegExp(`\\b${name}\\b`, "u").test(text) && !new RegExp(`^export (interface|type) ${name}\\b`, "mu").test(text)
  )
  const byModule = Map.groupBy(mentioned, ([, module]) => module)
  return [...byModule].map(([module, names]) => {
    const list = names.map(([name]) => name).sort()
    const line = `import type { ${list.join(", ")} } from "${module}"\n`
    return line.length <= PlainTypes.width + 1 ? line : `import type {\n  ${list.join(",\n  ")}\n} from "${module}"\n`
  }).join("")
}

const file = (
  path: string,
  introduction: string,
  parts: ReadonlyArray<string>,
  modules: ReadonlyMap<string, string> = new Map()
): GeneratedFile => {
  const text = parts.join("\n")
  const header = PlainTypes.docstring(`${introduction} Written from the API definition; do not edit.`, 0)
  return { path, text: `${header}${importsOf(text, new Map([...modules, ...handWritten]))}\n${text}` }
}

const declarations = (
  types: PlainTypes.Types,
  except: PlainTypes.Types = new Map(),
  use: PlainTypes.Use = "body"
): ReadonlyArray<string> =>
  [...types].filter(([name]) => !except.has(name) && !handWritten.has(name))
    .map(([name, ast]) => PlainTypes.declaration(name, ast, use))

const v1 = under("/v1/")
const internal = under("/internal/")
const v1Types = typesOf(v1)
const internalTypes: PlainTypes.Types = new Map([
  ...typesOf(internal),
  ...PlainTypes.typesIn(Object.values(StreamApi.events).map(encoded))
])
const v1Queries: PlainTypes.Types = new Map([...PlainTypes.typesIn([encoded(Lists.ListQuery)]), ...queriesOf(v1)])
const internalQueries = queriesOf(internal)

const eventTypes = PlainTypes.typesIn([RecordedEvent, Event.EventType, ReceivedContentByType].map(PlainTypes.encoded))
const inV1 = new Map([...eventTypes, ...v1Types])
const fromEvent = new Map([...eventTypes.keys()].map((name) => [name, "./Event.ts"]))
const fromWire = new Map([...v1Types.keys(), ...v1Queries.keys()].map((name) => [name, "./Wire.ts"]))

/** The reasons of each code of errors, as an interface. `undefined` is among those of a code that may have none. */
const errorReasons = (() => {
  const rows = [...Map.groupBy(ErrorReference.items, ({ code }) => code)].map(([code, items]) => {
    const reasons = items.map(({ reason }) => reason === undefined ? "undefined" : JSON.stringify(reason))
    const line = ` ${reasons.join(" | ")}`
    return `${PlainTypes.docstring(ErrorReference.meanings[code], 2)}  readonly ${code}:${
      line.length <= 90 ? line : reasons.map((reason) => `\n    | ${reason}`).join("")
    }\n`
  })
  const introduction =
    "The reasons of each code: the condition under the code that applied (contract §2). A service newer than this " +
    "package can return newer reasons: give a `switch` a `default`."
  return `${PlainTypes.docstring(introduction, 0)}export interface ErrorReasons {\n${rows.join("")}}\n`
})()

const errors = (path: string): GeneratedFile => file(path, "The codes of errors, and their reasons.", [errorReasons])

const messageTypes = PlainTypes.typesIn(
  [MessagesApi.NewMessage, Message.MessageType, Message.MessageStatus].map(PlainTypes.encoded)
)

/** The inputs and results of the interface of programs that are not as on the wire. */
const interfaceTypes: PlainTypes.Types = (() => {
  const names = [
    "SentMessage",
    "QueuedMessage",
    "ReadMessage",
    "AnyMessage",
    "Media",
    "Template",
    "PublicCampaign",
    "OptOut",
    "PublicCampaignRow",
    "CreatePublicCampaign",
    "EditPublicCampaign",
    "MessageQuery",
    "TemplateQuery",
    "CampaignQuery",
    "CampaignRowQuery",
    "EventQuery"
  ]
  const types = PlainTypes.typesIn(
    [...names.map((name) => (v1Types.get(name) ?? v1Queries.get(name))!), PlainTypes.encoded(Recipient.Recipient)],
    "interface"
  )
  return new Map([...types].filter(([name]) => !messageTypes.has(name) && !eventTypes.has(name)))
})()
/** The contents of messages, which are the same on the wire as in the interface of programs. */
const contentTypes: PlainTypes.Types = new Map(
  [...messageTypes].filter(([name, ast]) => {
    const wire = v1Types.get(name)
    const text = [...PlainTypes.typesIn([ast])].map(([part, ast]) => PlainTypes.declaration(part, ast))
    return wire !== undefined &&
      `${text}` === `${[...PlainTypes.typesIn([wire])].map(([part, ast]) => PlainTypes.declaration(part, ast))}`
  })
)
const fromMessageContents = new Map([...messageTypes.keys()].map((name) => [name, "./MessageContents.ts"] as const))
const fromContents = new Map([...contentTypes.keys()].map((name) => [name, "./MessageContents.ts"] as const))

/** The inputs and outputs of the methods of an embedding program. */
const resources = PlainTypes.typesIn(
  [...internalTypes.values(), ...internalQueries.values(), PlainTypes.encoded(Recipient.Recipient)]
    .filter(PlainTypes.isEmbedded),
  "embedded"
)

/** The types of the interface of programs, except the one of which an embedding program gets more. */
const inBoth: PlainTypes.Types = new Map([...interfaceTypes].filter(([name]) => name !== "Template"))

const constant = (name: string, description: string, value: string): string =>
  `${PlainTypes.docstring(description, 0)}export const ${name} = ${value}\n`

/** How messages may be queued, for the form that queues one. */
const sendTimes = [
  constant(
    "longestDays",
    "How far ahead a message may be queued, and how long it may be tried from then on, in days.",
    `${Duration.toDays(SendTimes.longest)}`
  ),
  constant(
    "standardTrialHours",
    "How long a message is tried from its time on, unless its sender says otherwise, in hours.",
    `${Duration.toHours(SendTimes.standardTrial)}`
  )
]

/** Limits of the service that a client keeps to before it asks. */
const limits = [
  constant(
    "uploadTimeout",
    "The time that the service gives an upload of any size, in milliseconds.",
    Duration.toMillis(Media.uploadTimeout).toLocaleString("en").replaceAll(",", "_")
  ),
  constant("idempotencyKey", "The form of an Idempotency-Key.", `${Idempotency.keyPattern}`),
  constant("idempotencyKeyForm", "The form of an Idempotency-Key, in words.", JSON.stringify(Idempotency.keyForm))
]

/** JSON as the formatter writes it. */
const literal = (value: unknown, indent = ""): string => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return JSON.stringify(value)
  const inner = `${indent}  `
  const fields = Object.entries(value).map(([name, field]) =>
    `${inner}${/^\w+$/u.test(name) ? name : JSON.stringify(name)}: ${literal(field, inner)}`
  )
  return `{\n${fields.join(",\n")}\n${indent}}`
}

/** The account's templates can be declared. */
const newMessage =
  "/** A message to send. */\nexport type NewMessage = TemplateMessage | Exclude<SendMessage, SendTemplate>\n"

export const files: ReadonlyArray<GeneratedFile> = [
  ...["client", "verifier", "effect"].map((name) =>
    file(
      `packages/${name}/src/generated/Event.ts`,
      "The events of a workspace, in combined form, and what customers write.",
      declarations(eventTypes)
    )
  ),
  file(
    "packages/verifier/src/generated/ExampleEvents.ts",
    "Examples of events, in combined form, as the documentation of the API shows them.",
    [
      "/** The example of each type. */\n" +
      "export const exampleEvents: { readonly [Type in EventType]: Extract<Event, { readonly type: Type }> } = " +
      `${literal(Object.fromEntries(Event.EventType.literals.map((type) => [type, exampleOf(type)])))}\n`
    ],
    fromEvent
  ),
  file(
    "packages/client/src/generated/Wire.ts",
    "The requests and responses of `/v1`.",
    [
      ...declarations(v1Types, new Map([...eventTypes, ...contentTypes])),
      ...declarations(v1Queries, inV1, "query"),
      routesTable("Routes", v1)
    ],
    new Map([...fromEvent, ...fromContents])
  ),
  file(
    "packages/client/src/generated/InternalWire.ts",
    "The requests and responses of the dashboard's endpoints under `/internal`. Times are ISO 8601 in UTC.",
    [
      ...declarations(internalTypes, inV1),
      ...declarations(internalQueries, new Map([...inV1, ...v1Queries, ...internalTypes]), "query"),
      routesTable("InternalRoutes", internal)
    ],
    new Map([...fromWire, ...fromContents, ...fromEvent])
  ),
  ...(["client", "effect"] as const).flatMap((name) => [
    file(
      `packages/${name}/src/generated/MessageContents.ts`,
      "Messages of every kind (contract §9), with the provider's field names; templates use our own.",
      declarations(messageTypes)
    ),
    file(
      `packages/${name}/src/generated/AccountTemplates.ts`,
      "The account's templates, for the type checker. All of the file is exported, so that the declaration that " +
        "`wac templates types` writes can extend the interface.",
      [AccountTemplates.declarations],
      fromMessageContents
    ),
    file(
      `packages/${name}/src/generated/Messaging.ts`,
      "The interface that `createWac()` and `createClient()` both implement (contract §16). Times are ISO 8601 in UTC.",
      [
        newMessage,
        Messaging.methods,
        Messaging.errors,
        ...declarations(interfaceTypes, new Map(), "interface")
      ],
      new Map([...fromEvent, ...fromMessageContents, ["ErrorReasons", "./ErrorReasons.ts"] as const])
    )
  ]),
  file(
    "packages/effect/src/generated/Resources.ts",
    "The inputs and outputs of the methods of a workspace, in camelCase. Times are ISO 8601 in UTC.",
    declarations(resources, new Map([...messageTypes, ...eventTypes, ...inBoth]), "embedded"),
    new Map([
      ...fromEvent,
      ...fromMessageContents,
      ...[...inBoth.keys()].map((name) => [name, "./Messaging.ts"] as const)
    ])
  ),
  file("packages/client/src/generated/Limits.ts", "Limits of the service.", limits),
  file("packages/client/src/generated/Names.ts", "Names of the interface of programs.", [
    constant(
      "renamed",
      "Fields of the wire whose name in the interface is another word.",
      `{ ${Object.entries(PlainTypes.renamedFields).map(([name, word]) => `${name}: "${word}"`).join(", ")} }`
    )
  ]),
  errors("packages/client/src/generated/ErrorReasons.ts"),
  errors("packages/effect/src/generated/ErrorReasons.ts"),
  file(
    "apps/dashboard/src/generated/RoleOf.ts",
    "The lowest role that may call an endpoint, by resource and action.",
    [Constants.roles]
  ),
  file(
    "apps/dashboard/src/generated/MaxLength.ts",
    "The longest text of a field, in characters, by the name of the request and its field.",
    [Constants.lengths]
  ),
  file(
    "apps/dashboard/src/generated/MinLength.ts",
    "The shortest text of a field, in characters, by the name of the request and its field.",
    [Constants.leastLengths]
  ),
  file(
    "apps/dashboard/src/generated/MaxItems.ts",
    "The most items of a list, by the name of the request and its field.",
    [Constants.counts]
  ),
  file("apps/dashboard/src/generated/Names.ts", "Roles, from the least to the most, and scopes of keys.", [
    Constants.names
  ]),
  file("apps/dashboard/src/generated/Routes.ts", "The routes of requests with API keys.", [
    `export const routes: ReadonlyArray<string> = [\n${
      [...new Set(v1.map(({ route }) => route.slice(route.indexOf(" ") + 1)))].map((path) => `  "${path}"`).join(",\n")
    }\n]\n`
  ]),
  file("apps/dashboard/src/generated/CallingCodes.ts", "The countries whose phone numbers the service knows.", [
    constant(
      "callingCodes",
      "Their calling codes, by country (ISO 3166-1 alpha-2).",
      literal(WrittenName.callingCodes())
    )
  ]),
  file("apps/dashboard/src/generated/SendTimes.ts", "When a queued message may be sent.", sendTimes)
]
