/** The simulated Cloud API without its sockets: its state, its responses, and what a test can do to it. */
import { Clock, Duration, Effect, FiberSet, type Schema, type Scope } from "effect"
import { createHash } from "node:crypto"
import * as Calls from "./CloudApiCalls.ts"
import type { Problem } from "./CloudApiErrors.ts"
import type * as Graph from "./CloudApiGraph.ts"
import type { Behaviour } from "./control/CloudApiBehaviour.ts"
import * as Dice from "./control/CloudApiDice.ts"
import * as Faults from "./control/CloudApiFaults.ts"
import * as Logs from "./control/CloudApiLog.ts"
import * as Settings from "./control/CloudApiSettings.ts"
import * as Media from "./media/CloudApiMedia.ts"
import * as Bills from "./messages/CloudApiBill.ts"
import * as Limits from "./messages/CloudApiLimits.ts"
import * as Messages from "./messages/CloudApiMessages.ts"
import * as Recipient from "./messages/CloudApiRecipient.ts"
import * as Customers from "./numbers/CloudApiCustomers.ts"
import * as Numbers from "./numbers/CloudApiNumbers.ts"
import * as Samples from "./templates/CloudApiSamples.ts"
import * as Templates from "./templates/CloudApiTemplates.ts"
import * as Changes from "./webhooks/CloudApiChanges.ts"
import * as Couriers from "./webhooks/CloudApiCourier.ts"
import * as Inbounds from "./webhooks/CloudApiInbound.ts"
import * as Updates from "./webhooks/CloudApiUpdates.ts"

/** The account that the API serves, with its credentials. */
export interface Identity {
  readonly account: string
  readonly accessToken: string
  readonly appSecret: string
  readonly verifyToken: string
  /** Ids and display forms of the phone numbers. The first is the default. */
  readonly numbers: readonly [NumberName, ...ReadonlyArray<NumberName>]
}

interface NumberName {
  readonly id: string
  readonly display: string
}

/** A status of a message to report now. */
interface Word {
  /** The message's wamid or reference. */
  readonly message: string
  readonly status: string
  readonly code?: number
  readonly details?: string
  /** The status's time in milliseconds; now by default. */
  readonly at?: number
}

export interface Simulation {
  readonly settings: Effect.Effect<Settings.Settings>
  /** Changes settings. What is in progress keeps the previous ones. */
  readonly configure: (patch: Settings.Patch) => Effect.Effect<Settings.Settings>
  /** Adds faults. */
  readonly fault: (plan: Faults.Plan) => Effect.Effect<void>
  /** Removes all faults, except those in the behaviour of recipients. */
  readonly clearFaults: Effect.Effect<void>
  /** Sets the behaviour of a recipient. */
  readonly behave: (to: string, behaviour: Behaviour) => Effect.Effect<void>
  /** Accepts only these access tokens. */
  readonly acceptTokens: (tokens: ReadonlyArray<string>) => Effect.Effect<void>

  /** A customer writes. Returns the wamid. Fails with a description if the number or kind is unknown. */
  readonly receive: (inbound: Inbounds.Inbound) => Effect.Effect<string, string>
  /** The business writes from its phone. Returns the wamid. Fails like {@link Simulation.receive}. */
  readonly echo: (echo: Inbounds.Echo) => Effect.Effect<string, string>
  /** A customer changes their number or their business-scoped user id. */
  readonly move: (from: string, to: string) => Effect.Effect<void>
  /** A customer stops or resumes marketing messages. */
  readonly prefer: (from: string, value: "stop" | "resume") => Effect.Effect<void>
  /** Reports a status of a message. Fails with a description if the message is unknown. */
  readonly tell: (word: Word) => Effect.Effect<void, string>
  /** Posts a webhook with this field and value. */
  readonly announce: (field: string, value: Schema.JsonObject) => Effect.Effect<void>
  /** Reports an error that concerns no message. */
  readonly complain: (problem: Problem) => Effect.Effect<void>
  readonly alert: (alert: Changes.Alert) => Effect.Effect<void>
  /**
   * Changes a number, and posts the webhooks that Meta would. While its throughput is being raised to `HIGH`
   * (`upgradeFor`), the whole change waits and sends are refused with 131057. Fails with a description if the number is
   * unknown.
   */
  readonly changeNumber: (id: string, patch: Numbers.Patch) => Effect.Effect<Numbers.BusinessNumber, string>
  /** Changes or adds a template, and posts the webhooks that Meta would. */
  readonly changeTemplate: (change: Changes.TemplateChange) => Effect.Effect<Templates.Template>

  /** How often the message with this reference was accepted, which is how often the customer receives it. */
  readonly processed: (reference: string) => Effect.Effect<number>
  /** How often the message with each reference was accepted. */
  readonly allProcessed: Effect.Effect<ReadonlyMap<string, number>>
  /** The calls for each recipient, by the name in the calls. The map is live. */
  readonly recipients: Effect.Effect<ReadonlyMap<string, Logs.Tally>>
  /** The arrival time and recipient of each send, in the order in which the sends ended. The array is live. */
  readonly arrivals: Effect.Effect<ReadonlyArray<Logs.Arrival>>
  /** The charges so far, by the `rates` in the settings. */
  readonly bill: Effect.Effect<ReadonlyArray<Bills.Line>>
  /** The latest calls, oldest first. */
  readonly calls: Effect.Effect<ReadonlyArray<Logs.Call>>
  readonly templates: Effect.Effect<ReadonlyArray<Templates.Template>>
  /** How many files were uploaded. */
  readonly uploads: Effect.Effect<number>
  readonly courier: Couriers.Courier
}

/** How long a customer's file is kept. */
const customersFiles = Duration.days(7)

/** Runs until the scope closes. Statuses and webhooks that are still due then are lost. */
export const make = Effect.fnUntraced(function*(
  identity: Identity,
  seed: number,
  initially: Settings.Patch,
  url: () => string
): Effect.fn.Return<Calls.Calls & { readonly simulation: Simulation }, never, Scope.Scope> {
  const dice = Dice.make(seed)
  const run = yield* FiberSet.makeRuntime<never, void, never>()
  const { account } = identity
  const customers = Customers.make()
  const log = Logs.make()
  const faults = Faults.make(dice, Recipient.keyOf)
  const numbers = new Map(identity.numbers.map(({ display, id }) => [id, Numbers.make(id, display)]))
  const main = () => numbers.get(identity.numbers[0].id)!
  const media = Media.make()
  const samples = Samples.make()
  const bill = Bills.make(() => settings.rates)
  let settings: Settings.Settings = { ...Settings.initial, ...initially }
  let templates = Templates.initial
  let tokens: ReadonlySet<string> = new Set([identity.accessToken])
  let written = 0
  let made = 0

  const courier = yield* Couriers.make(() => settings, dice, identity.appSecret)
  const tellAll = (updates: ReadonlyArray<Updates.Update>) => {
    for (const update of updates) courier.tell(update)
  }

  const messages: Messages.Messages = Messages.make({
    account,
    settings: () => settings,
    dice,
    customers,
    limits: Limits.make(),
    bill,
    typeOf: (number, id, now) => {
      const file = media.find(id, now)
      return file?.number === number ? file.type : undefined
    },
    courier,
    templates: () => templates,
    run: (effect) => void run(effect),
    reply: (message, text) =>
      Effect.ignore(receive({
        ...(Recipient.isUserId(message.customer) ? { userId: message.customer } : { from: message.customer }),
        number: message.number.id,
        text
      }))
  })

  const graph: Graph.Graph = {
    account,
    tokens: () => tokens,
    numbers,
    templates: () => templates,
    newTemplateId: () => String(1_689_556_910_000_000 + made++),
    review: (template) => {
      const isKnown = templates.some(({ id }) => id === template.id)
      templates = isKnown
        ? templates.map((known) => known.id === template.id ? template : known)
        : [...templates, template]
      if (settings.reviewAfter === null) return
      const { language, name } = template
      // the review of a template that was changed or deleted meanwhile is void
      const verdict = Effect.suspend(() =>
        templates.includes(template)
          ? simulation.changeTemplate({ name, language, status: "APPROVED" })
          : Effect.void
      )
      run(Effect.asVoid(Effect.andThen(Effect.sleep(settings.reviewAfter), verdict)))
    },
    forget: (template) => {
      templates = templates.filter((known) => known !== template)
    },
    messages,
    media,
    samples,
    url
  }

  const customerOf = (inbound: Inbounds.Inbound): Updates.Named => {
    const known = Messages.named(settings, dice, Recipient.keyOf(inbound.from ?? inbound.userId ?? ""))
    return {
      ...known,
      userId: inbound.userId ?? known.userId,
      parentUserId: inbound.parentUserId,
      username: inbound.username,
      name: inbound.name
    }
  }

  /** Stores a customer's file. Returns the fields that the message contains about it. */
  const keepFile = (number: string, file: Inbounds.InboundFile, now: number): Schema.JsonObject => {
    const bytes = Buffer.from(file.base64, "base64")
    const type = file.type ?? "application/octet-stream"
    const lives = file.lives === undefined ? customersFiles : Duration.millis(file.lives)
    const { url: address } = file.lies ?? {}
    const kept = media.keep(number, type, bytes, now, lives, address === undefined ? {} : { url: address })
    return {
      id: kept.id,
      mime_type: type,
      sha256: file.lies?.sha256 ?? createHash("sha256").update(bytes).digest("base64"),
      url: String(media.shown(kept, url(), now).url),
      ...(file.filename === undefined ? {} : { filename: file.filename })
    }
  }

  const receive: Simulation["receive"] = (inbound) =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const number = inbound.number === undefined ? main() : numbers.get(inbound.number)
      if (number === undefined) return yield* Effect.fail("there is no such number")
      if (inbound.from === undefined && inbound.userId === undefined) {
        return yield* Effect.fail("either `from` or `userId` is needed")
      }
      const content = Inbounds.contentOf(inbound)
      if (content === undefined) return yield* Effect.fail(Inbounds.unknownKind)
      const { file } = inbound
      const type = String(content.type)
      const described = file === undefined
        ? {}
        : { [type]: { ...content[type] as Schema.JsonObject, ...keepFile(number.id, file, now) } }
      const customer = customerOf(inbound)
      const at = inbound.at ?? now
      if (inbound.from !== undefined && inbound.userId !== undefined) {
        customers.identify(inbound.userId, customer.waId!)
      }
      const name = customer.waId ?? customer.userId!
      const id = inbound.id ?? Messages.wamidOf(name, dice.hex(18, "inbound", written++))
      if (Inbounds.opensWindow(content)) customers.wrote(number.id, customers.of(name), at)
      // a system message comes from a customer's number, and has no contacts
      const system = content.type === "system"
      const tell = Inbounds.isCall(content) ? Updates.call : Updates.message
      courier.tell(tell(
        account,
        number,
        customer,
        {
          id,
          timestamp: Updates.timestamp(at, dice.hits(settings.numericTimestamps, "numeric", id)),
          ...(inbound.context === undefined ? {} : { context: inbound.context }),
          ...content,
          ...described
        },
        !system && !dice.hits(settings.omitContacts, "contacts", id)
      ))
      return id
    })

  const simulation: Simulation = {
    settings: Effect.sync(() => settings),
    configure: (patch) => Effect.sync(() => settings = { ...settings, ...patch }),
    fault: (plan) => Effect.sync(() => faults.plan(plan)),
    clearFaults: Effect.sync(() => faults.clear()),
    behave: (to, behaviour) => Effect.sync(() => customers.behave(to, behaviour)),
    acceptTokens: (taken) => Effect.sync(() => void (tokens = new Set(taken))),
    receive,
    echo: (echo) =>
      Effect.gen(function*() {
        const number = echo.number === undefined ? main() : numbers.get(echo.number)
        if (number === undefined) return yield* Effect.fail("there is no such number")
        const named = echo.to ?? echo.userId
        if (named === undefined) return yield* Effect.fail("either `to` or `userId` is needed")
        const content = Inbounds.contentOf(echo)
        if (content === undefined) return yield* Effect.fail(Inbounds.unknownKind)
        const at = echo.at ?? (yield* Clock.currentTimeMillis)
        const customer = Messages.named(settings, dice, Recipient.keyOf(named))
        const id = Messages.wamidOf(customer.waId ?? customer.userId!, dice.hex(18, "echo", written++))
        courier.tell(Updates.echo(account, number, customer, {
          id,
          timestamp: Updates.timestamp(at, dice.hits(settings.numericTimestamps, "numeric", id)),
          ...content
        }))
        return id
      }),
    move: (from, to) =>
      Effect.gen(function*() {
        const named = (name: string) => Messages.named(settings, dice, Recipient.keyOf(name))
        const [before, after] = [named(from), named(to)]
        customers.rename(Recipient.keyOf(from), Recipient.keyOf(to))
        yield* receive({
          ...(before.waId === undefined ? { userId: from } : { from }),
          content: { type: "system", system: Updates.moved(before, after) }
        })
        if (before.userId === undefined || after.userId === undefined) return
        const at = yield* Clock.currentTimeMillis
        courier.tell(Updates.renamed(account, main(), [before.userId, after.userId], after, at))
      }).pipe(Effect.orDie),
    prefer: (from, value) =>
      Effect.gen(function*() {
        const customer = Recipient.keyOf(from)
        for (const number of numbers.keys()) customers.prefer(number, customers.of(customer), value === "resume")
        const at = yield* Clock.currentTimeMillis
        courier.tell(Updates.preference(account, main(), Messages.named(settings, dice, customer), value, at))
      }),
    tell: (word) =>
      Effect.gen(function*() {
        const message = messages.find(word.message)
        if (message === undefined) return yield* Effect.fail("there is no such message")
        const problem = word.code === undefined ? undefined : { code: word.code, details: word.details }
        courier.tell(messages.word(message, word.status, word.at ?? (yield* Clock.currentTimeMillis), problem))
      }),
    announce: (field, value) => Effect.sync(() => courier.tell({ account, field, value })),
    complain: (problem) => Effect.sync(() => courier.tell(Updates.outOfBand(account, main(), problem))),
    alert: (alert) => Effect.sync(() => courier.tell(Changes.alert(account, alert))),
    changeNumber: (id, patch) =>
      Effect.suspend(() => {
        const before = numbers.get(id)
        if (before === undefined) return Effect.fail("there is no such number")
        const change = () => {
          const now = numbers.get(id)!
          const after = { ...now, refuses: before.refuses, ...patch }
          numbers.set(id, after)
          tellAll(Changes.ofNumber(account, now, after))
          return after
        }
        const raised = before.throughput.level !== "HIGH" && patch.throughput?.level === "HIGH"
        if (!raised || settings.upgradeFor === 0) return Effect.succeed(change())
        const upgrading = { ...before, refuses: Numbers.upgrading }
        numbers.set(id, upgrading)
        run(Effect.andThen(Effect.sleep(settings.upgradeFor), Effect.sync(() => void change())))
        return Effect.succeed(upgrading)
      }),
    changeTemplate: (change) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const before = templates.find(({ language, name }) =>
          name === change.name && (change.language === undefined || change.language === language)
        )
        const after = Changes.changed(before, change, String(1_689_556_909_000_000 + templates.length), now)
        templates = before === undefined
          ? [...templates, after]
          : templates.map((template) => template === before ? after : template)
        if (change.tell !== false) tellAll(Changes.ofTemplate(account, before, after, now))
        return after
      }),
    processed: (reference) => Effect.sync(() => log.processed().get(reference) ?? 0),
    allProcessed: Effect.sync(() => new Map(log.processed())),
    recipients: Effect.sync(log.recipients),
    arrivals: Effect.sync(log.arrivals),
    bill: Effect.sync(bill.lines),
    calls: Effect.sync(() => log.calls()),
    templates: Effect.sync(() => templates),
    uploads: Effect.sync(media.uploads),
    courier
  }

  return {
    simulation,
    ...Calls.make({ graph, faults, customers, log, dice })
  }
})
