/**
 * The handlers of `/internal/phone-numbers`: the numbers that a workspace sends from.
 */
import { Api, Caller } from "@wac/api"
import { PhoneNumbers, SenderBlock, StoreError, Time } from "@wac/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as HandlerGroup from "../HandlerGroup.ts"
import * as Paging from "../Paging.ts"

/** A number as the dashboard shows it. */
export const shown = ({ block, number, ...inForce }: PhoneNumbers.PhoneNumberState) => ({
  id: number.id,
  phoneNumber: number.phoneNumber,
  isDefault: number.isDefault,
  provider: number.provider,
  providerNumberId: number.providerNumberId,
  providerAccountId: number.providerAccountId,
  portfolioId: number.portfolioId,
  ...inForce,
  block: block && {
    reason: block.reason,
    scope: block.scope,
    message: SenderBlock.describe(block),
    since: Time.iso(block.since),
    until: Time.isoOrNull(block.until),
    provider: block.provider
  },
  quality: number.learned.quality
})

export const layer = HandlerGroup.layer(
  Effect.gen(function*() {
    const numbers = yield* PhoneNumbers.PhoneNumbers
    return HttpApiBuilder.group(Api, "phoneNumbers", (handlers) =>
      handlers.handleAll({
        list: Effect.fnUntraced(function*({ query }) {
          const { workspaceId } = yield* Caller.CurrentSession
          return Paging.internalList(yield* numbers.list(workspaceId, yield* Paging.request(query, "pn")), shown)
        }, StoreError.orUnavailable)
      }))
  })
)
