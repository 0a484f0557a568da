/**
 * Implements the `Provider` port over the Cloud API.
 */
import {
  Capabilities,
  CustomerNames,
  Errors,
  Inbound,
  type InboundItem,
  PhoneNumber,
  Provider,
  SenderBlock,
  type SenderCredentials
} from "@wac/core"
import { Clock, Duration, Effect, FiberSet, Layer, Redacted, Stream } from "effect"
import * as Classification from "./Classification.ts"
import * as CloudApi from "./CloudApi.ts"
import * as ErrorEffects from "./ErrorEffects.ts"
import * as FileDownload from "./FileDownload.ts"
import * as FileForm from "./FileForm.ts"
import type { GraphError } from "./GraphError.ts"
import * as NumberInfo from "./NumberInfo.ts"
import * as Payload from "./Payload.ts"
import * as ReadRequest from "./ReadRequest.ts"
import * as SenderAccess from "./SenderAccess.ts"
import * as SendRequest from "./SendRequest.ts"
import * as SendResponse from "./SendResponse.ts"
import * as TemplateEdits from "./TemplateEdits.ts"
import * as TemplateList from "./TemplateList.ts"
import { providerName, type WhatsAppConfig } from "./WhatsAppConfig.ts"

/**
 * The timeout of a send: a little less than `SendLifecycle.providerTimeout`, so that the outcome is reported in time.
 */
const sendTimeout = Duration.millis(7_500)

/** The limit on the response to a send: it has a few hundred bytes, more with an error's explanation. */
const sendMaxBytes = 64 * 1024

/** The timeout of a page of the list: a hundred templates of some kilobytes each. */
const pageTimeout = Duration.seconds(30)
const pageMaxBytes = 8 * 1024 * 1024

/** The timeout of an upload: 100 MB at 1 MB per second, and a little more. */
const uploadTimeout = Duration.minutes(2)

/** How long Meta keeps an uploaded file. */
const uploadedFor = Duration.days(30)

const Uploaded = Payload.shape({ id: Payload.word })

/** How long a stop waits for items that are still to be applied. */
const stopTimeout = Duration.seconds(2)

/** The settings that a test may change. */
export interface Options {
  /** Defaults to {@link sendTimeout}. */
  readonly sendTimeout?: Duration.Duration
}

const notReached = () =>
  new Errors.ServerError({
    reason: "provider_unavailable",
    message: "the provider could not be reached; nothing was sent"
  })

/** The reason of a failed call: `provider_error` if there was a response, else `provider_unavailable`. */
const failureOf = ({ _tag }: CloudApi.Answer) => _tag === "Answered" ? "provider_error" : "provider_unavailable"

/** Describes why a call failed. */
const reasonOf = (answer: CloudApi.Answer, error: GraphError | undefined): string => {
  if (answer._tag !== "Answered") return `it could not be reached (${answer.why})`
  if (error === undefined) return `it answered with status ${answer.status}, and nothing that can be read`
  return `${Classification.meaningOf(error, answer.status).title} (${error.code}${
    error.message === "" ? "" : `: ${error.message}`
  })`
}

/**
 * The provider. Further effects of a response (an opt-out, a paused template, a blocked number) are applied through
 * `Inbound` after the outcome is known. If that fails, the failure is logged, and the next such response applies them
 * again.
 */
export const layer = (
  config: WhatsAppConfig,
  options: Options = {}
): Layer.Layer<Provider.Provider, never, Inbound.Inbound | SenderCredentials.SenderCredentials> =>
  Layer.effect(
    Provider.Provider,
    Effect.gen(function*() {
      const inbound = yield* Inbound.Inbound
      const api = yield* CloudApi.make()
      const accessOf = yield* SenderAccess.make(config)
      // forks in the layer's context: the sender's transaction or trace must not extend to these items
      const telling = yield* FiberSet.make<void>()
      const fork = yield* FiberSet.runtime(telling)()
      yield* Effect.addFinalizer(() => Effect.timeoutOption(FiberSet.awaitEmpty(telling), stopTimeout))

      const tell = (items: ReadonlyArray<InboundItem.InboundItem>): void => {
        if (items.length === 0) return
        fork(
          Effect.catchCause(
            Effect.asVoid(inbound.receive(items)),
            (cause) => Effect.logError("the consequences of a provider response could not be applied", cause)
          )
        )
      }

      const answered = Effect.fnUntraced(function*(
        { message, messageId, refers, sender }: Provider.ProviderSend,
        answer: Extract<CloudApi.Answer, { readonly _tag: "Answered" }>,
        hidden: ReadonlyArray<string>
      ) {
        const error = SendResponse.errorOf(answer.json, hidden)
        // judged by all of Meta's words: a caption may contain some of them too
        const told = refers.mediaIds.size === 0 ? undefined : SendResponse.errorOf(answer.json, [])
        const outcome = error !== undefined && told !== undefined && Classification.isFileGone(told)
          ? Classification.fileGone(error)
          : SendResponse.outcomeOf(answer, error, message.to)
        const at = yield* Clock.currentTimeMillis
        if (outcome._tag === "Accepted") {
          // a block that was no longer in force is now known to be over, unless it allowed this message all along
          const { block, providerNumberId } = sender
          const wasStopped = block !== null && (block.scope === "all" || message.type === "template")
          if (wasStopped && !SenderBlock.inForce(block, at)) {
            tell([{ _tag: "Number", number: { providerNumberId }, at, change: { block: null } }])
          }
          return outcome
        }
        if (outcome._tag === "Unknown") {
          yield* Effect.logWarning("the provider's response does not report what became of a message", {
            messageId,
            status: answer.status,
            code: error?.code
          })
        }
        if (error !== undefined) {
          tell(ErrorEffects.of(error, {
            accountId: sender.providerAccountId,
            numberId: sender.providerNumberId,
            customer: CustomerNames.customerOf(message.to),
            template: message.type === "template" ? message.template : undefined,
            held: sender.block,
            status: answer.status,
            at
          }))
        }
        return outcome
      })

      const sendAs = Effect.fnUntraced(function*(access: CloudApi.Access, command: Provider.ProviderSend) {
        const { messageId, sender } = command
        const answer = yield* api.call(access, {
          method: "POST",
          path: [sender.providerNumberId, "messages"],
          body: SendRequest.bodyOf(command),
          timeout: options.sendTimeout ?? sendTimeout,
          maxBytes: sendMaxBytes
        })
        switch (answer._tag) {
          case "Answered": {
            const hidden = [Redacted.value(access.accessToken), ...SendRequest.textsOf(command)]
            return yield* answered(command, answer, hidden)
          }
          case "NotSent": {
            yield* Effect.logWarning("the provider could not be reached", { messageId, why: answer.why })
            return { _tag: "NotSent", error: notReached() } satisfies Provider.ProviderOutcome
          }
          case "Lost": {
            yield* Effect.logWarning("the response to a send was lost", { messageId, why: answer.why })
            return { _tag: "Unknown" } satisfies Provider.ProviderOutcome
          }
        }
      })

      const send = (command: Provider.ProviderSend): Effect.Effect<Provider.ProviderOutcome> =>
        accessOf(command.sender).pipe(
          Effect.flatMap((access) => sendAs(access, command)),
          Effect.catch((error) => Effect.succeed<Provider.ProviderOutcome>({ _tag: "NotSent", error }))
        )

      const markRead: NonNullable<Provider.Provider["Service"]["markRead"]> = Effect.fn("WhatsAppProvider.markRead")(
        function*({ isTyping, providerMessageId, sender }) {
          const access = yield* accessOf(sender)
          const answer = yield* api.call(access, {
            method: "POST",
            path: [sender.providerNumberId, "messages"],
            body: ReadRequest.bodyOf(providerMessageId, isTyping),
            timeout: options.sendTimeout ?? sendTimeout,
            maxBytes: sendMaxBytes
          })
          const error = errorOf(answer, access)
          if (jsonOf(answer, error) !== undefined) return
          const outcome = answer._tag === "Answered" ? SendResponse.outcomeOf(answer, error) : undefined
          return yield* outcome?._tag === "Refused" || outcome?._tag === "NotSent"
            ? outcome.error
            : new Errors.ServerError({
              reason: failureOf(answer),
              message: `the provider did not mark the message as read: ${reasonOf(answer, error)}`
            })
        }
      )

      const uploadFile: NonNullable<Provider.Provider["Service"]["uploadFile"]> = Effect.fn(
        "WhatsAppProvider.uploadFile"
      )(function*(upload) {
        const { sender } = upload
        const access = yield* accessOf(sender)
        const answer = yield* api.call(access, {
          method: "POST",
          path: [sender.providerNumberId, "media"],
          file: FileForm.of(upload),
          timeout: uploadTimeout,
          maxBytes: sendMaxBytes
        })
        const error = errorOf(answer, access)
        const { id } = Uploaded(jsonOf(answer, error) ?? null)
        if (id !== undefined) {
          const expiresAt = (yield* Clock.currentTimeMillis) + Duration.toMillis(uploadedFor)
          return { providerMediaId: id, expiresAt }
        }
        return yield* answer._tag === "Answered" && error !== undefined
          ? Classification.uploadErrorOf({ ...answer, error })
          : new Errors.ServerError({
            reason: failureOf(answer),
            message: `the provider did not take the file: ${reasonOf(answer, error)}`
          })
      })

      const downloadFile: NonNullable<Provider.Provider["Service"]["downloadFile"]> = (file) =>
        Stream.unwrap(Effect.map(
          Effect.mapError(
            accessOf(file.sender),
            ({ message }) => new Provider.ProviderError({ reason: "provider_error", message })
          ),
          (access) =>
            FileDownload.of({
              call: (call) => api.call(access, call),
              read: (address) => api.download(access, address),
              errorOf: (answer) => errorOf(answer, access),
              failed: (answer, error) =>
                new Provider.ProviderError({
                  reason: failureOf(answer),
                  message: `the provider did not say where a file is: ${reasonOf(answer, error)}`
                }),
              baseUrl: access.baseUrl
            }, file)
        ))

      /** The JSON of a successful response. */
      const jsonOf = (answer: CloudApi.Answer, error: GraphError | undefined) =>
        answer._tag === "Answered" && error === undefined && answer.status >= 200 && answer.status <= 299
          ? answer.json
          : undefined

      const templates = Effect.fn("WhatsAppProvider.templates")(function*(sender: PhoneNumber.PhoneNumber) {
        const access = yield* Effect.mapError(accessOf(sender), ({ message }) => TemplateList.unavailable(message))
        return yield* TemplateList.all(Effect.fnUntraced(function*(after: string | undefined) {
          const answer = yield* api.call(access, {
            method: "GET",
            path: [sender.providerAccountId, "message_templates"],
            query: { ...TemplateList.query, ...(after === undefined ? {} : { after }) },
            timeout: pageTimeout,
            maxBytes: pageMaxBytes
          })
          const error = errorOf(answer, access)
          const json = jsonOf(answer, error)
          if (json !== undefined) return json
          // other errors have no effect: some of them are about the id in the path, which here is the account's
          const status = answer._tag === "Answered" ? answer.status : undefined
          if (error !== undefined && Classification.meaningOf(error, status).class === "auth") {
            const { providerAccountId, providerNumberId } = sender
            const at = yield* Clock.currentTimeMillis
            tell(
              ErrorEffects.of(error, {
                accountId: providerAccountId,
                numberId: providerNumberId,
                customer: undefined,
                status,
                at
              })
            )
          }
          return yield* TemplateList.unavailable(reasonOf(answer, error), failureOf(answer))
        }))
      })

      const templateEditor = TemplateEdits.make(
        Effect.fnUntraced(function*(sender, request) {
          const access = yield* accessOf(sender)
          const { file, isDone, isGone, timeout = pageTimeout, ...call } = request
          const answer = yield* api.call(access, {
            ...call,
            ...(file === undefined ? {} : { file: file(access) }),
            timeout,
            maxBytes: sendMaxBytes
          })
          const error = errorOf(answer, access)
          const json = jsonOf(answer, error)
          if (json !== undefined) return json
          if (error !== undefined && isDone?.(error) === true) return null
          if (error !== undefined && isGone?.(error) === true) return yield* TemplateEdits.gone(error)
          const outcome = answer._tag === "Answered" ? SendResponse.outcomeOf(answer, error) : undefined
          return yield* outcome?._tag === "Refused" || outcome?._tag === "NotSent"
            ? outcome.error
            : new Errors.ServerError({
              reason: failureOf(answer),
              message: `the provider did not confirm the change of a template: ${reasonOf(answer, error)}`
            })
        }),
        uploadTimeout
      )

      const firstNumber = Effect.gen(function*() {
        const { businessAccountId, phoneNumberId } = config
        const answer = yield* NumberInfo.ask(api, config, phoneNumberId)
        const error = errorOf(answer, config)
        const json = jsonOf(answer, error)
        const { change, phoneNumber } = NumberInfo.read(json, yield* Clock.currentTimeMillis)
        if (phoneNumber === undefined) {
          return yield* new Provider.ProviderError({
            reason: failureOf(answer),
            message: `the provider did not identify the number ${phoneNumberId}: ${reasonOf(answer, error)}`
          })
        }
        return {
          phoneNumber,
          providerNumberId: phoneNumberId,
          providerAccountId: businessAccountId,
          learned: PhoneNumber.learnedOf(change)
        }
      }).pipe(Effect.withSpan("WhatsAppProvider.firstNumber"))

      return Provider.Provider.of({
        name: providerName,
        capabilities: Capabilities.all,
        send,
        markRead,
        uploadFile,
        downloadFile,
        templateEditor,
        templates,
        firstNumber
      })
    })
  )

/** The error in a response, without the access token, which some of Meta's errors repeat. */
const errorOf = (answer: CloudApi.Answer, access: CloudApi.Access): GraphError | undefined =>
  answer._tag === "Answered"
    ? SendResponse.errorOf(answer.json, [Redacted.value(access.accessToken)])
    : undefined
