/** A time, relative to now and exact on hover, with the time zone named. */
import { useSyncExternalStore } from "react"
import { locale } from "./Language.ts"
import { lengthOf, relativeTo } from "./Moment.ts"

const exact = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "long" })

const every = 1000

/** One clock for the page, which ticks while a time is shown. */
let ticked = Date.now()
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

const tick = () => {
  ticked = Date.now()
  for (const each of listeners) each()
}

/** The time of the last tick; while the clock stands, the present time. */
const present = (): number => {
  if (timer === undefined) ticked = Date.now()
  return ticked
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  timer ??= setInterval(tick, every)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** The result of `read` for the current time; renders when that changes. */
export const useNow = <A extends string | number | boolean>(read: (now: number) => A): A =>
  useSyncExternalStore(subscribe, () => read(present()))

/** The reader's time zone, in which fields for times are read. */
export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** The exact time in words. */
export const exactly = (at: string): string => exact.format(new Date(at))

export const Time = ({ at }: { readonly at: string }) => {
  const text = useNow((now) => relativeTo(now, Date.parse(at)))
  return <time dateTime={at} title={exactly(at)} className="whitespace-nowrap tabular-nums">{text}</time>
}

/** How long it is until then. */
export const Until = ({ at }: { readonly at: string }) => {
  const text = useNow((now) => lengthOf(Date.parse(at) - now))
  return <time dateTime={at} title={exactly(at)} className="whitespace-nowrap tabular-nums">{text}</time>
}

/** A time that may not have come. */
export const TimeOr = ({ at, none }: { readonly at: string | null; readonly none: string }) =>
  at === null ? <span className="text-muted">{none}</span> : <Time at={at} />
