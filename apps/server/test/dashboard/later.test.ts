/**
 * What people do in the dashboard with messages to be sent later (contract §15), in a real browser.
 */
import { Duration, Effect } from "effect"
import type { Browser, Page } from "playwright-core"
import { assert, beforeAll, it } from "vitest"
import * as checks from "../checks.ts"
import { call, hello, ownPage } from "../harness.ts"
import { browser as launch, button, dialog, signedIn, unasked } from "./browser.ts"
import * as Scope from "./scope.ts"
import * as workspace from "./workspace.ts"

const inScope = Scope.ofFile()

type Server = Effect.Success<typeof workspace.empty>

let browser: Browser
let server: Server

beforeAll(async () => {
  ;[browser, server] = await Promise.all([inScope(launch), inScope(workspace.empty)])
})

/** What a field of date and time has for a time so far from now, by the clock of the person. */
const localIn = (page: Page, duration: Duration.Input): Promise<string> =>
  page.evaluate((millis) => {
    const at = new Date(Date.now() + millis)
    at.setMinutes(at.getMinutes() - at.getTimezoneOffset())
    return at.toISOString().slice(0, 16)
  }, Duration.toMillis(duration))

const choose = async (page: Page, to: string, duration: Duration.Input): Promise<void> => {
  await page.getByLabel("To", { exact: true }).fill(to)
  await page.getByLabel("Template", { exact: true }).selectOption({ label: "hello_world · en_US" })
  await page.getByLabel("Later, at a time").check()
  await page.getByLabel("Send at").fill(await localIn(page, duration))
}

/** Queues a message from the dashboard, as a program would. Gives its id. */
const queue = async ({ session, url }: Server, to: string, sendAt: number): Promise<string> => {
  const answer = await Effect.runPromise(call(`${url}/internal/messages`, {
    headers: { ...ownPage, ...session, "idempotency-key": crypto.randomUUID() },
    body: { ...hello(to), send_at: new Date(sendAt).toISOString() }
  }))
  assert.strictEqual(answer.status, 202, answer.text)
  return answer.body.messageId
}

it("a message is sent later: it is seen queued with its time, found in the list, and cancelled after a question", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  await person.open("/messages/new")
  await choose(page, "+15551234501", "3 hours")
  await button(page, "Queue message").click()
  const result = page.getByRole("status").filter({ hasText: "The message to +15551234501 is queued" })
  await result.getByText(/in (2 h 59 min|2 h 58 min|3 h)/).waitFor()
  // pressed again, it is the same message
  await button(page, "Queue message").click()
  await result.getByRole("link", { name: "Open the message" }).click()

  await page.getByRole("heading", { name: "Message to +15551234501" }).waitFor()
  const id = new URL(page.url()).pathname.split("/").at(-1)!
  await page.getByText("Queued", { exact: true }).waitFor()
  const due = page.getByText("Due", { exact: true }).locator("xpath=..")
  assert.match(await due.innerText(), /in 2 h 5\d min\n.*\d{4}.*\d\d:\d\d/)
  await person.open("/messages?status=queued")
  await page.getByRole("row", { name: /\+15551234501 Queued in 2 h 5\d min/ }).waitFor()
  assert.strictEqual(await page.getByRole("row").count(), 2)

  await person.open(`/messages/${id}`)
  await button(page, "Cancel message…").click()
  const question = dialog(page, "Cancel the message?")
  await question.getByText(/^The message to \+15551234501, to be sent in 2 h 5\d min, is never sent\./).waitFor()
  await button(question, "Close").click()
  await question.waitFor({ state: "detached" })
  await button(page, "Cancel message…").click()
  await button(question, "Cancel message").click()
  await question.waitFor({ state: "detached" })
  await page.getByRole("status").getByText("The message is cancelled. It is never sent.").waitFor()
  await page.getByText("Cancelled", { exact: true }).waitFor()
  assert.strictEqual(await button(page, "Cancel message…").count(), 0)
  await person.open("/messages?status=cancelled")
  await page.getByRole("row", { name: /\+15551234501 Cancelled/ }).waitFor()
  person.assertSound()
  await person.end()
})

it("all queued messages of a filter are cancelled, each once, until somebody stops it, and those that were sent are counted", async () => {
  const own = await inScope(workspace.empty)
  const hour = 3_600_000
  const now = own.clock.currentTimeMillisUnsafe()
  const early = await Promise.all([6, 7].map((n) => queue(own, `+1555123450${n}`, now + hour)))
  for (let from = 0; from < 105; from += 15) {
    await Promise.all(Array.from({ length: 15 }, (_, i) => queue(own, `+1555123${4600 + from + i}`, now + 3 * hour)))
  }
  const count = (status: string) =>
    Effect.runPromise(Effect.map(
      Effect.forEach(
        ["", "to=%2B15551234506&", "to=%2B15551234507&"],
        (filter) => call(`${own.url}/internal/messages?${filter}status=${status}&limit=100`, { headers: own.session })
      ),
      ([all, ...two]) => [all!.body.data.length, ...two.map(({ body }) => body.data.length)]
    ))
  const person = await signedIn(browser, own)
  const { page } = person
  const deleted: Array<string> = []
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const isBegun = new Promise<void>((resolve) => {
    void page.route("**/internal/messages/*", async (route) => {
      if (route.request().method() !== "DELETE") return route.fallback()
      deleted.push(new URL(route.request().url()).pathname)
      if (deleted.length === 4) resolve()
      await held
      return route.fallback()
    })
  })
  await person.open("/messages")
  await page.getByRole("row", { name: /Queued/ }).first().waitFor()
  assert.strictEqual(await button(page, /^Cancel all/).count(), 0)
  await person.open("/messages?status=queued&to=%2B15551234600")
  await button(page, "Cancel all 1…").waitFor()
  await person.open("/messages?status=queued&since=24")
  await button(page, "Cancel all…").click()
  const asking = dialog(page, "Cancel 107 messages?")
  await asking.getByText("All of the list with this filter:").waitFor()
  assert.deepStrictEqual(await asking.getByRole("listitem").allInnerTexts(), ["Status: Queued", "Time: Last 24 hours"])
  await asking.getByText(/If you stop it or close the page, those that are cancelled stay cancelled/).waitFor()
  assert.deepStrictEqual(deleted, [])
  await button(asking, "Cancel messages").click()
  await isBegun
  await button(asking, "Stop").click()
  release()
  await asking.getByText("4 of 107 cancelled", { exact: true }).waitFor()
  await button(asking, "Go on with 103").waitFor()
  assert.deepStrictEqual(await count("cancelled"), [4, 0, 0])
  await Effect.runPromise(own.pass("2 hours"))
  await Effect.runPromise(Effect.forEach(early, (id) =>
    checks.until(
      Effect.map(call(`${own.url}/internal/messages/${id}`, { headers: own.session }), ({ body }) => body),
      ({ status }) => status === "read"
    )))
  await button(asking, "Go on with 103").click()
  await asking.getByText("105 of 107 cancelled, 2 were already sent", { exact: true }).waitFor()
  await button(asking, "Close").click()
  await asking.waitFor({ state: "detached" })
  await page.getByText("No message fits these filters").waitFor()
  assert.strictEqual(new Set(deleted).size, 107)
  assert.strictEqual(deleted.length, 107)
  assert.deepStrictEqual(await count("queued"), [0, 0, 0])
  assert.deepStrictEqual(await count("read"), [2, 1, 1])
  await person.end()
})

it("a message that is sent later is sent at its time, and its life shows how long after", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  await person.open("/messages/new")
  await choose(page, "+15551234502", "90 minutes")
  await page.getByLabel("Do not send after").fill(await localIn(page, "3 hours"))
  await button(page, "Queue message").click()
  await page.getByRole("link", { name: "Open the message" }).click()
  await page.getByText("Queued", { exact: true }).waitFor()
  await Effect.runPromise(server.pass("2 hours"))
  await page.clock.fastForward(Duration.toMillis("2 hours"))
  await page.getByText("Read", { exact: true }).waitFor()
  assert.strictEqual(await button(page, "Cancel message…").count(), 0)
  const steps = page.getByRole("listitem").filter({ hasText: "after the step before" })
  assert.match(await steps.first().innerText(), /^Its time came/)
  await page.getByText("Requested, and queued").waitFor()
  person.assertSound()
  await person.end()
})

it("a time that cannot be kept is refused beside its field", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  await person.open("/messages/new")
  await choose(page, "+15551234503", "91 days")
  const at = page.getByLabel("Send at")
  await button(page, "Queue message").click()
  assert.isTrue(await at.evaluate((field: HTMLInputElement) => field.validity.rangeOverflow))
  await at.fill(await localIn(page, "-1 hour"))
  assert.isTrue(await at.evaluate((field: HTMLInputElement) => field.validity.rangeUnderflow))
  const inThreeHours = await localIn(page, "3 hours")
  await at.fill(inThreeHours)
  await page.getByLabel("Do not send after").fill(inThreeHours)
  await button(page, "Queue message").click()
  await page.getByRole("alert").getByText("Send_until must be after send_at.").waitFor()
  assert.strictEqual(await page.getByRole("alert").count(), 1)
  assert.strictEqual(await page.getByLabel("Do not send after").getAttribute("aria-invalid"), "true")
  person.assertSound()
  await person.end()
})

/** What became of a message in the meantime, by the sandbox's numbers, and what the question says to that. */
const meantimes = [
  ["was sent", "+15551234504", "read", "The message was sent, or is being sent.", "Read"],
  ["was refused", "+15005550001", "failed", "The message is not queued any more: it failed.", "Failed"]
] as const

for (const [what, to, status, why, shown] of meantimes) {
  it(`a message that ${what} in the meantime is not cancelled, and the question says why`, async () => {
    const person = await signedIn(browser, server)
    const { page } = person
    const id = await queue(server, to, server.clock.currentTimeMillisUnsafe() + 3_600_000)
    await person.open(`/messages/${id}`)
    await button(page, "Cancel message…").click()
    const question = dialog(page, "Cancel the message?")
    await unasked(page, async () => {
      await Effect.runPromise(server.pass("2 hours"))
      await Effect.runPromise(checks.until(
        Effect.map(call(`${server.url}/internal/messages/${id}`, { headers: server.session }), ({ body }) => body),
        (message) => message.status === status
      ))
      await button(question, "Cancel message").click()
    })
    await question.getByRole("alert").getByText(why).waitFor()
    await button(question, "Close").click()
    await page.getByText(shown, { exact: true }).first().waitFor()
    person.assertSound()
    await person.end()
  })
}

it("after a restore the queue is held: pages say what that means, and an admin releases it after a question", async () => {
  const restored = await inScope(workspace.restored)
  const id = restored.queued
  const member = await signedIn(browser, { ...restored, session: await inScope(workspace.asMember(restored)) })
  await member.open("/messages")
  const hold = (page: Page) => page.getByRole("region", { name: "Queue" })
  await hold(member.page).getByText("Queued messages are held").waitFor()
  const refused = button(member.page, /^Release/)
  assert.strictEqual(await refused.getAttribute("aria-disabled"), "true")
  assert.include(await refused.innerText(), "This needs the role admin; you are member.")
  await member.end()

  const person = await signedIn(browser, restored)
  const { page } = person
  await person.open(`/messages/${id}`)
  await hold(page).getByText("Queued messages are held").waitFor()
  await person.open("/messages/new")
  await page.getByLabel("Later, at a time").check()
  await hold(page).getByText("Queued messages are held").waitFor()
  // memory has no outbox
  await page.route(/\/internal\/queue$/, async (route) => {
    const response = await route.fetch()
    const state = await response.json()
    await route.fulfill({ response, json: { ...state, enqueued: state.heldSince === null ? 0 : 2 } })
  })
  await person.open("")
  const attention = page.getByRole("region", { name: "Needs attention" })
  await attention.getByText("1 queued message is held").waitFor()
  await button(attention, "Release…").click()
  const question = dialog(page, "Release the queue?")
  await question.getByText("1 message of this workspace waits").waitFor()
  await question.getByText("2 messages from before the hold wait in the outbox").waitFor()
  await button(question, "Release the queue").click()
  await question.waitFor({ state: "detached" })
  await attention.getByText("is held").waitFor({ state: "detached" })
  await person.open(`/messages/${id}`)
  await page.getByText("Read", { exact: true }).waitFor()
  assert.strictEqual(await hold(page).count(), 0)
  person.assertSound()
  await person.end()
})

it("an alert of late messages leads to the queued ones", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  await page.route(/\/internal\/alerts\?/, (route) =>
    route.fulfill({
      json: {
        data: [{
          id: "alr_01M84JBXAVAFGRPZK56RBZ3V6M",
          kind: "queue_late",
          subject: "queue",
          message: "Queued messages are sent more than a minute late.",
          openedAt: new Date(server.clock.currentTimeMillisUnsafe()).toISOString(),
          closedAt: null
        }],
        hasMore: false,
        nextCursor: null
      }
    }))
  await person.open("")
  await page.getByRole("region", { name: "Needs attention" }).getByRole("link", { name: "Look at it" }).click()
  await page.getByRole("heading", { level: 1, name: "Messages" }).waitFor()
  assert.strictEqual(new URL(page.url()).search, "?status=queued")
  await person.open("/alerts")
  await page.getByRole("link", { name: "Queued messages are sent more than a minute late." }).click()
  await page.getByRole("heading", { level: 1, name: "Messages" }).waitFor()
  assert.strictEqual(new URL(page.url()).search, "?status=queued")
  person.assertSound()
  await person.end()
})
