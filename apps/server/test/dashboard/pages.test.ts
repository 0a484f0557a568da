/**
 * Every page in each of its states: axe finds nothing to improve in light and dark, nothing is wider than a phone, no
 * field is too narrow to read on a phone, and the text of customers and receivers stays text. The full form
 * (`npm run long -- dashboard/pages`) visits every page in the states that pages share, and leaves pictures in
 * `screenshots`.
 */
import * as Extent from "@wac/testbed/Extent"
import type { Effect } from "effect"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Browser, Page, Route } from "playwright-core"
import { assert, beforeAll, describe, it } from "vitest"
import { violations } from "./axe.ts"
import { browser as launch, button, desktop, dialog, signedIn, unasked, visit } from "./browser.ts"
import * as Scope from "./scope.ts"
import * as workspace from "./workspace.ts"

const pictures = join(import.meta.dirname, "screenshots")
const phone = { width: 375, height: 812 }
/** The width from which a word can be read in a field, in pixels. */
const readable = 96

const inScope = Scope.ofFile()

let browser: Browser
let filled: Effect.Success<typeof workspace.filled>
let empty: Effect.Success<typeof workspace.empty>

beforeAll(async () => {
  mkdirSync(pictures, { recursive: true })
  ;[browser, filled, empty] = await Promise.all([inScope(launch), inScope(workspace.filled), inScope(workspace.empty)])
})

/** The pages behind the sign-in, by the name of their picture. */
const pages = (): { readonly [name: string]: string } => ({
  overview: "",
  alerts: "/alerts",
  "get-started": "/start",
  messages: "/messages",
  message: `/messages/${filled.message}`,
  "message-failed": `/messages/${filled.failed}`,
  "message-queued": `/messages/${filled.queued}`,
  "send-a-message": "/messages/new?to=%2B15551234567",
  campaigns: "/campaigns",
  campaign: `/campaigns/${filled.campaign}`,
  "new-campaign": "/campaigns/new",
  events: "/events",
  event: `/events/${filled.event}`,
  deliveries: "/deliveries",
  delivery: `/deliveries/${filled.delivery}`,
  requests: "/requests",
  usage: "/usage",
  templates: "/templates",
  template: `/templates/${filled.template}`,
  "new-template": "/templates/new",
  "edit-template": `/templates/${filled.template}/edit`,
  contacts: "/contacts",
  contact: `/contacts/${filled.contact}`,
  "phone-numbers": "/phone-numbers",
  "api-keys": "/api-keys",
  "api-key": `/api-keys/${filled.key.id}`,
  webhook: "/settings/webhook",
  "opt-out-words": "/settings/opt-out",
  members: "/settings/members",
  audit: "/settings/audit",
  account: "/account",
  missing: "/nothing/here"
})

/**
 * The pages that are looked at when they are empty, loading, refused or stale. One component shows these states on
 * every page, so the short form has one page of each kind: figures, a list, a detail, a form, settings.
 */
const pagesOfStates = (): ReadonlyArray<readonly [name: string, path: string]> => {
  const kinds = ["overview", "messages", "delivery", "send-a-message", "webhook"]
  const all = Object.entries(pages())
  return Extent.of(all.filter(([name]) => kinds.includes(name)), all)
}

/** Whether pictures are left: they cost more than everything else. */
const isPicturing = Extent.of(false, true)

/** Whether to look at a page in a state that it shares with others: in the short form, one page represents them. */
const isLookedAt = (name: string, representative: string): boolean => Extent.of(name === representative, true)

/** Whether a page asks again by itself: not what does not change, what is not there, and a form. */
const asksAgain = (name: string): boolean =>
  !["event", "missing", "new-campaign", "new-template", "edit-template", "send-a-message", "opt-out-words"].includes(
    name
  )

/** Suspends until the page is there, and nothing on it is being loaded. */
const settled = async (page: Page): Promise<void> => {
  await page.getByRole("heading", { level: 1 }).waitFor()
  await page.waitForFunction(() =>
    ![...document.querySelectorAll("[role=status]")].some((element) => element.textContent === "Loading")
  )
  await page.evaluate(() => document.fonts.ready)
}

/** What reaches beyond a phone. A hint gets its new place a frame after the window got its size, so this suspends for it. */
const wider = async (page: Page): Promise<ReadonlyArray<string>> => {
  const fits = (width: number) => document.documentElement.scrollWidth <= width
  await page.waitForFunction(fits, phone.width, { timeout: 5_000 }).catch(() => {})
  return page.evaluate((width) => {
    const { scrollWidth } = document.documentElement
    if (scrollWidth <= width) return []
    const beyond = [...document.querySelectorAll("body *")]
      .filter((element) => element.getBoundingClientRect().right > width)
      .map(({ className, tagName }) => `${tagName}.${className}`)
    return [`${scrollWidth} pixels wide, by ${beyond.join(", ")}`]
  }, phone.width)
}

/** What is wrong with a page as it is now: light and dark, wide and narrow. */
const look = async (
  page: Page,
  name: string,
  options: { readonly isPictured?: boolean } = {}
): Promise<ReadonlyArray<string>> => {
  const picture = (kind: string) =>
    !isPicturing || options.isPictured === false
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
  const wide = await wider(page)
  const narrow = await page.evaluate(
    (least) =>
      [...document.querySelectorAll<HTMLElement>("select, input.field, textarea")]
        .filter(({ clientWidth }) => clientWidth > 0 && clientWidth < least)
        .map(({ clientWidth, id }) =>
          `${document.querySelector(`[for="${id}"]`)?.textContent} is ${clientWidth} pixels wide`
        ),
    readable
  )
  await picture("phone")
  await page.setViewportSize(desktop)
  return [
    ...light,
    ...dark.map((text) => `dark: ${text}`),
    ...wide,
    ...narrow
  ]
    .map((text) => `${name}: ${text}`)
}

describe("every page, light, dark and on a phone", () => {
  it("every page is sound and accessible when it shows what has happened", async () => {
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

  it("a chart with a chosen step and its table is sound and accessible", async () => {
    const person = await signedIn(browser, filled)
    await person.open("/usage?since=quarter")
    await settled(person.page)
    await person.page.getByRole("slider").first().focus()
    await person.page.keyboard.press("End")
    for (const summary of await person.page.getByText("All numbers").all()) await summary.click()
    assert.deepStrictEqual(await look(person.page, "usage-chosen"), [])
    person.assertSound()
    await person.end()
  })

  it("every page is sound and accessible when nothing has happened yet", async () => {
    const person = await signedIn(browser, empty)
    const wrong: Array<string> = []
    for (const [name, path] of pagesOfStates()) {
      await person.open(path)
      await settled(person.page)
      wrong.push(...await look(person.page, `${name}-empty`))
    }
    assert.deepStrictEqual(wrong, [])
    person.assertSound()
    await person.end()
  })

  const api = /\/internal\/(?!session)/

  it("every page is sound and accessible while it loads", async () => {
    const person = await signedIn(browser, filled)
    await person.page.route(api, () => {})
    const wrong: Array<string> = []
    for (const [name, path] of pagesOfStates()) {
      await person.open(path)
      await person.page.getByRole("heading", { level: 1 }).waitFor()
      wrong.push(...await look(person.page, `${name}-loading`, { isPictured: name === "messages" }))
    }
    assert.deepStrictEqual(wrong, [])
    person.assertSound()
    await person.end()
  })

  it("every page is sound and accessible when the service refuses, and names the request", async () => {
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
    for (const [name, path] of pagesOfStates()) {
      await person.open(path)
      await settled(person.page)
      // these ask the service for nothing
      if (!["missing", "new-template"].includes(name)) {
        assert.include(await person.page.locator("main").innerText(), "req_01M84JBXAVAFGRPZK56RBZ3V6M", name)
      }
      wrong.push(...await look(person.page, `${name}-error`, { isPictured: name === "messages" }))
    }
    assert.deepStrictEqual(wrong, [])
    person.assertSound()
    await person.end()
  })

  it("every page keeps its content when the service is unreachable, and shows how old that is", async () => {
    const person = await signedIn(browser, filled)
    const { page } = person
    const wrong: Array<string> = []
    for (const [name, path] of pagesOfStates()) {
      if (!asksAgain(name)) continue
      await person.open(path)
      await settled(page)
      await page.route(api, (route) => route.abort())
      const stale = page.locator("main").getByText("the service does not respond now").first()
      for (let seconds = 0; !(await stale.isVisible()); seconds++) {
        assert.isBelow(seconds, 120, `${name} does not say that the service does not respond`)
        await page.clock.runFor(1000)
      }
      wrong.push(...await look(page, `${name}-stale`, { isPictured: name === "messages" }))
      await page.unroute(api)
    }
    assert.deepStrictEqual(wrong, [])
    await person.end()
  })

  it("every page is sound and accessible before anybody is signed in", async () => {
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

  it("every page is sound and accessible when a role may not do what it offers, and shows why", async () => {
    const session = await inScope(workspace.asMember(filled))
    const person = await signedIn(browser, { ...filled, session })
    const { page } = person
    const wrong: Array<string> = []
    const refusing = [
      "api-keys",
      "api-key",
      "webhook",
      "delivery",
      "send-a-message",
      "message-queued",
      "templates",
      "members",
      "audit",
      "opt-out-words",
      "campaigns",
      "campaign"
    ]
    for (const name of [...refusing, "alerts"]) {
      await person.open(pages()[name]!)
      await settled(page)
      if (isLookedAt(name, "api-keys")) {
        wrong.push(...await look(page, `${name}-member`, { isPictured: name === "api-keys" }))
      }
      assert.match(await page.locator("main").innerText(), /This needs the role \w+; you are member\./, name)
    }
    assert.deepStrictEqual(wrong, [])
    person.assertSound()
    await person.end()
  })

  it("every page is sound and accessible while the webhook fails, is paused, and is resumed in vain", async () => {
    const failing = await inScope(workspace.failing)
    const person = await signedIn(browser, failing)
    const { page } = person
    const banner = page.getByRole("region", { name: "Webhook alert" })
    const wrong: Array<string> = []
    for (const name of ["overview", "webhook", "messages", "deliveries"] as const) {
      await person.open(pages()[name]!)
      await settled(page)
      await banner.getByText("The webhook is failing").waitFor()
      if (isLookedAt(name, "overview")) wrong.push(...await look(page, `${name}-failing`))
    }
    await page.evaluate(() => fetch("/internal/webhook/pause", { method: "POST" }))
    for (const name of ["overview", "webhook", "messages", "deliveries"] as const) {
      await person.open(pages()[name]!)
      await settled(page)
      await banner.getByText("The webhook is paused").waitFor()
      if (isLookedAt(name, "overview")) wrong.push(...await look(page, `${name}-paused`))
    }
    await person.open("/settings/webhook")
    await button(page, "Resume…").click()
    await dialog(page, "Resume the webhook").getByLabel(/since a time/).check()
    wrong.push(...await look(page, "dialog-resume"))
    await dialog(page, "Resume the webhook").getByLabel(/Deliver none: skips 6 held events/).check()
    await button(page, "Resume").click()
    await page.getByText("The probe failed").waitFor()
    wrong.push(...await look(page, "dialog-resume-probe"))
    assert.include(await dialog(page, "Resume the webhook").innerText(), "503")
    assert.deepStrictEqual(wrong, [])
    person.assertSound()
    await person.end()
  })

  it("every page is sound and accessible while queued messages are held after a restore", async () => {
    const restored = await inScope(workspace.restored)
    const person = await signedIn(browser, restored)
    const { page } = person
    const wrong: Array<string> = []
    for (
      const [name, path] of [["overview", ""], ["messages", "/messages"], ["message", `/messages/${restored.queued}`]]
    ) {
      await person.open(path!)
      await settled(page)
      await button(page, "Release…").waitFor()
      wrong.push(...await look(page, `${name}-held`))
    }
    await button(page, "Release…").click()
    await dialog(page, "Release the queue?").waitFor()
    wrong.push(...await look(page, "dialog-release"))
    assert.deepStrictEqual(wrong, [])
    person.assertSound()
    await person.end()
  })

  it("every page is sound and accessible with each dialog open over it", async () => {
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
      [`/messages/${filled.queued}`, "Cancel message…"]
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

  it("every page shows text of customers, receivers and the provider as text, whatever it is", async () => {
    const person = await signedIn(browser, filled)
    const { page } = person
    const hostile = `<img src="/x" onerror="window.harmed = true"><script>window.harmed = true</script>{{1}}`
    // what others than the workspace's own people have written, wherever it is in a response
    const foreign = new Set([
      "agent",
      "body",
      "clientReference",
      "content-type",
      "email",
      "message",
      "name",
      "phone",
      "quality",
      "rejectionReason",
      "text",
      "title",
      "unfillable",
      "url",
      "userId",
      "workspaceName"
    ])
    const spoil = (value: unknown, field = ""): unknown =>
      typeof value === "string"
        ? foreign.has(field) ? hostile : value
        : Array.isArray(value)
        ? value.map((each: unknown) => spoil(each, field))
        : typeof value === "object" && value !== null
        ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, spoil(each, name)]))
        : value
    await page.route(/\/internal\/(?!stream)/, async (route) => {
      const response = await route.fetch()
      const text = await response.text()
      await route.fulfill({ response, ...(text === "" ? {} : { json: spoil(JSON.parse(text)) }) })
    })
    let shown = 0
    for (const [name, path] of Object.entries(pages())) {
      await person.open(path)
      await settled(page)
      const harm = await page.evaluate(() => ({
        isHarmed: "harmed" in window,
        elements: document.querySelectorAll("img[src='/x'], main script").length
      }))
      assert.deepStrictEqual(harm, { isHarmed: false, elements: 0 }, name)
      if ((await page.locator("main").innerText()).includes(hostile)) shown++
    }
    assert.isAbove(shown, 10)
    person.assertSound()
    await person.end()
  })

  it("a failure that a later report corrected is shown as corrected, and its message as delivered", async () => {
    const person = await signedIn(browser, filled)
    const { page } = person
    // the sandbox reports nothing after a failure
    await page.route(`**/internal/messages/${filled.failed}`, async (route) => {
      const response = await route.fetch()
      const message = await response.json()
      const corrected = { status: "delivered", deliveredAt: message.failedAt, failedAt: null, error: null }
      await route.fulfill({ response, json: { ...message, ...corrected } })
    })
    await page.route("**/internal/events?*", async (route) => {
      const response = await route.fetch()
      const list = await response.json()
      const failure = list.data.find(({ type }: { readonly type: string }) => type === "message.failed")
      const { error: _, failed_at, ...data } = failure.data
      const correction = {
        ...failure,
        id: "evt_corrected",
        type: "message.delivered",
        data: { ...data, status: "delivered", delivered_at: failed_at, corrects: "failed", sequence: data.sequence + 1 }
      }
      await route.fulfill({ response, json: { ...list, data: [correction, ...list.data] } })
    })
    await person.open(`/messages/${filled.failed}`)
    const steps = page.getByRole("listitem").filter({ hasText: "after the step before" })
    await steps.filter({ hasText: "Reported as failed, which a later report corrected" }).getByRole("link", {
      name: "message.failed",
      exact: true
    }).waitFor()
    await steps.filter({ hasText: "Arrived at the phone" }).getByRole("link", {
      name: "message.delivered",
      exact: true
    })
      .waitFor()
    assert.strictEqual(await page.getByText("What to do about it").count(), 0)
    person.assertSound()
    await person.end()
  })

  it("results, secrets, mistakes and menus are sound and accessible", async () => {
    const ways = await inScope(workspace.filled)
    const person = await signedIn(browser, ways)
    const { page } = person
    const wrong: Array<string> = []
    const see = async (name: string) => void wrong.push(...await look(page, name))

    await person.open("/api-keys?dialog=create")
    const creating = dialog(page, "Create an API key")
    await creating.getByLabel("Name").fill("<b>Shop</b>")
    await creating.getByLabel("Expires").selectOption("At a time…")
    await creating.getByLabel("Expires at").fill("2020-01-01T00:00")
    await button(creating, "Create key").click()
    await creating.getByText("Must be in the future.", { exact: true }).waitFor()
    await see("dialog-key-mistake")
    await creating.getByLabel("Expires", { exact: true }).selectOption("Never")
    await button(creating, "Create key").click()
    const created = dialog(page, "API key “<b>Shop</b>”")
    await created.getByText("Try it: send a first message").click()
    await see("dialog-key-secrets")

    await person.open("/settings/webhook")
    await button(page, "Send test event").click()
    await page.getByRole("heading", { name: "Test event" }).waitFor()
    await page.getByLabel("Signature header").fill("t=1,v1=00")
    await page.getByLabel("Raw body").fill("<script>alert(1)</script>")
    await button(page, "Check signature").click()
    await page.getByText("The signature is not valid.").waitFor()
    await see("webhook-results")
    await button(page, "Rotate secret…").click()
    await button(page, "Rotate secret").click()
    await dialog(page, "Store the signing secret now").waitFor()
    await see("dialog-secret")

    await person.open("/settings/members?dialog=invite")
    await page.getByLabel("E-mail").fill("new@example.com")
    await button(page, "Invite").click()
    await dialog(page, "The invitation’s link").waitFor()
    await see("dialog-invitation")

    await person.open("/deliveries")
    await page.getByLabel("Choose all on this page").check()
    await button(page, "Deliver again…").click()
    await page.getByRole("dialog").waitFor()
    await see("dialog-deliver-again")

    await person.open("/messages/new?to=%2B15551234567")
    await page.getByLabel("Text, while the customer’s service window is open").check()
    await page.getByLabel("Text", { exact: true }).fill("<img src=x onerror=alert(1)>")
    await button(page, "Send message").click()
    await page.getByRole("alert").waitFor()
    await see("send-a-message-refused")

    await person.open("/messages/new?to=%2B15551234567")
    await page.getByLabel("Later, at a time").check()
    const tomorrow = await page.evaluate(() => new Date(Date.now() + 24 * 60 * 60 * 1000).toISOString().slice(0, 16))
    await page.getByLabel("Send at").fill(tomorrow)
    await page.getByLabel("Do not send after").fill(tomorrow)
    await page.getByLabel("Template", { exact: true }).selectOption({ label: "hello_world · en_US" })
    await button(page, "Queue message").click()
    await page.getByRole("alert").waitFor()
    await see("send-later-refused")
    await page.getByLabel("Do not send after").fill("")
    await button(page, "Queue message").click()
    await page.getByRole("link", { name: "Open the message" }).waitFor()
    await see("send-later")
    await person.open("/messages?status=queued")
    await button(page, /^Cancel all/).click()
    await page.getByText("All of the list with this filter:").waitFor()
    await button(page, "Cancel messages").waitFor()
    await see("dialog-cancel-queued")
    await button(page, "Cancel").click()
    await page.getByRole("link", { name: "+15551234567" }).click()
    await button(page, "Cancel message…").click()
    await button(dialog(page, "Cancel the message?"), "Cancel message").click()
    await page.getByText("The message is cancelled").waitFor()
    await see("message-cancelled")

    await person.open("/messages?reference=nothing&status=failed")
    await page.getByText("No message fits these filters").waitFor()
    await see("messages-none")

    const enrolment = {
      secret: "GEZDGNBVGY3TQOJQ",
      uri: "otpauth://totp/wac:owner@example.com?secret=GEZDGNBVGY3TQOJQ"
    }
    await page.route("**/internal/factor", (route) =>
      route.request().method() === "PUT"
        ? route.fulfill({ json: enrolment })
        : route.fulfill({ json: { isOn: false, hasApp: false, passkeys: [], recoveryCodesLeft: 0 } }))
    await page.route(
      "**/internal/factor/confirm",
      (route) => route.fulfill({ json: { recoveryCodes: ["4k2m-x9qd-7hwt"] } })
    )
    await person.open("/account")
    await button(page, "Set up an app").click()
    await page.getByLabel("Code", { exact: true }).fill("000000")
    await see("second-factor")
    await button(page, "Switch on").click()
    await button(page, "I have kept them").waitFor()
    await see("second-factor-codes")
    await button(page, "I have kept them").click()
    await page.unroute("**/internal/factor")
    const passkeys = ["My laptop", "A phone with a name that is longer than most are"].map((name, i) => ({
      id: `psk_${i}`,
      name,
      createdAt: "2026-01-02T03:04:05.678Z",
      lastUsedAt: i === 0 ? null : "2026-01-02T03:04:05.678Z"
    }))
    await page.route(
      "**/internal/factor",
      (route) => route.fulfill({ json: { isOn: true, hasApp: false, passkeys, recoveryCodesLeft: 9 } })
    )
    await person.open("/account")
    await page.getByRole("row", { name: /My laptop/ }).waitFor()
    await see("passkeys")
    await button(page, "Remove My laptop").click()
    await button(dialog(page, "Remove the passkey My laptop?"), "Remove").waitFor()
    await see("dialog-remove-passkey")
    await page.unroute("**/internal/factor")
    await person.open("/account")

    await page.getByRole("button", { name: /owner@example/ }).click()
    await page.getByLabel("Appearance").waitFor()
    await see("menu-account")
    await page.setViewportSize(phone)
    await button(page, "Menu").click()
    await button(page, "Close menu").waitFor()
    wrong.push(...await violations(page))

    await page.setViewportSize(desktop)
    await person.open("/api-keys?dialog=create")
    await page.getByLabel("Name").fill("Kept")
    await unasked(page, async () => {
      await page.evaluate(() => fetch("/internal/session", { method: "DELETE" }))
      await button(page, "Create key").click()
      await dialog(page, "Your session has ended").getByLabel("Password").waitFor()
    })
    await see("dialog-session-ended")
    await page.route("**/internal/session", (route) =>
      route.request().method() === "POST"
        ? route.fulfill({
          status: 401,
          json: {
            error: {
              code: "unauthorized",
              reason: "second_factor_required",
              challenge: "challenge",
              message: "the password is right",
              request_id: "req_1",
              doc_url: "/"
            }
          }
        })
        : route.fallback())
    await page.getByLabel("Password").fill("a password")
    await button(page, "Sign in").click()
    await page.getByLabel("Code", { exact: true }).waitFor()
    await see("sign-in-second-factor")
    await page.unroute("**/internal/session")
    await page.route("**/internal/sign-in", (route) => route.fulfill({ json: { method: "oidc" } }))
    await person.open("")
    await page.getByRole("link", { name: "Sign in" }).waitFor()
    await see("sign-in-issuer")
    assert.deepStrictEqual(wrong, [])
    person.assertSound()
    await person.end()
  })

  it("the pages name the retention that the service has", async () => {
    const server = await inScope(workspace.emptyWith({ RETENTION: "{\"requests\":30,\"audit\":90}" }))
    const person = await signedIn(browser, server)
    await person.open("/requests")
    await person.page.getByText("What your API keys have asked for in the last 30 days, and what").waitFor()
    await person.open("/settings/audit")
    await person.page.getByText("are kept for 90 days").waitFor()
    await person.page.getByRole("row", { name: /^Signed in .*owner@example\.com/ }).waitFor()
    person.assertSound()
    await person.end()
  })

  it("an empty list, a filter without results and an empty page are shown differently", async () => {
    const person = await signedIn(browser, empty)
    const { page } = person
    const main = page.locator("main")
    const since = new Date(empty.clock.currentTimeMillisUnsafe() - 7 * 24 * 60 * 60 * 1000).toISOString()
    for (
      const [address, nextCursor, words, further] of [
        ["/requests", null, /No requests in the last 7 days/, []],
        ["/requests?refused=yes", null, /No request fits these filters/, []],
        ["/requests?refused=yes", "older", /So far: the newest were looked at/, ["Next page"]],
        ["/requests?cursor=older", null, /No request on this page/, ["First page"]],
        ["/requests", "older", /No request on this page/, ["Next page"]]
      ] as const
    ) {
      await page.route(/\/internal\/requests/, (route) =>
        route.fulfill({
          json: { data: [], hasMore: nextCursor !== null, nextCursor, since, total: 0, groups: [] }
        }))
      await person.open(address)
      await main.getByText(words).first().waitFor()
      const links = await main.getByRole("navigation").getByRole("link").allInnerTexts()
      assert.deepStrictEqual(links, [...further])
      await page.unroute(/\/internal\/requests/)
    }
    await person.end()
  })
})
