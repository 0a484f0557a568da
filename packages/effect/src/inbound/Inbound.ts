/**
 * Reports of the host's own provider: statuses of messages, and messages of customers.
 */
import { ErrorBody, Timestamp } from "@wac/api"
import {
  Addressee,
  CustomerNames,
  Errors,
  type Id,
  type IgnoredItems,
  Inbound as Service,
  type InboundItem,
  type InboundMessage,
  PlainText,
  Provider,
  ProviderAnswer,
  Storage
} from "@wac/core"
import { Clock, DateTime, Effect, Predicate, Result, Schema, Struct } from "effect"
import type { Pricing, ProviderDetail, ReceivedContentByType, ReceivedContext } from "../generated/Event.ts"
import type { CallOptions, ErrorCode, ErrorReason } from "../generated/Messaging.ts"
import * as Input from "../Input.ts"
import type { Running } from "../Running.ts"
import { iso, type TimeInput } from "../TimeInput.ts"
import type { OneContent } from "./OneContent.ts"

/** The status of a message. */
export interface StatusReport {
  readonly type: "status"
  /**
   * The provider's id of the number that the message was sent from. If given, messages of other numbers do not match.
   */
  readonly providerNumberId?: string
  /** The reference that the send carried. If omitted, the message is found by the provider's id. */
  readonly messageId?: string
  readonly providerMessageId?: string
  readonly status: "sent" | "delivered" | "read" | "failed"
  /** Defaults to now. */
  readonly at?: TimeInput
  /** Why it failed, with the status `failed`. */
  readonly error?: {
    readonly code: ErrorCode
    readonly reason?: ErrorReason
    readonly message: string
    readonly provider?: ProviderDetail
  }
  /** The price in the report. */
  readonly pricing?: Pricing
  /** Whether the customer played the voice message. The status is then `read`. */
  readonly isPlayed?: boolean
}

/** The fields of every customer message. */
interface FromCustomer {
  readonly type: "message"
  /** The provider's id of the number that the customer wrote to. */
  readonly providerNumberId: string
  /** The provider's id of this message. A repeated message counts once. */
  readonly providerMessageId: string
  /** The customer's number in E.164 format, or their user id if the number is not known. */
  readonly from: string
  /** The customer's user id if `from` is the number. It shows that both name one customer. */
  readonly fromUserId?: string
  /** The message that it quotes or answers. */
  readonly context?: ReceivedContext
  /** When it was written, which opens the 24-hour window. Defaults to now. */
  readonly at?: TimeInput
}

/**
 * A customer's message, with exactly one content under the name of its type: `text: { body }`, `image: { id }`,
 * `button: { text, payload }`, `location: { latitude, longitude }` and so on. The event `message.received` has the
 * type's name as `data.type`, and the content as given here; but where it refers to another message, by the provider's
 * id, the event has our id if the message is known here.
 */
export type CustomerMessage = FromCustomer & OneContent

/** One item that a provider reports. */
export type Told = StatusReport | CustomerMessage

/** The result for a reported item. A repeated item counts as applied, and changes nothing more. */
export type Received =
  | { readonly applied: true }
  | {
    readonly applied: false
    /**
     * No message has the report's `messageId` or `providerMessageId`, no workspace has the number, or the customer
     * wrote more than 30 days ago.
     */
    readonly reason: "unknown_message" | "unknown_number" | "too_old"
  }

/** Receives the reports of a provider of your own, or of a test. */
export interface Inbound {
  /**
   * Applies the reports of a provider of your own. With `sandbox()`, whose number is `sandbox-1`, a test uses it to
   * report what a customer writes. Items may come in any order and repeatedly. Resolves to the result of each: an item
   * about an unknown message or number, or about a message of more than 30 days ago, changes nothing. An invalid item
   * rejects the call before anything is applied; `param` names it (`[0].from`). If the call rejects for another reason,
   * repeat it with all items.
   */
  readonly receive: (told: ReadonlyArray<Told>, options?: CallOptions) => Promise<ReadonlyArray<Received>>
}

const Name = ProviderAnswer.ProviderId

const at = Schema.optionalKey(Timestamp.TimeGiven)

const Media = Schema.Struct({
  id: Name,
  mime_type: Schema.optionalKey(Schema.String),
  sha256: Schema.optionalKey(Schema.String),
  url: Schema.optionalKey(Schema.String),
  caption: Schema.optionalKey(Schema.String),
  filename: Schema.optionalKey(Schema.String),
  voice: Schema.optionalKey(Schema.Boolean),
  animated: Schema.optionalKey(Schema.Boolean)
})

const Fields = Schema.Record(Schema.String, Schema.Json)

const contents = Struct.map(
  {
    text: Schema.Struct({ body: Schema.String }),
    image: Media,
    video: Media,
    audio: Media,
    document: Media,
    sticker: Media,
    location: Schema.Struct({
      latitude: Schema.Finite,
      longitude: Schema.Finite,
      name: Schema.optionalKey(Schema.String),
      address: Schema.optionalKey(Schema.String),
      url: Schema.optionalKey(Schema.String)
    }),
    contacts: Schema.Array(Fields),
    button: Schema.Struct({ text: Schema.NullOr(Schema.String), payload: Schema.NullOr(Schema.String) }),
    interactive: Schema.Union([
      Schema.Struct({
        type: Schema.Literal("button_reply"),
        button_reply: Schema.Struct({ id: Schema.String, title: Schema.String })
      }),
      Schema.Struct({
        type: Schema.Literal("list_reply"),
        list_reply: Schema.Struct({
          id: Schema.String,
          title: Schema.String,
          description: Schema.optionalKey(Schema.String)
        })
      }),
      Schema.Struct({
        type: Schema.Literal("nfm_reply"),
        nfm_reply: Schema.Struct({
          name: Schema.optionalKey(Schema.String),
          body: Schema.optionalKey(Schema.String),
          response: Schema.optionalKey(Fields)
        })
      })
    ]),
    order: Schema.Struct({
      catalog_id: Schema.optionalKey(Schema.String),
      text: Schema.optionalKey(Schema.String),
      product_items: Schema.Array(Fields)
    }),
    reaction: Schema.Struct({ message_id: Name, emoji: Schema.NullOr(Schema.String) }),
    edit: Schema.Struct({
      original_message_id: Name,
      message: Schema.StructWithRest(Schema.Struct({ type: Schema.String }), [Fields])
    }),
    revoke: Schema.Struct({ original_message_id: Name }),
    unsupported: Schema.Struct({
      type: Schema.NullOr(Schema.String),
      errors: Schema.Array(Schema.Struct({ code: Schema.Int, message: Schema.String })),
      content: Schema.optionalKey(Fields)
    })
  } satisfies { readonly [type in keyof ReceivedContentByType]: Schema.Codec<ReceivedContentByType[type], unknown> },
  Schema.optionalKey
)

const types = Struct.keys(contents)

const readOne = Input.reader(Schema.Union([
  Schema.Struct({
    type: Schema.Literal("status"),
    providerNumberId: Schema.optionalKey(Name),
    messageId: Schema.optionalKey(PlainText.PlainText),
    providerMessageId: Schema.optionalKey(Name),
    status: Schema.Literals(["sent", "delivered", "read", "failed"]),
    at,
    error: Schema.optionalKey(Schema.Struct({
      code: ErrorBody.ErrorBody.fields.error.fields.code,
      reason: Schema.optionalKey(PlainText.PlainText),
      message: PlainText.PlainText,
      provider: Schema.optionalKey(Errors.ProviderDetail)
    })),
    pricing: Schema.optionalKey(Schema.Struct({
      billable: Schema.NullOr(Schema.Boolean),
      model: PlainText.PlainText,
      type: PlainText.PlainText,
      category: PlainText.PlainText
    })),
    isPlayed: Schema.optionalKey(Schema.Boolean)
  }),
  Schema.Struct({
    type: Schema.Literal("message"),
    providerNumberId: Name,
    providerMessageId: Name,
    // a number that somebody writes from is accepted even if its country's numbering plan does not allow it
    from: Schema.String.check(
      Schema.makeFilter((from: string) =>
        /^\+[1-9][0-9]{1,14}$/.test(from) || CustomerNames.userIdPattern.test(from) ||
        "must be a phone number in E.164 format, or a user id such as US.13491208655302741918"
      )
    ),
    fromUserId: Schema.optionalKey(Addressee.UserId),
    context: Schema.optionalKey(Schema.Struct({
      message_id: Schema.optionalKey(Schema.String),
      from: Schema.optionalKey(Schema.String),
      forwarded: Schema.optionalKey(Schema.Boolean)
    })),
    at,
    ...contents
  })
]))

type Read = Result.Result.Success<ReturnType<typeof readOne>>

/** Refuses a customer's message with no content or more than one. */
const holdsOne = (told: Read): Result.Result<Read, Errors.InvalidBody> => {
  if (told.type === "status") return Result.succeed(told)
  const [first, second] = types.filter((type) => told[type] !== undefined)
  if (first !== undefined && second === undefined) return Result.succeed(told)
  return Result.fail(
    first === undefined
      ? new Errors.InvalidBody({
        reason: "missing_field",
        param: "text",
        message: `the message needs content: one of ${types.join(", ")}`
      })
      : new Errors.InvalidBody({
        reason: "invalid_field",
        param: second!,
        message: `a message has one kind of content: give either ${first} or ${second}`
      })
  )
}

/** Decodes the item at an index of the list. */
const read = (told: Told, index: number) =>
  Result.mapError(
    Result.flatMap(readOne(Predicate.isObject(told) ? { ...told, at: iso(told.at) } : told), holdsOne),
    ({ message, param, reason }) =>
      new Errors.InvalidBody({ reason, param: `[${index}]${param === undefined ? "" : `.${param}`}`, message })
  )

/** Replaces text that not every storage can hold. */
const cleaned = (json: Schema.Json): Schema.Json =>
  typeof json === "string"
    ? PlainText.cleaned(json)
    : Array.isArray(json)
    ? json.map(cleaned)
    : Predicate.isObject(json)
    ? Object.fromEntries(
      Object.entries(json as Schema.JsonObject).map(([name, value]) => [PlainText.cleaned(name), cleaned(value)])
    )
    : json

const digest = /^[0-9a-f]{64}$/i

/**
 * The content of a message with a file, and the file, for a provider that downloads files. The content lacks the
 * provider's id and URL, which our id will replace.
 */
const withFile = (
  content: Schema.Json,
  { filename, id, sha256 }: typeof Media.Type
): Pick<InboundMessage.InboundMessage, "content" | "file"> => ({
  content: Struct.omit(content as Schema.JsonObject, ["id", "url"]),
  file: {
    providerMediaId: id,
    filename: filename ?? null,
    sha256: sha256 !== undefined && digest.test(sha256) ? sha256.toLowerCase() : null
  }
})

const isFile = Schema.is(Schema.Literals(["image", "video", "audio", "document", "sticker"]))

const itemOf = (told: Read, now: number, takesFiles: boolean): InboundItem.InboundItem => {
  const at = told.at === undefined ? now : DateTime.toEpochMillis(told.at)
  if (told.type === "message") {
    const { context, from, fromUserId, providerMessageId, providerNumberId } = told
    const { phone, userId } = CustomerNames.customerOf(from)
    const type = types.find((type) => told[type] !== undefined)!
    const content = cleaned(told[type] as Schema.Json)
    return {
      _tag: "Message",
      message: {
        providerNumberId,
        providerMessageId,
        customer: phone === null ? { phone, userId } : { phone, userId: fromUserId ?? null },
        at,
        type,
        ...(takesFiles && isFile(type) ? withFile(content, told[type]!) : { content }),
        context: context === undefined ? null : cleaned(context),
        preference: undefined
      }
    }
  }
  const { error, isPlayed, messageId, pricing, providerMessageId, providerNumberId, status } = told
  return {
    _tag: "Status",
    providerNumberId: providerNumberId ?? null,
    reference: messageId === undefined ? null : messageId as Id.MessageId,
    report: {
      status,
      at,
      providerMessageId: providerMessageId ?? null,
      error: status === "failed" ? error ?? { code: "server_error", message: "the provider gave no reason" } : null,
      ...(pricing === undefined ? {} : { pricing }),
      ...(isPlayed === undefined ? {} : { isPlayed })
    }
  }
}

const receivedOf = (ignored: IgnoredItems.IgnoredItem | undefined): Received =>
  // every ignored status or message has a reason
  ignored === undefined ? { applied: true } : { applied: false, reason: ignored.reason! }

export const make = Effect.map(
  Effect.all([Service.Inbound, Provider.Provider, Storage.Storage]),
  ([inbound, provider, storage]) => ({ run }: Running): Inbound => ({
    receive: (told, options) =>
      run(
        Effect.gen(function*() {
          if (!Array.isArray(told)) {
            return yield* new Errors.InvalidBody({
              reason: "invalid_field",
              param: "told",
              message: "told must be an array"
            })
          }
          const all = yield* Effect.fromResult(Result.all(told.map(read)))
          const now = yield* Effect.flatMap(Clock.currentTimeMillis, storage.now)
          const takesFiles = provider.downloadFile !== undefined
          const ignored = yield* inbound.receive(all.map((one) => itemOf(one, now, takesFiles)), now)
          return ignored.map(receivedOf)
        }),
        { options }
      )
  })
)
