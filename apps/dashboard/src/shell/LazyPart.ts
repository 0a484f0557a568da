/**
 * Parts of the pages that are loaded when they are first needed, or earlier while the browser is idle. If a part cannot
 * be loaded, loading is repeated until it succeeds, and nothing that is open is lost meanwhile. If the service has
 * another version of the pages, only a reload helps.
 */
import { createElement, type FunctionComponent, type ReactNode, use, useSyncExternalStore } from "react"
import { pages } from "../session/Document.ts"

/** How long after a failure loading is repeated, in milliseconds. */
const again = 2000

/** The number of parts that could not be loaded and are still being requested. */
let missing = 0
/** Whether the service responds, but not with a missing part: most likely it has the parts of another version. */
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

/** Whether a part could not be loaded, and is still being requested. */
export const useIsMissing = (): boolean => useSyncExternalStore(subscribe, () => missing > 0)

/** Whether the service has another version of the dashboard, so that only a reload can help. */
export const useIsReplaced = (): boolean => useSyncExternalStore(subscribe, () => isReplaced)

/** Whether the open page has a form that may be filled in. */
const isFilledIn = (): boolean =>
  document.querySelector("#content form :is(textarea, select, input:not([type=search]))") !== null

/** The least time between two automatic reloads, in milliseconds: if one reload does not help, others hardly will. */
const between = 60_000

/** Reloads the page, unless a form would be lost, or the last automatic reload was too recent. */
export const renew = (): void => {
  const name = "wac-renewed"
  try {
    if (isFilledIn() || Date.now() - Number(sessionStorage.getItem(name)) < between) return
    sessionStorage.setItem(name, String(Date.now()))
    location.reload()
  } catch {
    // a browser may refuse storage: then the person has to reload
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
 * Requests a part again. Some browsers remember that the module at an address could not be loaded, so the address gets
 * a new fragment, which the service does not see. Safari's error has no address: there only a reload of the page helps.
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

/** Loads a part, and repeats that until it succeeds; never fails. */
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

/**
 * A component whose code is loaded when it is first shown, by its `preload`, or ahead while the browser is idle.
 * Loading never fails: it is repeated until it succeeds.
 */
export const lazyPart = <Module, Name extends keyof Module>(load: () => Promise<Module>, name: Name) => {
  type Props = PropsOf<Module[Name]>
  let part: FunctionComponent<Props> | undefined
  let loading: Promise<void> | undefined
  const keep = (module: Module) => {
    part = module[name] as FunctionComponent<Props>
  }
  const preload = () => part === undefined ? loading ??= persist(load).then(keep) : undefined
  // nothing waits for the part yet, so a failure is ignored
  all.push(() => load().then(keep, () => undefined))
  const Part = (props: Props) => {
    const waiting = preload()
    if (waiting !== undefined) use(waiting)
    return createElement(part as FunctionComponent<object>, props as object)
  }
  return Object.assign(Part, { preload })
}

/** Returns a function that loads a module which is needed only after a press; it is loaded ahead like parts. */
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
