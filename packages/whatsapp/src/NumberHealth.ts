/**
 * Meta's state of our numbers, read at intervals in the background: a webhook tells of changes, unless it is
 * lost, and of none that were before it was set.
 */
import {
  Inbound,
  type InboundItem,
  type PhoneNumber,
  PhoneNumberStore,
  RepeatedFailure,
  type SenderCredentials,
  WorkspaceStore
} from "@wac/core"
import { Clock, Duration, Effect, Layer, Redacted } from "effect"
import * as Classification from "./Classification.ts"
import * as CloudApi from "./CloudApi.ts"
import * as ErrorEffects from "./ErrorEffects.ts"
import * as NumberInfo from "./NumberInfo.ts"
import * as SenderAccess from "./SenderAccess.ts"
import * as SendResponse from "./SendResponse.ts"
import { providerName, type WhatsAppConfig } from "./WhatsAppConfig.ts"

/** Meta takes 200 questions an hour for an account. */
const every = Duration.hours(1)

/**
 * The effects of a response about a number on later messages. One that is not there is left to the answers to
 * sends: a token may be good for sending and not for asking.
 */
const itemsOf = (
  answer: Extract<CloudApi.Answer, { readonly _tag: "Answered" }>,
  { block, providerAccountId, providerNumberId }: PhoneNumber.PhoneNumber,
  token: string,
  at: number
): ReadonlyArray<InboundItem.InboundItem> => {
  const { status } = answer
  const error = SendResponse.errorOf(answer.json, [token])
  if (error !== undefined) {
    const subject = { accountId: providerAccountId, numberId: providerNumberId, customer: undefined, status, at }
    return Classification.meaningOf(error, status).class === "auth" ? ErrorEffects.of(error, subject) : []
  }
  const { change, phoneNumber } = NumberInfo.read(answer.json, at)
  if (phoneNumber === undefined) return []
  // an answer proves that the token is good
  const lifted = block?.reason === "credentials" ? { lifts: block.reason } : {}
  return [{ _tag: "Number", number: { providerNumberId }, at, change: { ...lifted, ...change } }]
}

/**
 * Looks at every number of WhatsApp's, at the start and every hour; runs as long as its scope, in any number of
 * processes.
 */
export const layer = (
  config: WhatsAppConfig
): Layer.Layer<
  never,
  never,
  | Inbound.Inbound
  | PhoneNumberStore.PhoneNumberStore
  | SenderCredentials.SenderCredentials
  | WorkspaceStore.WorkspaceStore
> =>
  Layer.effectDiscard(
    Effect.gen(function*() {
      const inbound = yield* Inbound.Inbound
      const numbers = yield* PhoneNumberStore.PhoneNumberStore
      const workspaces = yield* WorkspaceStore.WorkspaceStore
      const api = yield* CloudApi.make()
      const accessOf = yield* SenderAccess.make(config)

      const look = Effect.fnUntraced(
        function*(number: PhoneNumber.PhoneNumber) {
          const access = yield* accessOf(number)
          const answer = yield* NumberInfo.ask(api, access, number.providerNumberId)
          const items = answer._tag === "Answered"
            ? itemsOf(answer, number, Redacted.value(access.accessToken), yield* Clock.currentTimeMillis)
            : []
          if (items.length === 0) yield* Effect.logWarning(`the provider reported nothing about ${number.phoneNumber}`)
          else yield* inbound.receive(items)
        }
      )

      yield* workspaces.list.pipe(
        Effect.flatMap(Effect.forEach(({ id }) =>
          Effect.flatMap(
            numbers.list(id),
            (all) => RepeatedFailure.each(all.filter(({ provider }) => provider === providerName), look)
          )
        )),
        RepeatedFailure.watch("checking the numbers"),
        Effect.ignoreCause,
        Effect.andThen(Effect.sleep(every)),
        Effect.forever,
        Effect.forkScoped
      )
    })
  )
