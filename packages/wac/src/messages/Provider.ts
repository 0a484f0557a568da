/**
 * The providers of an instance, as options: the one that delivers messages to phones.
 */
import { Errors, PhoneNumber, Provider as Port, TemplateFit } from "@wac/core"
import { Duration, Effect, Layer, Schema, Stream } from "effect"
import type { ErrorReasons } from "../generated/ErrorReasons.ts"
import type { TemplateButton, TemplateCard, TemplateHeader, TemplateValue } from "../generated/MessageContents.ts"
import { badOption, type ProviderDetail } from "../WacError.ts"
import type { WhatsAppProvider } from "../WhatsApp.ts"
import type { FreeFormMessage } from "./Messages.ts"

/** The provider that needs no account; see {@link sandbox}. */
export interface SandboxProvider {
  readonly type: "sandbox"
}

/** The number that a message is sent from. */
export interface Sender {
  readonly id: string
  /** In E.164 format. */
  readonly phoneNumber: string
  /** The provider's id of the number. */
  readonly providerNumberId: string
}

interface Outbound {
  /** Our id of the message. Send it along as a reference, so that reports can be matched by it. */
  readonly messageId: string
  readonly from: Sender
  /** In E.164 format. */
  readonly to: string
  readonly clientReference?: string
  /** Your provider's id of the message that this one quotes or reacts to. */
  readonly quotes?: string
  /** Your provider's ids of uploaded files, by their ids in the message. */
  readonly mediaIds?: { readonly [mediaId: string]: string }
}

/** A message for a provider to send. */
export type OutboundMessage =
  | Outbound & {
    readonly type: "template"
    readonly template: {
      readonly name: string
      readonly language: string
      /** Values of the body's placeholders, in order. */
      readonly bodyParams: ReadonlyArray<TemplateValue>
      /** Further values that the sender fills in. */
      readonly header?: TemplateHeader
      readonly buttons?: ReadonlyArray<TemplateButton>
      readonly cards?: ReadonlyArray<TemplateCard>
      readonly limitedTimeOffer?: { readonly expiresAt: string }
      /** The provider's id of the template. */
      readonly providerTemplateId: string
    }
  }
  | WithContent<FreeFormMessage>

type WithContent<Message extends FreeFormMessage> = Message extends unknown
  ? Outbound & Pick<Message, Extract<keyof Message, "type" | Message["type"]>>
  : never

interface Refusal<Code extends keyof ErrorReasons> {
  readonly code: Code
  readonly reason: ErrorReasons[Code]
  readonly message: string
  readonly param?: string
  /** The provider's own error. */
  readonly provider?: ProviderDetail
}

/** The outcome of a send at the provider. */
export type ProviderOutcome =
  /** The provider accepted the message and returned its id. */
  | { readonly status: "accepted"; readonly providerMessageId: string }
  /** The provider refused it for good: the message fails, and retrying gets the same answer. */
  | ({ readonly status: "refused" } & (Refusal<"invalid_body"> | Refusal<"forbidden">))
  /** The provider certainly sent nothing, and may accept the same message later. `retryAfter` is in milliseconds. */
  | (
    & { readonly status: "not_sent" }
    & ((Refusal<"rate_limited"> & { readonly retryAfter: number }) | Refusal<"server_error">)
  )
  /** The request may have been sent, but no response said what became of it. Never return `not_sent` in this case. */
  | { readonly status: "unknown" }

/** A template as the provider lists it. */
export interface ProviderTemplate {
  readonly providerTemplateId: string
  readonly name: string
  /** `<ll>_<CC>` or `<ll>`: `en_US`, `en`. */
  readonly language: string
  /** `marketing`, `utility`, `authentication`. */
  readonly category: string
  /** `approved`, `pending`, `rejected`, `paused`, … Only an approved template can be sent. */
  readonly status: string
  /** In the format of the WhatsApp Cloud API: `[{ type: "BODY", text: "Hello {{1}}" }]`. */
  readonly components: ReadonlyArray<unknown>
  /** Defaults to `positional`. */
  readonly parameterFormat?: "positional" | "named"
  readonly quality?: string | null
  readonly rejectionReason?: string | null
}

/** A provider of your own: a number and two methods. */
export interface CustomProvider {
  /** The provider's name in the log. */
  readonly name?: string
  /** The number that the first workspace sends from, in E.164 format. */
  readonly phoneNumber: string
  /** The provider's id of that number. Defaults to the number itself. */
  readonly providerNumberId?: string
  /**
   * Sends a message once, and must not retry on its own. After 8 seconds, or if it rejects, the outcome counts as
   * unknown.
   */
  readonly send: (message: OutboundMessage) => Promise<ProviderOutcome>
  /** Every template of the number's account, of every status. */
  readonly templates: (sender: Sender) => Promise<ReadonlyArray<ProviderTemplate>>
  /** Marks a customer's message as read, by your own id of it. Omit it if you have no read receipts. */
  readonly markRead?: (
    command: { readonly sender: Sender; readonly providerMessageId: string; readonly typing: boolean }
  ) => Promise<void>
  /**
   * Downloads a file that a customer sent, by the `id` that you reported; `null` if you no longer have it. With it,
   * events have our `media_id` in place of your `id`. Without it, they have what you reported.
   */
  readonly download?: (
    file: { readonly sender: Sender; readonly providerMediaId: string }
  ) => Promise<AsyncIterable<Uint8Array> | null>
}

/**
 * A provider that is a Layer of Effect, from a package or your own. Create it with `Adapter.provider` of `wac/effect`.
 * Unlike a {@link CustomProvider} it can receive posts, use credentials of numbers, and run in the background.
 */
export interface LayerProvider {
  readonly type: "layer"
  readonly layer: object
}

/** {@link sandbox}, `whatsapp({ … })`, or a provider of your own. */
export type Provider = SandboxProvider | WhatsAppProvider | CustomProvider | LayerProvider

/**
 * Sends nothing anywhere. It behaves according to the recipient's number: any number receives the message after 200 ms
 * and reads it after 400 ms; `+15005550001` to `+15005550012` each have a behaviour of their own.
 */
export const sandbox = (): SandboxProvider => ({ type: "sandbox" })

const senderOf = ({ id, phoneNumber, providerNumberId }: PhoneNumber.PhoneNumber): Sender => ({
  id,
  phoneNumber,
  providerNumberId
})

const outboundOf = ({ message, messageId, refers, sender, template }: Port.ProviderSend): OutboundMessage => {
  const { clientReference, to } = message
  const outbound: Outbound = {
    messageId,
    from: senderOf(sender),
    to,
    ...(clientReference === undefined ? {} : { clientReference }),
    ...(refers.quoted === null ? {} : { quotes: refers.quoted }),
    ...(refers.mediaIds.size === 0 ? {} : { mediaIds: Object.fromEntries(refers.mediaIds) })
  }
  return message.type === "template"
    ? {
      ...outbound,
      type: "template",
      template: {
        ...message.template,
        bodyParams: TemplateFit.valuesOf(template?.variables ?? [], message.template.bodyParams),
        providerTemplateId: template?.providerTemplateId ?? ""
      }
    }
    : { ...outbound, type: message.type, [message.type]: message[message.type as never] } as OutboundMessage
}

const described = ({ message, param, provider }: Refusal<keyof ErrorReasons>) => ({
  message,
  ...(param === undefined ? {} : { param }),
  ...(provider === undefined ? {} : { provider })
})

/** Throws if this is not a valid outcome, which the core treats as an unknown outcome. */
const outcomeOf = (outcome: ProviderOutcome): Port.ProviderOutcome => {
  switch (outcome.status) {
    case "accepted":
      if (typeof outcome.providerMessageId !== "string") {
        throw new TypeError("the result of an accepted message has no providerMessageId")
      }
      return { _tag: "Accepted", providerMessageId: outcome.providerMessageId }
    case "refused":
      return {
        _tag: "Refused",
        error: outcome.code === "forbidden"
          ? new Errors.Forbidden({ reason: outcome.reason, ...described(outcome) })
          : new Errors.InvalidBody({ reason: outcome.reason, ...described(outcome) })
      }
    case "not_sent":
      return {
        _tag: "NotSent",
        error: outcome.code === "rate_limited"
          ? new Errors.RateLimited({
            reason: outcome.reason,
            retryAfter: Duration.millis(outcome.retryAfter),
            ...described(outcome)
          })
          : new Errors.ServerError({ reason: outcome.reason, ...described(outcome) })
      }
    case "unknown":
      return { _tag: "Unknown" }
    default:
      throw new TypeError("the provider's result has an unknown status")
  }
}

const templateOf = (template: ProviderTemplate) => ({
  providerTemplateId: template.providerTemplateId,
  name: template.name,
  language: template.language,
  category: template.category.toLowerCase(),
  status: template.status.toLowerCase(),
  parameterFormat: template.parameterFormat ?? "positional" as const,
  components: template.components as ReadonlyArray<Schema.Json>,
  quality: template.quality ?? null,
  rejectionReason: template.rejectionReason ?? null
})

const notDownloaded = () =>
  new Port.ProviderError({ reason: "provider_error", message: "the provider did not hand out the file" })

/** Makes a fake clock wait for a promise of the host (see `FakeClock`). */
export type During = <A>(promise: Promise<A>) => Promise<A>

/** Adapts a provider of the host to our port. */
export const layerCustom = (provider: CustomProvider, during: During): Layer.Layer<Port.Provider> => {
  if (typeof provider?.send !== "function" || typeof provider.templates !== "function") {
    throw badOption(
      "provider",
      "provider must be sandbox(), whatsapp({…}), or an object with the methods send and templates"
    )
  }
  const { phoneNumber } = provider
  if (!Schema.is(PhoneNumber.E164)(phoneNumber)) {
    throw badOption("provider.phoneNumber", "provider.phoneNumber must be a phone number in E.164 format")
  }
  return Layer.succeed(
    Port.Provider,
    Port.Provider.of({
      name: provider.name ?? "custom",
      send: (command) => Effect.map(Effect.promise(() => during(provider.send(outboundOf(command)))), outcomeOf),
      ...(provider.markRead === undefined ? {} : {
        markRead: ({ isTyping, providerMessageId, sender }) =>
          Effect.asVoid(
            Effect.tryPromise(() =>
              during(provider.markRead!({ sender: senderOf(sender), providerMessageId, typing: isTyping }))
            )
          ).pipe(
            Effect.mapError(() =>
              new Errors.ServerError({
                reason: "provider_error",
                message: "the provider did not mark the message as read"
              })
            )
          )
      }),
      ...(provider.download === undefined ? {} : {
        downloadFile: ({ providerMediaId, sender }) =>
          Stream.unwrap(
            Effect.tryPromise({
              try: () => during(provider.download!({ sender: senderOf(sender), providerMediaId })),
              catch: notDownloaded
            }).pipe(
              Effect.flatMap((bytes) => bytes === null ? Effect.fail(new Port.FileGone()) : Effect.succeed(bytes)),
              Effect.map((bytes) => Stream.fromAsyncIterable(bytes, notDownloaded))
            )
          )
      }),
      firstNumber: Effect.succeed({
        phoneNumber,
        providerNumberId: provider.providerNumberId ?? phoneNumber,
        providerAccountId: provider.name ?? "custom",
        learned: PhoneNumber.unlearned
      }),
      templates: (sender) =>
        Effect.tryPromise(() => during(provider.templates(senderOf(sender)))).pipe(
          Effect.map((templates) => templates.map(templateOf)),
          Effect.mapError(() => new Port.TemplatesUnavailable({ message: "the provider could not list its templates" }))
        )
    })
  )
}
