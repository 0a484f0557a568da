/**
 * Pages that answer what happened: the content of a message, the details of a request, and one search for everything.
 */
import { Effect } from "effect"
import type { Browser, Page } from "playwright-core"
import { afterAll, assert, beforeAll, it } from "vitest"
import { until } from "../checks.ts"
import { call, createKey, ownPage, receiver as makeReceiver, send, setWebhook } from "../harness.ts"
import { violations } from "./axe.ts"
import { browser as launch, signedIn, type Visit } from "./browser.ts"
import * as Scope from "./scope.ts"
import * as workspace from "./workspace.ts"

const inScope = Scope.ofFile()

/** A customer's messages: one that arrived, and one that failed. */
const set = Effect.gen(function*() {
  const server = yield* workspace.empty
  const { session, url } = server
  const receiver = yield* makeReceiver
  yield* setWebhook({ session, url }, { url: receiver.url })
  const key = yield* createKey(url, session, { name: "Order service" })
  const sent = yield* send({ key, url }, {
    to: "+15551240007",
    type: "template",
    template: { name: "order_update", language: "en_US", bodyParams: ["<b>Ana</b>", "1042"] },
    client_reference: "order-1042"
  })
  assert.strictEqual(sent.status, 200, sent.text)
  return { ...server, key, sent: sent.body as { readonly message_id: string; readonly provider_message_id: string } }
})

let browser: Browser
let server: Effect.Success<typeof set>
let person: Visit

beforeAll(async () => {
  ;[browser, server] = await Promise.all([inScope(launch), inScope(set)])
  person = await signedIn(browser, server)
})
afterAll(() => person.assertSound())

const region = (page: Page, name: string) => page.getByRole("region", { name, exact: true })

it("a message's page shows the template with its values and as the phone shows it, and each step with its delivery", async () => {
  const { page } = person
  await person.open(`/messages/${server.sent.message_id}`)
  const sent = region(page, "What was sent")
  await sent.getByText("Template order_update · en_US").waitFor()
  await sent.getByRole("figure", { name: "Preview of order_update" })
    .getByText("Hi <b>Ana</b>, your order 1042 is on its way. Reply to this message with any question.").waitFor()
  const steps = region(page, "Timeline")
  for (const type of ["message.sent", "message.delivered", "message.read"]) {
    await steps.getByRole("link", { name: `Delivered delivery of ${type}`, exact: true }).waitFor()
  }
  await page.getByText("Not reported").or(page.getByText("Charged · Utility")).waitFor()
})

it("the id in the box of an error leads to the page of the request, which says who made it and what was answered", async () => {
  const { page } = person
  await person.open("/messages/new")
  await page.getByLabel("To", { exact: true }).fill("+15551240007")
  await page.getByLabel("Text, while the customer’s service window is open").check()
  await page.getByLabel("Text", { exact: true }).fill("secret words")
  await page.getByRole("button", { name: "Send message" }).click()
  const link = page.getByRole("alert").getByRole("link", { name: /^req_/ })
  await link.waitFor()
  await inScope(server.pass("2 seconds"))
  const [opened] = await Promise.all([page.context().waitForEvent("page"), link.click()])
  await opened.getByRole("heading", { level: 1, name: "POST /internal/messages", exact: true }).waitFor()
  await opened.getByText("outside_service_window").waitFor()
  await opened.getByText("You", { exact: true }).waitFor()
  assert.notInclude(await opened.content(), "secret words")
  await opened.close()
})

it("the page of a request of an API key has the key, the fields without values, and the message that it made", async () => {
  const { page } = person
  await person.open("/requests")
  await page.getByRole("row", { name: /^POST \/v1\/messages 200/ }).getByRole("link").first().click()
  await page.getByRole("heading", { level: 1, name: "POST /v1/messages", exact: true }).waitFor()
  await page.getByRole("link", { name: "Order service" }).waitFor()
  const asked = region(page, "What was asked")
  for (
    const row of [
      "to Text of 12 characters",
      "template Object with 3 fields",
      "template.bodyParams List of 2 items",
      "client_reference Text of 10 characters"
    ]
  ) {
    await asked.getByRole("row", { name: row, exact: true }).waitFor()
  }
  assert.notInclude(await page.content(), "order-1042")
  await page.getByRole("link", { name: server.sent.message_id }).click()
  await region(page, "What was sent").waitFor()
})

it("an owner has the values of requests kept for a day, sees those of one when they ask for it, and stops it", async () => {
  const { page } = person
  await person.open("/requests")
  const switched = region(page, "Values")
  await switched.getByText("No values are kept.").waitFor()
  await switched.getByRole("button", { name: "Keep values for 24 hours" }).click()
  await page.getByRole("dialog").getByRole("button", { name: "Keep values" }).click()
  await switched.getByText(/^Values are kept for another/).waitFor()
  // a process may not have heard of it for so long
  await inScope(server.pass("2 seconds"))
  const asked = await inScope(send(server, {
    to: "+15551240008",
    type: "text",
    text: { body: `zanzibar marmalade, https://ana:pw@example.com/?t=1, ${server.key.apiKey}` }
  }))
  const id = asked.headers.get("request-id")!
  await inScope(server.pass("2 seconds"))
  await inScope(until(
    call(`${server.url}/internal/requests/${id}`, { headers: server.session }),
    ({ body }) => typeof body.valuesUntil === "string"
  ))
  await person.open(`/requests/${id}`)
  const values = region(page, "Values")
  await values.getByText(/^Values are kept until/).waitFor()
  assert.notInclude(await page.content(), "zanzibar marmalade")
  await values.getByRole("button", { name: "Show the values" }).click()
  await values.getByRole("row", { name: /^text\.body zanzibar marmalade, https:.*\[redacted\]/ }).waitFor()
  assert.notInclude(await page.content(), server.key.apiKey)
  for (const width of [1280, 375]) {
    await page.setViewportSize({ width, height: 800 })
    assert.deepStrictEqual(await violations(page), [])
    assert.isAtMost(await page.evaluate(() => document.documentElement.scrollWidth), width)
  }
  await page.setViewportSize({ width: 1280, height: 800 })
  await person.open("/requests")
  await region(page, "Values").getByRole("button", { name: "Stop keeping values" }).click()
  await page.getByRole("dialog").getByRole("button", { name: "Stop and delete" }).click()
  await region(page, "Values").getByText("No values are kept.").waitFor()
  await person.open(`/requests/${id}`)
  await region(page, "What was asked").waitFor()
  assert.strictEqual(await region(page, "Values").count(), 0)
})

it("the question whether to stop keeping values stays that question when another owner stops it meanwhile", async () => {
  const { page } = person
  const internal = (body: object) =>
    inScope(call(`${server.url}/internal/settings/request-values`, {
      method: "PUT",
      headers: { ...ownPage, ...server.session },
      body
    }))
  const kept = await internal({ on: true })
  assert.strictEqual(kept.status, 200, kept.text)
  await person.open("/requests")
  await region(page, "Values").getByRole("button", { name: "Stop keeping values" }).click()
  const question = page.getByRole("dialog", { name: "Stop keeping values?" })
  await question.waitFor()
  await internal({ on: false })
  // the page asks for the switch again at an interval
  await page.clock.fastForward("02:00")
  await page.getByText("No values are kept.").waitFor()
  await question.getByRole("button", { name: "Stop and delete" }).click()
  await page.getByRole("dialog").waitFor({ state: "detached" })
  const { body } = await inScope(
    call(`${server.url}/internal/settings/request-values`, { headers: server.session })
  )
  assert.isFalse(body.on)
})

it("requests are filtered by key, route, status and a range of time, which the address keeps", async () => {
  const { page } = person
  const rows = page.locator("tbody tr").filter({ hasText: "/messages" })
  await person.open("/requests")
  await rows.first().waitFor()
  await page.getByLabel("Key", { exact: true }).selectOption("Order service")
  await page.getByLabel("Route", { exact: true }).selectOption("/v1/messages")
  await page.getByLabel("Status", { exact: true }).selectOption("200")
  await page.waitForURL(/status=200/)
  await page.locator("tbody tr", { hasText: "/internal/messages" }).waitFor({ state: "detached" })
  // the rows of the filter before are in sight until the answer comes
  await rows.nth(1).waitFor({ state: "detached" })
  assert.strictEqual(await rows.count(), 1)
  await page.getByLabel("Time", { exact: true }).selectOption("From – to")
  await page.getByLabel("To", { exact: true }).fill("2020-01-01T00:00")
  await page.getByText("No request fits these filters").waitFor()
  await page.reload()
  await page.getByText("No request fits these filters").waitFor()
  assert.strictEqual(await page.getByLabel("To", { exact: true }).inputValue(), "2020-01-01T00:00")
  await page.getByLabel("To", { exact: true }).fill("2040-01-01T00:00")
  await rows.first().waitFor()
  assert.strictEqual(await rows.count(), 1)
})

/** Looks for a text with the command menu, and goes to what it is found by. */
const search = async (page: Page, text: string, found: RegExp) => {
  await page.keyboard.press("ControlOrMeta+k")
  const input = page.getByRole("combobox", { name: "Page, identifier or number" })
  await input.fill(text)
  const first = page.getByRole("option").first()
  await first.filter({ hasText: found }).waitFor()
  await input.press("Enter")
  await input.waitFor({ state: "detached" })
}

it("support answers five questions about one customer in one search each", async () => {
  const { page } = person
  const { message_id: id, provider_message_id: provider } = server.sent
  const title = (name: string) => page.getByRole("heading", { level: 1, name, exact: true }).waitFor()
  await person.open("")
  await title("Overview")
  // what did we send to the customer whose number nobody knows in full?
  await search(page, "(555) 124-", /^Customer \+15551240007$/)
  await title("Messages")
  await page.getByRole("row", { name: /\+15551240007/ }).first().waitFor()
  assert.include(page.url(), "to=%2B15551240007")
  // what became of the message about an order?
  await search(page, "order-1042", /^Message to \+15551240007 · Read · order-1042$/)
  await title("Message to +15551240007")
  // and of the one that the provider asks about?
  await search(page, provider, /^Message to \+15551240007/)
  await title("Message to +15551240007")
  assert.include(page.url(), id)
  // what does the template say?
  await search(page, "order_update", /^Template order_update · en_US$/)
  await title("order_update")
  await page.getByRole("figure", { name: "Preview of order_update" }).waitFor()
  // which key sent it, and is it used?
  await search(page, "order serv", /^API key Order service$/)
  await title("Order service")
})

it("a number is found by its beginning in any notation, and the search says what it did not find", async () => {
  const { page } = person
  await person.open("")
  await page.getByRole("heading", { level: 1, name: "Overview", exact: true }).waitFor()
  await page.keyboard.press("ControlOrMeta+k")
  const input = page.getByRole("combobox", { name: "Page, identifier or number" })
  for (const text of ["+1 555 124", "001555124", "0555 1240", "5551", "15551240007"]) {
    await input.fill(text)
    await page.getByRole("option", { name: "Customer +15551240007", exact: true }).waitFor()
  }
  await input.fill("0049 170 99")
  await page.getByText("Not found by “0049 170 99”: customers, messages, API keys.").waitFor()
  await input.fill("no_such_thing")
  await page.getByText("Not found by “no_such_thing”: messages, templates, API keys.").waitFor()
  await page.keyboard.press("Escape")
})
