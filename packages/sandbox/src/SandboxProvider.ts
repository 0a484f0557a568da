/**
 * The provider that needs no account: it sends nothing, and simulates responses and reports according to the recipient.
 */
import {
  type Addressee,
  Capabilities,
  CustomerNames,
  Errors,
  type Id,
  Inbound,
  type InboundItem,
  InboundMessage,
  PhoneNumber,
  Provider,
  type Template
} from "@wac/core"
import { Clock, Duration, Effect, Equal, FiberSet, Layer, Schedule, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Behaviour from "./Behaviour.ts"
import * as FirstChoice from "./FirstChoice.ts"
import * as Picture from "./Picture.ts"
import * as Templates from "./Templates.ts"

/** The first phone number of the first workspace, if the sandbox is its provider. */
export const firstNumber: PhoneNumber.ProviderNumber = {
  phoneNumber: "+15005550100",
  providerNumberId: "sandbox-1",
  providerAccountId: "sandbox",
  learned: PhoneNumber.unlearned
}

/** How long WhatsApp keeps an uploaded file. */
const keptFor = Duration.days(30)

/** Retries of a report while the storage is unavailable: five, a second apart. */
const retries = Schedule.upTo(Schedule.spaced("1 second"), { times: 5 })

/** The message that a report is about. */
interface Subject {
  readonly reference: Id.MessageId
  readonly providerMessageId: string
  readonly sender: PhoneNumber.PhoneNumber
  readonly recipient: Addressee.Addressee
  /** The recipient's reply if they tap on a choice. */
  readonly pressed: ReturnType<typeof FirstChoice.of>
}

/**
 * Implements the `Provider` port without an account. Statuses and replies go through `Inbound`, like a real provider's,
 * for as long as the layer's scope is open. Reports still due then are lost, because the sandbox stores nothing.
 */
export const layer: Layer.Layer<Provider.Provider, never, Inbound.Inbound | SecureRandom.SecureRandom> = Layer.effect(
  Provider.Provider,
  Effect.gen(function*() {
    const inbound = yield* Inbound.Inbound
    const random = yield* SecureRandom.SecureRandom
    // forks in the layer's context: the sender's transaction or trace must not extend to later reports
    const fork = yield* FiberSet.runtime(yield* FiberSet.make())()

    const newName = Effect.map(random.ulid, (ulid) => `wamid.sandbox_${ulid}`)

    const itemOf = Effect.fnUntraced(function*(told: Behaviour.ReportedItem, subject: Subject) {
      const at = yield* Clock.currentTimeMillis
      const { providerMessageId, recipient, reference, sender } = subject
      const item: InboundItem.InboundItem = told._tag === "Reply" || told._tag === "Press" || told._tag === "Picture"
        ? {
          _tag: "Message",
          message: {
            ...InboundMessage.ofText({
              providerNumberId: sender.providerNumberId,
              providerMessageId: yield* newName,
              customer: CustomerNames.customerOf(recipient),
              at,
              body: told._tag === "Reply" ? told.text : "There is nothing to tap on"
            }),
            ...(told._tag === "Press" && subject.pressed !== undefined
              ? { ...subject.pressed, context: { message_id: providerMessageId } }
              : told._tag === "Picture"
              ? Picture.message(`sandbox_${yield* random.ulid}`)
              : {})
          }
        }
        : {
          _tag: "Status",
          providerNumberId: sender.providerNumberId,
          reference,
          report: told._tag === "Failure"
            ? { status: "failed", at, providerMessageId, error: told.error }
            : { status: told.status, at, providerMessageId, error: null }
        }
      return item
    })

    const tell = Effect.fnUntraced(
      function*({ after, items }: Behaviour.ReportBatch, subject: Subject) {
        yield* Effect.sleep(after)
        // built once, before any retry: a repeated report must be identical
        const made = yield* Effect.forEach(items, (told) => itemOf(told, subject))
        yield* Effect.retry(inbound.receive(made), retries)
      },
      Effect.catchCause((cause) => Effect.logError("a report of the sandbox could not be applied", cause))
    )

    const send = Effect.fnUntraced(function*(
      { message, messageId, sender, template }: Provider.ProviderSend
    ) {
      const { answerAfter, outcome, reports } = Behaviour.of(message.to)
      if (answerAfter !== undefined) yield* Effect.sleep(answerAfter)
      const providerMessageId = yield* newName
      const subject: Subject = {
        reference: messageId,
        providerMessageId,
        sender,
        recipient: message.to,
        pressed: FirstChoice.of(message, template)
      }
      for (const report of reports) fork(tell(report, subject))
      const answer: Provider.ProviderOutcome = outcome._tag === "Accepted" ? { ...outcome, providerMessageId } : outcome
      return answer
    })

    /** The first templates, and those that were created or changed, which are approved at once. Lost at the end. */
    const templates = new Map<string, Template.ProviderTemplate>(
      Templates.templates.map((template) => [template.providerTemplateId, template])
    )
    const kept = (template: Template.ProviderTemplate) =>
      Effect.sync(() => {
        templates.set(template.providerTemplateId, template)
        return template
      })

    return Provider.Provider.of({
      name: "sandbox",
      capabilities: Capabilities.all,
      templateEditor: {
        create: (_, draft) =>
          Effect.suspend(() => {
            const template = Templates.made(draft)
            const { language, name } = template
            const known = [...templates.values()].find((one) => one.name === name && one.language === language)
            const isTaken = known !== undefined && !Equal.equals(known, template)
            return isTaken
              ? new Errors.InvalidBody({
                reason: "invalid_field",
                param: "name",
                message: "name is taken by another template of the same language"
              })
              : kept(template)
          }),
        edit: (_, template, { category = template.category, components = template.components }) =>
          kept({ ...Templates.of(template), status: "approved", rejectionReason: null, category, components }),
        uploadSample: Effect.fnUntraced(function*({ bytes, media }) {
          // a provider reads the whole file
          yield* Stream.runDrain(bytes)
          return `4:${media.id}`
        }),
        remove: (_, { providerTemplateId }) => Effect.sync(() => void templates.delete(providerTemplateId))
      },
      send,
      uploadFile: Effect.fnUntraced(function*({ bytes }) {
        // a provider reads the whole file
        yield* Stream.runDrain(bytes)
        const now = yield* Clock.currentTimeMillis
        return { providerMediaId: `sandbox_${yield* random.ulid}`, expiresAt: now + Duration.toMillis(keptFor) }
      }),
      // the sandbox's picture is the only file that a customer sends
      downloadFile: () => Stream.succeed(Picture.bytes),
      firstNumber: Effect.succeed(firstNumber),
      templates: () => Effect.sync(() => [...templates.values()])
    })
  })
)
