/**
 * The providers that an instance can have, as options. A provider delivers messages to phones.
 */
import { Errors, PhoneNumber, Provider as Port, TemplateFit } from "@wac/core"
import { Clock, Effect, Layer, Stream } from "effect"
import type { LayerOption } from "../LayerOption.ts"
import type { WhatsAppProvider } from "../WhatsApp.ts"
import type {
  Capabilities,
  CustomProvider,
  Outbound,
  OutboundMessage,
  ProviderDefinition,
  Sender
} from "./CustomProvider.ts"
import * as CustomProviderOption from "./CustomProviderOption.ts"
import * as ProviderResult from "./ProviderResult.ts"

/** The provider that needs no account; see {@link sandbox}. */
export interface SandboxProvider {
  readonly type: "sandbox"
}

/**
 * Defines a provider of your own by what its channel has. `send` gets only the kinds of message that the channel has.
 * Throws a `WacError` that names the field if something is missing, unknown or contradictory.
 *
 * @example
 * const provider = defineProvider({
 *   phoneNumber: "+15005550100",
 *   capabilities: {},
 *   send: async ({ messageId, to, text }) => {
 *     const { id } = await gateway.send({ to, text: text.body, reference: messageId })
 *     return { status: "accepted", providerMessageId: id }
 *   }
 * })
 */
export const defineProvider = <const Has extends Capabilities>(
  definition: ProviderDefinition<Has>
): CustomProvider => {
  const provider = definition as unknown as CustomProvider
  CustomProviderOption.check(provider)
  return provider
}

/**
 * A provider that is a Layer of Effect, from a package or your own. Create it with `Adapter.provider` of `@wac/effect`,
 * and give it to `createWac` of `@wac/effect/promises`; `createWac` of `wac` refuses it. Unlike a
 * {@link CustomProvider} it can receive posts, use credentials of numbers, and run in the background.
 */
export interface LayerProvider extends LayerOption {}

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

const notDownloaded = () =>
  new Port.ProviderError({ reason: "provider_error", message: "the provider did not hand out the file" })

/** The longest time that a listing of templates may take. */
const listTimeout = "1 minute"

export type { During } from "./ProviderResult.ts"

/** Adapts a provider of the host to the port `Provider`. Throws on an invalid provider. */
export const layerCustom = (provider: CustomProvider, during: ProviderResult.During): Layer.Layer<Port.Provider> => {
  CustomProviderOption.check(provider)
  const { name = "custom", phoneNumber } = provider
  const capabilities = CustomProviderOption.capabilitiesOf(provider)
  const called = ProviderResult.calling(during)
  return Layer.succeed(
    Port.Provider,
    Port.Provider.of({
      name,
      capabilities,
      send: (command) =>
        Effect.map(Effect.promise(() => called(() => provider.send(outboundOf(command)))), ProviderResult.outcomeOf),
      ...(provider.markRead === undefined ? {} : {
        markRead: ({ isTyping, providerMessageId, sender }) =>
          Effect.asVoid(
            Effect.tryPromise(() =>
              called(() => provider.markRead!({ sender: senderOf(sender), providerMessageId, typing: isTyping }))
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
      ...(provider.upload === undefined ? {} : {
        uploadFile: ({ bytes, media, sender }) =>
          Effect.gen(function*() {
            const now = yield* Clock.currentTimeMillis
            const pieces = yield* Stream.toAsyncIterableEffect(bytes)
            const { filename, id, mimeType, size } = media
            const file = { sender: senderOf(sender), mediaId: id, mimeType, filename, size, bytes: pieces }
            const uploaded = yield* Effect.tryPromise(() => called(() => provider.upload!(file)))
            return yield* Effect.try(() => ProviderResult.uploadOf(uploaded, now))
          }).pipe(
            Effect.mapError(() =>
              new Errors.ServerError({ reason: "provider_error", message: "the provider did not take the file" })
            )
          )
      }),
      ...(provider.download === undefined ? {} : {
        downloadFile: ({ providerMediaId, sender }) =>
          Stream.unwrap(
            Effect.tryPromise({
              try: () => called(() => provider.download!({ sender: senderOf(sender), providerMediaId })),
              catch: notDownloaded
            }).pipe(
              Effect.flatMap(({ value }) => value === null ? Effect.fail(new Port.FileGone()) : Effect.succeed(value)),
              Effect.map((file) => Stream.fromAsyncIterable(ProviderResult.bytesOf(file), notDownloaded))
            )
          )
      }),
      firstNumber: Effect.succeed({
        phoneNumber,
        providerNumberId: provider.providerNumberId ?? phoneNumber,
        providerAccountId: name,
        learned: PhoneNumber.unlearned
      }),
      templates: (sender) =>
        provider.templates === undefined ? Effect.succeed([]) : Effect.tryPromise({
          try: () => called(() => provider.templates!(senderOf(sender))),
          catch: () => new Port.TemplatesUnavailable({ message: "the provider could not list its templates" })
        }).pipe(
          Effect.timeoutOrElse({
            duration: listTimeout,
            orElse: () =>
              Effect.fail(new Port.TemplatesUnavailable({ message: "the provider did not list its templates in time" }))
          }),
          Effect.flatMap(({ value }) =>
            Effect.try({
              try: () => ProviderResult.templatesOf(value),
              catch: (error) =>
                new Port.TemplatesUnavailable({
                  reason: "provider_error",
                  message: `the provider listed invalid templates${ProviderResult.placeOf(error)}`
                })
            })
          )
        )
    })
  )
}
