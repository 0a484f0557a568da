/**
 * The service as an object in the application's process, with the operations of each workspace. Composes the layers and
 * runs them until it is closed.
 */
import {
  Chores,
  Heartbeats,
  type Id,
  MediaInspector,
  Provider as ProviderPort,
  Recorder,
  Setup,
  Stopping,
  StorageTime,
  Vault,
  WebhookTransport,
  type Workspace as Core
} from "@wac/core"
import { Dashboard, MetricsPage, PublicUrl } from "@wac/http"
import { S3MediaBytes } from "@wac/s3"
import { SandboxProvider } from "@wac/sandbox"
import { Cause, Clock, Context, Effect, Exit, Layer, Metric, Option, Predicate, Scheduler, Scope } from "effect"
import { Aead, Kdf } from "effect/crypto"
import * as Background from "./Background.ts"
import * as Campaigns from "./campaigns/Campaigns.ts"
import * as Composition from "./Composition.ts"
import * as Contacts from "./contacts/Contacts.ts"
import * as Customers from "./contacts/Customers.ts"
import * as Events from "./events/Events.ts"
import * as Recorded from "./events/Recorded.ts"
import { type Span, spanMillis, type Steered, steeredOf } from "./FakeClock.ts"
import type * as Messaging from "./generated/Messaging.ts"
import * as Handlers from "./Handlers.ts"
import * as IdleClock from "./IdleClock.ts"
import * as Inbound from "./inbound/Inbound.ts"
import { InFlight } from "./InFlight.ts"
import * as ApiKeys from "./keys/ApiKeys.ts"
import { HostKeys } from "./keys/HostKeys.ts"
import * as KnownOptions from "./KnownOptions.ts"
import * as LayerOption from "./LayerOption.ts"
import * as Log from "./Log.ts"
import * as Media from "./media/Media.ts"
import * as MediaInspectorNode from "./media/MediaInspectorNode.ts"
import * as Messages from "./messages/Messages.ts"
import * as PhoneNumbers from "./numbers/PhoneNumbers.ts"
import * as Options from "./Options.ts"
import * as Auth from "./people/Auth.ts"
import * as Portal from "./people/Portal.ts"
import * as Provider from "./provider/Provider.ts"
import * as Running from "./Running.ts"
import * as Cryptography from "./secrets/Cryptography.ts"
import { MasterKeyFileError } from "./secrets/MasterKeyFile.ts"
import * as Subscriptions from "./subscriptions/Subscriptions.ts"
import * as Templates from "./templates/Templates.ts"
import * as Usage from "./usage/Usage.ts"
import { badOption, ofDomain, WacError } from "./WacError.ts"
import * as Webhook from "./webhooks/Webhook.ts"
import * as WhatsApp from "./WhatsApp.ts"
import * as Workspaces from "./workspaces/Workspaces.ts"
import * as YieldToEventLoop from "./YieldToEventLoop.ts"

/** All operations of one workspace. Every failure is a `WacError`. */
export interface Workspace extends Messaging.Messaging {
  /** `tenant_id` on the wire. */
  readonly id: string
  readonly messages: Messages.Messages
  readonly media: Media.Media
  readonly templates: Templates.Templates
  readonly keys: ApiKeys.ApiKeys
  readonly webhook: Webhook.Webhook
  readonly campaigns: Messaging.Campaigns
  readonly events: Events.Events
  readonly contacts: Contacts.Contacts
  /** Exports and erases what is stored of a customer. */
  readonly customers: Customers.Customers
  readonly phoneNumbers: PhoneNumbers.PhoneNumbers
  /** Activity, quota and costs. */
  readonly usage: Usage.Usage
  /**
   * Calls a function for every event of a type that is recorded in the workspace from now on, by any process, and
   * returns a function that stops this. Each listener gets every event once, in the order of recording, and gets the
   * next one when its promise for the previous one has settled. Listeners do not outlive the process: for events that
   * must not be missed, use `subscribe`. If a listener throws, the error is logged and no listener misses an event.
   */
  readonly on: Events.On
  /**
   * Handles every event of the workspace, recorded by any process since the name was first used, at least once, across
   * restarts and crashes. Events of one message are handled in order. Any number of processes may subscribe under the
   * same name: one of them at a time handles events. An event whose handler throws or rejects is tried again 1 s, 5 s,
   * 25 s, 2 min, 10 min, 50 min and then every 4 h 10 min later, and only its own message waits; after 24 hours it is
   * set aside (`subscriptions.failed`). Events are kept for a subscription beyond their retention, for at most 90 days.
   *
   * Resolves once the name is recorded, to a function that stops handling: that resolves when running handlers are
   * done. The types of the last call under a name apply: types that are added are handled from then on, and a process
   * whose call lacks one of them begins nothing more, so that it skips nothing.
   */
  readonly subscribe: Subscriptions.Subscribe
  /** Events that subscriptions could not handle, and how far each has come. */
  readonly subscriptions: Subscriptions.Subscriptions
}

/** How long `work` works. */
export interface WorkOptions {
  readonly for: Span
}

/** The service. Its own operations apply to the default workspace. */
export interface Wac extends Workspace {
  /**
   * The operations of another workspace, by its id. Nothing is looked up until one is called; if the workspace does not
   * exist, it rejects with `not_found`.
   */
  readonly workspace: (id: string) => Workspace
  readonly workspaces: Workspaces.Workspaces
  readonly inbound: Inbound.Inbound
  /** Creates pages for your own customers. */
  readonly portal: Portal.Portal
  /** The HTTP API for a fetch-style host: `/v1` for callers with API keys, `/internal` for people. */
  readonly handler: Handlers.Handler
  /** The HTTP API for `node:http`, Express and Fastify. */
  readonly nodeHandler: Handlers.NodeHandler
  /**
   * The instance's metrics over all workspaces, in Prometheus' text format (`text/plain; version=0.0.4`), like the
   * server's `GET /metrics`. Gauges keep their last value if the storage does not respond within a second.
   */
  readonly metrics: (options?: Messaging.CallOptions) => Promise<string>
  /**
   * For an instance with `background: false`: runs everything that runs in the background of others for this long
   * (milliseconds, or text such as `"20 seconds"`), then stops it gracefully: deliveries, queued messages, campaigns,
   * customers' files, subscriptions, listeners, retention and sweeps. Begins nothing more when the time is over, and
   * resolves once the sends and handlers that are running have ended, at most 9.5 seconds later. Deliveries that their
   * receivers have not answered by then are attempted again in the next call. Every process can call it at any time,
   * also several at once.
   */
  readonly work: (options: WorkOptions) => Promise<void>
  /**
   * Closes the instance gracefully. Nothing new is begun, and requests, sends, listeners and handlers of subscriptions
   * that are running finish first, within 9.5 seconds together; then claims are released and the storage is closed.
   * While a listener or handler is running, operations are still carried out, since it may need them; otherwise they
   * are refused as soon as this is called. Calling it again is safe.
   */
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

type Adapters = Composition.Adapters<unknown>

const providerOf = (provider: Provider.Provider, during: Provider.During): Adapters["provider"] => {
  if (typeof provider !== "object" || provider === null || !("type" in provider)) {
    return Provider.layerCustom(provider, during)
  }
  switch (provider.type) {
    case "sandbox":
      KnownOptions.check(provider, { type: true }, "provider.")
      return SandboxProvider.layer
    case "whatsapp":
      return WhatsApp.layer(provider)
    case "layer":
      return LayerOption.layerOf(provider, "provider") as Adapters["provider"]
    default:
      throw badOption("provider.type", "provider.type must be sandbox, whatsapp or layer, or be omitted")
  }
}

const adaptersOf = (
  { auth, provider }: Options.WacOptions,
  defaultWorkspace: () => Id.WorkspaceId,
  during: Provider.During
): Adapters => ({
  authenticator: Auth.layer(auth, defaultWorkspace, during),
  provider: providerOf(provider, during)
})

/** The services of every fiber: the log, the metrics and, if it is not the machine's, the clock. */
const ground = (options: Options.WacOptions, steered: Steered | undefined) =>
  Layer.mergeAll(
    Log.layer(options.log),
    Layer.sync(Metric.MetricRegistry, () => new Map()),
    steered === undefined ?
      options.background === false ? Layer.effect(Clock.Clock, IdleClock.make) : Layer.empty :
      Layer.mergeAll(
        Layer.succeed(Clock.Clock, steered.clock),
        // a database in the process would judge times by the machine's clock
        Layer.succeed(StorageTime.JudgedBy, "asker"),
        Layer.succeed(Scheduler.Scheduler, steered.scheduler)
      )
  )

/** Secrets are sealed and opened, and passwords hashed, on other threads, so a fake clock must wait for that. */
const heldCryptography = ({ hold }: Steered) =>
  Layer.merge(
    Layer.effect(
      Aead.Aead,
      Effect.map(Aead.Aead, (aead) => ({
        ...aead,
        encrypt: (...given) => hold(aead.encrypt(...given)),
        decrypt: (...given) => hold(aead.decrypt(...given))
      }))
    ),
    Layer.effect(
      Kdf.Kdf,
      Effect.map(Kdf.Kdf, (kdf) => ({ ...kdf, derive: (...given) => hold(kdf.derive(...given)) }))
    )
  ).pipe(Layer.provideMerge(Cryptography.layer))

/** A file's type is recognized by a library that is loaded from a disk, so a fake clock must wait for that. */
const heldInspector = ({ hold }: Steered) =>
  Layer.effect(
    MediaInspector.MediaInspector,
    Effect.map(MediaInspector.MediaInspector, (inspector) => ({
      ...inspector,
      typeOf: (head) => hold(inspector.typeOf(head))
    }))
  ).pipe(Layer.provide(MediaInspectorNode.layer))

/** Receivers respond in real time: without waiting for them, a fake clock would pass every attempt's deadline. */
const heldPosts = (steered: Steered) =>
  Layer.effect(
    WebhookTransport.WebhookTransport,
    Effect.map(WebhookTransport.WebhookTransport, ({ post }) => ({
      post: (request) => steered.await(post(request))
    }))
  )

/** Finds or creates the first workspace, with an owner if accounts are built in. */
const firstWorkspace = Effect.fnUntraced(function*(name: string, owner: Setup.Owner | undefined) {
  if (owner !== undefined) {
    const setup = yield* Setup.Setup
    yield* Effect.catchTags(setup.create(owner), {
      AlreadySetUp: () => Effect.void,
      InvalidBody: ({ message }) => Effect.fail(badOption("auth.owner.password", `auth.owner.password ${message}`))
    })
  }
  return yield* Workspaces.first(name)
})

/** Returns the function that makes the operations of a workspace, from an instance's services. `present` exists. */
const operations = Effect.fnUntraced(function*(present: Id.WorkspaceId) {
  const messages = yield* Messages.make
  const media = yield* Media.make
  const templates = yield* Templates.make
  const keys = yield* ApiKeys.make
  const webhook = yield* Webhook.make
  const campaigns = yield* Campaigns.make
  const events = yield* Events.make
  const contacts = yield* Contacts.make
  const customers = yield* Customers.make
  const phoneNumbers = yield* PhoneNumbers.make
  const usage = yield* Usage.make
  const listening = yield* Events.listening
  const subscriptions = yield* Subscriptions.make
  const subscribing = yield* Subscriptions.subscribing
  const runningOf = yield* Workspaces.running(present)

  return (
    all: Running.Running,
    context: Context.Context<never>,
    during: Provider.During,
    inFlight: InFlight,
    background: Background.Background
  ) => {
    const on = listening(context, during, inFlight, background)
    const { of: subscribe, stopAll } = subscribing(context, during, inFlight, background)
    const of = (id: Id.WorkspaceId): Workspace => {
      const running = runningOf(all, id)
      return {
        id,
        messages: messages(running, id),
        media: media(running, id, inFlight),
        templates: templates(running, id),
        keys: keys(running, id),
        webhook: webhook(running, id),
        campaigns: campaigns(running, id),
        events: events(running, id),
        contacts: contacts(running, id),
        customers: customers(running, id),
        phoneNumbers: phoneNumbers(running, id),
        usage: usage(running, id),
        on: on(id),
        subscribe: subscribe(running, id),
        subscriptions: subscriptions(running, id)
      }
    }
    return { of, stopAll }
  }
})

/** The error for an instance that could not be created. */
const openFailure = (cause: Cause.Cause<unknown>): WacError => {
  const error = Option.getOrElse(Cause.findErrorOption(cause), () => Cause.squash(cause))
  if (error instanceof WacError) return error
  if (error instanceof Vault.UnreadableSecret) {
    return badOption("masterKey", "masterKey is not the key that encrypts this storage's secrets")
  }
  if (error instanceof Composition.MasterKeyMissing) {
    return badOption("masterKey", "masterKey is required with a storage that outlives the process")
  }
  if (error instanceof S3MediaBytes.S3ClientMissing || error instanceof S3MediaBytes.S3Refused) {
    return badOption("mediaStore", `mediaStore: ${error.message}`)
  }
  if (error instanceof ProviderPort.ProviderError) return ofDomain(ProviderPort.toServerError(error))
  const isToldOf = error instanceof MasterKeyFileError ||
    (error instanceof Error && "_tag" in error && ["OpenError", "StoreError"].includes(String(error._tag)))
  return isToldOf
    ? new WacError(error.message, { code: "server_error", reason: "storage_unavailable" })
    : new WacError("the service could not be started; see its log", { code: "server_error", reason: "internal" })
}

/**
 * Starts the service in this process. Resolves when it is ready. Several instances can coexist: there is no global
 * state, no signal is handled, and nothing is written to the console except, without `log`, errors to stderr. Rejects
 * with a `WacError` that names the wrong option, or states that the storage cannot be opened or that the provider
 * cannot be asked for its number.
 *
 * @example
 * const wac = await createWac({ storage: memory(), provider: sandbox() })
 * await wac.messages.send(
 *   { to: "+15551234567", type: "template", template: { name: "hello_world", language: "en_US" } },
 *   { idempotencyKey: "welcome-1042" }
 * )
 */
export const createWac = async (options: Options.WacOptions): Promise<Wac> => {
  Options.check(options)
  const steered = options.clock === undefined ? undefined : steeredOf(options.clock)
  const during: Provider.During = steered === undefined ? (promise) => promise : steered.during
  let workspace: Core.Workspace | undefined
  // the workspace is read at a sign-in, and people sign in only once the service is ready
  const adapters = adaptersOf(options, () => workspace!.id, during)
  const config = Options.configOf(options)
  const prefix = Handlers.prefixOf(options.prefix)
  const publicUrl = Options.publicUrlOf(options)
  const portalOrigins = Options.portalOriginsOf(options)
  const portalSettings = {
    base: Options.portalBaseOf(options, prefix),
    origins: portalOrigins,
    theme: Options.portalThemeOf(options, portalOrigins)
  }
  const workspaceName = Options.workspaceNameOf(options)
  const owner = Auth.isLocal(options.auth) ? { ...Auth.ownerOf(options.auth), workspaceName } : undefined
  const scope = Scope.makeUnsafe()
  const isAlways = options.background !== false
  const inFlight = new InFlight(!isAlways)
  const flushes: Array<Effect.Effect<void>> | null = isAlways ? null : []
  const chores: Array<Effect.Effect<void>> | null = isAlways ? null : []
  // without a background, the host may stop the process as soon as a call has settled, so records are written before
  const flush = flushes === null
    ? null
    : Effect.suspend(() => Effect.forEach(flushes, (each) => each, { concurrency: "unbounded", discard: true }))
  const stopping = Stopping.make()
  const yieldToEventLoop = YieldToEventLoop.make()

  const opening = Effect.gen(function*() {
    const context = yield* Layer.build(ground(options, steered))
    return yield* Effect.gen(function*() {
      const recorded = Recorded.Recorded.layer
      const services = yield* Layer.build(
        HostKeys.layer.pipe(
          Layer.provideMerge(
            Composition.services(
              config,
              adapters,
              Layer.mergeAll(
                Layer.provide(Recorded.inFront, recorded),
                steered === undefined ? Layer.empty : heldPosts(steered)
              ),
              steered === undefined ? undefined : heldCryptography(steered),
              steered === undefined ? undefined : heldInspector(steered)
            )
          ),
          Layer.provideMerge(recorded),
          Layer.provideMerge(Layer.succeed(PublicUrl.PublicUrl, publicUrl)),
          Layer.provideMerge(Layer.succeed(Stopping.Stopping, stopping)),
          Layer.provideMerge(Layer.succeed(PublicUrl.IsGiven, options.publicUrl !== undefined)),
          Layer.provideMerge(Layer.succeed(Dashboard.IsServed, options.dashboard === true)),
          Layer.provideMerge(Layer.succeed(Dashboard.PortalOrigins, portalOrigins)),
          Layer.provideMerge(Heartbeats.layerRestored(options.restored === true)),
          Layer.provideMerge(Layer.succeed(Recorder.Flushes, flushes)),
          Layer.provideMerge(Layer.succeed(Chores.Chores, chores))
        )
      )
      return yield* Effect.gen(function*() {
        workspace = yield* firstWorkspace(workspaceName, owner)
        const of = yield* operations(workspace.id)
        const running = Running.make(context, inFlight, yieldToEventLoop, flush)
        const background = yield* isAlways ? Background.always : Background.inShifts
        const runners: Background.Job<never> = {
          prepare: Effect.void,
          begin: Effect.as(
            Effect.updateContext(
              Layer.build(Composition.background),
              (own: Context.Context<Scope.Scope>) => Context.merge(services, own)
            ).pipe(Effect.andThen(Effect.forEach(chores ?? [], (chore) => Effect.forkScoped(chore)))),
            Effect.void
          )
        }
        // the runners start without waiting for the provider
        yield* Effect.all([background.add(runners), Layer.build(Composition.ensured)], {
          concurrency: "unbounded",
          discard: true
        })
        const settled = flush === null ? undefined : () => Effect.runPromiseWith(context)(flush)
        return {
          background,
          context,
          handlers: Handlers.counted(yield* Handlers.make(context, prefix, yieldToEventLoop), inFlight, settled),
          ...of(running, context, during, inFlight, background),
          workspaces: (yield* Workspaces.make)(running),
          inbound: (yield* Inbound.make)(running),
          portal: (yield* Portal.make(portalSettings, workspace.id))(running),
          metrics: yield* MetricsPage.reader,
          running,
          workspace
        }
      }).pipe(Effect.provideContext(services))
    }).pipe(
      Effect.tapCause((cause) => Effect.logError("the service could not be started", cause)),
      Effect.provideContext(context)
    )
  }).pipe(Effect.provideService(Scope.Scope, scope))
  const opened = await inFlight.alive(Effect.runPromiseExit(opening))
  if (Exit.isFailure(opened)) {
    await Effect.runPromise(Scope.close(scope, opened))
    throw openFailure(opened.cause)
  }
  const { background, context, handlers, inbound, metrics, of, portal, running, stopAll, workspaces } = opened.value

  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    void stopAll()
    await Promise.all([inFlight.stop(), Effect.runPromiseWith(context)(stopping.begin)])
    await inFlight.alive(Effect.runPromise(Scope.close(scope, Exit.void)))
  }
  const shutDown = () => closing ??= steered === undefined ? close() : steered.runUntil(close())

  return {
    ...of(opened.value.workspace.id),
    workspace: (id) => of(id as Id.WorkspaceId),
    workspaces,
    inbound,
    portal,
    handler: handlers.web,
    nodeHandler: handlers.node,
    metrics: (options) => running.run(metrics, { options }),
    work: async (options) => {
      if (isAlways) throw badOption("background", "work requires an instance with background: false")
      const millis = Predicate.isObject(options) ? spanMillis(options.for) : undefined
      if (millis === undefined) {
        throw badOption("for", "for must be 0 or more milliseconds, or text such as 20 seconds")
      }
      KnownOptions.check(options, { for: true } satisfies Record<keyof WorkOptions, true>)
      await running.run(background.during(Effect.asVoid(Effect.timeoutOption(stopping.begun, millis))))
    },
    close: shutDown,
    [Symbol.asyncDispose]: shutDown
  }
}
