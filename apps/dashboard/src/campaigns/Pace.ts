/** How fast a campaign sends. */
import { useQuery } from "@tanstack/react-query"
import type { Campaign } from "@wac/client/internal"
import { phoneNumbersQuery } from "../numbers/Queries.ts"
import { lengthOf } from "../ui/Moment.ts"

/** How many messages a second a campaign may send; `undefined` until its phone number is loaded. */
export const usePace = ({ from, share }: Campaign): number | undefined => {
  const { data } = useQuery(phoneNumbersQuery)
  const number = data?.find(({ id, isDefault, phoneNumber }) =>
    from === null ? isDefault : id === from || phoneNumber === from
  )
  return number === undefined ? undefined : number.messagesPerSecond * share
}

/** How long `count` messages take at a pace in messages a second, as text; at least a second. */
export const lengthAt = (count: number, pace: number): string => lengthOf(Math.max(1000, count / pace * 1000))
