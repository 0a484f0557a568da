/**
 * A whole server on loopback for a test: real HTTP, memory storage, the sandbox; and what its tests do again and again.
 */
import { Api, EndpointAnnotations, OpenApiErrors } from "@wac/api"
import { ApiScope, Authenticator, Id, Member, type Session } from "@wac/core"
import type { Composition } from "@wac/effect"
import * as PgBouncer from "@wac/testbed/PgBouncer"
import { RecordingReceiver } from "@wac/testkit"
import { Context, Effect, Option, type Scope } from "effect"
import { HttpServer } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { run } from "../src/Run.ts"

/** Receivers on loopback are what tests have; silence is what they want of the log. */
export const environment = {
  PORT: "0",
  DATABASE_URL: "memory:",
  WEBHOOK_ALLOW_INSECURE: "true",
  WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
  LOG_FORMAT: "json",
  LOG_LEVEL: "error",
  WAC_OWNER_EMAIL: "owner@example.com",
  WAC_OWNER_PASSWORD: "correct horse battery"
}

/** The header by which a test says who acts: `<role>@<workspace id>`. */
export const actorHeader = "x-test-actor"

/** Sessions as an embedding application would supply them. */
export const hostAuthenticator = Authenticator.layerHost((headers) =>
  Effect.sync((): Option.Option<Session.Session> => {
    const [role, workspaceId] = (headers[actorHeader] ?? "").split("@")
    return Member.Role.literals.includes(role as Member.Role)
      ? Option.some({
        id: null,
        userId: Id.UserId.make("usr_00000000000000000000000000"),
        email: `${role}@example.com`,
        role: role as Member.Role,
        workspaceId: Id.WorkspaceId.make(workspaceId!),
        workspaceName: "test",
        roles: null
      })
      : Option.none()
  })
)

/**
 * The way to the database in this run: the given one, or with `TEST_POOLER=pgbouncer` by a pooler of the process's own,
 * where there is one server and no pooler yet.
 */
export const reached = Effect.fnUntraced(function*(
  env: Readonly<Record<string, string>>
): Effect.fn.Return<Readonly<Record<string, string>>, never, Scope.Scope> {
  const { DATABASE_LISTEN_URL, DATABASE_URL = "" } = env
  const isOneServer = URL.canParse(DATABASE_URL) && DATABASE_URL.startsWith("postgres://")
  if (!PgBouncer.isEverywhere || DATABASE_LISTEN_URL !== undefined || !isOneServer) return env
  const pooler = yield* Effect.acquireRelease(
    // a limit as the guide has operators set one for the user
    Effect.promise(() => PgBouncer.start(DATABASE_URL, "transaction", "set statement_timeout to 4500")),
    (pooler) => Effect.promise(pooler.stop)
  )
  return { ...env, DATABASE_URL: pooler.url, DATABASE_LISTEN_URL: DATABASE_URL }
})

/** Starts a server in the present scope; `services` are all of its services, for what HTTP does not offer. */
export const start = Effect.fnUntraced(function*(options?: {
  readonly environment?: { readonly [name: string]: string }
  readonly adapters?: Partial<Composition.Adapters>
}) {
  const { services } = yield* run(
    { ...environment, ...yield* reached(options?.environment ?? {}) },
    options?.adapters
  )
  const url = HttpServer.formatAddress(Context.get(services, HttpServer.HttpServer).address)
  return { url, services }
})

/** An answer with its body read. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Parsed, if it is JSON. */
  readonly body: ReturnType<typeof JSON.parse>
}

const endpoints = Object.values(Api.groups).flatMap((group) => Object.values<HttpApiEndpoint.Top>(group.endpoints))

/** What makes another thing each time, so that it requires an Idempotency-Key. */
const making = endpoints
  .filter((endpoint) =>
    EndpointAnnotations.has(endpoint, EndpointAnnotations.NeedsIdempotencyKey) &&
    EndpointAnnotations.useOfKey(endpoint) === "kept"
  )
  .map(({ path }) => path)

/** The endpoints with the form of their paths, those without parameters first. */
const forms = endpoints.map((endpoint) => ({
  endpoint,
  form: new RegExp(`^${endpoint.path.replaceAll(/:\w+/g, "[^/]+")}$`)
})).sort((a, b) => a.endpoint.path.split(":").length - b.endpoint.path.split(":").length)

/** Throws if an answer is an error that the OpenAPI document does not promise of its operation. */
const assertDocumented = (method: string, url: string, { body, status }: Pick<Answer, "body" | "status">) => {
  const reason = body?.error?.reason
  if (status < 400 || reason === undefined) return
  const { pathname } = new URL(url)
  const found = forms.find(({ endpoint, form }) => endpoint.method === method && form.test(pathname))
  if (found === undefined || OpenApiErrors.reasonsOf(found.endpoint, status).includes(reason)) return
  throw new Error(`${method} ${found.endpoint.path} is not documented to answer ${status} ${reason}`)
}

/**
 * One request. `body` that is no string is sent as JSON, with its content type. What makes another thing each time gets
 * an Idempotency-Key of its own.
 */
export const call = (
  url: string,
  options: {
    readonly method?: string
    readonly headers?: { readonly [name: string]: string }
    readonly body?: unknown
  } = {}
): Effect.Effect<Answer> =>
  Effect.promise(async (signal) => {
    const { body, headers, method } = options
    const makes = body !== undefined && (method ?? "POST") === "POST" && making.some((path) => url.endsWith(path))
    const response = await fetch(url, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(makes ? { "idempotency-key": crypto.randomUUID() } : {}),
        ...headers
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      redirect: "manual",
      signal
    })
    // what goes on without an end is left at its beginning
    const isStream = response.headers.get("content-type") === "text/event-stream"
    if (isStream) await response.body!.cancel()
    const text = isStream ? "" : await response.text()
    const isJson = text !== "" && response.headers.get("content-type")?.startsWith("application/json") === true
    const answer = {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : undefined
    }
    assertDocumented(method ?? (body === undefined ? "GET" : "POST"), url, answer)
    return answer
  })

/** Whether an answer says that it is another one's, given again. */
export const isReplayed = ({ headers }: Answer): boolean => headers.get("idempotent-replayed") === "true"

/** Every page of a listing, one after the other, as long as there is more. */
export const pages = Effect.fnUntraced(function*(url: string, headers: { readonly [name: string]: string }) {
  const address = new URL(url)
  address.searchParams.set("limit", "100")
  const all: Array<Answer> = []
  for (let cursor: string | null = ""; cursor !== null;) {
    const page: Answer = yield* call(address.href, { headers })
    if (page.status !== 200) return yield* Effect.die(new Error(page.text))
    all.push(page)
    const { hasMore, has_more, nextCursor, next_cursor } = page.body
    cursor = has_more ?? hasMore ? next_cursor ?? nextCursor : null
    if (cursor !== null) address.searchParams.set("cursor", cursor)
  }
  return all
})

/** Suspends until the server has taken note of what came to it before: what comes later it answers later. */
export const noticed = (url: string): Effect.Effect<void> =>
  Effect.replicateEffect(call(`${url}/healthz`), 2, { discard: true })

/** What a browser on our own pages says, and a program has to. */
export const ownPage = { "sec-fetch-site": "same-origin" }

/** Signs the owner of the environment in; gives the headers of a session. */
export const signIn = Effect.fnUntraced(function*(url: string) {
  const answer = yield* call(`${url}/internal/session`, {
    headers: ownPage,
    body: { email: environment.WAC_OWNER_EMAIL, password: environment.WAC_OWNER_PASSWORD }
  })
  if (answer.status !== 200) return yield* Effect.die(new Error(answer.text))
  return { ...ownPage, cookie: answer.headers.getSetCookie()[0]!.split(";")[0]! }
})

/** Creates an API key with a session's headers. */
export const createKey = Effect.fnUntraced(function*(
  url: string,
  session: { readonly [name: string]: string },
  body: { readonly [field: string]: unknown } = { name: "test" }
) {
  const answer = yield* call(`${url}/internal/api-keys`, {
    headers: { ...session, "idempotency-key": crypto.randomUUID() },
    body
  })
  if (answer.status !== 201) return yield* Effect.die(new Error(answer.text))
  return answer.body as { readonly id: string; readonly apiKey: string; readonly signingSecret: string }
})

/** A server with its owner signed in and a key with every scope: what most tests begin with. */
export const ready = Effect.fnUntraced(function*(options?: Parameters<typeof start>[0]) {
  const server = yield* start(options)
  const session = yield* signIn(server.url)
  const key = yield* createKey(server.url, session, { name: "test", scopes: ApiScope.all })
  return { ...server, session, key }
})

/** Sends a message; each time with a fresh idempotency key, unless one is given. */
export const send = (
  { key, url }: { readonly url: string; readonly key: { readonly apiKey: string } },
  body: unknown,
  headers: { readonly [name: string]: string } = {}
): Effect.Effect<Answer> =>
  Effect.suspend(() =>
    call(`${url}/v1/messages`, {
      headers: { authorization: `Bearer ${key.apiKey}`, "idempotency-key": crypto.randomUUID(), ...headers },
      body
    })
  )

/** A send that the sandbox takes. */
export const hello = (to = "+15551234567") => ({
  to,
  type: "template" as const,
  template: { name: "hello_world", language: "en_US" }
})

/** A delivery as a receiver got it, and the event in it. */
export interface Delivered extends RecordingReceiver.ReceivedRequest {
  readonly event: ReturnType<typeof JSON.parse>
}

const delivered = (request: RecordingReceiver.ReceivedRequest): Delivered => ({
  ...request,
  event: JSON.parse(new TextDecoder().decode(request.body))
})

/** A customer's server. */
export const receiver = Effect.map(RecordingReceiver.make, (recording) => ({
  ...recording,
  url: `${recording.url}hook?from=wac`,
  /** The next deliveries, once they are there. */
  take: (count: number): Effect.Effect<ReadonlyArray<Delivered>> =>
    Effect.replicateEffect(Effect.map(recording.next, delivered), count)
}))

/** Sets the webhook; gives what was answered. */
export const setWebhook = Effect.fnUntraced(function*(
  { session, url }: { readonly url: string; readonly session: { readonly [name: string]: string } },
  body: { readonly url: string; readonly envelope?: string; readonly eventTypes?: ReadonlyArray<string> }
) {
  const answer = yield* call(`${url}/internal/webhook`, { method: "PUT", headers: session, body })
  if (answer.status !== 200) return yield* Effect.die(new Error(answer.text))
  return answer.body as { readonly id: string; readonly signingSecret: string }
})
