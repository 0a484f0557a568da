/**
 * Reads Meta's state of our numbers every hour, in the background. Webhooks report changes too, but they can get lost,
 * and they report no change from before the webhook was set.
 */
import {
  Chores,
  Elapsed,
  Inbound,
  type InboundItem,
  type PhoneNumber,
  PhoneNumberStore,
  RepeatedFailure,
  type SenderBlock,
  type SenderCredentials,
  WorkspaceStore
} from "@wac/core"
import { Clock, Duration, Effect, Layer, Redacted } from "effect"
import * as Classification from "./Classification.ts"
import * as CloudApi from "./CloudApi.ts"
import * as ErrorCodes from "./ErrorCodes.ts"
import * as ErrorEffects from "./ErrorEffects.ts"
import * as NumberInfo from "./NumberInfo.ts"
import * as SenderAccess from "./SenderAccess.ts"
import * as SendResponse from "./SendResponse.ts"
import { providerName, type WhatsAppConfig } from "./WhatsAppConfig.ts"

/** The interval. Meta accepts 200 such requests an hour for an account. */
const every = Duration.hours(1)

/** Whether the error that made the block is about a permission. */
const isOfPermission = ({ provider }: SenderBlock.SenderBlock): boolean =>
  provider !== null && ErrorCodes.of({ code: Number(provider.code) })?.class === "permission"

/**
 * The changes that follow from a response about a number. Of errors, only those of authentication count. That a number
 * is missing does not: a token may be allowed to send but not to read the number, so the responses to sends decide.
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
  const { change, phoneNumber } = NumberInfo.read(answer.json, at, block)
  if (phoneNumber === undefined) return []
  // a response proves that the token is valid, but not that it may send
  const lifted = block?.reason === "credentials" && !isOfPermission(block) ? { lifts: block.reason } : {}
  return [{ _tag: "Number", number: { providerNumberId }, at, change: { ...lifted, ...change } }]
}

/**
 * Reads the state of every WhatsApp number at the start and every hour, until its scope closes, or in the shifts of
 * `Chores`. It may run in any number of processes.
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

      /**
       * The numbers asked for in this look. The end of a shift breaks a look off: the next one goes on with the others,
       * and asks for none twice, because Meta counts the requests.
       */
      const asked = new Set<PhoneNumber.PhoneNumber["id"]>()
      const isDue = ({ id, provider }: PhoneNumber.PhoneNumber) => provider === providerName && !asked.has(id)
      const lookAll = workspaces.list.pipe(
        Effect.flatMap((all) =>
          RepeatedFailure.each(all, ({ id }) =>
            Effect.flatMap(
              numbers.list(id),
              (all) =>
                RepeatedFailure.each(
                  all.filter(isDue),
                  (number) => Effect.suspend(() => look(asked.add(number.id) && number))
                )
            ))
        ),
        RepeatedFailure.watch("checking the numbers"),
        Effect.ignoreCause
      )
      /** When this look began or the next one is due, by `Elapsed`. Kept from one shift to the next. */
      let dueAt = -Infinity
      const round = Effect.gen(function*() {
        const now = yield* Elapsed.now
        const isBrokenOff = asked.size > 0
        if (!isBrokenOff) dueAt = Math.max(dueAt, now)
        if (dueAt > now) yield* Effect.sleep(dueAt - now)
        yield* lookAll
        asked.clear()
        dueAt += Duration.toMillis(every)
        // a look that goes on so late counts as the next one too
        if (dueAt <= now) dueAt = now + Duration.toMillis(every)
      })
      yield* Chores.run(Effect.forever(round))
    })
  )
