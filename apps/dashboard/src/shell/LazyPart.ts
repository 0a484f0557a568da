/**
 * Parts of the pages that are loaded when they are first needed, or before that while the browser is idle. A part that
 * the service does not serve now is asked for again until it does; nothing that is open is lost meanwhile.
 */
import { createElement, type FunctionComponent, type ReactNode, use, useSyncExternalStore } from "react"
import { pages } from "../session/Service.ts"

/** How long after a failure a part is asked for again, in milliseconds. */
const again = 2000

/** Parts that could not be loaded and are still asked for. */
let missing = 0
const listeners = new Set<() => void>()

const count = (change: number): void => {
  missing += change
  for (const listener of listeners) listener()
}

/** Whether a part could not be loaded, and is still asked for. */
export const useIsMissing = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => missing > 0
  )

/** Whether what is open has something that somebody may have filled in. */
const isFilledIn = (): boolean =>
  document.querySelector("#content form :is(textarea, select, input:not([type=search]))") !== null

/** Whether the service answers, though not with the part: it has the parts of another version. */
const isServed = async (): Promise<boolean> => {
  try {
    return (await fetch(pages, { cache: "no-store" })).ok
  } catch {
    return false
  }
}

const wait = (millis: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, millis)
  })

/** Asks for a part until it is there. Loads the page anew if only that can help, and nothing filled in is lost by it. */
const persist = async <Part>(load: () => Promise<Part>): Promise<Part> => {
  try {
    return await load()
  } catch {
    count(1)
    try {
      while (true) {
        await wait(again)
        const wasServed = await isServed()
        try {
          return await load()
        } catch {
          if (wasServed && !isFilledIn()) location.reload()
        }
      }
    } finally {
      count(-1)
    }
  }
}

const all: Array<() => Promise<unknown>> = []

/** The properties of a component. */
type PropsOf<Part> = Part extends (props: infer Props) => ReactNode ? Props : never

/** A component that is loaded when it is first shown, or by its `preload`, which does not fail. */
export const lazyPart = <Module, Name extends keyof Module>(load: () => Promise<Module>, name: Name) => {
  type Props = PropsOf<Module[Name]>
  let part: FunctionComponent<Props> | undefined
  let loading: Promise<void> | undefined
  const set = (module: Module) => {
    part = module[name] as FunctionComponent<Props>
  }
  const preload = () => part === undefined ? loading ??= persist(load).then(set) : undefined
  // nobody waits for it yet, so a failure is of no interest
  all.push(() => load().then(set, () => undefined))
  const Part = (props: Props) => {
    const waiting = preload()
    if (waiting !== undefined) use(waiting)
    return createElement(part as FunctionComponent<object>, props as object)
  }
  return Object.assign(Part, { preload })
}

/** Loads all parts, one after another, when the browser has nothing else to do. */
export const loadAhead = (): void => {
  const idle = (then: () => void) =>
    "requestIdleCallback" in window ? requestIdleCallback(then) : setTimeout(then, again)
  const next = (at: number): void => {
    const load = all[at]
    if (load !== undefined) idle(() => void load().then(() => next(at + 1)))
  }
  next(0)
}
