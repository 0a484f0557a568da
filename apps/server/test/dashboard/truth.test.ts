/**
 * The dashboard shows nothing that is not so: an empty page of a list, a filter, a clock, a lost connection; and it asks
 * the service no more often than it must.
 */
import { Id, MemberStore } from "@wac/core"
import { Context, Effect } from "effect"
import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Browser, Page } from "playwright-core"
import { assert, beforeAll, it } from "vitest"
import * as checks from "../checks.ts"
import { call, createKey, environment, hello, ownPage, send, signIn } from "../harness.ts"
import { accept, cookieOf } from "../people/joining.ts"
import { browser as launch, button, dialog, signedIn, unasked, visit } from "./browser.ts"
import * as Scope from "./scope.ts"
import * as workspace from "./workspace.ts"

const inScope = Scope.ofFile()

let browser: Browser
let server: Effect.Success<typeof workspace.empty>
let key: Effect.Success<ReturnType<typeof createKey>>

beforeAll(async () => {
  ;[browser, server] = await Promise.all([inScope(launch), inScope(workspace.empty)])
  key = await inScope(createKey(server.url, server.session))
  const sent = await inScope(send({ key, url: server.url }, hello("+15551234567")))
  assert.strictEqual(sent.status, 200, sent.text)
})

const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name, exact: true })

/** A page of a list that holds nothing, although others follow. */
const emptyPage = { data: [], hasMore: true, nextCursor: "older" }

/** Notes what the page asks the service for; `settled` suspends until it waits for no response. */
const watched = (page: Page) => {
  const asked: Array<string> = []
  const failed: Array<string> = []
  const underWay = new Set<unknown>()
  const isOurs = (address: string) => address.includes("/internal/") && !address.includes("/internal/stream")
  page.on("request", (request) => {
    if (!isOurs(request.url())) return
    asked.push(request.url())
    underWay.add(request)
  })
  page.on("requestfailed", (request) => {
    if (underWay.delete(request)) failed.push(request.url())
  })
  page.on("requestfinished", (request) => underWay.delete(request))
  const settled = async () => {
    do await page.evaluate(() => new Promise((resolve) => queueMicrotask(() => resolve(undefined))))
    while (underWay.size > 0)
  }
  return { asked, failed, settled }
}

/** Replaces the service's stream, so that the test says what has changed: `window.stream` gets its events. */
const stream = (page: Page) =>
  page.addInitScript(() => {
    class Stream extends EventTarget {
      constructor() {
        super()
        Object.assign(window, { stream: this })
        queueMicrotask(() => this.dispatchEvent(new Event("open")))
      }
      close() {}
    }
    Object.assign(window, { EventSource: Stream })
  })

it("the overview does not say that no message has failed if older messages were not looked at", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  await page.route(/\/internal\/messages\?.*status=failed/, (route) => route.fulfill({ json: emptyPage }))
  await person.open("")
  const failures = page.getByRole("region", { name: "Latest failures" })
  await failures.getByText("None of the newest messages").waitFor()
  assert.strictEqual(await failures.getByText("No message has failed").count(), 0)
  await page.unroute(/\/internal\/messages\?.*status=failed/)
  await person.open("")
  await failures.getByText("No message has failed").waitFor()
  person.assertSound()
  await person.end()
})

it("messages of a campaign that nobody has started are neither on the overview nor in the list", async () => {
  const campaign = await inScope(workspace.ready(server))
  const person = await signedIn(browser, server)
  const { page } = person
  await person.open("")
  await page.getByRole("region", { name: "Latest messages" }).getByRole("row", { name: /\+15551234567/ }).waitFor()
  assert.strictEqual(await page.getByText("+15551230001").count(), 0)
  await person.open("/messages")
  await page.getByRole("row", { name: /\+15551234567/ }).waitFor()
  assert.strictEqual(await page.getByText("+15551230001").count(), 0)
  // a person who looks at the campaign sees them
  await person.open(`/campaigns/${campaign}`)
  await page.getByRole("link", { name: "+15551230001" }).waitFor()
  person.assertSound()
  await person.end()
})

const exhausted = (id: string, eventType: string) => ({
  id,
  eventId: "evt_01K8ZQ50V4W6X8Y0Z1A3B5C7DE",
  eventType,
  status: "exhausted",
  attemptCount: 1,
  nextAttemptAt: null,
  createdAt: "2026-01-02T03:04:05.700Z",
  completedAt: "2026-01-02T03:04:06.700Z"
})

it("the overview does not take a probe that failed for an event that was given up", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  const probe = exhausted("dlv_01K8ZQ50V4W6X8Y0Z1A3B5C7DE", "webhook.test")
  const event = exhausted("dlv_01K8ZQ50V4W6X8Y0Z1A3B5C7DF", "message.sent")
  let data = [probe]
  await page.route(
    /\/internal\/webhook\/deliveries\?.*status=exhausted/,
    (route) => route.fulfill({ json: { data, hasMore: false, nextCursor: null } })
  )
  await person.open("")
  const attention = page.getByRole("region", { name: "Needs attention" })
  await attention.getByText("No webhook is set").waitFor()
  assert.strictEqual(await attention.getByText("given up").count(), 0)
  data = [probe, event]
  await person.open("")
  await attention.getByText("given up").waitFor()
  person.assertSound()
  await person.end()
})

it("a search for what a list cannot have says that nothing is found, and shows neither every row nor an error", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  for (
    const [path, label, text, found] of [
      ["/deliveries", "Status code, message id or delivery id", "timeout", "No delivery is found by “timeout”"],
      ["/events", "Event or message id", "+15551234567", "No event is found by “+15551234567”"],
      ["/messages", "Number, id, provider’s id or client reference", "7770001", "No message fits these filters"],
      ["/messages", "Number, id, provider’s id or client reference", "+17770001", "No message fits these filters"],
      ["/contacts", "Customer’s number or user id", "Ana", "No contact has this number or user id"]
    ] as const
  ) {
    await person.open(path)
    const search = page.getByLabel(label)
    await search.fill(text)
    await search.press("Enter")
    await page.getByText(found).waitFor()
    assert.strictEqual(await search.inputValue(), text)
    assert.strictEqual(await page.getByRole("alert").count(), 0)
    assert.strictEqual(await page.locator("tbody tr").count(), 0)
    await page.reload()
    await page.getByText(found).waitFor()
    assert.strictEqual(await search.inputValue(), text)
  }
  await person.open("/events?message=%2B15551234567")
  await page.getByRole("link", { name: "Messages to +15551234567" }).click()
  await page.getByRole("row", { name: /\+15551234567/ }).waitFor()
  await person.open("/events?message=wamid.none")
  await page.getByRole("link", { name: "The message with the provider’s id wamid.none" }).click()
  await page.getByText("No message fits these filters").waitFor()
  person.assertSound()
  await person.end()
})

it("the page of what does not exist says so, and does not ask for it again by itself", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  const { asked, settled } = watched(page)
  const id = "01K8ZQ50V4W6X8Y0Z1A3B5C7DE"
  const isOfThing = (address: string) => address.includes(id)
  for (
    const [path, what, list] of [
      [`/messages/msg_${id}`, "message", "All messages"],
      [`/deliveries/dlv_${id}`, "delivery", "All deliveries"],
      [`/events/evt_${id}`, "event", "All events"],
      [`/api-keys/key_${id}`, "API key", "All API keys"],
      [`/campaigns/cmp_${id}`, "campaign", "All campaigns"],
      [`/contacts/pn_${id}:+15551234567`, "contact", "All contacts"]
    ] as const
  ) {
    await person.open(path)
    await page.getByText(`There is no such ${what}`).waitFor()
    await page.getByRole("link", { name: list }).waitFor()
    assert.strictEqual(await page.getByRole("alert").count(), 0)
    await settled()
    const before = asked.filter(isOfThing).length
    await page.clock.runFor("00:25")
    await settled()
    assert.strictEqual(asked.filter(isOfThing).length, before, path)
  }
  person.assertSound()
  await person.end()
})

it("a refused request is found by its id, from the command menu and on the page of requests", async () => {
  const refused = await inScope(send({ key, url: server.url }, { to: "12" }))
  assert.strictEqual(refused.status, 400)
  const id = refused.headers.get("request-id")!
  await inScope(server.pass("2 seconds"))
  const person = await signedIn(browser, server)
  const { page } = person
  await person.open("")
  await heading(page, "Overview").waitFor()
  await page.keyboard.press("ControlOrMeta+k")
  const input = page.getByRole("combobox", { name: "Page, identifier or number" })
  await input.fill(id)
  await input.press("Enter")
  await heading(page, "POST /v1/messages").waitFor()
  const asked = page.getByRole("region", { name: "What was asked" })
  await asked.getByRole("row", { name: "to Text of 2 characters", exact: true }).waitFor()
  await person.open("/requests")
  const search = page.getByLabel("Request id")
  for (const [text, title] of [[id, "POST /v1/messages"], ["req_01K8ZQ50V4W6X8Y0Z1A3B5C7DE", "Request"]] as const) {
    await page.goto(`${server.url}/dashboard/requests`)
    await search.fill(text)
    await search.press("Enter")
    await heading(page, title).waitFor()
  }
  await page.getByText("There is no such request").waitFor()
  person.assertSound()
  await person.end()
})

it("a first page without items does not make “Get started” say that a step is to do", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  await page.route(/\/internal\/messages\?/, async (route) => {
    const address = new URL(route.request().url())
    if (!address.searchParams.has("cursor")) return route.fulfill({ json: emptyPage })
    address.searchParams.delete("cursor")
    await route.continue({ url: address.href })
  })
  await person.open("/start")
  await page.getByRole("heading", { name: "Send a message (done)" }).waitFor()
  person.assertSound()
  await person.end()
})

it("while everything changes all the time, the overview makes at most 12 requests in 8 seconds and cancels none", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  await stream(page)
  const { asked, failed, settled } = watched(page)
  await person.open("")
  await page.getByRole("region", { name: "Latest messages" }).getByText("+15551234567").waitFor()
  await settled()
  await page.clock.pauseAt(server.clock.currentTimeMillisUnsafe() + 3_600_000)
  await settled()
  for (const seconds of [8, 8]) {
    asked.length = 0
    for (let step = 0; step < seconds * 4; step++) {
      await page.evaluate(() => {
        const { stream } = window as unknown as { readonly stream: EventTarget }
        const topics = ["campaigns", "contacts", "deliveries", "events", "messages", "usage", "webhook"]
        for (let i = 0; i < 4; i++) {
          stream.dispatchEvent(new MessageEvent("change", { data: JSON.stringify({ topics }) }))
        }
      })
      await page.clock.runFor(250)
      // some answers come after the next changes
      if (step % 4 === 3) await settled()
    }
    assert.isAtMost(asked.length, 12, asked.join("\n"))
    assert.isTrue(asked.some((address) => address.includes("/internal/messages")), asked.join("\n"))
  }
  assert.deepStrictEqual(failed, [])
  person.assertSound()
  await person.end()
})

/** The page of a message whose customer has not written, and what it asks for. */
const withoutContact = async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  await stream(page)
  const { asked, settled } = watched(page)
  await person.open("/messages")
  await page.getByRole("link", { name: "+15551234567" }).click()
  await page.getByText("Closed: the customer has not written").waitFor()
  await settled()
  return { person, page, asked, settled }
}

it("what does not exist yet is asked for once, not again and again", async () => {
  const { asked, page, person, settled } = await withoutContact()
  for (let minute = 0; minute < 2; minute++) {
    await page.clock.runFor(60_000)
    await settled()
  }
  const count = (part: string) => asked.filter((address) => address.includes(part)).length
  assert.isAbove(count("/internal/messages/msg_"), 2)
  assert.strictEqual(count("/internal/webhook?") + asked.filter((one) => one.endsWith("/internal/webhook")).length, 1)
  assert.strictEqual(count("/internal/contacts/"), 1)
  person.assertSound()
  await person.end()
})

it("what does not exist yet is looked for each minute while the stream is broken, and once when it is open again", async () => {
  const { asked, page, person, settled } = await withoutContact()
  const count = () => asked.filter((address) => address.includes("/internal/contacts/")).length
  const tell = (event: "error" | "open") =>
    page.evaluate(
      (name) => void (window as never as { stream: EventTarget }).stream.dispatchEvent(new Event(name)),
      event
    )
  const before = count()
  await tell("error")
  for (let minute = 1; minute <= 2; minute++) {
    await page.clock.runFor(61_000)
    await settled()
    assert.strictEqual(count(), before + minute)
  }
  await tell("open")
  await page.clock.runFor(10_000)
  await settled()
  assert.strictEqual(count(), before + 3)
  await page.clock.runFor(120_000)
  await settled()
  assert.strictEqual(count(), before + 3)
  person.assertSound()
  await person.end()
})

it("a page that cannot be loaded now is shown as that, comes by itself, and what was filled in stays", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  const part = /\/assets\/UsagePage-.*\.js$/
  await page.route(part, (route) => route.abort())
  await person.open("/messages/new")
  const to = page.getByLabel("To", { exact: true })
  await to.fill("+15551234599")
  const usage = page.getByRole("link", { name: "Usage", exact: true })
  await usage.click()
  await heading(page, "Not loaded").waitFor()
  await page.goBack()
  await heading(page, "Not loaded").waitFor({ state: "detached" })
  assert.isTrue(await to.isVisible())
  assert.strictEqual(await to.inputValue(), "+15551234599")
  await usage.click()
  await heading(page, "Not loaded").waitFor()
  await page.unroute(part)
  await heading(page, "Usage").waitFor()
  await person.end()
})

it("once another version of the dashboard is installed, a page whose part is gone is loaded from that version", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  let isOld = true
  await page.route(/\/assets\/UsagePage-.*\.js$/, (route) => isOld ? route.fulfill({ status: 404 }) : route.fallback())
  await person.open("/messages")
  await page.getByRole("row", { name: /\+15551234567/ }).waitFor()
  page.on("load", () => {
    isOld = false
  })
  await page.getByRole("link", { name: "Usage", exact: true }).click()
  await heading(page, "Usage").waitFor()
  assert.isFalse(isOld)
  assert.strictEqual(new URL(page.url()).pathname, "/dashboard/usage")
  await person.end()
})

it("pages not opened before are opened without the service, since their parts were loaded ahead", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  const directory = fileURLToPath(new URL("../../../../packages/http/dist/dashboard/assets/", import.meta.url))
  // only the portal loads the part that computes a host's colours, and other languages
  const missing = new Set(
    readdirSync(directory).filter((name) => name.endsWith(".js") && !/^(?:Accent|es|pt)-/.test(name))
  )
  const whole = Promise.withResolvers<void>()
  page.on("requestfinished", (request) => {
    missing.delete(new URL(request.url()).pathname.split("/").at(-1)!)
    if (missing.size === 0) whole.resolve()
  })
  await person.open("")
  await heading(page, "Overview").waitFor()
  await whole.promise
  await page.context().setOffline(true)
  for (const name of ["Usage", "Campaigns", "Members"]) {
    await page.getByRole("link", { name, exact: true }).click()
    await heading(page, name).waitFor()
  }
  await person.end()
})

it("while a filter's answer is awaited, the rows before it are marked as such", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  await person.open("/messages")
  await page.getByRole("row", { name: /\+15551234567/ }).waitFor()
  const answer = Promise.withResolvers<void>()
  await page.route(/\/internal\/messages\?.*status=failed/, async (route) => {
    await answer.promise
    await route.fallback()
  })
  await page.getByLabel("Status", { exact: true }).selectOption("failed")
  const busy = page.locator("[aria-busy=true]")
  await busy.getByRole("status").getByText("Loading").waitFor()
  answer.resolve()
  await page.getByText("No message fits these filters").waitFor()
  assert.strictEqual(await busy.count(), 0)
  person.assertSound()
  await person.end()
})

it("a time is shown by the present time, also if the page before showed none", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  await person.open("/messages/new")
  await heading(page, "Send a message").waitFor()
  await page.getByLabel("Template", { exact: true }).waitFor()
  await inScope(server.pass("1 minute"))
  await page.clock.fastForward("01:05")
  const sent = await inScope(send({ key, url: server.url }, hello("+15551234570")))
  assert.strictEqual(sent.status, 200, sent.text)
  await page.evaluate(() => {
    const shown: Array<string> = []
    Object.assign(window, { shown })
    new MutationObserver(() => {
      for (const time of document.querySelectorAll("time")) shown.push(time.textContent)
    }).observe(document, { subtree: true, childList: true, characterData: true })
  })
  await page.getByRole("link", { name: "Messages", exact: true }).click()
  await page.getByRole("row", { name: /\+15551234570 / }).waitFor()
  const shown = await page.evaluate(() => (window as unknown as { readonly shown: ReadonlyArray<string> }).shown)
  assert.isNotEmpty(shown)
  assert.deepStrictEqual(shown.filter((text) => text.startsWith("in ")), [])
  await person.end()
})

it("where no mail server is set, nothing says that a mail was or will be sent", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  const none = "This service has no mail server, so nothing is mailed."
  await person.open("/alerts")
  await page.getByLabel("E-mail addresses").fill("on-call@example.com")
  await page.getByText(`One per line, at most 20. ${none}`).waitFor()
  await page.getByRole("button", { name: "Save" }).click()
  await page.getByRole("status").getByText(`Saved. ${none}`).waitFor()
  await page.getByLabel("E-mail addresses").fill("")
  await page.getByRole("button", { name: "Save" }).click()
  await page.getByRole("status").getByText("Saved.", { exact: true }).waitFor()
  await person.open("/settings/members?dialog=invite")
  await page.getByRole("dialog").getByLabel("E-mail").fill("new@example.com")
  await page.getByRole("button", { name: "Invite", exact: true }).last().click()
  await page.getByRole("dialog").getByText("This service sends no mail.").waitFor()
  person.assertSound()
  await person.end()

  const stranger = await visit(browser, server.url)
  await stranger.open("")
  await stranger.page.getByText("Lost your password?").click()
  await stranger.page.getByText("wac members reset-password").waitFor()
  assert.strictEqual(await stranger.page.getByRole("button", { name: "Send a link" }).count(), 0)
  stranger.assertSound()
  await stranger.end()
})

it("what is typed right after Ctrl+K is the command menu's, though its part comes late", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  // the parts of other pages are not loaded ahead
  await page.addInitScript(() => Object.assign(window, { requestIdleCallback: () => 0 }))
  let served = Promise.withResolvers<void>()
  await page.route(/\/assets\/CommandMenu-/, async (route) => {
    await served.promise
    await route.fallback()
  })
  await person.open("")
  await heading(page, "Overview").waitFor()
  await page.keyboard.press("ControlOrMeta+k")
  await page.keyboard.type("messages that fa")
  served.resolve()
  await page.getByRole("option", { name: "Messages that failed" }).waitFor()
  await page.keyboard.type("iled")
  const field = page.getByRole("combobox", { name: "Page, identifier or number" })
  assert.strictEqual(await field.inputValue(), "messages that failed")
  await page.keyboard.press("Escape")
  await field.waitFor({ state: "detached" })

  // where the part is there, no letter is lost however slow the browser is
  const browserOfPage = await page.context().newCDPSession(page)
  await browserOfPage.send("Emulation.setCPUThrottlingRate", { rate: 10 })
  const go = async (to: string) => {
    await page.keyboard.press("ControlOrMeta+k")
    await page.keyboard.type(to.toLowerCase())
    await page.keyboard.press("Enter")
  }
  for (const to of ["Usage", "Alerts"]) {
    await go(to)
    await heading(page, to).waitFor()
  }

  await browserOfPage.send("Emulation.setCPUThrottlingRate", { rate: 1 })

  // and Enter waits for the part
  served = Promise.withResolvers()
  await person.open("")
  await heading(page, "Overview").waitFor()
  await go("Usage")
  served.resolve()
  await heading(page, "Usage").waitFor()
  person.assertSound()
  await person.end()
})

it("the command menu keeps the chosen entry in sight, and the account's menu is in sight on a low screen", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  await page.setViewportSize({ width: 1366, height: 768 })
  await person.open("")
  await heading(page, "Overview").waitFor()
  const account = await page.getByRole("button", { name: /owner@example.com/ }).boundingBox()
  assert.isAtMost(account!.y + account!.height, 768)
  await page.keyboard.press("ControlOrMeta+k")
  const list = page.getByRole("listbox", { name: "Results" })
  const options = list.getByRole("option")
  await options.first().waitFor()
  for (let step = 0; step < 18; step++) {
    await page.keyboard.press("ArrowDown")
    const chosen = list.locator("[data-highlighted]")
    const [within, at] = [await list.boundingBox(), await chosen.boundingBox()]
    assert.isAtLeast(at!.y, within!.y)
    assert.isAtMost(at!.y + at!.height, within!.y + within!.height)
  }
  const input = page.getByRole("combobox", { name: "Page, identifier or number" })
  await input.fill("usage")
  await input.press("Enter")
  await heading(page, "Usage").waitFor()
  await input.waitFor({ state: "detached" })
  person.assertSound()
  await person.end()
})

it("if something that needs attention can no longer be read, the overview says from when it is", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  let isAway = false
  await page.route(
    /\/internal\/alerts\?/,
    (route) =>
      isAway
        ? route.fulfill({ status: 503, json: { error: { code: "server_error", message: "away" } } })
        : route.fallback()
  )
  await person.open("")
  const attention = page.getByRole("region", { name: "Needs attention" })
  await attention.getByText("No webhook is set").waitFor()
  isAway = true
  await attention.getByText("This is from").waitFor()
  isAway = false
  await attention.getByText("This is from").waitFor({ state: "hidden" })
  await person.end()
})

it("the command menu opens what its present text finds, and not what the text before found", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  await person.open("")
  await heading(page, "Overview").waitFor()
  await page.keyboard.press("ControlOrMeta+k")
  const box = page.getByRole("combobox", { name: "Page, identifier or number" })
  await box.fill("test")
  await page.getByRole("option", { name: "API key test" }).waitFor()
  await box.fill("usage")
  await page.keyboard.press("Enter")
  await heading(page, "Usage").waitFor()
  person.assertSound()
  await person.end()
})

it("what was chosen under another filter is not delivered again", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  const deliveries = ["D", "E"].map((last) => ({
    ...exhausted(`dlv_01K8ZQ50V4W6X8Y0Z1A3B5C7D${last}`, "message.sent"),
    messageId: null,
    lastAttempt: null
  }))
  await page.route(
    /\/internal\/webhook\/deliveries\?/,
    (route) => route.fulfill({ json: { data: deliveries, hasMore: false, nextCursor: null } })
  )
  await person.open("/deliveries?status=exhausted")
  await page.getByLabel("Choose all on this page").check()
  await page.getByText("2 are chosen").waitFor()
  await page.getByLabel("Event", { exact: true }).selectOption("message.sent")
  await page.getByLabel("Choose all on this page").waitFor()

  person.assertSound()
  await person.end()
})

it("what was chosen under another range of times is not delivered again", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  const delivery = {
    ...exhausted("dlv_01K8ZQ50V4W6X8Y0Z1A3B5C7DE", "message.sent"),
    messageId: null,
    lastAttempt: null
  }
  await page.route(
    /\/internal\/webhook\/deliveries\?/,
    (route) => route.fulfill({ json: { data: [delivery], hasMore: false, nextCursor: null } })
  )
  await person.open("/deliveries?status=exhausted&since=range&begin=2026-01-01T00:00:00.000Z")
  const all = page.getByLabel("Choose all on this page")
  const chosen = page.getByText("1 is chosen")
  for (const [name, value] of [["From", "2026-01-01T12:00"], ["To", "2026-01-03T12:00"]] as const) {
    await all.check()
    await chosen.waitFor()
    await page.getByLabel(name, { exact: true }).fill(value)
    await all.waitFor()
  }
  person.assertSound()
  await person.end()
})

it("a time that is typed into a filter counts once it is complete, and takes the place of the one before", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  const { asked, settled } = watched(page)
  await person.open("/requests?since=range&begin=2026-01-01T00:00:00.000Z")
  const from = page.getByLabel("From", { exact: true })
  await from.waitFor()
  await settled()
  const [before, steps] = [await from.inputValue(), await page.evaluate(() => history.length)]
  await from.focus()
  for (let i = 0; i < 3; i++) {
    await page.keyboard.press("ArrowUp")
    await settled()
  }
  const typed = await from.inputValue()
  assert.notStrictEqual(typed, before)
  assert.include(decodeURIComponent(page.url()), "begin=2026-01-01T00:00:00.000Z")
  await page.keyboard.press("Enter")
  const at = await page.evaluate((local) => new Date(local).toISOString(), typed)
  await page.waitForURL((url) => url.searchParams.get("begin") === at)
  // leaving the field is enough, too
  await page.keyboard.press("ArrowUp")
  const last = await page.evaluate((local) => new Date(local).toISOString(), await from.inputValue())
  await page.getByRole("heading", { level: 1 }).click()
  await page.waitForURL((url) => url.searchParams.get("begin") === last)
  await settled()
  assert.strictEqual(await page.evaluate(() => history.length), steps)
  const times = asked.map((address) => new URL(address)).filter(({ pathname }) => pathname === "/internal/requests")
    .map(({ searchParams }) => searchParams.get("since"))
  assert.deepStrictEqual([...new Set(times)], ["2026-01-01T00:00:00.000Z", at, last])
  person.assertSound()
  await person.end()
})

it("a sign-out that fails is shown as that, and is offered again", async () => {
  const session = await inScope(signIn(server.url))
  const person = await signedIn(browser, { ...server, session })
  const { page } = person
  const path = /\/internal\/session$/
  await person.open("/messages")
  await page.route(path, (route) => route.request().method() === "DELETE" ? route.abort() : route.fallback())
  await button(page, /Lima Flowers/).click()
  await button(page, "Sign out").click()
  await page.getByRole("alert").getByText("The service did not respond").waitFor()
  await page.getByText("You may still be signed in.").waitFor()
  await heading(page, "Messages").waitFor()
  await page.unroute(path)
  await button(page, "Sign out").click()
  await page.getByLabel("Password").waitFor()
  const { status } = await inScope(call(`${server.url}/internal/session`, { headers: session }))
  assert.strictEqual(status, 401)
  await person.end()
})

it("the contacts do not claim to list customers who were only written to, and lead to the messages to such a customer", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  await person.open("/contacts")
  await page.getByText("Customers who have written to you, or have opted in or out.").waitFor()
  assert.strictEqual(await page.getByText("that you wrote to").count(), 0)
  await person.open("/contacts?number=%2B15551234567")
  await page.getByText("A customer to whom you have only sent messages is not a contact.").waitFor()
  await page.getByRole("link", { name: "Messages to +15551234567" }).click()
  await page.getByRole("row", { name: /\+15551234567/ }).first().waitFor()
  assert.strictEqual(new URL(page.url()).pathname, "/dashboard/messages")
  person.assertSound()
  await person.end()
})

it("a reply that is typed for one contact is not in the form of another", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  const customers = ["+15005550008", "US.15005550008"]
  for (const to of customers) {
    const sent = await inScope(send({ key, url: server.url }, hello(to)))
    assert.strictEqual(sent.status, 200, sent.text)
  }
  const reply = page.getByLabel("Reply")
  for (const to of customers) {
    if (to === customers[0]) await person.open("/contacts")
    else {await page.getByRole("navigation", { name: "Pages", exact: true }).getByRole("link", { name: "Contacts" })
        .click()}
    await page.getByRole("link", { name: to, exact: true }).click()
    await heading(page, to).waitFor()
    await reply.waitFor()
  }
  await reply.fill("For the second one")
  // past the list, so that one contact's page follows that of the other
  await page.evaluate(() => history.go(-2))
  await heading(page, customers[0]!).waitFor()
  assert.strictEqual(await reply.inputValue(), "")
  person.assertSound()
  await person.end()
})

it("requests of a revoked key are found by its id and from its page, and the filter names the key", async () => {
  const retired = await inScope(createKey(server.url, server.session, { name: "Retired" }))
  assert.strictEqual((await inScope(send({ key: retired, url: server.url }, hello()))).status, 200)
  const revoked = await inScope(
    call(`${server.url}/internal/api-keys/${retired.id}`, { method: "DELETE", headers: server.session })
  )
  assert.strictEqual(revoked.status, 204)
  await inScope(server.pass("2 seconds"))
  const person = await signedIn(browser, server)
  const { page } = person
  const filter = page.getByLabel("Key", { exact: true })
  const isFiltered = async () => {
    await page.waitForURL((url) => url.searchParams.get("key") === retired.id)
    await filter.locator("option:checked", { hasText: "Retired (revoked)" }).waitFor({ state: "attached" })
    await page.locator("tbody tr", { hasText: "POST /v1/messages" }).first().waitFor()
  }
  await person.open("/requests")
  const search = page.getByLabel("Request id or key id")
  await search.fill(retired.id)
  await search.press("Enter")
  await isFiltered()
  await person.open(`/api-keys/${retired.id}`)
  await page.getByRole("link", { name: "Requests with this key" }).click()
  await isFiltered()
  person.assertSound()
  await person.end()
})

it("active keys that the first page of the list has no place for are on the next one, and in the filter of requests", async () => {
  const named = (n: number) => createKey(server.url, server.session, { name: `Many ${n}` })
  const oldest = await inScope(named(0))
  await inScope(server.pass("1 second"))
  await inScope(Effect.all(Array.from({ length: 50 }, (_, n) => named(n + 1))))
  const person = await signedIn(browser, server)
  const { page } = person
  await person.open("/api-keys")
  await page.getByRole("link", { name: "Many 50", exact: true }).waitFor()
  assert.strictEqual(await page.getByRole("link", { name: "Many 0", exact: true }).count(), 0)
  await page.getByRole("link", { name: "Next page" }).click()
  await page.getByRole("link", { name: "Many 0", exact: true }).waitFor()
  await person.open("/requests")
  await page.getByLabel("Key", { exact: true }).selectOption("Many 0")
  await page.waitForURL((url) => url.searchParams.get("key") === oldest.id)
  person.assertSound()
  await person.end()
})

it("a running campaign that sends to nobody says so for the time that was measured, and for no longer one", async () => {
  const id = await inScope(workspace.ready(server))
  const person = await signedIn(browser, server)
  const { page } = person
  // while the service reports changes, the page asks every 10 seconds
  await stream(page)
  const { settled } = watched(page)
  const { body: campaign } = await inScope(
    call(`${server.url}/internal/campaigns/${id}`, { headers: server.session })
  )
  const counts = { ...campaign.counts, total: 3, queued: 2, sent: 1 }
  await page.route(
    `**/internal/campaigns/${id}`,
    (route) => route.fulfill({ json: { ...campaign, status: "running", counts } })
  )
  await person.open(`/campaigns/${id}`)
  const progress = page.getByRole("region", { name: "Progress" }).getByRole("status")
  await progress.getByText("1 of 3 customers done").waitFor()
  await settled()
  await page.clock.pauseAt(server.clock.currentTimeMillisUnsafe() + 3_600_000)
  for (let i = 0; i < 6; i++) {
    await settled()
    await page.clock.runFor(5000)
  }
  await progress.getByText("1 of 3 customers done; none in the last 10 seconds", { exact: true }).waitFor()
  person.assertSound()
  await person.end()
})

/** A person in two workspaces, who is in their first one. */
const inTwoWorkspaces = async () => {
  const own = await inScope(workspace.empty)
  const { services, url } = own
  const other = await inScope(
    checks.anotherWorkspace("Porto Flowers", "+15005550199").pipe(Effect.provideContext(services))
  )
  const invited = await inScope(checks.invited(services, other.id, "owner@example.com", "admin"))
  const joined = await inScope(accept(url, invited, undefined, own.session))
  assert.strictEqual(joined.status, 200, joined.text)
  const there = cookieOf(joined)
  const { body: { data: workspaces } } = await inScope(call(`${url}/internal/workspaces`, { headers: there }))
  const moveTo = async (workspaceId: string) => {
    const moved = await inScope(
      call(`${url}/internal/session/workspace`, { headers: there, body: { workspaceId } })
    )
    assert.strictEqual(moved.status, 200, moved.text)
  }
  await moveTo(workspaces.find(({ id }: { readonly id: string }) => id !== other.id).id)
  return { own, other, there, moveTo }
}

for (
  const { change, name } of [
    { name: "opens another workspace", change: "workspace" },
    { name: "signs out, and another member signs in", change: "person" }
  ] as const
) {
  it(`if a person ${name} in another tab, a page's form changes nothing and the page is loaded anew`, async () => {
    const { moveTo, other, own, there } = await inTwoWorkspaces()
    const { url } = own
    const colleague = await inScope(workspace.asMember({ session: there, url }, "colleague@example.com", "admin"))
    const person = await signedIn(browser, { ...own, session: there })
    const { page } = person
    await person.open("/settings/opt-out")
    await page.getByLabel("Words that opt out").fill("adieu")
    if (change === "workspace") await moveTo(other.id)
    else {
      const [name, value] = colleague.cookie.split("=") as [string, string]
      await page.context().addCookies([{ name, value, url }])
    }
    await button(page, "Save").click()
    await heading(page, "Overview").waitFor()
    await button(page, change === "workspace" ? /Porto Flowers.*owner@/ : /Lima Flowers.*colleague@/).waitFor()
    const headers = change === "workspace" ? there : colleague
    const { body: words } = await inScope(call(`${url}/internal/settings/opt-out`, { headers }))
    assert.deepStrictEqual(words.stopWords, [])
    person.assertSound()
    await person.end()
  })
}

it("a person who signs out on a page of a workspace that they have left in another tab is signed out", async () => {
  const { moveTo, other, own, there } = await inTwoWorkspaces()
  const person = await signedIn(browser, { ...own, session: there })
  const { page } = person
  await person.open("/settings/opt-out")
  await moveTo(other.id)
  await button(page, /owner@/).click()
  await button(page, "Sign out").click()
  await page.getByLabel("Password").waitFor()
  const { status } = await inScope(call(`${own.url}/internal/session`, { headers: there }))
  assert.strictEqual(status, 401)
  await person.end()
})

for (
  const { isMember, name } of [
    {
      name: "a session that ends in a workspace joined later is begun again there, and the form is as it was",
      isMember: true
    },
    {
      name: "after a session has ended in a workspace that its person has left, the page is loaded in another",
      isMember: false
    }
  ]
) {
  it(name, async () => {
    const own = await inScope(workspace.empty)
    const { services, url } = own
    const other = await inScope(
      checks.anotherWorkspace("Porto Flowers", "+15005550199").pipe(Effect.provideContext(services))
    )
    const invited = await inScope(checks.invited(services, other.id, "owner@example.com", "developer"))
    const joined = await inScope(accept(url, invited, undefined, own.session))
    assert.strictEqual(joined.status, 200, joined.text)
    const person = await signedIn(browser, { ...own, session: cookieOf(joined) })
    const { page } = person
    await person.open("/api-keys")
    await button(page, "Create API key").first().click()
    const form = dialog(page, "Create an API key")
    await form.getByLabel("Name").fill("Kept")
    const asking = dialog(page, "Your session has ended")
    await unasked(page, async () => {
      const ended = await inScope(
        call(`${url}/internal/session`, { method: "DELETE", headers: cookieOf(joined) })
      )
      assert.strictEqual(ended.status, 204)
      await button(form, "Create key").click()
      await asking.waitFor()
    })
    if (!isMember) {
      const members = Context.get(services, MemberStore.MemberStore)
      const left = await inScope(members.change({
        workspaceId: other.id,
        userId: joined.body.userId,
        role: null,
        by: { userId: Id.UserId.make(`usr_${checks.nobody}`), role: "owner" }
      }))
      assert.strictEqual(left._tag, "Changed")
    }
    await asking.getByLabel("Password").fill(environment.WAC_OWNER_PASSWORD)
    await button(asking, "Sign in").click()
    if (isMember) {
      await asking.waitFor({ state: "detached" })
      assert.strictEqual(await form.getByLabel("Name").inputValue(), "Kept")
      await button(form, "Create key").click()
      await dialog(page, "API key “Kept”").waitFor()
    } else await heading(page, "Overview").waitFor()
    await person.open("")
    await button(page, isMember ? /Porto Flowers.*owner@/ : /Lima Flowers.*owner@/).waitFor()
    person.assertSound()
    await person.end()
  })
}

it("the page of a message without an API key does not say that a person sent it", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  const sent = await inScope(
    call(`${server.url}/internal/messages`, {
      headers: { ...ownPage, ...server.session, "idempotency-key": "without-a-key" },
      body: { to: "+15551234569", type: "template", template: { name: "hello_world", language: "en_US" } }
    })
  )
  assert.strictEqual(sent.status, 200, sent.text)
  await person.open(`/messages/${sent.body.messageId}`)
  const facts = page.getByText("Sent with", { exact: true }).locator("xpath=..")
  await facts.getByText("No API key: the dashboard, the outbox, or an operator’s retry").waitFor()
  person.assertSound()
  await person.end()
})

it("what is typed while a reply is being sent stays in the form", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  const to = "+15005550008"
  const sent = await inScope(send({ key, url: server.url }, hello(to)))
  assert.strictEqual(sent.status, 200, sent.text)
  await person.open("/contacts")
  await page.getByRole("link", { name: to, exact: true }).click()
  const reply = page.getByLabel("Reply")
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  await page.route(/\/internal\/messages$/, async (route) => {
    await held
    await route.fallback()
  })
  await reply.fill("It is on its way")
  await button(page, "Send reply").click()
  await button(page, "Sending…").waitFor()
  await reply.fill("And it arrives today")
  release()
  await button(page, "Send reply").waitFor()
  assert.strictEqual(await reply.inputValue(), "And it arrives today")
  await button(page, "Send reply").click()
  await page.getByRole("list", { name: "Messages" }).getByText("And it arrives today").waitFor()
  await button(page, "Send reply").waitFor()
  assert.strictEqual(await reply.inputValue(), "")
  person.assertSound()
  await person.end()
})

it("a campaign’s page shows the text of an amount, and a rate below one message a second", async () => {
  const id = await inScope(workspace.ready(server))
  const person = await signedIn(browser, server)
  const { page } = person
  const { body: campaign } = await inScope(call(`${server.url}/internal/campaigns/${id}`, { headers: server.session }))
  const amount = { currency: { fallback_value: "5.00 €", code: "EUR", amount_1000: 5000 } }
  const json = { ...campaign, share: 0.01, template: { ...campaign.template, bodyParams: [amount, "{{name}}"] } }
  await page.route(`**/internal/campaigns/${id}`, (route) => route.fulfill({ json }))
  await page.route("**/internal/phone-numbers?*", async (route) => {
    const text = await (await route.fetch()).text()
    await route.fulfill({ json: JSON.parse(text.replace(/"messagesPerSecond":[\d.]+/g, `"messagesPerSecond":80`)) })
  })
  await person.open(`/campaigns/${id}`)
  const settings = page.getByRole("region", { name: "Settings", exact: true })
  await settings.getByText("5.00 €, {{name}}", { exact: true }).waitFor()
  await button(page, "Start").click()
  await dialog(page, "Start the campaign").getByText(/, at most 0\.8 a second, in about /).waitFor()
  await button(dialog(page, "Start the campaign"), "Cancel").click()
  person.assertSound()
  await person.end()
})

it("a checked campaign’s page shows the number that sends it and the pace of that number, even if another is the default", async () => {
  const id = await inScope(workspace.ready(server))
  const person = await signedIn(browser, server)
  const { page } = person
  const numbers = await inScope(call(`${server.url}/internal/phone-numbers`, { headers: server.session }))
  const [first] = numbers.body.data
  await page.route("**/internal/phone-numbers?*", async (route) => {
    const json = await (await route.fetch()).json()
    const data = [
      { ...first, id: "pn_00000000000000000000000000", phoneNumber: "+15005550199", messagesPerSecond: 2 },
      { ...first, isDefault: false, messagesPerSecond: 80 }
    ]
    await route.fulfill({ json: { ...json, data } })
  })
  await person.open(`/campaigns/${id}`)
  const settings = page.getByRole("region", { name: "Settings", exact: true })
  await settings.getByText(first.phoneNumber).waitFor()
  await button(page, "Start").click()
  await dialog(page, "Start the campaign").getByText(/, at most 40 a second, in about /).waitFor()
  await button(dialog(page, "Start the campaign"), "Cancel").click()
  person.assertSound()
  await person.end()
})

it("a checked campaign’s page and the question before its start count the customers whose quiet hours never end", async () => {
  const id = await inScope(workspace.ready(server))
  const person = await signedIn(browser, server)
  const { page } = person
  const { body: campaign } = await inScope(call(`${server.url}/internal/campaigns/${id}`, { headers: server.session }))
  const json = { ...campaign, forecast: { ...campaign.forecast, alwaysQuiet: 1 } }
  await page.route(`**/internal/campaigns/${id}`, (route) => route.fulfill({ json }))
  await person.open(`/campaigns/${id}`)
  await page.getByRole("region", { name: "Report" }).getByText("1 customer, who gets nothing").waitFor()
  await button(page, "Start").click()
  const question = dialog(page, "Start the campaign")
  await question.getByText(/^Quiet hours never end for 1 customer, who gets nothing: /).waitFor()
  await button(question, "Cancel").click()
  person.assertSound()
  await person.end()
})

it("a stream of events that was refused once is opened again, by the page and by the tab that receives events", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  const asked = new Map<string, number>()
  await page.route(/\/internal\/stream/, async (route) => {
    const { search } = new URL(route.request().url())
    const times = (asked.get(search) ?? 0) + 1
    asked.set(search, times)
    await (times === 1 ? route.fulfill({ status: 429, body: "" }) : route.continue())
  })
  await person.open("/start")
  await button(page, "Receive in this tab").click()
  await page.getByText("This tab receives events").waitFor()
  assert.deepStrictEqual([...asked.values()], [2, 2])
  person.assertSound()
  await person.end()
})
