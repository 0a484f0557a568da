/**
 * What tests over HTTP check again and again: the one shape of errors (contract §2), and what only shows below HTTP.
 */
import { assert } from "@effect/vitest"
import {
  ApiKey,
  ApiKeys,
  ApiKeyStore,
  ApiScope,
  Id,
  Idempotency,
  type Member,
  Members,
  PhoneNumber,
  Provider,
  QueueStore,
  Templates,
  Vault,
  type Workspace,
  WorkspaceStore
} from "@wac/core"
import { SandboxProvider } from "@wac/sandbox"
import { Clock, Context, Duration, Effect, Layer, Redacted, Schedule, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import * as net from "node:net"
import { actorHeader, type Answer, call, ownPage, ready, receiver, setWebhook, type start } from "./harness.ts"

/** What a test has of a server: see `ready`. */
export type Ready = Effect.Success<ReturnType<typeof ready>>

/** One server for the tests of a block. */
export class Served extends Context.Service<Served, Ready>()("@wac/server/test/checks/Served") {
  static readonly layer = (options?: Parameters<typeof start>[0]) => Layer.effect(Served, ready(options))
}

/** Options of `layer` for tests over real sockets: the real clock. */
export const live = { excludeTestServices: true } as const

/** Limits that no test meets by chance. */
export const unlimited = {
  WAC_LIMITS: JSON.stringify({
    workspaceTiers: { standard: 100_000 },
    phoneNumberTiers: { standard: 100_000 },
    pair: { everySeconds: 0.001, burst: 1_000_000 }
  })
}

/** An identifier with this prefix, whole. */
export const idShape = (prefix: keyof Id.ByPrefix): RegExp => new RegExp(`^${prefix}_[0-7][0-9A-HJKMNP-TV-Z]{25}$`)

/** A time on the wire. */
export const timeShape = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** The time on the machine's clock, by which the servers of these tests go. */
export const now = (): number => Date.now()

/** So many milliseconds from now, as the wire has it. */
export const timeIn = (millis: number): string => new Date(now() + millis).toISOString()

/** A well-formed id of something that does not exist. */
export const nobody = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

/** The headers that every answer has (contract §1). */
export const assertHeaders = (answer: Answer): void => {
  assert.match(answer.headers.get("request-id") ?? "", idShape("req"))
  assert.strictEqual(answer.headers.get("cache-control"), "no-store")
  assert.strictEqual(answer.headers.get("x-content-type-options"), "nosniff")
}

/** The statuses of which contract §2 says that they come with `Retry-After`. */
const waiting = new Set([429, 503])

/** An error in its exact shape: these fields and no other, and the headers that belong to it. */
export const assertError = (
  answer: Answer,
  status: number,
  expected: {
    readonly code: string
    readonly reason?: string
    readonly param?: string
    readonly challenge?: string
    readonly provider?: { readonly code: string; readonly message: string }
  }
): void => {
  assert.strictEqual(answer.status, status, answer.text)
  assertHeaders(answer)
  assert.strictEqual(answer.headers.get("content-type"), "application/json")
  assert.deepStrictEqual(Object.keys(answer.body), ["error"])
  const { doc_url, message, request_id, ...rest } = answer.body.error
  assert.deepStrictEqual(rest, expected, answer.text)
  assert.isString(message)
  assert.notStrictEqual(message, "")
  assert.strictEqual(request_id, answer.headers.get("request-id"))
  const anchor = expected.reason === undefined ? expected.code : `${expected.code}-${expected.reason}`
  assert.isTrue(doc_url.endsWith(`/docs/errors#${anchor}`), doc_url)
  assert.strictEqual(answer.headers.get("www-authenticate"), status === 401 ? "Bearer" : null)
  if (waiting.has(status)) assert.match(answer.headers.get("retry-after") ?? "", /^[1-9]\d*$/)
  else assert.isNull(answer.headers.get("retry-after"))
  assert.strictEqual(answer.headers.has("allow"), status === 405)
}

/** `invalid_body` with status 400. */
export const assertInvalid = (answer: Answer, reason: string, param?: string): void =>
  assertError(answer, 400, { code: "invalid_body", reason, ...(param === undefined ? {} : { param }) })

/** What came over a socket, and how it ended. */
export interface Received {
  readonly text: string
  /** The first answer in it. */
  readonly answer: Answer
}

const dechunked = (text: string): string => {
  let rest = text
  let whole = ""
  while (rest !== "") {
    const [line] = rest.split("\r\n", 1)
    const size = Number.parseInt(line!, 16)
    if (!(size > 0)) break
    whole += rest.slice(line!.length + 2, line!.length + 2 + size)
    rest = rest.slice(line!.length + 4 + size)
  }
  return whole
}

const parse = (text: string): Answer => {
  const end = text.indexOf("\r\n\r\n")
  const [first, ...lines] = text.slice(0, end).split("\r\n")
  const headers = new Headers(lines.map((line): [string, string] => {
    const colon = line.indexOf(":")
    return [line.slice(0, colon), line.slice(colon + 1).trim()]
  }))
  const rest = text.slice(end + 4)
  const length = headers.get("content-length")
  const body = headers.get("transfer-encoding") === "chunked"
    ? dechunked(rest)
    : length === null
    ? rest
    : rest.slice(0, Number(length))
  const isJson = body !== "" && headers.get("content-type")?.startsWith("application/json") === true
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(first ?? "")?.[1] ?? 0),
    headers,
    text: body,
    body: isJson ? JSON.parse(Buffer.from(body, "latin1").toString("utf8")) : undefined
  }
}

/** A connection below HTTP; bytes are latin-1. */
export interface Connection {
  readonly write: (data: string | Uint8Array) => Effect.Effect<void>
  /** What has come so far. */
  readonly peek: Effect.Effect<string>
  /** What comes until the server closes; with `Connection: close` that is one answer. */
  readonly read: Effect.Effect<Received>
}

const received = (chunks: ReadonlyArray<Buffer>): string => Buffer.concat(chunks).toString("latin1")

/** Opens a connection in the present scope. */
export const connect = (url: string): Effect.Effect<Connection, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() =>
        new Promise<{
          readonly socket: net.Socket
          readonly chunks: ReadonlyArray<Buffer>
          readonly closed: Promise<void>
        }>((resolve, reject) => {
          const { hostname, port } = new URL(url)
          const chunks: Array<Buffer> = []
          const socket = net.connect(Number(port), hostname)
          socket.on("data", (chunk) => chunks.push(chunk))
          const closed = new Promise<void>((done) => socket.on("close", () => done()))
          socket.once("connect", () => resolve({ socket, chunks, closed }))
          // once connected, a reset is an end like any other: what came before it counts
          socket.on("error", reject)
        })
      ),
      ({ socket }) => Effect.sync(() => socket.destroy())
    ),
    ({ chunks, closed, socket }) => ({
      write: (data) =>
        Effect.promise(() =>
          new Promise<void>((resolve) =>
            socket.write(typeof data === "string" ? Buffer.from(data, "latin1") : data, () => resolve())
          )
        ),
      peek: Effect.sync(() => received(chunks)),
      read: Effect.map(Effect.promise(() => closed), () => {
        const text = received(chunks)
        return { text, answer: parse(text) }
      })
    })
  )

/** One exchange below HTTP: everything is sent, then read to the end. */
export const exchange = (url: string, ...data: ReadonlyArray<string | Uint8Array>): Effect.Effect<Received> =>
  Effect.scoped(Effect.gen(function*() {
    const connection = yield* connect(url)
    yield* Effect.forEach(data, connection.write, { discard: true })
    return yield* connection.read
  }))

/** A request's head, ready for the wire; it asks the server to close afterwards. */
export const head = (requestLine: string, headers: { readonly [name: string]: string } = {}): string =>
  [
    `${requestLine} HTTP/1.1`,
    "Host: localhost",
    "Connection: close",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "",
    ""
  ].join("\r\n")

/** Less than a test's own limit, so that a test that waits for what never comes says what came. */
const longestWait = Duration.minutes(8)

/** Asks again and again until the answer is the awaited one. After {@link longestWait} it dies with the last answer. */
export const until = <A>(ask: Effect.Effect<A>, awaited: (answer: A) => boolean): Effect.Effect<A> =>
  Effect.suspend(() => {
    let last: A
    return ask.pipe(
      Effect.tap((answer) => Effect.sync(() => last = answer)),
      Effect.repeat({ until: awaited, schedule: Schedule.spaced("50 millis") }),
      Effect.timeoutOrElse({
        duration: longestWait,
        orElse: () => Effect.die(new Error(`never came; the last answer was ${JSON.stringify(last)}`))
      })
    )
  })

/** A stored message, as its workspace sees it. */
export const stored = ({ key, url }: Pick<Ready, "key" | "url">, id: string): Effect.Effect<Answer> =>
  call(`${url}/v1/messages/${id}`, { headers: { authorization: `Bearer ${key.apiKey}` } })

/**
 * Asserts that an act takes less than so many milliseconds. The act returns how long it took. If the machine's other
 * work delayed it, it is tried again, at most four times. An act sets up and undoes all that it needs: if it left a
 * server down, the next try would measure a server that already knows.
 */
export const assertBelow = <E, R>(bound: number, act: Effect.Effect<number, E, R>): Effect.Effect<void, E, R> =>
  Effect.gen(function*() {
    const tries: Array<number> = []
    do tries.push(yield* act)
    while (tries.length < 5 && !tries.some((took) => took < bound))
    assert.isBelow(Math.min(...tries), bound, `each of ${tries.length} tries`)
  })

/**
 * Makes a request with a revoked key until it is refused. Returns that answer, and how long after the first request
 * the last one began that was accepted, in milliseconds: for how long the key still counted, however slow the machine.
 */
export const untilRefused = (
  request: Effect.Effect<Answer>
): Effect.Effect<{ readonly refusal: Answer; readonly accepted: number }> =>
  Effect.gen(function*() {
    const begun = performance.now()
    let accepted = 0
    const asking = Effect.suspend(() => {
      const at = performance.now() - begun
      return Effect.tap(request, ({ status }) =>
        Effect.sync(() => {
          if (status === 200) accepted = at
        }))
    })
    const refusal = yield* until(asking, ({ status }) => status !== 200)
    return { refusal, accepted }
  })

/** The statuses of a message that nothing goes wrong with, in their order. */
const life: ReadonlyArray<string> = ["queued", "sent", "delivered", "read"]

/**
 * Waits until a message has a status, or one that comes after it in its life: on a busy machine, a message that is sent
 * is read before anybody looks.
 */
export const untilStatus = (server: Pick<Ready, "key" | "url">, id: string, status: string): Effect.Effect<Answer> =>
  until(
    stored(server, id),
    ({ body }) => body.status === status || life.includes(status) && life.indexOf(body.status) > life.indexOf(status)
  )

/** The workspace that a session belongs to. */
export const workspaceOf = Effect.fnUntraced(function*({ session, url }: Pick<Ready, "session" | "url">) {
  const { body } = yield* call(`${url}/internal/session`, { headers: session })
  return Id.WorkspaceId.make(body.workspaceId)
})

/** A further workspace with a number of its own, the sandbox's templates and a key. */
export const anotherWorkspace = Effect.fnUntraced(
  function*(name: string, number: string, settings: Partial<Workspace.Workspace> = {}) {
    const random = yield* SecureRandom.SecureRandom
    const id = yield* Id.generate(random, "ws")
    const phoneNumberId = yield* Id.generate(random, "pn")
    const workspaces = yield* WorkspaceStore.WorkspaceStore
    const createdAt = now()
    yield* workspaces.create({
      workspace: { id, name, createdAt, tier: null, monthlyQuota: null, suspended: false, ...settings },
      phoneNumber: PhoneNumber.fresh({
        id: phoneNumberId,
        workspaceId: id,
        provider: "sandbox",
        phoneNumber: number,
        providerNumberId: `provider-${number}`,
        providerAccountId: "sandbox",
        learned: PhoneNumber.unlearned,
        isDefault: true
      })
    })
    yield* (yield* Templates.Templates).sync(id)
    const issued = yield* (yield* ApiKeys.ApiKeys).issue({
      workspaceId: id,
      name: "test",
      expiresAt: null,
      requireSignature: false,
      scopes: ApiScope.all,
      caller: "somebody",
      idempotencyKey: Idempotency.IdempotencyKey.make(crypto.randomUUID())
    })
    const key = {
      id: issued.key.id,
      apiKey: Redacted.value(issued.secrets!.token),
      signingSecret: Redacted.value(issued.secrets!.signingSecret)
    }
    return { id, phoneNumberId, key }
  },
  Effect.orDie
)

/** Invites somebody to a workspace that nobody owns yet; gives the invitation and the link's token. */
export const invite = (
  services: Ready["services"],
  workspaceId: Workspace.Workspace["id"],
  email: string,
  role: Member.Role
) => {
  const host = {
    id: null,
    userId: Id.UserId.make(`usr_${nobody}`),
    email: "host@example.com",
    role: "owner" as const,
    workspaceId,
    workspaceName: "other",
    roles: null
  }
  return Effect.orDie(Context.get(services, Members.Members).invite(host, { email, role }, () => ""))
}

/** The same; gives the link's token alone. */
export const invited = (...given: Parameters<typeof invite>): Effect.Effect<string> =>
  Effect.map(invite(...given), ({ token }) => Redacted.value(token))

/**
 * Holds the queues of the present workspaces, as a start with `WAC_RESTORED` does. A test's workspace is created after
 * the start of its server.
 */
export const holdQueues = Effect.fnUntraced(
  function*({ services }: Pick<Effect.Success<ReturnType<typeof start>>, "services">) {
    const beat = { now: yield* Clock.currentTimeMillis, last: null, isRestored: true }
    yield* QueueStore.QueueStore.use((store) => store.beat(beat)).pipe(Effect.provideContext(services))
  }
)

/** A workspace beside others, with a webhook that leads to a receiver of its own. */
export const tenant = Effect.fnUntraced(function*(
  { services, url }: Effect.Success<ReturnType<typeof start>>,
  number: string
) {
  const { id, key } = yield* anotherWorkspace("further", number).pipe(Effect.provideContext(services))
  const customer = yield* receiver
  const session = { ...ownPage, [actorHeader]: `owner@${id}` }
  const { signingSecret } = yield* setWebhook({ url, session }, { url: customer.url })
  return { url, session, key, id, customer, signingSecret }
})

/** A provider for a test: the sandbox, and what was asked of it. `answer` may take a send out of its hands. */
export const recording = (
  answer: (command: Provider.ProviderSend) => Effect.Effect<Provider.ProviderOutcome> | undefined = () => undefined
) => {
  const calls: Array<Provider.ProviderSend> = []
  const layer = Layer.effect(
    Provider.Provider,
    Effect.map(Provider.Provider, (sandbox) =>
      Provider.Provider.of({
        ...sandbox,
        send: (command) =>
          Effect.suspend(() => {
            calls.push(command)
            return answer(command) ?? sandbox.send(command)
          })
      }))
  ).pipe(Layer.provide(SandboxProvider.layer))
  return { calls, adapters: { provider: layer } }
}

/** A key that no dashboard makes: one that may not even send. */
export const keyWithScopes = Effect.fnUntraced(
  function*(services: Ready["services"], workspaceId: Id.WorkspaceId, scopes: ReadonlyArray<ApiScope.ApiScope>) {
    const token = yield* Effect.gen(function*() {
      const vault = yield* Vault.Vault
      const random = yield* SecureRandom.SecureRandom
      const token = yield* ApiKey.generateToken(random)
      const id = yield* Id.generate(random, "key")
      yield* (yield* ApiKeyStore.ApiKeyStore).issue({
        id,
        workspaceId,
        name: "scopes",
        prefix: ApiKey.prefixOf(token),
        scopes,
        tokenHash: yield* vault.fingerprint(token),
        signingSecret: yield* vault.seal("whsec_", id),
        phoneNumberIds: null,
        allowedCidrs: null,
        requireSignature: false,
        createdAt: now(),
        expiresAt: null,
        revokedAt: null,
        lastUsedAt: null
      }, { key: Idempotency.IdempotencyKey.make(id), fingerprint: "" })
      return token
    }).pipe(Effect.provide(SecureRandom.layerWebCrypto), Effect.provideContext(services))
    return { apiKey: token }
  },
  Effect.orDie
)

/**
 * An API key's token with these 30 characters: their CRC-32 in six base62 characters, worked out apart from the
 * sources.
 */
export const wellFormed = (ascii: string): string => {
  let crc = ~0
  for (const byte of Buffer.from(ascii)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
  let rest = ~crc >>> 0
  let text = ""
  for (let i = 0; i < 6; i++, rest = Math.floor(rest / 62)) text = alphabet[rest % 62] + text
  return `wac_live_${ascii}${text}`
}
