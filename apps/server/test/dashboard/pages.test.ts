/**
 * Every page in each of its states: axe finds nothing to improve in light and dark, nothing is wider than a phone, and
 * the text of customers and receivers stays text. Pictures of all of them are left in `screenshots`.
 */
import axe from "axe-core"
import { Effect, Exit, Scope } from "effect"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Browser, Page, Route } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { browser as launch, desktop, signedIn, visit } from "./browser.ts"
import * as workspace from "./workspace.ts"

/** What its script puts into a page. */
type Axe = typeof axe

const pictures = join(import.meta.dirname, "screenshots")
const phone = { width: 375, height: 812 }

const scope = Effect.runSync(Scope.make())
const inScope = <A>(effect: Effect.Effect<A, unknown, Scope.Scope>): Promise<A> =>
  Effect.runPromise(Scope.provide(Effect.orDie(effect), scope))

let browser: Browser
let filled: Effect.Success<typeof workspace.filled>
let empty: Effect.Success<typeof workspace.empty>

beforeAll(async () => {
  mkdirSync(pictures, { recursive: true })
  ;[browser, filled, empty] = await Promise.all([inScope(launch), inScope(workspace.filled), inScope(workspace.empty)])
}, 120_000)
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

/** The pages behind the sign-in, by the name of their picture. */
const pages = (): { readonly [name: string]: string } => ({
  overview: "",
  alerts: "/alerts",
  "get-started": "/start",
  messages: "/messages",
  message: `/messages/${filled.message}`,
  "message-failed": `/messages/${filled.failed}`,
  "send-a-message": "/messages/new?to=%2B15551234567",
  events: "/events",
  event: `/events/${filled.event}`,
  deliveries: "/deliveries",
  delivery: `/deliveries/${filled.delivery}`,
  requests: "/requests",
  usage: "/usage",
  templates: "/templates",
  contacts: "/contacts",
  contact: `/contacts/${filled.contact}`,
  "phone-numbers": "/phone-numbers",
  "api-keys": "/api-keys",
  "api-key": `/api-keys/${filled.key.id}`,
  webhook: "/settings/webhook",
  members: "/settings/members",
  audit: "/settings/audit",
  account: "/account",
  missing: "/nothing/here"
})

/** Suspends until the page is there, and nothing on it is being loaded. */
const settled = async (page: Page): Promise<void> => {
  await page.getByRole("heading", { level: 1 }).waitFor()
  await page.waitForFunction(() =>
    ![...document.querySelectorAll("[role=status]")].some((element) => element.textContent === "Loading")
  )
  await page.evaluate(() => document.fonts.ready)
}

/** What axe has to say; colours alone, where the rest was looked at already. */
const violations = async (page: Page, ...only: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  // by the debugger, whose scripts the page's policy does not concern
  await page.evaluate(axe.source)
  return page.evaluate(async (only) => {
    const { violations } = await (window as unknown as { readonly axe: Axe }).axe.run(
      document,
      only.length === 0 ? {} : { runOnly: [...only] }
    )
    return violations.flatMap(({ help, id, nodes }) =>
      nodes.map(({ failureSummary, html }) => `${id}: ${help}\n${html}\n${failureSummary}`)
    )
  }, only)
}

/** What is wrong with a page as it is now: light and dark, wide and narrow. */
const look = async (
  page: Page,
  name: string,
  options: { readonly isPictured?: boolean } = {}
): Promise<ReadonlyArray<string>> => {
  const picture = (kind: string) =>
    options.isPictured === false
      ? Promise.resolve()
      : page.screenshot({ path: join(pictures, `${name}-${kind}.png`), animations: "disabled" })
  await page.setViewportSize(desktop)
  await page.emulateMedia({ colorScheme: "light" })
  const light = await violations(page)
  await picture("light")
  await page.emulateMedia({ colorScheme: "dark" })
  const dark = await violations(page, "color-contrast")
  await picture("dark")
  await page.emulateMedia({ colorScheme: "light" })
  await page.setViewportSize(phone)
  const width = await page.evaluate(() => document.documentElement.scrollWidth)
  await picture("phone")
  await page.setViewportSize(desktop)
  return [...light, ...dark.map((text) => `dark: ${text}`), ...width > phone.width ? [`${width} pixels wide`] : []]
    .map((text) => `${name}: ${text}`)
}

describe("every page, light, dark and on a phone", () => {
  it("is sound and accessible when it shows what has happened", async () => {
    const person = await signedIn(browser, filled)
    const wrong: Array<string> = []
    for (const [name, path] of Object.entries(pages())) {
      await person.open(path)
      await settled(person.page)
      wrong.push(...await look(person.page, name))
      assert.match(await person.page.title(), / · wac$/, name)
    }
    assert.deepStrictEqual(wrong, [])
    person.assertSound()
    // each place of the menu is among them
    await person.open("")
    const links = await person.page.getByRole("navigation", { name: "Pages", exact: true }).getByRole("link").all()
    for (const link of links) {
      const path = (await link.getAttribute("href"))!.replace(/^\/dashboard\/?/, "/").replace(/^\/$/, "")
      assert.include(Object.values(pages()), path)
    }
    await person.end()
  })

  it("is sound and accessible when nothing has happened yet", async () => {
    const person = await signedIn(browser, empty)
    const wrong: Array<string> = []
    for (const [name, path] of Object.entries(pages())) {
      await person.open(path)
      await settled(person.page)
      wrong.push(...await look(person.page, `${name}-empty`))
    }
    assert.deepStrictEqual(wrong, [])
    person.assertSound()
    await person.end()
  })

  const api = /\/internal\/(?!session)/

  it("is sound and accessible while it loads", async () => {
    const person = await signedIn(browser, filled)
    await person.page.route(api, () => {})
    const wrong: Array<string> = []
    for (const [name, path] of Object.entries(pages())) {
      await person.open(path)
      await person.page.getByRole("heading", { level: 1 }).waitFor()
      wrong.push(...await look(person.page, `${name}-loading`, { isPictured: name === "messages" }))
    }
    assert.deepStrictEqual(wrong, [])
    person.assertSound()
    await person.end()
  })

  it("is sound and accessible when the service refuses, and names the request", async () => {
    const person = await signedIn(browser, filled)
    await person.page.route(api, (route: Route) =>
      route.fulfill({
        status: 403,
        headers: { "request-id": "req_01M84JBXAVAFGRPZK56RBZ3V6M" },
        json: {
          error: {
            code: "forbidden",
            reason: "role",
            message: "this needs the role developer",
            request_id: "req_01M84JBXAVAFGRPZK56RBZ3V6M"
          }
        }
      }))
    const wrong: Array<string> = []
    for (const [name, path] of Object.entries(pages())) {
      await person.open(path)
      await settled(person.page)
      if (name !== "missing") {
        assert.include(await person.page.locator("main").innerText(), "req_01M84JBXAVAFGRPZK56RBZ3V6M", name)
      }
      wrong.push(...await look(person.page, `${name}-error`, { isPictured: name === "messages" }))
    }
    assert.deepStrictEqual(wrong, [])
    person.assertSound()
    await person.end()
  })

  it("keeps what it showed when the service is out of reach, and says how old that is", async () => {
    const person = await signedIn(browser, filled)
    const { page } = person
    const wrong: Array<string> = []
    for (const [name, path] of Object.entries(pages())) {
      // none of these asks again by itself: what does not change, what is not there, and a form
      if (["event", "missing", "send-a-message"].includes(name)) continue
      await person.open(path)
      await settled(page)
      await page.route(api, (route) => route.abort())
      const stale = page.locator("main").getByText("the service does not respond now").first()
      while (!(await stale.isVisible())) await page.clock.runFor(1000)
      wrong.push(...await look(page, `${name}-stale`, { isPictured: name === "messages" }))
      await page.unroute(api)
    }
    assert.deepStrictEqual(wrong, [])
    await person.end()
  })

  it("is sound and accessible before anybody is signed in", async () => {
    const person = await visit(browser, empty.url)
    const wrong: Array<string> = []
    const outside = {
      "sign-in": "",
      "set-up": "/setup#x",
      invitation: "/invitation#token=x",
      "password-reset": "/password-reset#token=x"
    }
    for (const [name, path] of Object.entries(outside)) {
      await person.open(path)
      // the fragment alone would not load the page
      await person.page.reload()
      await settled(person.page)
      wrong.push(...await look(person.page, name))
      assert.match(await person.page.title(), / · wac$/, name)
    }
    assert.deepStrictEqual(wrong, [])
    person.assertSound()
    await person.end()
  })

  it("is sound and accessible with each dialog open over it", async () => {
    const person = await signedIn(browser, filled)
    const { page } = person
    const wrong: Array<string> = []
    const dialogs: ReadonlyArray<readonly [path: string, button: string]> = [
      ["/api-keys", "Create API key"],
      ["/api-keys", "Revoke Newsletter"],
      ["/settings/webhook", "Edit…"],
      ["/settings/webhook", "Pause…"],
      ["/settings/webhook", "Rotate secret…"],
      ["/settings/webhook", "Remove…"],
      ["/settings/webhook", "Replay events"],
      ["/settings/members", "Invite a person"],
      ["/templates", "order_update"]
    ]
    for (const [path, name] of dialogs) {
      await person.open(path)
      await page.getByRole("button", { name, exact: true }).click()
      await page.getByRole("dialog").waitFor()
      wrong.push(...await look(page, `dialog-${name.replace(/\W+/g, "-").toLowerCase()}`))
      await page.keyboard.press("Escape")
      await page.getByRole("dialog").waitFor({ state: "detached" })
    }
    await page.keyboard.press("ControlOrMeta+k")
    await page.getByRole("combobox", { name: "Page, identifier or number" }).fill("deliver")
    wrong.push(...await look(page, "dialog-command-menu"))
    // by the keyboard alone
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Deliveries" }).waitFor()
    assert.deepStrictEqual(wrong, [])
    person.assertSound()
    await person.end()
  })
})
