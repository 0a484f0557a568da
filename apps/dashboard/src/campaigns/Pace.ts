/** How fast a campaign sends. */
import { useQuery } from "@tanstack/react-query"
import type { Campaign } from "@wac/client/internal"
import { phoneNumbersQuery } from "../numbers/Queries.ts"
import { lengthOf } from "../ui/Moment.ts"

/**
 * The number that a campaign sends from, by id or in E.164; `null` for the default number, until its recipients are
 * checked.
 */
export const senderOf = ({ checkedFrom, from }: Campaign): string | null => from ?? checkedFrom

/** How many messages a second a campaign may send; `undefined` until its phone number is loaded. */
export const usePace = (campaign: Campaign): number | undefined => {
  const { data } = useQuery(phoneNumbersQuery)
  const from = senderOf(campaign)
  const number = data?.find(({ id, isDefault, phoneNumber }) =>
    from === null ? isDefault : id === from || phoneNumber === from
  )
  return number === undefined ? undefined : number.messagesPerSecond * campaign.share
}

/** How long `count` messages take at a pace in messages a second, as text; at least a second. */
export const lengthAt = (count: number, pace: number): string => lengthOf(Math.max(1000, count / pace * 1000))
