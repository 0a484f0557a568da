/**
 * Parts of the pages that are loaded when they are first needed, or before that while the browser is idle. A part that
 * the service does not serve now is asked for again until it does; nothing that is open is lost meanwhile.
 */
import { createElement, type FunctionComponent, type ReactNode, use, useSyncExternalStore } from "react"
import { pages } from "../session/Document.ts"

/** How long after a failure a part is asked for again, in milliseconds. */
const again = 2000

/** Parts that could not be loaded and are still asked for. */
let missing = 0
/** Whether the service answered, though not with a missing part: most likely it has the parts of another version. */
let isReplaced = false
const listeners = new Set<() => void>()

const set = (count: number, replaced: boolean): void => {
  missing = count
  isReplaced = count > 0 && replaced
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Whether a part could not be loaded, and is still asked for. */
export const useIsMissing = (): boolean => useSyncExternalStore(subscribe, () => missing > 0)

/** Whether only loading the dashboard again can help, because the service has another version of it. */
export const useIsReplaced = (): boolean => useSyncExternalStore(subscribe, () => isReplaced)

/** Whether what is open has something that somebody may have filled in. */
const isFilledIn = (): boolean =>
  document.querySelector("#content form :is(textarea, select, input:not([type=search]))") !== null

/** The time between two times that a page loads itself again, in milliseconds: if the first did not help, little does. */
const between = 60_000

/** Loads the dashboard again at the present address, unless that would lose what was filled in. */
export const renew = (): void => {
  const name = "wac-renewed"
  try {
    if (isFilledIn() || Date.now() - Number(sessionStorage.getItem(name)) < between) return
    sessionStorage.setItem(name, String(Date.now()))
    location.reload()
  } catch {
    // a browser may keep nothing: then a person reloads
  }
}

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

let asked = 0

/**
 * Asks again for a part. Some browsers keep for a module's address that it could not be loaded, so the address gets a
 * new fragment, which the service does not see. Safari does not say the address: there the page is loaded again.
 */
const askAgain = async <Part>(load: () => Promise<Part>): Promise<Part> => {
  try {
    return await load()
  } catch (error) {
    const address = /https?:\S+\.js/.exec(String(error))?.[0]
    if (address === undefined) throw error
    return await import(/* @vite-ignore */ `${address}#${++asked}`)
  }
}

/** Asks for a part until it is there. */
const persist = async <Part>(load: () => Promise<Part>): Promise<Part> => {
  try {
    return await load()
  } catch {
    set(missing + 1, isReplaced)
  }
  try {
    while (true) {
      await wait(again)
      const wasServed = await isServed()
      try {
        return await askAgain(load)
      } catch {
        set(missing, wasServed)
      }
    }
  } finally {
    set(missing - 1, isReplaced)
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
  const keep = (module: Module) => {
    part = module[name] as FunctionComponent<Props>
  }
  const preload = () => part === undefined ? loading ??= persist(load).then(keep) : undefined
  // nobody waits for it yet, so a failure is of no interest
  all.push(() => load().then(keep, () => undefined))
  const Part = (props: Props) => {
    const waiting = preload()
    if (waiting !== undefined) use(waiting)
    return createElement(part as FunctionComponent<object>, props as object)
  }
  return Object.assign(Part, { preload })
}

/** A module that is needed only after a press, and loaded ahead as parts are. */
export const lazyModule = <Module>(load: () => Promise<Module>): () => Promise<Module> => {
  all.push(() => load().catch(() => undefined))
  return () => persist(load)
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
