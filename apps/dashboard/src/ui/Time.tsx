/** Times on pages: relative to now, and exact with the time zone on hover. They share one clock. */
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

/** The time of the last tick; the current time while the clock is stopped. */
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

/** The result of `read` for the current time in milliseconds; the component renders again when the result changes. */
export const useNow = <A extends string | number | boolean>(read: (now: number) => A): A =>
  useSyncExternalStore(subscribe, () => read(present()))

/** The reader's time zone, which applies to fields for times. */
export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** The date and the exact time, with the time zone, as text. */
export const exactly = (at: string): string => exact.format(new Date(at))

/** A time, relative to now. */
export const Time = ({ at }: { readonly at: string }) => {
  const text = useNow((now) => relativeTo(now, Date.parse(at)))
  return <time dateTime={at} title={exactly(at)} className="whitespace-nowrap tabular-nums">{text}</time>
}

/** How much time remains until a time. */
export const Until = ({ at }: { readonly at: string }) => {
  const text = useNow((now) => lengthOf(Date.parse(at) - now))
  return <time dateTime={at} title={exactly(at)} className="whitespace-nowrap tabular-nums">{text}</time>
}

/** A time, or a text if there is none. */
export const TimeOr = ({ at, none }: { readonly at: string | null; readonly none: string }) =>
  at === null ? <span className="text-muted">{none}</span> : <Time at={at} />
