/**
 * Messages, contacts, templates and webhooks. Commands come in groups, each of which is one batch, so that a command
 * must see the effects of earlier ones in its batch.
 */
import { PgClient } from "@effect/sql-pg"
import { assert } from "@effect/vitest"
import {
  type ApiKey,
  ApiKeyStore,
  type Contact,
  ContactStore,
  type Delivery,
  DeliveryStore,
  Event,
  EventStore,
  type Id,
  type Idempotency,
  type Limits,
  type Message,
  MessageStore,
  PhoneNumberStore,
  SenderBlock,
  type Template,
  TemplateStore,
  WebhookStore,
  WorkspaceStore
} from "@wac/core"
import { Fixture, MessageFixture } from "@wac/testkit"
import { Effect, Option, type Schema } from "effect"
import { deadline, timeouts } from "../src/messages/Sweep.ts"
import { all, ask, type Game, property, world } from "./agreement.ts"

const { day, hour, minute, second } = Fixture
const { customer } = MessageFixture

/** The maximum size of a group, and the range of commands' times. */
const groupSize = 8
const horizon = 20 * day

/** Messages of a workspace whose deadline would be missed: no row of message_deadlines leads to them in time. */
const unnoticed = ({ workspace: { id } }: Fixture.World) =>
  PgClient.PgClient.use((client) =>
    client`
      select m.id, m.deadline from (select m.*, ${
      client.literal(deadline(timeouts.map(String)))
    } as deadline from wac.messages m) m
      where m.workspace_id = ${id} and m.deadline is not null and not exists (
        select from wac.message_deadlines d
        where d.workspace_id = m.workspace_id and d.due_at <= m.deadline and m.id = any (d.message_ids)
      )`
  )

/** Limits low enough to be reached sometimes. */
const limits: Limits.Limits = {
  workspaceTiers: { narrow: 0.4, wide: 1000 },
  phoneNumberTiers: { narrow: 0.3, wide: 1000 },
  pair: { everySeconds: 61, burst: 5 },
  defaults: { workspaceTier: "wide", phoneNumberTier: "wide", monthlyQuota: null, messagingLimit: null }
}
const otherLimits: Limits.Limits = { ...limits, defaults: { ...limits.defaults, monthlyQuota: 25, messagingLimit: 2 } }

const templates: ReadonlyArray<Message.OutboundMessage> = [
  MessageFixture.template(),
  MessageFixture.template({ name: "order", bodyParams: ["№ 1", "“2”"], clientReference: "ref \u{1F4E6}" }),
  MessageFixture.template({ name: "order", bodyParams: ["1"] }),
  MessageFixture.template({ name: "promo", bodyParams: ["x"] }),
  MessageFixture.template({ name: "waiting", bodyParams: ["a"] }),
  MessageFixture.template({ name: "none" })
]

const failure: Message.MessageError = { code: "forbidden", reason: "provider_policy", message: "no \u0000 \ud800 “”" }

/** The events and deliveries of a workspace, without the identifiers that a sweep generates. */
const journal = ({ workspace: { id } }: Fixture.World) =>
  Effect.gen(function*() {
    const events = yield* all((page) => EventStore.EventStore.use((store) => store.list(id, {}, page)))
    const deliveries = yield* all((page) => DeliveryStore.DeliveryStore.use((store) => store.list(id, {}, page)))
    const name = (orderKey: unknown, sequence: unknown, createdAt: unknown) => `${orderKey} ${sequence} ${createdAt}`
    const byName = (a: { readonly name: string }, b: { readonly name: string }) => a.name < b.name ? -1 : 1
    return {
      events: events
        .map((event) => ({
          name: name(event.data["message_id"], event.sequence, event.createdAt),
          bodies: Event.Envelope.literals.map((envelope) =>
            Event.body({ ...event, id: "evt" as Id.EventId }, envelope)
          ),
          orderKey: event.orderKey
        }))
        .sort(byName),
      deliveries: deliveries
        .map(({ delivery: { eventId, id: _, orderKey, sequence, ...delivery }, status }) => ({
          ...delivery,
          name: name(orderKey ?? eventId, sequence, delivery.createdAt),
          status
        }))
        .sort(byName)
    }
  })

/** The first two are forms of the same line. */
const phones = ["+551187654321", "+5511987654321", customer(0), customer(1)]
const users = ["US.1", "US.2", "US.3"]

property({ length: 70, checkEvery: 5 }, (random, note) =>
  Effect.gen(function*() {
    const some = <A>(make: () => A): ReadonlyArray<A> => Array.from({ length: 1 + random.below(groupSize) }, make)
    const someone = (): Contact.Customer =>
      random.below(5) === 0
        ? { phone: null, userId: random.pick(users) }
        : { phone: random.pick(phones), userId: random.pick([null, ...users]) }
    const worlds = yield* Effect.replicateEffect(world(), 2)
    const keys = new Map<Id.WorkspaceId, ReadonlyArray<ApiKey.ApiKey>>()
    const start = Math.max(...worlds.map(({ start }) => start))
    for (const { workspace } of worlds) {
      const words = yield* Effect.replicateEffect(Fixture.word, 2)
      const issue = (key: ApiKey.ApiKey, word: string) =>
        ApiKeyStore.ApiKeyStore.use((store) =>
          store.issue(key, { key: word as Idempotency.IdempotencyKey, fingerprint: "one" })
        )
      const ending = yield* Fixture.apiKey(workspace.id, start, { expiresAt: start + 2 * day })
      const revoked = yield* Fixture.apiKey(workspace.id, start)
      yield* ask([issue(ending, words[0]!)])
      yield* ask([issue(revoked, words[1]!)])
      yield* ask([ApiKeyStore.ApiKeyStore.use((store) => store.revoke(workspace.id, revoked.id, start))])
      keys.set(workspace.id, [ending, revoked])
    }

    let now = start
    /** Claimed commands, with their messages' ids. */
    const claims: Array<MessageStore.AcceptSend> = []
    const owners = new Map<string, Id.MessageId>()
    const names = yield* Effect.replicateEffect(
      Effect.map(MessageFixture.acceptedOutcome, ({ providerMessageId }) => providerMessageId),
      4
    )

    const sendOf = Effect.fnUntraced(function*() {
      const own = random.pick(worlds)
      const to = random.pick(phones)
      const from = random.often(undefined, own.number.id, own.number.phoneNumber, "+14155550000")
      const content = random.below(3) === 0 ? MessageFixture.text(to) : { ...random.pick(templates), to }
      return yield* MessageFixture.sendCommand(own, {
        now,
        key: random.often(`key ${random.below(12)}`, yield* Fixture.word).replace(" ", "-"),
        fingerprint: random.often("usual", "other"),
        route: random.often("POST /v1/messages", "POST /v1/others"),
        apiKeyId: random.often(own.key.id, ...keys.get(own.workspace.id)!.map(({ id }) => id), worlds[0]!.key.id),
        message: from === undefined ? content : { ...content, from },
        limits: random.often(limits, otherLimits)
      })
    })

    /** The sort key of a send in its batch. */
    const placeOf = ({ message, request }: MessageStore.AcceptSend) =>
      `${request.workspaceId} ${message.from === "+14155550000" ? "~" : " "} ${message.to}`

    const accept = Effect.gen(function*() {
      const commands = (yield* Effect.all(some(sendOf)))
        .map((command, i) => ({ command, i }))
        .sort((a, b) =>
          placeOf(a.command) < placeOf(b.command) ? -1 : placeOf(a.command) > placeOf(b.command) ? 1 : a.i - b.i
        )
        .map(({ command }) => command)
      const answers = yield* ask(
        commands.map((command) => MessageStore.MessageStore.use((store) => store.accept(command)))
      )
      answers.forEach((accepted, i) => {
        note(`${MessageFixture.describe(accepted)}`)
        if (accepted._tag === "Claimed") claims.push({ ...commands[i]!, messageId: accepted.message.id })
      })
    })

    const pickClaims = () =>
      [...new Set(some(() => claims[claims.length - 1 - random.below(Math.min(claims.length, 12))]))]
        .filter((claim) => claim !== undefined)
        .sort((a, b) => a.messageId < b.messageId ? -1 : a.messageId > b.messageId ? 1 : 0)

    const endOf = Effect.fnUntraced(function*() {
      const ends: ReadonlyArray<MessageStore.SendEnd> = [
        random.often(
          yield* MessageFixture.acceptedOutcome,
          { _tag: "Accepted", providerMessageId: random.pick(names) } as const
        ),
        yield* MessageFixture.refusedOutcome(now - random.below(3)),
        yield* MessageFixture.notSentOutcome,
        yield* MessageFixture.notSentOutcome,
        { _tag: "Unknown" }
      ]
      return random.pick(ends)
    })

    const settle = Effect.gen(function*() {
      const commands: Array<MessageStore.SettleSend> = []
      for (const command of pickClaims()) {
        const { claimToken, request } = command
        commands.push({
          now,
          message: {
            ...MessageFixture.asClaimed(command),
            workspaceId: random.often(request.workspaceId, worlds[0]!.workspace.id)
          },
          claimToken: random.often(claimToken, yield* Fixture.word),
          end: yield* endOf(),
          ids: yield* Fixture.eventIds
        })
      }
      const answers = yield* ask(
        commands.map((command) => MessageStore.MessageStore.use((store) => store.settle(command)))
      )
      answers.forEach((settled, i) => {
        const { end, message: { id: messageId } } = commands[i]!
        note(`${end._tag} ${settled}`)
        if (settled && end._tag === "Accepted" && !owners.has(end.providerMessageId)) {
          owners.set(end.providerMessageId, messageId)
        }
      })
    })

    const report = Effect.gen(function*() {
      const commands: Array<MessageStore.ApplyReport> = []
      for (const { messageId } of pickClaims()) {
        const status = random.pick(["sent", "delivered", "read", "failed"] as const)
        const error = random.pick([failure, MessageFixture.refusedError])
        commands.push({
          now,
          providerNumberId: random.often<string | null>(null, "nobody's"),
          reference: random.often<Id.MessageId | null>(messageId, null, yield* Fixture.id("msg")),
          report: {
            status,
            at: now - random.below(5) * second,
            providerMessageId: random.pick([...owners.keys(), ...names, null, null]),
            error: status === "failed" ? error : null
          },
          ids: yield* Fixture.eventIds
        })
      }
      const known = new Set<Id.MessageId>()
      for (const { messageId, request: { workspaceId } } of claims) {
        const found = yield* MessageStore.MessageStore.use((store) => store.get(workspaceId, messageId))
        if (Option.isSome(found)) known.add(messageId)
      }
      // reports for unknown messages come first: within a batch, no report sees a name that another one brings
      const target = ({ providerNumberId, reference, report }: MessageStore.ApplyReport) =>
        providerNumberId !== null
          ? ""
          : reference !== null && known.has(reference)
          ? reference
          : owners.get(report.providerMessageId ?? "") ?? ""
      commands.sort((a, b) => target(a) < target(b) ? -1 : target(a) > target(b) ? 1 : 0)
      const targets = commands.map(target)
      const answers = yield* ask(
        commands.map((command) => MessageStore.MessageStore.use((store) => store.applyReport(command)))
      )
      answers.forEach((found, i) => {
        const { report: { providerMessageId, status } } = commands[i]!
        note(`${status} ${found}`)
        if (found && providerMessageId !== null && !owners.has(providerMessageId)) {
          owners.set(providerMessageId, targets[i] as Id.MessageId)
        }
      })
    })

    const abandon = Effect.gen(function*() {
      const commands = []
      for (const claim of pickClaims()) {
        commands.push({ ...claim, now, claimToken: random.often(claim.claimToken, yield* Fixture.word) })
      }
      const place = ({ messageId, request }: MessageStore.AcceptSend) => `${request.workspaceId} ${messageId}`
      commands.sort((a, b) => place(a) < place(b) ? -1 : 1)
      yield* ask(commands.map((command) => MessageStore.MessageStore.use((store) => store.abandon(command))))
    })

    const receive = Effect.gen(function*() {
      const commands = yield* Effect.all(some(Effect.fnUntraced(function*() {
        const { number } = random.pick(worlds)
        const at = now + random.pick([0, 0, -hour, -minute, minute])
        const type = random.pick(["text", "button", "from"])
        return {
          now,
          message: {
            providerNumberId: random.often(number.providerNumberId, "nobody"),
            providerMessageId: random.often(yield* Fixture.word, "wamid.again"),
            customer: someone(),
            at,
            type,
            content: random.pick<Schema.Json>([{ body: "“Hi” \u0000 \ud800", nested: [{ a: null }] }, ["“Hi”"], null]),
            context: random.pick([null, { message_id: "wamid.\u0000 \ud800", forwarded: true }]),
            preference: random.pick([undefined, undefined, "opt_out", "opt_in"] as const)
          },
          messageId: yield* Fixture.id("msg"),
          ids: yield* Fixture.eventIds
        }
      })))
      yield* ask(commands.map((command) =>
        ContactStore.ContactStore.use((store) =>
          store.recordInbound({
            ...command,
            hashes: MessageFixture.hashesOf(command.message.customer)
          })
        )
      ))
    })

    const prefer = Effect.suspend(() =>
      ask(some(() => {
        const command = {
          now,
          providerNumberId: random.often(random.pick(worlds).number.providerNumberId, "nobody"),
          customer: someone(),
          preference: random.pick(["opt_out", "opt_in"] as const),
          at: now + random.pick([0, -minute, -hour, hour])
        }
        return ContactStore.ContactStore.use((store) =>
          store.setPreference({ ...command, hashes: MessageFixture.hashesOf(command.customer) })
        )
      }))
    )

    const move = Effect.suspend(() =>
      ask(some(() => {
        const command = {
          now,
          providerNumberId: random.often(random.pick(worlds).number.providerNumberId, "nobody"),
          from: someone(),
          to: someone(),
          at: now + random.pick([0, -minute, -hour, hour])
        }
        return ContactStore.ContactStore.use((store) =>
          store.move({ ...command, hashes: MessageFixture.hashesOf(command.from, command.to) })
        )
      }))
    )

    /** One by one, because each is a statement of its own. */
    const changeTemplates = Effect.gen(function*() {
      const { number, workspace } = random.pick(worlds)
      const at = now + random.pick([0, -second, -minute, minute])
      const store = TemplateStore.TemplateStore
      if (random.below(3) > 0) {
        const { language, name } = random.pick(Fixture.templates)
        const words = ["approved", "paused", "marketing"]
        const change: Template.TemplateChange = random.pick([
          { status: random.pick(words) },
          { status: "approved", rejectionReason: random.pick([null, "scam"]) },
          { category: random.pick(words), quality: random.pick([null, "red"]) }
        ])
        const { providerAccountId } = number
        return yield* ask([store.use((store) => store.update({ now, providerAccountId, name, language, at, change }))])
      }
      const ids = yield* Effect.replicateEffect(Fixture.id("tpl"), Fixture.templates.length)
      const listed = Fixture.templates.filter(() => random.below(6) > 0)
      const account = { workspaceId: workspace.id, providerAccountId: number.providerAccountId }
      yield* ask([store.use((store) => store.replaceAll({ now, listedAt: at, ...account, ids, listed }))])
    })

    const sweep = ask([MessageStore.MessageStore.use((store) => store.sweep(now))])

    const configure = Effect.gen(function*() {
      const { number, workspace } = random.pick(worlds)
      const settings = {
        tier: random.often(null, "narrow", "unknown"),
        monthlyQuota: random.often<number | null>(null, 3, 30),
        suspended: random.below(12) === 0
      }
      const ofNumber = {
        tier: random.often(null, "narrow", "unknown"),
        messagingLimit: random.often<number | null>(null, 1, 2, 3),
        available: random.below(12) > 0
      }
      const block: SenderBlock.SenderBlock = {
        reason: random.pick(SenderBlock.SenderBlockReason.literals),
        scope: random.pick(SenderBlock.SenderBlockScope.literals),
        basis: random.pick(SenderBlock.SenderBlockBasis.literals),
        since: now,
        until: random.pick([null, now + hour]),
        provider: { code: "1", message: "no \u0000 \ud800 “”" }
      }
      const told = {
        name: { providerNumberId: number.providerNumberId },
        now,
        at: now - random.below(2) * hour,
        change: {
          block: random.often(null, block),
          tier: random.pick(["narrow", "wide", "unknown"]),
          messagingLimit: random.often<number | null>(null, 1, 2, 3)
        }
      }
      yield* ask([WorkspaceStore.WorkspaceStore.use((store) => store.configure(workspace.id, settings))])
      yield* ask([PhoneNumberStore.PhoneNumberStore.use((store) => store.configure(number.id, ofNumber))])
      yield* ask([PhoneNumberStore.PhoneNumberStore.use((store) => store.observe(told))])
      yield* ask([PhoneNumberStore.PhoneNumberStore.use((store) => store.list(workspace.id))])
    })

    const setWebhook = Effect.gen(function*() {
      const own = random.pick(worlds)
      const webhook = yield* Fixture.webhook(own, {
        envelope: random.pick(Event.Envelope.literals),
        eventTypes: random.shuffle(Event.EventType.literals).slice(0, 4 + random.below(4)),
        createdAt: now
      })
      yield* ask([
        random.below(4) > 0
          ? Effect.asVoid(WebhookStore.WebhookStore.use((store) => store.put(webhook)))
          : Effect.asVoid(WebhookStore.WebhookStore.use((store) => store.remove(own.workspace.id, now)))
      ])
    })

    /** Completes deliveries, so that those that wait for them become due. */
    const deliver = Effect.gen(function*() {
      const token = yield* Fixture.word
      const delivered = Effect.gen(function*() {
        const store = yield* DeliveryStore.DeliveryStore
        const ended: Array<Delivery.Delivery> = []
        // a claim takes only a few deliveries of each webhook
        while (true) {
          const { deliveries } = yield* store.claimDue({
            now,
            limit: { healthy: 64, doubtful: 64 },
            token,
            leaseUntil: now + minute
          })
          if (deliveries.length === 0) break
          for (const { delivery } of deliveries) {
            const attempt: Delivery.Attempt = {
              id: `att_${delivery.id.slice(4)}` as Id.AttemptId,
              number: delivery.attemptCount + 1,
              trigger: delivery.trigger,
              startedAt: now,
              durationMs: 0,
              outcome: "delivered",
              statusCode: 200,
              message: "answered 200",
              url: "https://receiver.example/",
              address: null,
              timings: null,
              response: null,
              retryAfter: null
            }
            assert.isTrue(yield* store.complete({ now, delivery, token, attempt, jitter: 0 }))
            ended.push(delivery)
          }
        }
        return ended.map(({ eventType, orderKey, sequence }) => `${orderKey} ${sequence} ${eventType}`).sort()
      })
      yield* ask([delivered])
    })

    const wait = Effect.sync(() => {
      now += random.pick([1, second, 10 * second, 29 * second, 30 * second, 10 * minute, hour, 8 * hour, day])
      if (now > start + horizon) now = start + horizon
      note(`until ${now - start} ms`)
    })

    const check = Effect.gen(function*() {
      const messages = [...new Set(claims.map(({ messageId }) => messageId))]
      yield* ask(
        worlds.flatMap(({ workspace: { id } }) =>
          messages.map((message) => MessageStore.MessageStore.use((store) => store.get(id, message)))
        )
      )
      const requests = new Map(claims.map(({ request }) => [JSON.stringify(request), request]))
      yield* ask(
        [...requests.values()].map((request) => MessageStore.MessageStore.use((store) => store.lookUp(request, now)))
      )
      yield* ask(
        worlds.flatMap(({ number, workspace }) =>
          [...users, ...phones.slice(1)].map((key) =>
            ContactStore.ContactStore.use((store) => store.get(workspace.id, number.id, key))
          )
        )
      )
      yield* ask(
        worlds.map(({ workspace: { id } }) =>
          TemplateStore.TemplateStore.use((store) => store.list(id, {}, { limit: 100, after: null }))
        )
      )
      yield* ask(worlds.map(journal))
      for (const own of worlds) {
        assert.deepStrictEqual(yield* unnoticed(own), [])
      }
    })

    const steps: Game["steps"] = [
      ["accept", accept],
      ["accept", accept],
      ["accept", accept],
      ["accept", accept],
      ["settle", settle],
      ["settle", settle],
      ["report", report],
      ["report", report],
      ["abandon", abandon],
      ["receive", receive],
      ["receive", receive],
      ["prefer", prefer],
      ["move", move],
      ["templates", changeTemplates],
      ["sweep", sweep],
      ["sweep", sweep],
      ["configure", configure],
      ["webhook", setWebhook],
      ["deliver", deliver],
      ["wait", wait],
      ["wait", wait],
      ["wait", wait]
    ]
    return { steps, check }
  }))
