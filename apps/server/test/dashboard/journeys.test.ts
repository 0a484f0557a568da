/**
 * What people do in the dashboard, in a real browser against the real server over PGlite. The journeys are one after
 * the other, in one workspace: each finds what the one before has left.
 */
import { Setup } from "@wac/core"
import * as Program from "@wac/testbed/Program"
import { RecordingReceiver } from "@wac/testkit"
import { verify } from "@wac/verifier"
import { Context, Duration, Effect, Redacted } from "effect"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import type { Browser } from "playwright-core"
import { afterEach, assert, beforeAll, it } from "vitest"
import { call, type Delivered, hello, ownPage, receiver as makeReceiver, send, start } from "../harness.ts"
import { moving } from "../movable.ts"
import { browser as launch, button, dialog, unasked, type Visit, visit } from "./browser.ts"
import * as Scope from "./scope.ts"

const inScope = Scope.ofFile()

const owner = { email: "owner@example.com", password: "correct horse battery" }

let url: string
let server: Effect.Success<ReturnType<typeof startServer>>
let receiver: Effect.Success<typeof makeReceiver>
let browser: Browser
let person: Visit
/** What the journeys leave to each other. */
let apiKey = ""
let signingSecret = ""

const startServer = (directory: string) =>
  moving(
    start({ environment: { WAC_OWNER_EMAIL: "", WAC_OWNER_PASSWORD: "", DATABASE_URL: `pglite:${directory}` } })
  )

beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), "wac-journeys-"))
  await inScope(Effect.addFinalizer(() => Effect.sync(() => rmSync(directory, { recursive: true }))))
  ;[server, browser] = await Promise.all([inScope(startServer(directory)), inScope(launch)])
  url = server.url
  receiver = await inScope(makeReceiver)
  person = await visit(browser, url)
  await person.page.clock.install()
})

afterEach(() => person.assertSound())

/** Time passes for the service and for the person. */
const pass = async (duration: Duration.Input): Promise<void> => {
  await Effect.runPromise(server.pass(duration))
  await person.page.clock.fastForward(Duration.toMillis(duration))
}

/** The session's cookie, as a program would send it. */
const sessionHeaders = async () => ({
  ...ownPage,
  cookie: (await person.page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join("; ")
})

const sendOne = (to?: string) => Effect.runPromise(send({ url, key: { apiKey } }, hello(to)))

const needed = Program.needed({
  programs: ["curl", ["openssl", "version"]],
  untested: "commands that the dashboard shows",
  install: "apt-get install curl openssl"
})

const bash = promisify(execFile)

/** The commands that the journeys ran. */
const ran: Array<string> = []

/**
 * Runs a command that a page shows, as a person pastes it into a terminal. Without the programs in it, the journey goes
 * on with a message of its own, and the test of the commands is left out.
 */
const run = async (command: string): Promise<{ readonly status: string }> => {
  if (needed.meta !== undefined) return (await sendOne("+15551234567")).body
  const { stdout } = await bash("bash", ["-c", command])
  ran.push(command)
  return JSON.parse(stdout)
}

const take = (count: number): Promise<ReadonlyArray<Delivered>> => Effect.runPromise(receiver.take(count))

const assertSigned = async (body: Uint8Array, header: string | undefined, secret: string) => {
  const now = Math.floor(server.clock.currentTimeMillisUnsafe() / 1000)
  assert.isTrue((await verify(body, header, secret, { now })).ok)
}

/** Reads a secret from the dialog that shows it this once, and says that it is stored. */
const storeSecret = async (name: string | RegExp, label: string): Promise<string> => {
  const shown = dialog(person.page, name)
  await button(shown, `Copy ${label}`).click()
  await button(shown, "Copied").waitFor()
  const secret = await person.page.evaluate(() => navigator.clipboard.readText())
  const done = button(shown, /^Done/)
  assert.strictEqual(await done.getAttribute("aria-disabled"), "true", "not before it is stored")
  await shown.getByLabel("I have stored it").check()
  await done.click()
  await shown.waitFor({ state: "detached" })
  return secret
}

it("the set-up link leads to an owner, a key, a message, a webhook and a verified event", async () => {
  const { page } = person
  const token = Redacted.value(
    (await Effect.runPromise(Effect.orDie(Context.get(server.services, Setup.Setup).token)))!
  )
  await page.goto(`${url}/setup#${token}`)
  // if a script fails, the password must not get into an address
  assert.strictEqual(await page.locator("form").getAttribute("method"), "post")
  await page.getByLabel("Workspace").fill("First shop")
  await page.getByLabel("E-mail").fill(owner.email)
  await page.getByLabel("Password").fill(owner.password)
  await button(page, "Create").click()
  await page.getByRole("heading", { name: "Get started" }).waitFor()
  assert.strictEqual(new URL(page.url()).pathname, "/dashboard/start")
  assert.notInclude(page.url(), token)
  assert.strictEqual(await page.title(), "Get started · wac")

  await button(page, "Create API key").click()
  await dialog(page, "Create an API key").getByLabel("Name").fill("Order service")
  await button(dialog(page, "Create an API key"), "Create key").click()
  const shown = dialog(page, "API key “Order service”")
  await shown.getByText("Try it: send a first message").click()
  const command = await shown.getByRole("group", { name: "Command" }).innerText()
  apiKey = await storeSecret("API key “Order service”", "API key")
  assert.match(apiKey, /^wac_live_/)
  assert.include(command, apiKey)
  const sent = await run(command)
  assert.strictEqual(sent.status, "sent", JSON.stringify(sent))
  await page.getByRole("link", { name: "To +15551234567" }).waitFor()

  // without a server of one's own, the page's tab is the receiver
  await button(page, "Receive in this tab").click()
  await page.getByText("This tab receives events").waitFor()
  const again = await page.getByRole("group", { name: "Second command" }).innerText()
  assert.strictEqual((await run(again.replace("YOUR_API_KEY", apiKey))).status, "sent")
  const arrived = page.getByRole("group").filter({ hasText: "came to this tab" })
  await arrived.filter({ hasText: "message.sent" }).getByText("Verified").waitFor()
  assert.strictEqual(await page.getByText("(done)").count(), 4)
  await arrived.filter({ hasText: "message.sent" }).click()
  assert.match(await page.getByRole("group", { name: "Delivery" }).innerText(), /X-Service-Signature: t=\d+,v1=/i)
  await button(page, "Stop receiving here").click()

  await page.getByRole("link", { name: "Set webhook" }).click()
  await page.getByLabel("URL").fill(receiver.url)
  await button(page, "Set webhook").click()
  signingSecret = await storeSecret("Store the signing secret now", "signing secret")
  await page.getByRole("link", { name: "Get started" }).click()

  assert.strictEqual((await sendOne()).status, 200)
  const [first] = await take(1)
  await assertSigned(first!.body, first!.headers["x-service-signature"], signingSecret)
  await page.getByRole("link", { name: /^message\./ }).waitFor()
  assert.strictEqual(await page.getByText("(done)").count(), 4)
  await take(2)
})

it("a key is created with an expiry, used, seen in use, and revoked after a question", async () => {
  const { page } = person
  await person.open("/api-keys")
  await button(page, "Create API key").click()
  const form = dialog(page, "Create an API key")
  await form.getByLabel("Name").fill("Night job")
  await form.getByLabel("Expires").selectOption("In 30 days")
  await form.getByLabel("Require signed requests").check()
  await form.getByLabel("Used from").fill("127.0.0.1/8, ::1")
  await button(form, "Create key").click()
  assert.include(await form.getByRole("alert").innerText(), "127.0.0.0/8")
  await form.getByLabel("Used from").fill("127.0.0.0/8, ::1")
  await button(form, "Create key").click()
  const shown = dialog(page, "API key “Night job”")
  await shown.getByText("Try it: send a first message").click()
  const command = await shown.getByRole("group", { name: "Command" }).innerText()
  const key = await storeSecret("API key “Night job”", "API key")
  // the command signs what it sends, which this key requires
  assert.strictEqual((await run(command)).status, "sent")
  const unsigned = await Effect.runPromise(send({ url, key: { apiKey: key } }, hello()))
  assert.deepStrictEqual([unsigned.status, unsigned.body.error.reason], [401, "missing_signature"])
  await take(3)

  await page.getByRole("link", { name: "Night job" }).click()
  await page.getByRole("heading", { name: "Night job" }).waitFor()
  await page.getByText("in 29 days").or(page.getByText("in 30 days")).first().waitFor()
  assert.notInclude(await page.locator("main").innerText(), key)
  await page.getByText("127.0.0.0/8, ::1/128").waitFor()
  await button(page, "Revoke…").click()
  const question = dialog(page, "Revoke “Night job”?")
  assert.include(await question.innerText(), "This cannot be undone")
  await button(question, "Revoke key").click()
  await question.waitFor({ state: "detached" })
  await page.getByText("Revoked").first().waitFor()
  const refused = await Effect.runPromise(send({ url, key: { apiKey: key } }, hello()))
  assert.deepStrictEqual([refused.status, refused.body.error.reason], [401, "revoked_key"])
  await person.open("/api-keys")
  await page.getByRole("link", { name: "Order service" }).waitFor()
  assert.strictEqual(await page.getByRole("link", { name: "Night job" }).count(), 0)
})

it("the commands that the pages show send messages when pasted into a terminal", needed, () => {
  assert.lengthOf(ran, 3)
})

/** Every page that the side leads to. */
const places = async (): Promise<ReadonlyArray<string>> =>
  Promise.all(
    (await person.page.getByRole("navigation", { name: "Pages", exact: true }).getByRole("link").all()).map((link) =>
      link.innerText()
    )
  )

it("a receiver that dies is warned of and then paused on every page, and its events drain in order once it is mended", async () => {
  const { page } = person
  await Effect.runPromise(receiver.answerWith(RecordingReceiver.reply(503)))
  // nothing more is reported of messages to this number: each has one event
  const silent = "+15005550003"
  const ids: Array<string> = []
  for (let i = 0; i < 6; i++) ids.push((await sendOne(silent)).body.message_id)
  await person.open("/messages")
  const banner = page.getByRole("region", { name: "Webhook alert" })
  await banner.getByText("The webhook is failing").waitFor()
  assert.match(
    await banner.innerText(),
    /since (just now|\d+ s ago)\. Last failure: .*503.* It will be paused in 2\d h/
  )

  // its events have no attempt left after a day; the session lives on as somebody looks at the page
  for (let i = 0; i < 3; i++) {
    await pass("11 hours")
    const { status } = await Effect.runPromise(call(`${url}/internal/webhook`, { headers: await sessionHeaders() }))
    assert.strictEqual(status, 200)
  }
  await banner.getByText("The webhook is paused").waitFor()
  for (const place of await places()) {
    await page.getByRole("navigation", { name: "Pages", exact: true }).getByRole("link", { name: place }).click()
    await page.getByRole("heading", { level: 1 }).waitFor()
    const text = await banner.innerText()
    assert.match(
      text,
      /The webhook is paused, since .* Last failure: .*503.* 6 events are held, the oldest from .* ago/
    )
  }

  await banner.getByRole("link", { name: "Open webhook" }).click()
  await button(page, "Resume…").click()
  const resuming = dialog(page, "Resume the webhook")
  // nothing is mended yet: the probe finds out
  await button(resuming, "Resume").click()
  await resuming.getByText("The probe failed, so the webhook stays paused").waitFor()

  await Effect.runPromise(receiver.answerWith(RecordingReceiver.ok))
  const before = (await Effect.runPromise(receiver.requests)).length
  await resuming.getByLabel("Deliver all: 6 held events, oldest first").check()
  await button(resuming, "Resume").click()
  await resuming.waitFor({ state: "detached" })
  await banner.waitFor({ state: "detached" })
  const drained = (await Effect.runPromise(receiver.waitFor(before + 7))).slice(before)
  const events = drained.map(({ body }) => JSON.parse(new TextDecoder().decode(body)))
  assert.deepStrictEqual(events.map(({ type }) => type), ["webhook.test", ...ids.map(() => "message.sent")])
  assert.deepStrictEqual(events.slice(1).map(({ data }) => data.message_id), ids)
  await page.getByText("Healthy").waitFor()
})

it("a secret is rotated with an overlap, and no delivery fails", async () => {
  const { page } = person
  await person.open("/settings/webhook")
  const deliver = async (...secrets: ReadonlyArray<string>) => {
    const before = (await Effect.runPromise(receiver.requests)).length
    await sendOne("+15005550003")
    const got = (await Effect.runPromise(receiver.waitFor(before + 1))).slice(before)
    for (const { body, headers } of got) {
      for (const secret of secrets) await assertSigned(body, headers["x-service-signature"], secret)
    }
  }
  await deliver(signingSecret)
  await button(page, "Rotate secret…").click()
  const rotating = dialog(page, "Rotate the signing secret")
  await rotating.getByLabel("In 24 hours").check()
  await button(rotating, "Rotate secret").click()
  // the sign-in is long ago
  const proving = dialog(page, "Confirm that it is you")
  await proving.getByLabel("Password").fill("not the password")
  await button(proving, "Confirm").click()
  await proving.getByRole("alert").waitFor()
  await proving.getByLabel("Password").fill(owner.password)
  await button(proving, "Confirm").click()
  await proving.waitFor({ state: "detached" })
  const next = await storeSecret("Store the signing secret now", "signing secret")
  assert.notStrictEqual(next, signingSecret)
  // the receiver may change over whenever it wants to
  await deliver(signingSecret, next)
  signingSecret = next
  const failed = await page.evaluate(() =>
    fetch("/internal/webhook/deliveries?status=pending").then((response) => response.json())
  )
  assert.deepStrictEqual(
    failed.data.filter(({ attemptCount }: { readonly attemptCount: number }) => attemptCount > 1),
    []
  )

  // and the page that checks signatures knows both
  const [last] = (await Effect.runPromise(receiver.requests)).slice(-1)
  await page.getByLabel("Signature header").fill(last!.headers["x-service-signature"]!)
  await page.getByLabel("Raw body").fill(new TextDecoder().decode(last!.body))
  await button(page, "Check signature").click()
  await page.getByText("The signature is valid.").waitFor()
  await page.getByLabel("Raw body").fill("{}")
  await page.getByText("The signature is valid.").waitFor({ state: "hidden" })
  await button(page, "Check signature").click()
  await page.getByText("The signature is not valid.").waitFor()
})

it("a range of events is replayed with its progress, under the ids that they had", async () => {
  const { page } = person
  await person.open("/settings/webhook")
  const before = await Effect.runPromise(receiver.requests)
  const ids = new Set(
    before.map(({ body }) => JSON.parse(new TextDecoder().decode(body))).filter(({ type }) => type !== "webhook.test")
      .map(({ id }) => id)
  )
  await button(page, "Replay events").click()
  const form = dialog(page, "Replay events")
  await form.getByLabel("From").fill("2020-01-01T00:00:00")
  await form.getByLabel("Deliveries").selectOption("Delivered only")
  await button(form, "Start replay").click()
  await form.waitFor({ state: "detached" })
  const replays = page.getByRole("region", { name: "Replays" }).first()
  await replays.getByText("Completed").waitFor()
  assert.include(await replays.innerText(), `${ids.size} of ${ids.size}`)
  const again = (await Effect.runPromise(receiver.waitFor(before.length + ids.size))).slice(before.length)
  assert.deepStrictEqual(new Set(again.map(({ body }) => JSON.parse(new TextDecoder().decode(body)).id)), ids)
})

it("a session that ends while a form is filled in is begun again in place, and the form is as it was", async () => {
  const { page } = person
  await person.open("/api-keys")
  await button(page, "Create API key").click()
  const form = dialog(page, "Create an API key")
  await form.getByLabel("Name").fill("Kept")
  await form.getByLabel("Expires").selectOption("In 90 days")
  const asking = dialog(page, "Your session has ended")
  await unasked(page, async () => {
    const ended = await Effect.runPromise(
      call(`${url}/internal/session`, { method: "DELETE", headers: await sessionHeaders() })
    )
    assert.strictEqual(ended.status, 204)
    await button(form, "Create key").click()
    await asking.waitFor()
  })
  assert.strictEqual(await asking.getByLabel("E-mail").inputValue(), owner.email)
  await asking.getByLabel("Password").fill("not the password")
  await button(asking, "Sign in").click()
  await asking.getByRole("alert").waitFor()
  await asking.getByLabel("Password").fill(owner.password)
  await button(asking, "Sign in").click()
  await asking.waitFor({ state: "detached" })
  assert.strictEqual(await form.getByLabel("Name").inputValue(), "Kept")
  assert.strictEqual(await form.getByLabel("Expires").inputValue(), "90")
  await button(form, "Create key").click()
  await storeSecret("API key “Kept”", "API key")
  await page.getByRole("link", { name: "Kept" }).waitFor()
})

it("a template is filled in beside its preview and sent once, and its life is followed", async () => {
  const { page } = person
  await person.open("/messages")
  await page.getByRole("link", { name: "Send a message" }).click()
  await page.getByLabel("To", { exact: true }).fill("+15551239876")
  await page.getByLabel("Template", { exact: true }).selectOption({ label: "order_update · en_US" })
  await page.getByLabel("Placeholder 1").fill("<b>Ana</b>")
  await page.getByLabel("Placeholder 2").fill("1042")
  const preview = page.getByRole("figure", { name: "Preview of order_update" })
  await preview.getByText("<b>Ana</b>").waitFor()
  await button(page, "Send message").click()
  await page.getByRole("heading", { name: "Message to +15551239876" }).waitFor()
  await page.getByText("No API key: the dashboard, the outbox, or an operator’s retry").waitFor()
  await page.getByText("Read by the recipient").waitFor()
  // each step with its event, and the event's way to the webhook
  for (const type of ["message.sent", "message.delivered", "message.read"]) {
    await page.getByRole("link", { name: `Delivered delivery of ${type}` }).waitFor()
  }
  const id = new URL(page.url()).pathname.split("/").at(-1)!
  await page.getByRole("link", { name: "delivery of message.read" }).click()
  await page.getByRole("link", { name: "message.read", exact: true }).click()
  await page.getByRole("link", { name: id }).click()
  await page.getByRole("heading", { name: "Message to +15551239876" }).waitFor()

  // outside a service window the service refuses text, and the form stays as it is
  await person.open("/messages/new?to=%2B15551239876")
  await page.getByLabel("Text, while the customer’s service window is open").check()
  await page.getByText("Closed: the customer has not written").waitFor()
  await page.getByLabel("Text", { exact: true }).fill("Hello?")
  await button(page, "Send message").click()
  await page.getByRole("alert").waitFor()
  assert.strictEqual(await page.getByLabel("Text", { exact: true }).inputValue(), "Hello?")
})

it("a customer without a phone number is written to, found and answered by user id", async () => {
  const { page } = person
  const userId = "US.15005550008"
  await person.open("/messages/new")
  await page.getByLabel("To", { exact: true }).fill(userId)
  await page.getByLabel("Text, while the customer’s service window is open").check()
  await page.getByText("Closed: the customer has not written").waitFor()
  await page.getByLabel("A template, at any time").check()
  await page.getByLabel("Template", { exact: true }).selectOption({ label: "hello_world · en_US" })
  await button(page, "Send message").click()
  await page.getByRole("heading", { name: `Message to ${userId}` }).waitFor()
  await page.getByText("Read by the recipient").waitFor()

  // the customer has replied, and is a contact now
  await page.getByRole("link", { name: "Contacts", exact: true }).click()
  await page.getByLabel("Customer’s number or user id").fill(userId)
  await page.getByLabel("Customer’s number or user id").press("Enter")
  await page.getByRole("link", { name: userId }).click()
  const conversation = page.getByRole("list", { name: "Messages" }).getByRole("listitem")
  await conversation.getByText("Thank you, got it!").waitFor()
  assert.include(await conversation.nth(0).innerText(), "Template hello_world · en_US")
  assert.include(await conversation.nth(0).innerText(), "Read")
  assert.include(await conversation.nth(1).innerText(), "Customer")

  // and is answered in place
  await page.getByLabel("Reply").fill("<b>Gladly</b>")
  await button(page, "Send reply").click()
  await conversation.getByText("<b>Gladly</b>").waitFor()
  assert.include(await conversation.nth(2).innerText(), "You")
  assert.strictEqual(await page.getByLabel("Reply").inputValue(), "")
  // the same again is another reply
  await page.getByLabel("Reply").fill("<b>Gladly</b>")
  await button(page, "Send reply").click()
  await conversation.getByText("<b>Gladly</b>").nth(1).waitFor()
  // without an open conversation only a template can be sent
  await button(page, "Opt out").click()
  await page.getByText("The customer has opted out.").waitFor()
  await button(page, "Opt in…").click()
  await button(dialog(page, `Opt in ${userId}?`), "Opt in").click()
  await page.getByLabel("Reply").waitFor()

  await page.getByRole("link", { name: "Send a message" }).click()
  await page.getByLabel("Text, while the customer’s service window is open").check()
  await page.getByText("Open for").waitFor()
  await page.getByLabel("Text", { exact: true }).fill("You are welcome")
  await button(page, "Send message").click()
  await page.getByRole("heading", { name: `Message to ${userId}` }).waitFor()

  await person.open("/messages")
  const search = page.getByLabel("Number, id, provider’s id or client reference")
  await search.fill(userId)
  await search.press("Enter")
  await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 4)
  // a search keeps to the number that is chosen
  await person.open(`/contacts?number=${userId}&phoneNumberId=pn_01ARZ3NDEKTSV4RRFFQ69G5FAV`)
  await page.getByText("No contact has this number or user id").waitFor()
})

it("a person opts a contact out, and in again", async () => {
  const { page } = person
  const userId = "US.15005550008"
  const promo = () =>
    Effect.runPromise(send({ url, key: { apiKey } }, {
      to: userId,
      type: "template",
      template: { name: "promo", language: "en_US", bodyParams: ["20 %"] }
    }))
  await person.open("/contacts")
  await page.getByLabel("Customer’s number or user id").fill(userId)
  await page.getByLabel("Customer’s number or user id").press("Enter")
  await page.getByRole("link", { name: userId }).click()
  await button(page, "Opt out").click()
  await button(page, "Opt in…").waitFor()
  const refused = await promo()
  assert.deepStrictEqual([refused.status, refused.body.error.reason], [403, "opted_out"])
  await button(page, "Opt in…").click()
  await button(dialog(page, `Opt in ${userId}?`), "Opt in").click()
  await button(page, "Opt out").waitFor()
  assert.strictEqual((await promo()).status, 200)
})

it("the words by which customers opt out are shown by language, taken away, added back and extended", async () => {
  const { page } = person
  const words = async () => {
    const { body } = await Effect.runPromise(
      call(`${url}/internal/settings/opt-out`, { headers: await sessionHeaders() })
    )
    return [body.stopWords, body.startWords, body.removed]
  }
  const save = async () => {
    await button(page, "Save").click()
    await page.getByText("Saved.").waitFor()
  }
  await person.open("/settings/opt-out")
  await page.getByText("Portuguese", { exact: true }).waitFor()
  await page.getByLabel("Words that opt out").fill("Genug\n\n Schluss jetzt ")
  await page.getByLabel("Words that opt in").fill("Weiter")
  await button(page, "Take away “parar”").first().click()
  // a word of several languages is one word
  assert.strictEqual(await button(page, "Take away “parar”").count(), 0)
  await save()
  assert.deepStrictEqual(await words(), [["Genug", "Schluss jetzt"], ["Weiter"], ["parar"]])

  await page.reload()
  assert.strictEqual(await page.getByLabel("Words that opt out").inputValue(), "Genug\nSchluss jetzt")
  await button(page, "Add back “parar”").first().click()
  await page.getByLabel("Words that opt in").fill("genug!")
  await button(page, "Save").click()
  await page.getByRole("alert").waitFor()
  assert.deepStrictEqual((await words())[2], ["parar"])
  await page.getByLabel("Words that opt in").fill("")
  await page.getByLabel("Words that opt out").fill("")
  await save()
  assert.deepStrictEqual(await words(), [[], [], []])
})

it("a person goes from a message to the list of its deliveries", async () => {
  const { page } = person
  const { body: { message_id: id } } = await Effect.runPromise(send({ url, key: { apiKey } }, hello("+15551230043")))
  await person.open(`/messages/${id}`)
  await page.getByRole("link", { name: "Delivered delivery of message.read" }).waitFor()
  // without loading the page anew, which would forget what the message's page knows
  await page.getByRole("navigation").getByRole("link", { name: "Deliveries" }).first().click()
  const search = page.getByLabel("Status code, message id or delivery id")
  await search.fill(id)
  await search.press("Enter")
  await page.waitForURL((to) => to.search.includes(id))
  await page.getByRole("table").getByRole("link").nth(2).waitFor()
  person.assertSound()
})

it("a person finds a message and its deliveries by what they know of them, and delivers a choice again", async () => {
  const { page } = person
  const answer = await Effect.runPromise(
    send({ url, key: { apiKey } }, { ...hello("+15551230042"), client_reference: "order-4711" })
  )
  assert.strictEqual(answer.status, 200)
  const { message_id: id, provider_message_id: providerId } = answer.body
  const search = page.getByLabel("Number, id, provider’s id or client reference")
  for (const known of ["order-4711", providerId, "+1 555 1230042"]) {
    await person.open("/messages")
    await search.fill(known)
    await search.press("Enter")
    // the page may still show the list of all messages
    await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1)
    await page.getByRole("link", { name: "+15551230042" }).waitFor()
  }
  // digits that are read as a phone number may be a reference
  for (const [n, reference] of ["4500012345", "0045 00012345"].entries()) {
    const to = `+1555123004${n + 3}`
    const sent = await Effect.runPromise(
      send({ url, key: { apiKey } }, { ...hello(to), client_reference: reference })
    )
    assert.strictEqual(sent.status, 200)
    await person.open("/messages")
    await search.fill(reference)
    await search.press("Enter")
    await page.getByRole("link", { name: `Messages with the reference ${reference}` }).click()
    await page.getByRole("link", { name: to }).waitFor()
    assert.strictEqual(await search.inputValue(), reference)
  }
  await person.open("/messages")
  await search.fill(id)
  await search.press("Enter")
  await page.getByRole("link", { name: "Delivered delivery of message.read" }).waitFor()

  await person.open(`/deliveries?message=${id}`)
  const rows = page.getByRole("table").getByRole("link")
  await rows.nth(2).waitFor()
  assert.strictEqual(await rows.count(), 3)
  assert.strictEqual(await page.getByRole("row", { name: /\+15551230042 .*Status 200/ }).count(), 3)
  await page.getByLabel("Event", { exact: true }).selectOption("Message read")
  await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1)
  await page.getByLabel("Event", { exact: true }).selectOption("All")
  await rows.nth(2).waitFor()
  await page.getByRole("checkbox", { name: /^Choose message\.delivered/ }).check()
  await page.getByRole("checkbox", { name: /^Choose message\.read/ }).check()
  await page.getByText("2 are chosen").waitFor()
  const before = await Effect.runPromise(receiver.requests)
  await button(page, "Deliver again…").click()
  const asking = dialog(page, "Deliver 2 events again?")
  await button(asking, "Deliver again").click()
  await asking.getByText("2 of 2 begun").waitFor()
  await button(asking, "Close").click()
  await page.getByText("Choose all on this page").waitFor()
  const again = (await Effect.runPromise(receiver.waitFor(before.length + 2))).slice(before.length)
  assert.deepStrictEqual(
    again.map(({ body }) => JSON.parse(new TextDecoder().decode(body)).type).sort(),
    ["message.delivered", "message.read"]
  )

  await person.open(`/deliveries?message=${id}&status=delivered`)
  await button(page, "Deliver all 3 again…").click()
  const askingAll = dialog(page, "Deliver 3 events again?")
  assert.deepStrictEqual(await askingAll.getByRole("listitem").allInnerTexts(), [`Message: ${id}`, "Status: Delivered"])
  await button(askingAll, "Deliver again").click()
  await askingAll.getByText("3 of 3 begun").waitFor()
  await button(askingAll, "Close").click()
  await Effect.runPromise(receiver.waitFor(before.length + 5))
  await person.open(`/deliveries?message=${id}`)

  // what had failed was delivered since, but for the probe, which is made once
  const code = page.getByLabel("Status code, message id or delivery id")
  await person.open("/deliveries")
  await code.fill("503")
  await code.press("Enter")
  await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1)
  await rows.getByText("webhook.test").waitFor()
  await page.getByRole("row", { name: /webhook\.test – .*Status 503/ }).waitFor()
  await code.fill("404")
  await code.press("Enter")
  await page.getByText("No delivery fits these filters").waitFor()
})

it("the command menu leads to pages, identifiers and dialogs by the keyboard alone", async () => {
  const { page } = person
  const go = async (text: string, found?: RegExp) => {
    await page.getByRole("heading", { level: 1 }).waitFor()
    await page.keyboard.press("ControlOrMeta+k")
    const menu = page.getByRole("combobox", { name: "Page, identifier or number" })
    await menu.fill(text)
    if (found !== undefined) await page.getByRole("option").first().filter({ hasText: found }).waitFor()
    await menu.press("Enter")
    await menu.waitFor({ state: "detached" })
  }
  await person.open("")
  for (const place of await places()) {
    await go(place)
    await page.getByRole("heading", { level: 1, name: place }).waitFor()
  }
  await go("create an api key")
  await dialog(page, "Create an API key").waitFor()
  await page.keyboard.press("Escape")
  await go("rotate")
  await dialog(page, "Rotate the signing secret").waitFor()
  await page.goBack()
  await dialog(page, "Rotate the signing secret").waitFor({ state: "detached" })
  await go("invite")
  await dialog(page, "Invite a person").waitFor()
  await page.keyboard.press("Escape")
  await go("order-4711", /^Message to \+15551230042/)
  await page.getByRole("heading", { name: "Message to +15551230042" }).waitFor()
  const id = new URL(page.url()).pathname.split("/").at(-1)!
  await person.open("")
  await go(id)
  await page.getByRole("heading", { name: "Message to +15551230042" }).waitFor()
})

it("a person is invited, joins, and cannot create a key: the button says why, and the service refuses", async () => {
  const { page } = person
  await person.open("/settings/members")
  await button(page, "Invite a person").click()
  const form = dialog(page, "Invite a person")
  await form.getByLabel("E-mail").fill("jürgen@müller.example")
  await form.getByLabel("Member: sees everything but secrets and campaigns").check()
  await button(form, "Invite").click()
  const shown = dialog(page, "The invitation’s link")
  const link = await shown.locator("code").innerText()
  assert.include(link, "/dashboard/invitation#token=")
  await button(shown, "Done").click()
  await page.getByRole("row", { name: /jürgen@müller.example/ }).getByText("Invited").last().waitFor()

  const other = await visit(browser, url)
  await other.page.goto(`${url}/dashboard/invitation${new URL(link).hash}`)
  await other.page.getByText(`${owner.email} invites you (jürgen@müller.example) to become a member of`).waitFor()
  await other.page.getByLabel("Password").fill("a password of my own")
  await button(other.page, "Join").click()
  await other.page.getByRole("heading", { name: "Overview" }).waitFor()
  assert.notInclude(other.page.url(), "token")
  // whose address has letters that browsers do not take for an e-mail address
  await other.page.context().clearCookies()
  await other.page.goto(`${url}/dashboard`)
  await other.page.getByLabel("E-mail").fill("jürgen@müller.example")
  await other.page.getByLabel("Password").fill("a password of my own")
  await button(other.page, "Sign in").click()
  await other.page.getByRole("heading", { name: "Overview" }).waitFor()
  // the link works once, and says so
  const late = await visit(browser, url)
  await late.page.goto(`${url}/dashboard/invitation${new URL(link).hash}`)
  await late.page.getByText("This invitation is no longer valid").waitFor()
  assert.strictEqual(await late.page.getByLabel("Password").count(), 0)
  late.assertSound()
  await late.end()
  await other.open("/api-keys")
  const create = button(other.page, /^Create API key/).first()
  assert.strictEqual(await create.getAttribute("aria-disabled"), "true")
  assert.include(await create.innerText(), "This needs the role developer; you are member.")
  await create.click({ force: true })
  assert.strictEqual(await other.page.getByRole("dialog").count(), 0)
  const refused = await other.page.evaluate(() =>
    fetch("/internal/api-keys", {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": "mine" },
      body: JSON.stringify({ name: "mine" })
    }).then(async (response) => [response.status, (await response.json()).error.code])
  )
  assert.deepStrictEqual(refused, [403, "forbidden"])
  await other.open("/settings/members")
  await other.page.locator("main").getByText("This needs the role admin").last().waitFor()
  other.assertSound()
  await other.end()
  await page.getByRole("row", { name: /jürgen@müller.example/ }).getByText("Active").waitFor()
})

it("a campaign is made of a file, checked, started after a question, and followed to its result", async () => {
  const { page } = person
  await person.open("/campaigns")
  await page.getByText("No campaigns yet").waitFor()
  await page.getByRole("link", { name: "New campaign" }).click()
  await page.getByLabel("Name", { exact: true }).fill("Order news")
  await page.getByLabel("Template", { exact: true }).selectOption({ label: "order_update · en_US" })
  await page.getByLabel("Customers").setInputFiles({
    name: "customers.csv",
    mimeType: "text/csv",
    buffer: Buffer.from(
      "\uFEFFFirst name,Mobile,Order\r\n\"Ana <b>\",+1 (555) 123-0001,77\r\nBen,+15551230002,78\r\nBen,+15551230002,78\r\n,12,79\r\n"
    )
  })
  // the column with the numbers is found, and may be another
  assert.strictEqual(await page.getByLabel("Column with the phone numbers").inputValue(), "Mobile")
  await page.getByLabel("Placeholder 1").selectOption({ label: "Column First name" })
  await page.getByLabel("Placeholder 2").selectOption({ label: "Column Order" })
  await page.getByRole("figure", { name: "Preview of order_update" }).getByText("Ana <b>").waitFor()
  await button(page, "Upload and check").click()

  await page.getByRole("heading", { name: "Order news" }).waitFor()
  const id = new URL(page.url()).pathname.split("/").at(-1)!
  await page.getByText("Ready", { exact: true }).waitFor()
  const report = page.getByRole("region", { name: "Report" })
  await report.getByText("Takes, at its pace").waitFor()
  await report.getByText("2 customers; there is no limit").waitFor()
  await report.getByText("Customers to send to").locator("xpath=..").getByText("2", { exact: true }).waitFor()
  await report.getByRole("link", { name: "2" }).click()
  await page.getByRole("row", { name: /^3 .*Duplicate/ }).waitFor()
  await page.getByRole("row", { name: /^4 .*Not a recipient/ }).waitFor()
  // all rows may still be there, under the filter that is awaited
  await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 2)
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    button(page, "Download as CSV").click()
  ])
  const saved = await readFile(await file.path(), "utf8")
  assert.strictEqual(file.suggestedFilename(), `${id}.csv`)
  assert.match(saved, /^\uFEFFrow,.*\r?\n3,.*duplicate.*\r?\n4,.*malformed/s)
  await page.getByLabel("Outcome").selectOption({ label: "All" })
  await page.getByRole("link", { name: "+15551230001" }).waitFor()

  await button(page, "Start").click()
  const question = dialog(page, "Start the campaign")
  await question.getByText(/Sends the template to 2 customers, at most [\d,]+ a second/).waitFor()
  // a time that has passed is at once
  await question.getByLabel("Start at").fill("2020-01-01T00:00")
  await button(question, "Send to 2 customers").waitFor()
  await question.getByLabel("Start at").fill("")
  await button(question, "Send to 2 customers").click()
  await page.getByText("Completed", { exact: true }).waitFor()
  await page.getByRole("row", { name: /\+15551230002/ }).getByText("Read").waitFor()
  await page.getByRole("region", { name: "Result" }).getByText("2 · 100%").last().waitFor()
  // what can no longer be done is not offered
  assert.strictEqual(await button(page, "Cancel").count(), 0)
  await page.getByRole("link", { name: "+15551230001" }).click()
  await page.getByRole("heading", { name: "Message to +15551230001" }).waitFor()
  await page.getByText("Ana <b>").first().waitFor()
  await page.goBack()
  await page.keyboard.press("ControlOrMeta+k")
  await page.keyboard.type(id)
  await page.keyboard.press("Enter")
  await page.getByRole("heading", { name: "Order news" }).waitFor()
})

it("a refused file leaves no campaign, and one that is not started takes another file and other columns", async () => {
  const { page } = person
  const choose = (name: string, file: Uint8Array) =>
    page.getByLabel("Customers").setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(file) })
  await person.open("/campaigns/new")
  await page.getByLabel("Name", { exact: true }).fill("Parcels")
  await page.getByLabel("Template", { exact: true }).selectOption({ label: "order_update · en_US" })
  await page.getByLabel("Text for 1").fill("friend")
  await page.getByLabel("Text for 2").fill("1042")
  await choose("customers.xlsx", Buffer.from("PK\u0003\u0004and more"))
  await page.getByRole("alert").getByText("The file is a spreadsheet’s own format").waitFor()
  await choose("twice.csv", Buffer.from("Phone;Order;Order\r\n+15551230001;1;2\r\n"))
  await page.getByRole("alert").getByText("The file is a spreadsheet’s own format").waitFor({ state: "hidden" })
  await button(page, "Upload and check").click()
  await page.getByText(/the file has the column Order twice/i).waitFor()
  await page.getByRole("link", { name: "Campaigns", exact: true }).first().click()
  await page.getByRole("heading", { name: "Campaigns" }).waitFor()
  assert.strictEqual(await page.getByText("Parcels").count(), 0)

  await person.open("/campaigns/new")
  await page.getByLabel("Name", { exact: true }).fill("Parcels")
  await page.getByLabel("Template", { exact: true }).selectOption({ label: "order_update · en_US" })
  await choose("wrong.csv", Buffer.from("\uFEFFto\tName\tOrder\r\n+15551230001\tAna\t77\r\n", "utf16le"))
  await page.getByLabel("Placeholder 1").selectOption({ label: "Column Name" })
  await page.getByLabel("Placeholder 2").selectOption({ label: "Column Order" })
  await button(page, "Upload and check").click()
  await page.getByText("Ready", { exact: true }).waitFor()

  await page.getByRole("link", { name: "Change", exact: true }).click()
  await page.getByLabel("Name", { exact: true }).fill("Parcels of May")
  assert.strictEqual(await page.getByLabel("Placeholder 1").inputValue(), "cName")
  await choose("right.csv", Buffer.from("to;Phone;Order\r\nx;(555) 123-0002;78\r\ny;1.55512E+10;79\r\n"))
  await page.getByLabel("Column with the phone numbers").selectOption({ label: "Phone" })
  await page.getByLabel("Country of numbers").fill("united st")
  await page.getByRole("option", { name: "United States +1" }).click()
  await page.getByLabel("Placeholder 1").selectOption({ label: "Column to" })
  await button(page, "Save and check").click()
  await page.getByRole("heading", { name: "Parcels of May" }).waitFor()
  await page.getByText("Ready", { exact: true }).waitFor()
  await page.getByRole("row", { name: /1\.55512E\+10.*its last digits are lost.*Line 3 of the file/ }).waitFor()
  await page.getByRole("link", { name: "+15551230002" }).waitFor()
})

it("a campaign whose templates are not approved gets no other template unless the person chooses one", async () => {
  const { page } = person
  const gone = (name: string) => ({ name, language: "en_US" })
  const made = await Effect.runPromise(call(`${url}/internal/campaigns`, {
    headers: await sessionHeaders(),
    body: { name: "Rejected", template: gone("gone"), templateB: gone("gone_too") }
  }))
  assert.strictEqual(made.status, 201, made.text)
  await person.open(`/campaigns/${made.body.id}/edit`)
  await page.getByText("The provider does not approve gone · en_US, gone_too · en_US").waitFor()
  const template = page.getByLabel("Template", { exact: true })
  assert.strictEqual(await template.inputValue(), "")
  await page.getByText("No template is chosen").waitFor()
  assert.strictEqual(await button(page, /^Save and check/).getAttribute("aria-disabled"), "true")
  await template.selectOption({ label: "hello_world · en_US" })
  await page.getByRole("figure", { name: "Preview of hello_world" }).waitFor()
  // a blocked button has the reason in its name; this one is no longer blocked
  await button(page, "Save and check").waitFor()
})

/** Makes a campaign of the customers with two variants of its template, has it checked, and asks to start it. */
const checkVariants = async (name: string, count: number, share: string) => {
  const { page } = person
  await person.open("/campaigns/new")
  await page.getByLabel("Name", { exact: true }).fill(name)
  await page.getByLabel("Template", { exact: true }).selectOption({ label: "order_update · en_US" })
  await page.getByLabel("Compare with").selectOption({ label: "promo · en_US" })
  const rows = Array.from({ length: count }, (_, n) => `+155512340${n + 10},Ana,${n}`)
  await page.getByLabel("Customers").setInputFiles({
    name: "customers.csv",
    mimeType: "text/csv",
    buffer: Buffer.from(["to,name,order", ...rows].join("\n"))
  })
  await page.getByLabel("Placeholder 1", { exact: true }).selectOption({ label: "Column name" })
  await page.getByLabel("Placeholder 2", { exact: true }).selectOption({ label: "Column order" })
  await page.getByLabel("Text for 1 of variant B").fill("20 %")
  await page.getByRole("figure", { name: "Preview of promo" }).getByText("20 %").waitFor()
  await page.getByLabel("Share of the number’s rate").fill(share)
  await button(page, "Upload and check").click()
  await page.getByText("Ready", { exact: true }).waitFor()
  await button(page, "Start").click()
}

it("two variants of a template are compared with an interval, and rows show which of them a customer gets", async () => {
  const { page } = person
  await checkVariants("Which text", 20, "90")
  await button(dialog(page, "Start the campaign"), "Send to 20 customers").click()
  await page.getByText("Completed", { exact: true }).waitFor()
  const variants = page.getByRole("region", { name: "Variants" })
  await variants.getByRole("row", { name: /^Read 100% 100% 0 points, between −.* and \+/ }).waitFor()
  await variants.getByText("The difference may be chance.").first().waitFor()
  await page.getByText("promo · en_US").waitFor()
  const customers = await variants.getByRole("row", { name: /^Customers/ }).getByRole("cell").allTextContents()
  await page.getByRole("row", { name: /\+15551234010/ }).waitFor()
  assert.strictEqual(await page.getByRole("cell", { name: "B", exact: true }).count(), Number(customers[2]))
})

it("a campaign is scheduled once its report was seen, and starts at its time", async () => {
  const { page } = person
  await checkVariants("Later", 3, "90")
  const question = dialog(page, "Start the campaign")
  const inThreeHours = await page.evaluate(() => {
    const at = new Date()
    at.setMinutes(at.getMinutes() - at.getTimezoneOffset() + 180)
    return at.toISOString().slice(0, 16)
  })
  await question.getByLabel("Start at").fill(inThreeHours)
  await button(question, "Schedule for 3 customers").click()
  await page.getByText("Scheduled", { exact: true }).waitFor()
  await page.getByRole("region", { name: "Progress" }).getByText(/^It starts in 2 h/).waitFor()
  await pass("4 hours")
  await page.getByText("Completed", { exact: true }).waitFor()
})

it("a paused campaign whose end has passed asks for a later end, and then sends to those who are left", async () => {
  const { page } = person
  await checkVariants("Past its end", 80, "1")
  await button(dialog(page, "Start the campaign"), "Send to 80 customers").click()
  await page.getByText("Running", { exact: true }).waitFor()
  await button(page, "Pause").click()
  await page.getByText("Paused", { exact: true }).waitFor()
  const path = new URL(page.url()).pathname.replace("/dashboard", "")
  const at = `${url}/internal${path}`
  const ended = await Effect.runPromise(call(at, {
    method: "PATCH",
    headers: await sessionHeaders(),
    body: { notAfter: "2026-01-01T00:00:00Z", share: 0.9 }
  }))
  assert.strictEqual(ended.status, 200, ended.text)
  await person.open(path)
  await button(page, "Resume").click()
  const question = dialog(page, "Resume the campaign")
  await question.getByText("leaves no time to send").first().waitFor()
  assert.strictEqual(await button(question, /^Send to/).getAttribute("aria-disabled"), "true")
  await question.getByLabel("Send nothing after").fill("2040-01-02T03:04")
  await button(question, /^Send to \d+ customers$/).click()
  await page.getByText("Completed", { exact: true }).waitFor()
  const { body } = await Effect.runPromise(call(at, { headers: await sessionHeaders() }))
  assert.deepInclude(body.counts, { skipped: 0, queued: 0 })
})

it("a running campaign shows its rate and what is left, and is paused, resumed and cancelled with what it leaves", async () => {
  const { page } = person
  await checkVariants("Too many", 20, "1")
  await button(dialog(page, "Start the campaign"), "Send to 20 customers").click()
  const progress = page.getByRole("region", { name: "Progress" })
  await progress.getByText(/^\d+ of 20 customers done, [\d.]+ a second; about \d+ (s|min) left$/).waitFor()
  await button(page, "Pause").click()
  await progress.getByText("Someone paused it. Nothing is sent until it is resumed.").waitFor()
  await button(page, "Resume").click()
  const resuming = dialog(page, "Resume the campaign")
  await resuming.getByText(/^Someone paused it\. 1\d customers are left\.$/).waitFor()
  await button(resuming, /^Send to 1\d customers$/).click()
  await page.getByText("Running", { exact: true }).waitFor()
  await button(page, "Cancel").click()
  const question = dialog(page, "Cancel the campaign")
  await question.getByText(/^1\d customers will not be sent to\./).waitFor()
  await button(question, "Cancel the campaign").click()
  await page.getByText("Cancelled", { exact: true }).first().waitFor()
  await page.getByRole("row", { name: /^Skipped Cancelled 1\d$/ }).getByRole("link").click()
  await button(page, "Clear").waitFor()
  await page.getByRole("row", { name: /\+155512340.*The campaign was cancelled/ }).first().waitFor()
})
