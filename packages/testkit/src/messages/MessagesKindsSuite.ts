/**
 * Conformance of a storage with every kind of message: sent in the window, refused outside it, repeated, in conflict,
 * with an unknown outcome and after a restart; and with references to messages and files.
 */
import { assert } from "@effect/vitest"
import {
  Capabilities,
  Errors,
  type Id,
  Idempotency,
  Limits,
  type Media,
  Message,
  Messages,
  MessageStore,
  Provider,
  SendableMedia,
  type SendBinding,
  ServiceWindow,
  TemplateStore,
  type Time,
  Vault
} from "@wac/core"
import { Clock, Duration, Effect, Exit, Layer, Option, type Scope } from "effect"
import { Digest } from "effect/crypto"
import * as Fixture from "../Fixture.ts"
import * as KindFixture from "./KindFixture.ts"
import * as MessageFixture from "./MessageFixture.ts"

const { day, minute, second, world } = Fixture
const { customer, inbound } = MessageFixture

/** The state of a test: its services and what the provider received. */
interface Play {
  readonly own: Fixture.World
  /** The caller's time. */
  now: Time.Instant
  /** The messages that the provider received. */
  readonly asked: Array<Provider.ProviderSend>
  outcome: "Accepted" | "Unknown"
  /** Files by id. */
  readonly files: Map<Id.MediaId, Media.FileProperties>
  readonly send: (
    message: Message.OutboundMessage,
    key: string
  ) => Effect.Effect<
    Exit.Exit<SendBinding.Sent | SendBinding.Queued, Errors.DomainError>,
    never,
    Fixture.Services | Scope.Scope
  >
}

/**
 * Creates a workspace with the templates of {@link KindFixture}. Each send runs in a new service, like a process of
 * its own.
 */
const vault = Layer.mock(Vault.Vault, {
  keyIds: { current: "", previous: undefined },
  fingerprint: (secret) => Effect.succeed(`hash of ${secret}`)
})

const play = Effect.gen(function*() {
  const own = yield* world()
  const ids = yield* Effect.replicateEffect(Fixture.id("tpl"), KindFixture.templates.length)
  yield* TemplateStore.TemplateStore.use((store) =>
    store.replaceAll({
      now: own.start + 1,
      listedAt: own.start + 1,
      workspaceId: own.workspace.id,
      providerAccountId: own.number.providerAccountId,
      listed: KindFixture.templates.map(({ template }) => template),
      ids
    })
  )
  const clock = Fixture.clockAt(yield* Clock.Clock, () => playing.now)
  const provider = Layer.succeed(
    Provider.Provider,
    Provider.Provider.of({
      name: own.number.provider,
      capabilities: Capabilities.all,
      firstNumber: Effect.die("nobody asks"),
      templates: () => Effect.die("nobody asks"),
      send: (command) =>
        Effect.sync(() => {
          playing.asked.push(command)
          return playing.outcome === "Unknown"
            ? { _tag: "Unknown" }
            : { _tag: "Accepted", providerMessageId: `wamid.${command.messageId}` }
        })
    })
  )
  const library: SendableMedia.SendableMedia = {
    find: (workspaceId, id) =>
      Effect.sync(() => {
        const file = workspaceId === own.workspace.id ? playing.files.get(id) : undefined
        return file && { ...file, id }
      }),
    providerIdOf: (sender, { id }) => Effect.succeed(`${sender.providerNumberId} ${id}`),
    forgetProviderId: () => Effect.void,
    sampleHandleOf: () => Effect.die("nobody asks"),
    keepUntil: () => Effect.succeed(new Map())
  }
  const playing: Play = {
    own,
    now: own.start,
    asked: [],
    outcome: "Accepted",
    files: new Map(),
    send: Effect.fnUntraced(function*(message, key) {
      const requestId = yield* Fixture.id("req")
      return yield* Messages.Messages.use((messages) =>
        messages.send({
          workspaceId: own.workspace.id,
          apiKeyId: own.key.id,
          key: key as Idempotency.IdempotencyKey,
          requestId,
          message,
          later: null
        })
      ).pipe(
        Effect.exit,
        Effect.provide(Layer.fresh(Messages.Messages.layer.pipe(
          Layer.provide([provider, vault, Digest.layerWebCrypto]),
          Layer.provide(Layer.succeedContext(yield* Effect.context<Fixture.Services>()))
        ))),
        Effect.provideService(Limits.CurrentLimits, Fixture.roomy),
        Effect.provideService(SendableMedia.SendableMedia, library),
        Effect.provideService(Clock.Clock, clock)
      )
    })
  }
  return playing
})

const sentOf = (exit: Exit.Exit<SendBinding.Sent | SendBinding.Queued, Errors.DomainError>): SendBinding.Sent =>
  Exit.isSuccess(exit) && exit.value._tag === "Sent" ? exit.value : assert.fail(`not sent: ${String(exit)}`)

const errorOf = (
  exit: Exit.Exit<SendBinding.Sent | SendBinding.Queued, Errors.DomainError>
): { readonly code?: string; readonly reason?: string; readonly param?: string } => {
  const error = Option.getOrUndefined(Exit.findErrorOption(exit))
  if (error === undefined) return {}
  const reason = Errors.reasonOf(error)
  return {
    code: error.code,
    ...(reason === undefined ? {} : { reason }),
    ...(error.param === undefined ? {} : { param: error.param })
  }
}

/** The messages of a workspace. */
const messagesOf = (own: Fixture.World) =>
  Effect.map(
    MessageStore.MessageStore.use((store) => store.list(own.workspace.id, {}, { limit: 100, after: null })),
    ({ items }) => items
  )

const outside = { code: "forbidden", reason: "outside_service_window", param: "type" }
const conflict = { code: "idempotency_conflict", reason: "payload_mismatch" }
const unknown = { code: "server_error", reason: "outcome_unknown" }

const to = customer(1)

/** Messages of templates that together use every form. */
const templates: ReadonlyArray<Message.OutboundMessage> = KindFixture.templates.map(({ content, template }) => ({
  to,
  type: "template",
  template: { name: template.name, language: template.language, ...content }
}))

/** The example of a kind with one of our files instead of a link. */
const withMedia = (type: "image" | "audio" | "video" | "document" | "sticker", media: Id.MediaId) =>
  ({ to, type, [type]: { media } }) as unknown as Message.OutboundMessage

/** A file that each kind accepts. */
const takes = {
  image: { mimeType: "image/png", size: 5 * 1024 * 1024 },
  audio: { mimeType: "audio/ogg", size: 16 * 1024 * 1024 },
  video: { mimeType: "video/mp4", size: 16 * 1024 * 1024 },
  document: { mimeType: "text/plain", size: 100 * 1024 * 1024 },
  sticker: { mimeType: "image/webp", size: 100 * 1024 }
} as const satisfies { readonly [Kind in Media.FileKind]: object }

/** A message of one form. `theirs` is a message that the customer wrote before. */
interface Form {
  readonly name: string
  readonly of: (theirs: Id.MessageId) => Message.OutboundMessage
}

const forms: ReadonlyArray<Form> = [
  ...[...KindFixture.messages(to), ...templates].map((message) => ({
    name: KindFixture.nameOf(message),
    of: () => message
  })),
  { name: "reaction", of: (theirs) => KindFixture.reaction(to, theirs) }
]

/** Tests a message of one form over its whole life. */
const live = ({ of }: Form) =>
  Effect.gen(function*() {
    const playing = yield* play
    const { asked, own, send } = playing
    const store = yield* MessageStore.MessageStore
    // a window that has closed
    const before = yield* inbound(own, { customer: to, at: own.start - Duration.toMillis(ServiceWindow.length) })
    const message = of(before.command.messageId)

    if (message.type === "template") {
      sentOf(yield* send(message, "outside"))
      assert.lengthOf(asked, 1)
    } else {
      assert.deepStrictEqual(errorOf(yield* send(message, "one")), outside)
      assert.isEmpty(asked)
      assert.isEmpty(yield* messagesOf(own))
    }

    assert.strictEqual((yield* inbound(own, { customer: to })).recorded, "recorded")
    asked.length = 0
    const sent = sentOf(yield* send(message, "one"))
    assert.deepStrictEqual(asked.map((one) => [one.messageId, one.message]), [[sent.messageId, message]])
    const stored = Option.getOrThrow(yield* store.get(own.workspace.id, sent.messageId))
    assert.deepStrictEqual([stored.content, stored.status], [message, "sent"])

    assert.deepStrictEqual(sentOf(yield* send(message, "one")), sent)
    const other = { ...message, clientReference: "other" }
    assert.deepStrictEqual(errorOf(yield* send(other, "one")), conflict)
    assert.lengthOf(asked, 1)

    // an unknown outcome
    playing.outcome = "Unknown"
    assert.deepStrictEqual(errorOf(yield* send(message, "two")), unknown)
    playing.outcome = "Accepted"
    assert.deepStrictEqual(errorOf(yield* send(message, "two")), unknown)
    assert.lengthOf(asked, 2)
    const reference = asked[1]!.messageId
    yield* MessageFixture.report({
      status: "delivered",
      at: own.start + second,
      reference,
      providerMessageId: "wamid.two"
    })
    assert.deepInclude(sentOf(yield* send(message, "two")), { messageId: reference, providerMessageId: "wamid.two" })
    assert.lengthOf(asked, 2)

    // a process that crashed after its claim and before the provider's answer
    const fingerprint = yield* Idempotency.fingerprint(yield* Digest.Digest, message)
    const { command } = yield* MessageFixture.claimed(own, { message, key: "three", fingerprint })
    playing.now = own.start + minute
    assert.deepStrictEqual(errorOf(yield* send(message, "three")), unknown)
    yield* MessageFixture.report({
      status: "sent",
      at: own.start + second,
      reference: command.messageId,
      providerMessageId: "wamid.three"
    })
    assert.deepInclude(sentOf(yield* send(message, "three")), {
      messageId: command.messageId,
      providerMessageId: "wamid.three"
    })
    assert.lengthOf(asked, 2)
  }).pipe(Effect.provide(Digest.layerWebCrypto))

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  for (const form of forms) {
    it.effect(`${form.name}: its whole life`, () => live(form))
  }

  it.effect("every kind of message has its whole life tested", () =>
    Effect.gen(function*() {
      const id = yield* Fixture.id("msg")
      const kinds = new Set(forms.map(({ of }) => of(id).type))
      assert.sameMembers([...kinds], Object.keys(Message.contents))
    }))

  it.effect("one of our files is sent by the provider's identifier, if the kind accepts it", () =>
    Effect.gen(function*() {
      const { asked, files, own, send } = yield* play
      yield* inbound(own, { customer: to })
      for (const [kind, file] of Object.entries(takes) as Array<[Media.FileKind, typeof takes[Media.FileKind]]>) {
        const id = yield* Fixture.id("med")
        const message = withMedia(kind, id)
        const refused = { code: "invalid_body", reason: "invalid_field", param: `${kind}.media` }
        assert.deepStrictEqual(errorOf(yield* send(message, kind)), refused, "no such file")
        files.set(id, { ...file, size: file.size + 1, isAnimated: false, isOpus: true })
        assert.deepStrictEqual(errorOf(yield* send(message, kind)), refused, "too large")
        if (kind !== "document") {
          files.set(id, { ...file, mimeType: "application/zip", isAnimated: false, isOpus: true })
          assert.deepStrictEqual(errorOf(yield* send(message, kind)), refused, "another type")
        }
        assert.isEmpty(asked)
        assert.isFalse((yield* messagesOf(own)).some(({ content }) => content.type === kind))
        files.set(id, { ...file, isAnimated: false, isOpus: true })
        const sent = sentOf(yield* send(message, kind))
        assert.deepStrictEqual([...asked.pop()!.refers.mediaIds], [[id, `${own.number.providerNumberId} ${id}`]])
        // a repeated request gets the first answer, whatever happened to the file
        files.delete(id)
        assert.deepStrictEqual(sentOf(yield* send(message, kind)), sent)
        assert.isEmpty(asked)
      }
    }))

  it.effect("a quoted message of this conversation, from either side, is sent by the provider's identifier", () =>
    Effect.gen(function*() {
      const { asked, own, send } = yield* play
      const theirs = yield* inbound(own, { customer: to })
      const others = yield* inbound(own, { customer: customer(2) })
      const another = yield* world()
      const foreign = yield* inbound(another, { customer: to })
      const ours = sentOf(yield* send({ to, type: "text", text: { body: "a" } }, "ours"))
      const toOther = sentOf(yield* send({ to: customer(2), type: "text", text: { body: "a" } }, "to another"))
      asked.length = 0
      const quoting = (message_id: Id.MessageId): ReadonlyArray<readonly [param: string, Message.OutboundMessage]> => [
        ["context.message_id", { to, type: "text", text: { body: "b" }, context: { message_id } }],
        [
          "context.message_id",
          { to, type: "image", image: { link: "https://files.example/a.jpg" }, context: { message_id } }
        ],
        ["reaction.message_id", { to, type: "reaction", reaction: { message_id, emoji: "👍" } }]
      ]
      const { command: { message: { providerMessageId }, messageId } } = theirs
      for (const [id, name] of [[messageId, providerMessageId], [ours.messageId, ours.providerMessageId]] as const) {
        for (const [i, [, message]] of quoting(id).entries()) {
          sentOf(yield* send(message, `${id} ${i}`))
          assert.strictEqual(asked.pop()?.refers.quoted, name)
        }
      }
      const before = (yield* messagesOf(own)).length
      const unknown = yield* Fixture.id("msg")
      for (const id of [unknown, others.command.messageId, foreign.command.messageId, toOther.messageId]) {
        for (const [i, [param, message]] of quoting(id).entries()) {
          assert.deepStrictEqual(errorOf(yield* send(message, `${id} ${i}`)), {
            code: "invalid_body",
            reason: "invalid_field",
            param
          })
        }
      }
      assert.isEmpty(asked)
      assert.lengthOf(yield* messagesOf(own), before)
    }))

  it.effect("what a customer wrote more than 31 days ago can be quoted and reacted to", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const playing = yield* play
      const { asked, own, send } = playing
      const past = own.start - 20 * day
      const { messageId: message_id, message: { providerMessageId } } =
        (yield* inbound(own, { customer: to, at: past })).command
      playing.now = past + 32 * day
      yield* store.sweep(playing.now)
      yield* inbound(own, { customer: to, at: playing.now })
      const quoting: ReadonlyArray<Message.OutboundMessage> = [
        { to, type: "text", text: { body: "b" }, context: { message_id } },
        { to, type: "reaction", reaction: { message_id, emoji: "👍" } }
      ]
      for (const message of quoting) {
        sentOf(yield* send(message, message.type))
        assert.strictEqual(asked.pop()?.refers.quoted, providerMessageId)
      }
    }))

  it.effect("a message that the provider has not accepted cannot be quoted", () =>
    Effect.gen(function*() {
      const playing = yield* play
      yield* inbound(playing.own, { customer: to })
      playing.outcome = "Unknown"
      yield* playing.send({ to, type: "text", text: { body: "a" } }, "one")
      const { messageId } = playing.asked[0]!
      const quoting: Message.OutboundMessage = {
        to,
        type: "text",
        text: { body: "b" },
        context: { message_id: messageId }
      }
      assert.deepInclude(errorOf(yield* playing.send(quoting, "two")), { param: "context.message_id" })
    }))

  it.effect("a message is found by its number and the provider's identifier", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const { own, send } = yield* play
      const another = yield* world()
      const theirs = yield* inbound(own, { customer: to })
      const ours = sentOf(yield* send({ to, type: "text", text: { body: "a" } }, "ours"))
      const names = [[theirs.command.message.providerMessageId, theirs.command.messageId], [
        ours.providerMessageId,
        ours.messageId
      ]] as const
      for (const [name, id] of names) {
        assert.deepStrictEqual(yield* store.idOf(own.number.providerNumberId, name), Option.some(id))
        assert.deepStrictEqual(yield* store.idOf(another.number.providerNumberId, name), Option.none())
      }
      assert.deepStrictEqual(yield* store.idOf(own.number.providerNumberId, "wamid.unknown"), Option.none())
      assert.deepStrictEqual(yield* store.idOf("nobody's", names[0][0]), Option.none())
    }))
}
