/**
 * A person at a real browser.
 */
import { assert } from "@effect/vitest"
import * as Chromium from "@wac/testbed/Chromium"
import { Effect } from "effect"
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import type { Movable } from "../movable.ts"

const launched = (...args: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.promise(() => Chromium.launch(...args)),
    (browser) => Effect.promise(() => browser.close())
  )

/** A browser for as long as the scope. */
export const browser = launched()

/** The same, which keeps no cookies of other sites but partitioned ones. */
export const strictBrowser = launched("--test-third-party-cookie-phaseout")

/** What a person has before them, and what went wrong behind it. */
export interface Visit {
  readonly page: Page
  /** Opens a page of the dashboard by its path, `/messages`. */
  readonly open: (path: string) => Promise<void>
  /** Fails if anything went wrong so far: see {@link visit}. */
  readonly assertSound: () => void
  readonly end: () => Promise<void>
}

/** A window on a usual screen. */
export const desktop = { width: 1280, height: 900 }

/** Chromium writes a line for each refusal by the service; whether one is expected is for the test to say. */
const isRefusal = (text: string): boolean =>
  /^Failed to load resource: the server responded with a status of 4\d\d /.test(text)

/**
 * A person's own browser window, with nobody signed in. Recorded as wrong are exceptions, errors on the console,
 * answers of 500 and above, and requests to anywhere but the service and `others`.
 */
export const visit = async (
  browser: Browser,
  url: string,
  options: BrowserContextOptions & { readonly others?: ReadonlyArray<string> } = {}
): Promise<Visit> => {
  const { others = [], ...contextOptions } = options
  const context = await browser.newContext({
    viewport: desktop,
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    // what appears is there at once: nothing is looked at half way
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
    ...contextOptions
  })
  const page = await context.newPage()
  page.setDefaultTimeout(300_000)
  const troubles: Array<string> = []
  page.on("pageerror", (error) => troubles.push(`exception: ${error.stack ?? error.message}`))
  page.on("console", (message) => {
    if (message.type() === "error" && !isRefusal(message.text())) troubles.push(`console: ${message.text()}`)
  })
  page.on("response", (response) => {
    if (response.status() >= 500) troubles.push(`${response.status()} ${response.request().method()} ${response.url()}`)
  })
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url())
    if (![url, ...others].includes(origin) && protocol !== "data:") troubles.push(`elsewhere: ${request.url()}`)
  })
  return {
    page,
    open: async (path) => void await page.goto(`${url}/dashboard${path}`),
    assertSound: () => assert.deepStrictEqual(troubles, []),
    end: () => context.close()
  }
}

/** A person with a session, at the service's time. */
export const signedIn = async (
  browser: Browser,
  { clock, session, url }: Movable & { readonly url: string; readonly session: { readonly cookie: string } }
): Promise<Visit> => {
  const person = await visit(browser, url)
  const [name, value] = session.cookie.split("=") as [string, string]
  await person.page.context().addCookies([{ name, value, url }])
  await person.page.clock.install({ time: clock.currentTimeMillisUnsafe() })
  return person
}

/** The dialog that is open, or is about to be. */
export const dialog = (page: Page, name: string | RegExp) => page.getByRole("dialog", { name })

/** A button of the page or of a part of it. */
export const button = (within: Pick<Page, "getByRole">, name: string | RegExp) =>
  within.getByRole("button", { name, exact: typeof name === "string" })

/**
 * Does something while the page learns nothing by itself: what it asks for to be up to date waits until it is done. So
 * it is by what is done that the page notices a change.
 */
export const unasked = async (page: Page, act: () => Promise<unknown>): Promise<void> => {
  const asked = /\/internal\/(?!sign-in)/
  const done = Promise.withResolvers<void>()
  await page.route(asked, async (route) => {
    if (route.request().method() === "GET") await done.promise
    await route.fallback()
  })
  await act()
  done.resolve()
  await page.unroute(asked)
}
