/**
 * The command `doctor`: checks everything that the server needs, and prints what is wrong and how to correct it.
 * Changes nothing, but for a delete marker in an object store with versions (`S3MediaBytes.checkDeletion`).
 */
import {
  Inbound,
  PhoneNumbers,
  PhoneNumberStore,
  Provider,
  QueueStore,
  SealedSecretStore,
  SenderBlock,
  SenderCredentials,
  TemplateRequests,
  Time,
  Vault,
  WebhookStore,
  type Workspace,
  WorkspaceStore
} from "@wac/core"
import { Composition } from "@wac/effect"
import { ReceiverReach } from "@wac/receivers"
import { S3MediaBytes } from "@wac/s3"
import { type WhatsAppConfig, WhatsAppProvider } from "@wac/whatsapp"
import { Clock, Duration, Effect, Layer, Option, Result } from "effect"
import { Command } from "effect/cli"
import * as CampaignsCommand from "./CampaignsCommand.ts"
import * as Addresses from "./config/Addresses.ts"
import * as Diagnosis from "./Diagnosis.ts"
import * as OperatorCommand from "./OperatorCommand.ts"
import * as RateCardFile from "./RateCardFile.ts"
import { fromEnvironment, type ServerConfig } from "./ServerConfig.ts"
import * as Variable from "./Variable.ts"

const { doubtful, fine, ofClock, wrong } = Diagnosis

/** The time limit for each receiver, and for the provider's address. */
const timeLimit = Duration.seconds(5)

/** Loaded only here: a server in memory needs neither PostgreSQL's client nor PGlite. */
const postgres = Effect.promise(() => import("@wac/postgres"))

const configuration = Effect.fnUntraced(function*(config: ServerConfig) {
  const variables = yield* OperatorCommand.Variables
  const isLocal = Addresses.isLocal(config.publicUrl)
  const noSignIn = Addresses.noSignIn(config.publicUrl)
  return [
    fine("configuration", "every variable has a value that can be used"),
    ...Variable.unknown(Object.keys(variables)).map((name) =>
      doubtful("configuration", `${name} is not a variable of this service`, "check its spelling, or remove it")
    ),
    ...config.provider._tag === "WhatsApp" && (isLocal || config.publicUrl.protocol !== "https:")
      ? [doubtful(
        "configuration",
        `PUBLIC_URL is ${config.publicUrl.href}, where Meta cannot post`,
        "set PUBLIC_URL to the https address under which the internet reaches this service"
      )]
      : [],
    ...noSignIn === undefined
      ? []
      : [
        doubtful("configuration", noSignIn, "set PUBLIC_URL to the https address of a proxy in front of this service")
      ],
    ...config.isPublicUrlGiven && !isLocal && config.metricsToken === undefined
      ? [doubtful(
        "configuration",
        "nobody can read /metrics: PUBLIC_URL names another host, and METRICS_TOKEN is not set",
        "set METRICS_TOKEN if Prometheus reads this service"
      )]
      : [],
    ...config.storage._tag === "Memory"
      ? [doubtful(
        "configuration",
        "DATABASE_URL is memory: nothing survives a restart",
        "set DATABASE_URL to pglite:DIRECTORY or postgres://…"
      )]
      : []
  ]
})

/**
 * The findings about the database, whether it could be opened, and whether the other checks can read it: that needs this
 * version's schema.
 */
const database = Effect.fnUntraced(function*({ storage }: ServerConfig) {
  if (storage._tag === "Memory") return { findings: [], isOpen: false, isReadable: false }
  const { Inspection } = yield* postgres
  const advice = storage._tag === "Server"
    ? "check DATABASE_URL, the server, and the network between"
    : "see that this user may write there"
  return yield* (storage._tag === "Server"
    ? Effect.map(Inspection.ofServer(storage), (found) => ({ findings: Diagnosis.ofServer(found), found }))
    : Effect.map(Inspection.ofEmbedded(storage), (found) => ({
      findings: Diagnosis.ofEmbedded(storage.directory, found),
      found
    }))).pipe(
      Effect.map(({ findings, found }) => ({
        findings,
        isOpen: true,
        isReadable: found !== undefined && found.isWritable && found.schemaVersion === found.neededSchemaVersion
      })),
      Effect.catchTag(
        "OpenError",
        (error) =>
          Effect.succeed({
            findings: error.isInUse === true ? Diagnosis.ofUsed(error) : [Diagnosis.ofUnopened(error, advice)],
            isOpen: false,
            isReadable: false
          })
      )
    )
})

/** The finding about `DATABASE_LISTEN_URL`, if it is set. */
const listening = Effect.fnUntraced(function*({ storage }: ServerConfig) {
  if (storage._tag !== "Server" || storage.listenUrl === undefined) return []
  const { Inspection } = yield* postgres
  const found = yield* Inspection.isSame({ listenUrl: storage.listenUrl, url: storage.url }).pipe(
    Effect.map((isSame) => ({ isSame })),
    Effect.catchTag("OpenError", ({ message }) => Effect.succeed({ failure: message }))
  )
  return [Diagnosis.ofListenUrl(found)]
})

const filesAdvice = "check MEDIA_STORE, the AWS_… variables, and the network between (docs/guides/operating.md)"

/** The finding about the object store for files, if there is one. */
const files = Effect.fnUntraced(function*({ mediaStore }: ServerConfig) {
  if (mediaStore === undefined) return []
  const undeletable = `${filesAdvice}; a restored copy deletes no files that its backup names before its queue is ` +
    "released, and needs no s3:DeleteObject until then (docs/guides/backups.md)"
  return [
    yield* Effect.matchEffect(S3MediaBytes.check(mediaStore), {
      onFailure: ({ message }) => Effect.succeed(wrong("files", message, filesAdvice)),
      onSuccess: () =>
        Effect.match(S3MediaBytes.checkDeletion(mediaStore), {
          onFailure: ({ message }) => wrong("files", message, undeletable),
          onSuccess: () => fine("files", "the bucket of the object store can be listed, and its objects can be deleted")
        })
    })
  ]
})

/** How far the provider's clock is certainly ahead of ours, in milliseconds, from an unauthenticated response. */
const providerClock = (address: string) =>
  Effect.gen(function*() {
    const begun = yield* Clock.currentTimeMillis
    const response = yield* Effect.tryPromise((signal) =>
      fetch(address, { method: "HEAD", redirect: "manual", signal })
    )
    const at = Date.parse(response.headers.get("date") ?? "")
    const ended = yield* Clock.currentTimeMillis
    return Number.isNaN(at) ? undefined : Time.certainLead({ at, resolution: 1000 }, { begun, ended })
  }).pipe(Effect.timeout(timeLimit), Effect.orElseSucceed(() => undefined))

/** The configured provider alone: on an empty storage in memory, and with nothing that runs in the background. */
const providerOf = ({ mediaStore: _, ...withoutFiles }: ServerConfig, whatsApp: WhatsAppConfig.WhatsAppConfig) =>
  WhatsAppProvider.layer(whatsApp).pipe(
    Layer.provide(Layer.merge(Inbound.Inbound.layer, SenderCredentials.SenderCredentials.layer)),
    Layer.provide(TemplateRequests.TemplateRequests.layer),
    Layer.provide(Composition.layerOpened({ ...withoutFiles, storage: { _tag: "Memory" } }))
  )

const provider = Effect.fnUntraced(function*(config: ServerConfig) {
  const { provider: chosen } = config
  if (chosen._tag === "Sandbox") {
    return [fine("provider", "the sandbox: nothing is sent to phones (PROVIDER=whatsapp sends)")]
  }
  const [number, ahead] = yield* Effect.all([
    Effect.result(Effect.provide(Provider.Provider.use(({ firstNumber }) => firstNumber), providerOf(config, chosen))),
    providerClock(chosen.baseUrl)
  ], { concurrency: 2 })
  return [
    Result.isSuccess(number)
      ? fine("provider", `the provider knows ${number.success.phoneNumber} and accepts the access token`)
      : wrong(
        "provider",
        number.failure.message,
        "check WHATSAPP_ACCESS_TOKEN, WHATSAPP_PHONE_NUMBER_ID and WHATSAPP_BASE_URL (docs/guides/whatsapp.md)"
      ),
    ...ahead === undefined ? [] : [ofClock("the provider's clock", ahead)]
  ]
})

const numbers = Effect.fnUntraced(function*(
  { limits }: ServerConfig,
  workspaces: ReadonlyArray<Workspace.Workspace>
) {
  const now = yield* Clock.currentTimeMillis
  const store = yield* PhoneNumberStore.PhoneNumberStore
  const all = (yield* Effect.forEach(workspaces, ({ id }) => store.list(id))).flat()
  const blocked = all.flatMap((number) => {
    const { block } = PhoneNumbers.stateOf(limits, number, now)
    return block === null ? [] : [
      wrong(
        "numbers",
        `${number.phoneNumber}: ${SenderBlock.describe(block)}`,
        "settle it with the provider; `wac numbers set NUMBER --unblock` tries it again at once"
      )
    ]
  })
  return blocked.length > 0 ? blocked : [fine("numbers", `no number is blocked, of ${all.length}`)]
})

const receivers = Effect.fnUntraced(function*(
  { receiverRules }: ServerConfig,
  workspaces: ReadonlyArray<Workspace.Workspace>
) {
  const store = yield* WebhookStore.WebhookStore
  const found = yield* Effect.forEach(workspaces, ({ id }) =>
    Effect.gen(function*() {
      const webhook = Option.getOrUndefined(yield* store.find(id))
      if (webhook === undefined) return []
      const { pausedAt, url } = webhook
      const failure = yield* ReceiverReach.failure(receiverRules, new URL(url), timeLimit)
      return [Diagnosis.ofReceiver({ workspace: id, url, pausedAt, failure })]
    }), { concurrency: 16 })
  return found.flat()
})

/** The finding about what waits since the database was restored. */
const held = Effect.fnUntraced(function*(workspaces: ReadonlyArray<Workspace.Workspace>) {
  const store = yield* QueueStore.QueueStore
  const queues = yield* Effect.forEach(
    workspaces,
    ({ id }) => Effect.map(store.heldSince(id), (since) => since === null ? [] : [{ workspace: id, since }])
  )
  return Diagnosis.ofHold({ queues: queues.flat(), campaigns: (yield* CampaignsCommand.waiting).length })
})

/** The findings about the content of the storage, whose schema must already be this version's. */
const stored = Effect.fnUntraced(function*(config: ServerConfig) {
  const { mediaStore: _, ...withoutFiles } = config
  const read = Effect.gen(function*() {
    const workspaces = yield* WorkspaceStore.WorkspaceStore.use((store) => store.list)
    return {
      isUsed: workspaces.length > 0,
      findings: [
        ...yield* numbers(config, workspaces),
        yield* held(workspaces),
        ...yield* receivers(config, workspaces)
      ]
    }
  })
  const storage = OperatorCommand.asFound(config.storage)
  const { findings, isUsed } = yield* Effect.provide(read, Composition.layerUnopened(storage))
  if (!isUsed) return [doubtful("secrets", "there is no workspace yet", "start the server and open its set-up link")]
  // not on an unused storage, which opening would give its first secret
  const secrets = yield* Effect.gen(function*() {
    const { keyIds } = yield* Vault.Vault
    return Diagnosis.ofMasterKeys(yield* SealedSecretStore.SealedSecretStore.use((store) => store.keyIds), keyIds)
  }).pipe(
    // without the object store, of which `files` tells
    Effect.provide(Composition.layerOpened({ ...withoutFiles, storage })),
    Effect.catchTag("UnreadableSecret", () =>
      Effect.succeed(wrong(
        "secrets",
        "the master key does not open the storage's secrets, so no key and no webhook works",
        "set WAC_MASTER_KEY to the key that servers run with, or to it in WAC_MASTER_KEY_PREVIOUS"
      )))
  )
  return [secrets, ...findings]
})

/** The finding about a storage that could be opened and not read. The others stand beside it, and may tell why. */
const unread = ({ message }: { readonly message: string }) =>
  Effect.succeed([
    wrong("database", message, "see what else is wrong with the database, and the log of the database's server")
  ])

const examined = Effect.gen(function*() {
  const read = yield* fromEnvironment(yield* OperatorCommand.Variables).pipe(
    Effect.tap(({ rateCardFile }) => RateCardFile.load(rateCardFile)),
    Effect.result
  )
  if (Result.isFailure(read)) {
    return [wrong("configuration", read.failure.message, "docs/guides/operating.md lists every variable")]
  }
  const config = read.success
  const { findings, isOpen, isReadable } = yield* database(config)
  // both ways are compared, so without the one to the database nothing could be said
  const listens = isOpen ? yield* listening(config) : []
  // the storage is opened by both ways
  const isOpenable = isReadable && listens.every(({ state }) => state !== "wrong")
  return [
    ...yield* configuration(config),
    ...findings,
    ...listens,
    ...isOpenable ? yield* Effect.catch(stored(config), unread) : [],
    ...yield* files(config),
    ...yield* provider(config)
  ]
})

export const doctor = Command.make(
  "doctor",
  {},
  Effect.fnUntraced(function*() {
    const findings = yield* Effect.scoped(examined)
    const count = findings.filter(({ state }) => state === "wrong").length
    yield* OperatorCommand.printed({ healthy: count === 0, findings }, Diagnosis.text(findings))
    if (count > 0) {
      return yield* new OperatorCommand.CannotDo({
        message: count === 1 ? "one thing is wrong" : `${count} things are wrong`
      })
    }
  })
).pipe(
  Command.withDescription(
    "Look at the configuration, the database, clocks, files, the provider, the queue and receivers, and say what is wrong and what to do. " +
      "Changes nothing, but that in an object store it deletes the name no-object, which no file has; exits with 1 if " +
      "something is wrong"
  ),
  Command.withShortDescription("Say what is wrong with the service's surroundings, and what to do")
)
