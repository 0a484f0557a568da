/**
 * The conformance suite of a provider: the port `Provider` against the provider's real API, or a simulation of it.
 */
import { assert, describe, layer } from "@effect/vitest"
import {
  type Addressee,
  Capabilities,
  Id,
  type Message,
  MessageReferences,
  PhoneNumber,
  Provider,
  ProviderAnswer,
  Template
} from "@wac/core"
import { Duration, Effect, Exit, type Layer, Option } from "effect"
import * as KindFixture from "../messages/KindFixture.ts"

/** A provider that this suite can build. */
export type Built<E> = Layer.Layer<Provider.Provider, E>

/**
 * The recipients for whom the provider's API behaves in a certain way. Behaviours without a recipient are not tested.
 */
export interface Options<E> {
  /** A recipient whose messages the API accepts. */
  readonly accepted: Addressee.Addressee
  /** A recipient whose messages the API refuses for good. */
  readonly refused?: Addressee.Addressee
  /** A recipient for whom the API reports that the rate of calls is too high. */
  readonly throttled?: Addressee.Addressee
  /** A recipient for whom the API reads the request and then closes the connection, or sends an invalid response. */
  readonly broken?: Addressee.Addressee
  /** A recipient for whom the API reads the request and never responds. */
  readonly silent?: Addressee.Addressee
  /** The same provider with an address that refuses connections. */
  readonly unreachable?: Built<E>
}

/** The deadline of a send, with a margin for the machine. */
const deadline = Duration.seconds(10)

/** The timeout of a test, in milliseconds. */
const timeout = 60_000

const workspaceId = Id.WorkspaceId.make("ws_01ARZ3NDEKTSV4RRFFQ69G5FAV")

let messages = 0

/** A reference that no other send of the run has. */
const nextId = (): Id.MessageId => Id.MessageId.make(`msg_01ARZ3NDEKTSV4RRFF${String(++messages).padStart(8, "0")}`)

const senderOf = Effect.fnUntraced(function*({ firstNumber, name }: Provider.Provider["Service"]) {
  return PhoneNumber.fresh({
    ...(yield* Effect.orDie(firstNumber)),
    id: Id.PhoneNumberId.make("pn_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    workspaceId,
    provider: name,
    isDefault: true
  })
})

const text = (to: Addressee.Addressee): Message.OutboundMessage => ({ to, type: "text", text: { body: "Hello" } })

const send = Effect.fnUntraced(function*(
  provider: Provider.Provider["Service"],
  message: Message.OutboundMessage,
  template?: Template.Template
) {
  const sender = yield* senderOf(provider)
  return yield* provider.send({
    messageId: nextId(),
    sender,
    message,
    template,
    refers: MessageReferences.none
  })
})

/** The outcome of a send as the service sees it: `Unknown` if the send fails, or does not end in time. */
const outcomeOf = (provider: Provider.Provider["Service"], message: Message.OutboundMessage) =>
  Effect.map(
    Effect.exit(Effect.timeoutOption(Effect.map(send(provider, message), ProviderAnswer.outcomeOf), deadline)),
    (exit): Provider.ProviderOutcome =>
      Exit.isSuccess(exit) ? Option.getOrElse(exit.value, () => ({ _tag: "Unknown" as const })) : { _tag: "Unknown" }
  )

const isAccepted = (outcome: Provider.ProviderOutcome, of: string): string => {
  assert.strictEqual(outcome._tag, "Accepted", `${of}: ${JSON.stringify(outcome)}`)
  return outcome._tag === "Accepted" ? outcome.providerMessageId : ""
}

/** The messages that the provider supports and that need no earlier message or file. */
const kindsFor = (to: Addressee.Addressee, capabilities: Capabilities.Capabilities) =>
  KindFixture.messages(to).filter((message) => Capabilities.refusal(capabilities, message) === undefined)

/** A template of the account that needs no values. */
const plainOf = (
  listed: ReadonlyArray<Template.ProviderTemplate>,
  providerAccountId: string
): Template.Template | undefined => {
  const found = listed.find(({ components, status }) =>
    status === "approved" && Template.variablesOf(components).length === 0 &&
    components.every((component) => (component as { readonly type?: string }).type === "BODY")
  )
  return found && {
    ...found,
    id: Id.TemplateId.make("tpl_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    workspaceId,
    providerAccountId,
    variables: [],
    unfillable: null,
    syncedAt: 0
  }
}

/**
 * Runs the suite against a provider, in real time. `provider` is built once, and so is `options.unreachable`. The suite
 * calls nothing but the provider's API. It really sends messages, so give it an account for tests, or a simulation.
 */
export const suite = <E>(name: string, provider: Built<E>, options: Options<E>): void => {
  const { accepted, broken, refused, silent, throttled, unreachable } = options

  layer(provider, { excludeTestServices: true })(name, (it) => {
    describe("Provider", { timeout }, () => {
      it.effect("its name, its number and its capabilities are valid, and fit its methods", () =>
        Effect.gen(function*() {
          const own = yield* Provider.Provider
          const { capabilities, firstNumber, markRead, name, templateEditor, uploadFile } = own
          assert.match(name, /^[^\0]{1,64}$/)
          assert.sameMembers(Object.keys(capabilities), [...Capabilities.names])
          for (const has of Object.values(capabilities)) assert.isBoolean(has)
          const { phoneNumber, providerAccountId, providerNumberId } = yield* firstNumber
          assert.match(phoneNumber, /^\+[1-9][0-9]{6,14}$/)
          assert.match(providerNumberId, /^[^\0]{1,512}$/)
          assert.match(providerAccountId, /^[^\0]{1,512}$/)
          if (!capabilities.readMarks) assert.isUndefined(markRead, "markRead without readMarks")
          if (!capabilities.templates) assert.isUndefined(templateEditor, "templateEditor without templates")
          assert.strictEqual(capabilities.uploads, uploadFile !== undefined, "uploads")
          if (capabilities.uploads) assert.isTrue(capabilities.media, "uploads without media")
        }))

      it.effect("its templates are valid, each name and language once; a channel without templates has none", () =>
        Effect.gen(function*() {
          const own = yield* Provider.Provider
          const listed = yield* own.templates(yield* senderOf(own))
          if (!own.capabilities.templates) assert.deepStrictEqual(listed, [])
          const names = new Set<string>()
          for (const { category, components, language, name, parameterFormat, providerTemplateId, status } of listed) {
            for (const text of [category, language, name, providerTemplateId, status]) {
              assert.match(text, /^[^\0]{1,512}$/, name)
            }
            assert.strictEqual(status, status.toLowerCase(), name)
            assert.strictEqual(category, category.toLowerCase(), name)
            assert.include(["positional", "named"], parameterFormat, name)
            assert.isArray(components, name)
            names.add(`${name} ${language}`)
          }
          assert.strictEqual(names.size, listed.length)
        }))

      it.effect("a message of each kind that the channel has is accepted, under an id of its own", () =>
        Effect.gen(function*() {
          const own = yield* Provider.Provider
          const ids = new Set<string>()
          const kinds = kindsFor(accepted, own.capabilities)
          for (const message of kinds) {
            ids.add(isAccepted(yield* outcomeOf(own, message), KindFixture.nameOf(message)))
          }
          assert.isAtLeast(kinds.length, 1)
          assert.strictEqual(ids.size, kinds.length)
        }))

      it.effect("a template without placeholders is accepted, where the account has one", () =>
        Effect.gen(function*() {
          const own = yield* Provider.Provider
          const sender = yield* senderOf(own)
          const template = plainOf(yield* own.templates(sender), sender.providerAccountId)
          if (!own.capabilities.templates || template === undefined) return
          const { language, name } = template
          const outcome = yield* send(own, { to: accepted, type: "template", template: { name, language } }, template)
          isAccepted(ProviderAnswer.outcomeOf(outcome), name)
        }))

      it.effect("texts that are sent at the same time all get ids of their own", () =>
        Effect.gen(function*() {
          const own = yield* Provider.Provider
          const outcomes = yield* Effect.all(
            Array.from({ length: 10 }, () => outcomeOf(own, text(accepted))),
            { concurrency: "unbounded" }
          )
          assert.strictEqual(new Set(outcomes.map((outcome) => isAccepted(outcome, "text"))).size, 10)
        }))

      it.effect("a text of every character is accepted", () =>
        Effect.gen(function*() {
          const own = yield* Provider.Provider
          for (const body of ["ä €", "👍🏽", "a\nb", "\"'<&>%", "مرحبا", "x".repeat(160), "y".repeat(1600)]) {
            isAccepted(yield* outcomeOf(own, { to: accepted, type: "text", text: { body } }), body.slice(0, 20))
          }
        }))

      it.effect("a message can be marked as read again and again, or the failure is one of the port's", () =>
        Effect.gen(function*() {
          const own = yield* Provider.Provider
          if (own.markRead === undefined) return
          const sender = yield* senderOf(own)
          const marking = own.markRead({ sender, providerMessageId: "nothing-has-this-id", isTyping: false })
          for (const exit of [yield* Effect.exit(marking), yield* Effect.exit(marking)]) {
            assert.isTrue(Exit.isSuccess(exit) || exit.cause.reasons.every(({ _tag }) => _tag === "Fail"))
          }
        }))

      if (refused !== undefined) {
        it.effect("a message that the provider refuses for good is Refused", () =>
          Effect.gen(function*() {
            assert.strictEqual((yield* outcomeOf(yield* Provider.Provider, text(refused)))._tag, "Refused")
          }))
      }

      if (throttled !== undefined) {
        it.effect("a message that the provider throttles is NotSent, with the time to wait", () =>
          Effect.gen(function*() {
            const outcome = yield* outcomeOf(yield* Provider.Provider, text(throttled))
            assert.strictEqual(outcome._tag, "NotSent")
            if (outcome._tag === "NotSent") assert.strictEqual(outcome.error.code, "rate_limited")
          }))
      }

      // what may have been sent must never be repeated
      for (const [what, to] of [["breaks off", broken], ["does not come", silent]] as const) {
        if (to === undefined) continue
        it.effect(`a message whose answer ${what} is Unknown, never NotSent and never Refused`, () =>
          Effect.gen(function*() {
            assert.strictEqual((yield* outcomeOf(yield* Provider.Provider, text(to)))._tag, "Unknown")
          }))
      }
    })
  })

  if (unreachable === undefined) return
  layer(unreachable, { excludeTestServices: true })(`${name}, unreachable`, (it) => {
    describe("Provider", { timeout }, () => {
      it.effect("nothing is sent over a connection that is refused, and the message can be tried again", () =>
        Effect.gen(function*() {
          const own = yield* Provider.Provider
          const sender = { ...(yield* Effect.orElseSucceed(own.firstNumber, () => undefined)) }
          const outcome = yield* Effect.map(
            own.send({
              messageId: nextId(),
              sender: PhoneNumber.fresh({
                phoneNumber: "+15005550100",
                providerNumberId: "number",
                providerAccountId: "account",
                learned: PhoneNumber.unlearned,
                ...sender,
                id: Id.PhoneNumberId.make("pn_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
                workspaceId,
                provider: own.name,
                isDefault: true
              }),
              message: text(accepted),
              template: undefined,
              refers: MessageReferences.none
            }),
            ProviderAnswer.outcomeOf
          )
          assert.strictEqual(outcome._tag, "NotSent")
        }))
    })
  })
}
