/**
 * Forms and dialogs: each begins with what is so now, says what became of its request, and keeps what is shown once.
 */
import { Id, PhoneNumber, PhoneNumberStore } from "@wac/core"
import { SandboxProvider } from "@wac/sandbox"
import { RecordingReceiver } from "@wac/testkit"
import { Context, type Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Browser, Page } from "playwright-core"
import { assert, beforeAll, it } from "vitest"
import * as checks from "../checks.ts"
import { call, createKey, hello, ownPage, receiver as makeReceiver, send, setWebhook, signIn } from "../harness.ts"
import { browser as launch, button, dialog, signedIn, visit } from "./browser.ts"
import * as Scope from "./scope.ts"
import * as workspace from "./workspace.ts"

const inScope = Scope.ofFile()

let browser: Browser
let server: Effect.Success<typeof workspace.empty>
let receiver: Effect.Success<typeof makeReceiver>
let key: Effect.Success<ReturnType<typeof createKey>>

beforeAll(async () => {
  ;[browser, server, receiver] = await Promise.all([inScope(launch), inScope(workspace.empty), inScope(makeReceiver)])
  key = await inScope(createKey(server.url, server.session))
})

const internal = async (path: string, method?: string, body?: unknown) => {
  const { session, url } = server
  return (await inScope(
    call(`${url}/internal${path}`, {
      headers: { ...ownPage, ...session },
      ...(method === undefined ? {} : { method }),
      ...(body === undefined ? {} : { body })
    })
  )).body
}

/** Whether a list has deliveries and each of them is delivered. */
const areDelivered = (deliveries: ReadonlyArray<{ readonly status: string }>): boolean =>
  deliveries.length > 0 && deliveries.every(({ status }) => status === "delivered")

const setNewWebhook = async () => {
  await inScope(receiver.answerWith(RecordingReceiver.ok))
  await internal("/webhook", "DELETE")
  await inScope(setWebhook(server, { url: receiver.url }))
}

/** Waits until the page has drawn what it was asked to draw. */
const drawn = (page: Page) =>
  page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))

/** Has requests wait until `release` is called; `asked` is done when one of them is made. */
const held = async (page: Page, method: string, address: RegExp) => {
  const asked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  await page.route(address, async (route) => {
    if (route.request().method() === method) {
      asked.resolve()
      await released.promise
    }
    await route.fallback()
  })
  return { asked: asked.promise, release: released.resolve }
}

const refusal = {
  status: 403,
  json: { error: { code: "forbidden", message: "this is refused by the test", request_id: "req_of_the_test" } }
}

it.each([1, 2])(
  "if %i responses that set the first webhook are lost, the page says that its secret was not shown and leads to another",
  async (lost) => {
    await internal("/webhook", "DELETE")
    const person = await signedIn(browser, server)
    const { page } = person
    let attempts = 0
    await page.route(/\/internal\/webhook$/, async (route) => {
      if (route.request().method() !== "PUT") return route.fallback()
      if (++attempts > lost) return route.fallback()
      await route.fetch()
      await route.abort()
    })
    await person.open("/settings/webhook")
    await page.getByLabel("URL").fill(receiver.url)
    await button(page, "Set webhook").click()
    const notice = page.getByRole("alert").filter({ hasText: "its signing secret was not shown" })
    await notice.waitFor()
    assert.strictEqual(attempts, 2)
    assert.strictEqual(await dialog(page, "Store the signing secret now").count(), 0)
    await button(notice, "Rotate secret…").click()
    await button(dialog(page, "Rotate the signing secret"), "Rotate secret").click()
    const shown = dialog(page, "Store the signing secret now")
    assert.match(await shown.locator("code").first().innerText(), /^whsec_/)
    await notice.waitFor({ state: "detached" })
    await person.end()
  }
)

it("a delivery to a removed webhook is left out of those that are delivered again, and the others are begun", async () => {
  const { session, url } = server
  const sentAndDelivered = async () => {
    const sent = await inScope(send({ key, url }, hello("+15005550003")))
    assert.strictEqual(sent.status, 200, sent.text)
    const { message_id: id } = sent.body
    await inScope(
      checks.until(
        call(`${url}/internal/webhook/deliveries?messageId=${id}`, { headers: session }),
        ({ body }) => areDelivered(body.data)
      )
    )
  }
  await setNewWebhook()
  await sentAndDelivered()
  await setNewWebhook()
  await sentAndDelivered()
  const person = await signedIn(browser, server)
  const { page } = person
  await person.open("/deliveries?status=delivered")
  await page.getByLabel("Choose all on this page").check()
  await button(page, "Deliver again…").click()
  const again = page.getByRole("dialog")
  await button(again, "Deliver again").click()
  await again.getByText(/^\d+ of \d+ begun, \d+ belongs? to a removed webhook$/).waitFor()
  await button(again, "Close").click()
  await page.getByText("Choose all on this page").waitFor()
  person.assertSound()
  await person.end()
})

/** The service's error for a request or message whose outcome is not known. */
const unknown = (reason: "delivery_unknown" | "outcome_unknown") => ({
  status: 504,
  json: {
    error: { code: "server_error", reason, message: "nobody knows, says the test", request_id: "req_of_the_test" }
  }
})

it("a delivery whose new round was lost with its server is left out of those that are delivered again", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  const deliveries = ["D", "E", "F"].map((last) => ({
    id: `dlv_01K8ZQ50V4W6X8Y0Z1A3B5C7D${last}`,
    eventId: "evt_01K8ZQ50V4W6X8Y0Z1A3B5C7DE",
    eventType: "message.sent",
    status: "exhausted",
    attemptCount: 1,
    nextAttemptAt: null,
    createdAt: "2026-01-02T03:04:05.700Z",
    completedAt: "2026-01-02T03:04:06.700Z",
    messageId: null,
    lastAttempt: null
  }))
  await page.route(
    /\/internal\/webhook\/deliveries\?/,
    (route) => route.fulfill({ json: { data: deliveries, hasMore: false, nextCursor: null } })
  )
  await page.route(/\/retry$/, (route) =>
    route.fulfill(
      route.request().url().includes(deliveries[0]!.id)
        ? unknown("outcome_unknown")
        : { json: { ...deliveries[1], status: "pending" } }
    ))
  await person.open("/deliveries?status=exhausted")
  await page.getByLabel("Choose all on this page").check()
  await button(page, "Deliver again…").click()
  const again = page.getByRole("dialog")
  await button(again, "Deliver again").click()
  await again.getByText("2 of 3 begun, 1 may or may not have begun", { exact: true }).waitFor()
  await button(again, "Close").click()
  await person.end()
})

it("a message whose outcome is unknown is sent under the same key until the service says that it stays unknown", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  const keys: Array<string | undefined> = []
  let isLost = false
  await page.route(/\/internal\/messages$/, async (route) => {
    if (route.request().method() !== "POST") return route.fallback()
    if (route.request().postDataJSON().to === "+1") return route.fallback()
    keys.push(route.request().headers()["idempotency-key"])
    if (keys.length > 7) return route.fallback()
    return route.fulfill(unknown(isLost ? "delivery_unknown" : "outcome_unknown"))
  })
  await person.open("/messages/new")
  await page.getByLabel("To", { exact: true }).fill("+15551239877")
  await page.getByLabel("Template", { exact: true }).selectOption({ label: "hello_world · en_US" })
  // the client repeats a request of unknown outcome once
  for (const tries of [2, 4, 6, 7]) {
    isLost = tries === 7
    if (tries === 4) {
      // what is tried in between, and taken back, makes no other request of it
      await page.getByLabel("Later, at a time").check()
      await page.getByLabel("Send at").fill("2040-01-02T03:04")
      await page.getByLabel("Now", { exact: true }).check()
      await page.getByLabel("To", { exact: true }).fill("+1")
      await button(page, "Send message").click()
      await page.getByRole("alert").first().waitFor()
      await page.getByLabel("To", { exact: true }).fill("+15551239877")
    }
    await Promise.all([
      page.waitForResponse((response) => response.status() === 504 && keys.length === tries),
      button(page, "Send message").click()
    ])
    await button(page, "Send message").waitFor()
  }
  await button(page, "Send message").click()
  await page.getByRole("heading", { name: "Message to +15551239877" }).waitFor()
  assert.deepStrictEqual(keys.map((key) => key === keys[0]), [...Array.from({ length: 7 }, () => true), false])
  await person.end()
})

it("if more deliveries than one run takes are delivered again, the dialog says how to reach the others, since the first ones stay in the list", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  const delivery = (n: number) => ({
    id: `dlv_${n}`,
    eventId: `evt_${n}`,
    eventType: "message.sent",
    status: "delivered",
    attemptCount: 1,
    nextAttemptAt: null,
    createdAt: "2026-01-02T03:04:05.700Z",
    completedAt: "2026-01-02T03:04:06.700Z",
    messageId: null,
    lastAttempt: null
  })
  await page.route(/\/internal\/webhook\/deliveries\?/, (route) => {
    const isPage = new URL(route.request().url()).searchParams.get("limit") === "50"
    const data = Array.from({ length: isPage ? 2 : 50_001 }, (_, n) => delivery(n))
    return route.fulfill({ json: { data, hasMore: true, nextCursor: "older" } })
  })
  await person.open("/deliveries?status=delivered")
  await button(page, "Deliver all again…").click()
  const again = dialog(page, "Deliver 50,000 events again?")
  await again.getByText("These are the first 50,000. For the others, choose a shorter time, or start a replay.")
    .waitFor()
  assert.strictEqual(await again.getByText("do it again").count(), 0)
  await button(again, "Cancel").click()
  person.assertSound()
  await person.end()
})

it("the page of a delivery to a removed webhook says so, and has no button that delivers it again", async () => {
  const { session, url } = server
  await setNewWebhook()
  const sent = await inScope(send({ key, url }, hello("+15005550003")))
  assert.strictEqual(sent.status, 200, sent.text)
  const { body } = await inScope(
    checks.until(
      call(`${url}/internal/webhook/deliveries?messageId=${sent.body.message_id}`, { headers: session }),
      ({ body }) => areDelivered(body.data)
    )
  )
  const { id } = body.data[0]
  const person = await signedIn(browser, server)
  const { page } = person
  await page.route(new RegExp(`/deliveries/${id}$`), async (route) => {
    if (route.request().resourceType() === "document") return route.fallback()
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...await response.json(), status: "exhausted" } })
  })
  const again = button(page, "Deliver again")
  await person.open(`/deliveries/${id}`)
  await again.waitFor()
  await page.getByText("Deliver it again by hand").waitFor()
  await internal("/webhook", "DELETE")
  await person.open(`/deliveries/${id}`)
  await page.getByText("Its webhook was removed, so it cannot be delivered again.").waitFor()
  assert.strictEqual(await again.count(), 0)
  // another webhook does not bring it back
  await inScope(setWebhook(server, { url: receiver.url }))
  await person.open(`/deliveries/${id}`)
  await page.getByText("Its webhook was removed, so it cannot be delivered again.").waitFor()
  assert.strictEqual(await again.count(), 0)
  person.assertSound()
  await person.end()
})

it("what has been delivered again is no longer chosen after a dialog whose other deliveries failed", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  const [begun, refused] = ["D", "E"].map((last) => ({
    id: `dlv_01K8ZQ50V4W6X8Y0Z1A3B5C7D${last}`,
    eventId: "evt_01K8ZQ50V4W6X8Y0Z1A3B5C7DE",
    eventType: "message.sent",
    status: "exhausted",
    attemptCount: 1,
    nextAttemptAt: null,
    createdAt: "2026-01-02T03:04:05.700Z",
    completedAt: "2026-01-02T03:04:06.700Z",
    messageId: null,
    customer: null,
    lastAttempt: null
  }))
  await page.route(
    /\/internal\/webhook\/deliveries\?/,
    (route) => route.fulfill({ json: { data: [begun, refused], hasMore: false, nextCursor: null } })
  )
  await page.route(
    /\/internal\/webhook\/deliveries\/.*\/retry$/,
    (route) =>
      route.request().url().includes(refused!.id)
        ? route.fulfill(refusal)
        : route.fulfill({ json: { ...begun, status: "pending" } })
  )
  await person.open("/deliveries?status=exhausted")
  await page.getByLabel("Choose all on this page").check()
  await page.getByText("2 are chosen").waitFor()
  await button(page, "Deliver again…").click()
  const again = page.getByRole("dialog")
  await button(again, "Deliver again").click()
  await again.getByRole("alert").waitFor()
  await button(again, "Close").click()
  await page.getByText("1 is chosen").waitFor()
  person.assertSound()
  await person.end()
})

it("a form says “Saved.” only while it holds what was saved", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  const saved = page.getByRole("status").filter({ hasText: "Saved." })
  for (
    const [path, label, text] of [
      ["/alerts", "URL", "https://example.com/alerts"],
      ["/settings/opt-out", "Words that opt out", "enough"]
    ] as const
  ) {
    await person.open(path)
    const field = page.getByLabel(label, { exact: true })
    await field.fill(text)
    await button(page, "Save").click()
    await saved.waitFor()
    await field.fill(`${text}s`)
    await saved.waitFor({ state: "detached" })
  }
  person.assertSound()
  await person.end()
})

it("the account page says that the password was changed until another change is begun", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  await page.route(/\/internal\/password$/, (route) => route.fulfill({ status: 204 }))
  await person.open("/account")
  await page.getByLabel("Current password").fill("correct horse battery")
  await page.getByLabel("New password").fill("a password of my own")
  await button(page, "Change password").click()
  const changed = page.getByText("Your password was changed.")
  await changed.waitFor()
  await page.getByLabel("Current password").fill("a")
  await changed.waitFor({ state: "detached" })
  person.assertSound()
  await person.end()
})

it("the form for alerts begins with what is stored now, not with what it was when the page was last open", async () => {
  await internal("/alerts/settings", "PUT", { emails: ["before@example.com"], url: null })
  const person = await signedIn(browser, server)
  const { page } = person
  const field = page.getByLabel("E-mail addresses")
  await person.open("/alerts")
  await field.waitFor()
  assert.strictEqual(await field.inputValue(), "before@example.com")
  await page.getByRole("link", { name: "Usage", exact: true }).click()
  await page.getByRole("heading", { level: 1, name: "Usage" }).waitFor()
  await internal("/alerts/settings", "PUT", { emails: ["now@example.com"], url: null })
  await page.getByRole("link", { name: "Alerts", exact: true }).click()
  await field.waitFor()
  assert.strictEqual(await field.inputValue(), "now@example.com")
  person.assertSound()
  await person.end()
})

it("a form that stood open does not revert what another person has saved meanwhile, and says so", async () => {
  await setNewWebhook()
  await internal("/alerts/settings", "PUT", { emails: ["before@example.com"], url: null })
  await internal("/settings/opt-out", "PUT", { stopWords: ["before"], startWords: [], removed: [] })
  const person = await signedIn(browser, server)
  const { page } = person
  const problem = page.getByRole("alert").filter({ hasText: "Somebody has changed this meanwhile" })
  for (
    const { change, fill, name, path, stored } of [
      {
        path: "/alerts",
        change: () => internal("/alerts/settings", "PUT", { emails: ["now@example.com"], url: null }),
        fill: () => page.getByLabel("URL", { exact: true }).fill("https://example.com/alerts"),
        stored: async () => (await internal("/alerts/settings")).emails[0],
        name: "now@example.com"
      },
      {
        path: "/settings/opt-out",
        change: () => internal("/settings/opt-out", "PUT", { stopWords: ["now"], startWords: [], removed: [] }),
        fill: () => page.getByLabel("Words that opt in", { exact: true }).fill("more"),
        stored: async () => (await internal("/settings/opt-out")).stopWords[0],
        name: "now"
      },
      {
        path: "/settings/webhook?dialog=edit",
        change: () => internal("/webhook", "PUT", { url: receiver.url, envelope: "a" }),
        fill: () => page.getByLabel("Only these").check(),
        stored: async () => (await internal("/webhook")).envelope,
        name: "a"
      }
    ]
  ) {
    await person.open(path)
    await fill()
    await change()
    await button(page, "Save").click()
    await problem.waitFor()
    assert.strictEqual(await stored(), name)
    await page.reload()
    await fill()
    await button(page, "Save").click()
    await (path.includes("dialog") ?
      page.getByRole("dialog").waitFor({ state: "detached" }) :
      page.getByText("Saved.").waitFor())
    assert.strictEqual(await stored(), name)
    if (path.includes("dialog")) continue
    // what the person has saved is what the form now begins with
    await fill()
    await button(page, "Save").click()
    await page.getByText("Saved.").waitFor()
    assert.strictEqual(await problem.count(), 0)
  }
  await internal("/settings/opt-out", "PUT", { stopWords: [], startWords: [], removed: [] })
  person.assertSound()
  await person.end()
})

it("the form that changes a campaign begins with what it is now, not with what its page showed", async () => {
  const id = await inScope(workspace.ready(server))
  const person = await signedIn(browser, server)
  const { page } = person
  const shown = (name: string) => page.getByRole("heading", { level: 1, name })
  await person.open(`/campaigns/${id}`)
  await shown("Spring offer").waitFor()
  const { asked, release } = await held(page, "GET", new RegExp(`/internal/campaigns/${id}$`))
  await internal(`/campaigns/${id}`, "PATCH", { name: "Summer offer" })
  await page.getByRole("link", { name: "Change", exact: true }).click()
  await shown("Change the campaign").waitFor()
  await asked
  release()
  const name = page.getByLabel("Name", { exact: true })
  await name.waitFor()
  assert.strictEqual(await name.inputValue(), "Summer offer")
  person.assertSound()
  await person.end()
})

it("a member's role changes once a person has confirmed it, and the audit has it as done to the member", async () => {
  await inScope(workspace.asMember(server))
  const person = await signedIn(browser, server)
  const { page } = person
  const changes: Array<string> = []
  page.on("request", (request) => {
    if (request.method() === "PATCH") changes.push(request.url())
  })
  await person.open("/settings/members")
  const row = page.getByRole("row", { name: /member@example.com/ })
  await button(row, "Change the role of member@example.com").click()
  const question = dialog(page, "Change the role of member@example.com")
  const member = question.getByRole("radio", { name: /^Member:/ })
  await member.focus()
  await page.keyboard.press("ArrowDown")
  await page.keyboard.press("ArrowDown")
  assert.isTrue(await question.getByRole("radio", { name: /^Admin:/ }).isChecked())
  assert.deepStrictEqual(changes, [])
  await button(question, "Change role").click()
  await row.getByText(/^Admin/).waitFor()
  assert.strictEqual(changes.length, 1)

  const id = new URL(changes[0]!).pathname.split("/").at(-1)!
  await person.open("/settings/audit")
  const search = page.getByLabel("Changed thing or person")
  await search.fill(id)
  await search.press("Enter")
  await page.getByText("These are the changes that this person made.").waitFor()
  await page.getByRole("row", { name: /Joined by an invitation/ }).waitFor()
  await page.getByRole("link", { name: "Show what was done to this person" }).click()
  await page.getByRole("row", { name: /Changed a member’s role/ }).waitFor()
  await page.getByText("These are the changes that were made to this person.").waitFor()
  await page.getByRole("link", { name: "Show what this person did" }).click()
  await page.getByRole("row", { name: /Joined by an invitation/ }).waitFor()
  person.assertSound()
  await person.end()
})

it("a dialog that shows a secret stays until its response has come, and then until the secret is stored", async () => {
  await setNewWebhook()
  const person = await signedIn(browser, server)
  const { page } = person
  for (
    const [path, address, form, fields, submit, shown, text] of [
      [
        "/api-keys?dialog=create",
        /\/internal\/api-keys$/,
        "Create an API key",
        ["Name"],
        "Create key",
        /^API key “/,
        "wac_live_"
      ],
      [
        "/settings/members?dialog=invite",
        /\/internal\/members$/,
        "Invite a person",
        ["E-mail"],
        "Invite",
        /link$/,
        "#token="
      ],
      ["/settings/webhook?dialog=rotate", /rotate-secret$/, /^Rotate/, [], "Rotate secret", /^Store the/, "whsec_"]
    ] as const
  ) {
    await person.open(path)
    const asking = dialog(page, form)
    for (const label of fields) await asking.getByLabel(label, { exact: true }).fill("someone@example.com")
    const { asked, release } = await held(page, "POST", address)
    await button(asking, submit).click()
    await asked
    await asking.getByRole("button", { name: "Cancel", exact: true, disabled: true }).waitFor()
    await page.keyboard.press("Escape")
    await drawn(page)
    assert.isTrue(await asking.isVisible(), path)
    release()
    const secret = dialog(page, shown)
    await secret.getByText(text).first().waitFor()
    await page.keyboard.press("Escape")
    await page.keyboard.press("ControlOrMeta+k")
    await drawn(page)
    assert.isTrue(await secret.isVisible(), path)
    assert.strictEqual(await page.getByRole("combobox", { name: "Page, identifier or number" }).count(), 0)
    const stored = secret.getByLabel("I have stored it")
    if (await stored.count() > 0) await stored.check()
    await button(secret, "Done").click()
    await secret.waitFor({ state: "detached" })
    await page.keyboard.press("ControlOrMeta+k")
    await page.getByRole("combobox", { name: "Page, identifier or number" }).waitFor()
    await page.keyboard.press("Escape")
    await page.unroute(address)
  }
  person.assertSound()
  await person.end()
})

it("after the question, Back closes a dialog that shows a secret, and without one once the secret is stored", async () => {
  await setNewWebhook()
  const person = await signedIn(browser, server)
  const { page } = person
  const leaving = dialog(page, "Leave this page?")
  await person.open("/settings/webhook")
  await button(page, "Rotate secret…").click()
  await button(dialog(page, "Rotate the signing secret"), "Rotate secret").click()
  const secret = dialog(page, "Store the signing secret now")
  await secret.getByText(/^whsec_/).waitFor()
  await page.goBack()
  await button(leaving, "Leave").click()
  await secret.waitFor({ state: "detached" })
  await page.getByRole("link", { name: "API keys" }).click()
  const created = dialog(page, /^API key “/)
  const create = async () => {
    await button(page, "Create API key").first().click()
    await page.getByLabel("Name").fill("Night job")
    await button(page, "Create key").click()
    await created.getByText(/^wac_live_/).waitFor()
  }
  await create()
  // the question is asked as often as somebody stays
  for (const _ of [1, 2]) {
    await page.goBack()
    await leaving.getByText("If you have not stored it, it is lost.").waitFor()
    await button(leaving, "Stay").click()
    await leaving.waitFor({ state: "detached" })
    await page.waitForURL("**/api-keys?dialog=create")
    assert.isTrue(await created.isVisible())
  }
  const [asked] = await Promise.all([page.waitForEvent("dialog"), page.close({ runBeforeUnload: true })])
  assert.strictEqual(asked.type(), "beforeunload")
  await asked.dismiss()
  await page.goBack()
  await button(leaving, "Leave").click()
  await created.waitFor({ state: "detached" })
  await create()
  await created.getByLabel("I have stored it").check()
  await page.goBack()
  await created.waitFor({ state: "detached" })
  assert.strictEqual(await leaving.count(), 0)
  assert.match(page.url(), /\/api-keys$/)
  person.assertSound()
  await person.end()
})

it("a dialog that is opened again does not show the error of the time before", async () => {
  await setNewWebhook()
  const { data: [template] } = await internal("/templates?status=approved")
  const person = await signedIn(browser, server)
  const { page } = person
  for (
    const [path, opener, submit, address] of [
      ["/settings/webhook", "Pause…", "Pause webhook", /\/internal\/webhook\/pause$/],
      ["/settings/webhook", "Remove…", "Remove webhook", /\/internal\/webhook$/],
      ["/settings/webhook", "Edit…", "Save", /\/internal\/webhook$/],
      [`/templates/${template.id}`, "Delete…", "Delete template", /\/internal\/templates\/[^/]+$/]
    ] as const
  ) {
    await person.open(path)
    await page.route(
      address,
      (route) => route.request().method() === "GET" ? route.fallback() : route.fulfill(refusal)
    )
    await button(page, opener).click()
    const asking = page.getByRole("dialog")
    await button(asking, submit).click()
    await asking.getByRole("alert").getByText("This is refused by the test.").waitFor()
    await button(asking, "Cancel").click()
    await asking.waitFor({ state: "detached" })
    await button(page, opener).click()
    await button(asking, submit).waitFor()
    assert.strictEqual(await asking.getByRole("alert").count(), 0, opener)
    await page.unroute(address)
  }
  person.assertSound()
  await person.end()
})

it("the probe that failed is no longer shown once the webhook is resumed again", async () => {
  await setNewWebhook()
  await inScope(receiver.answerWith(RecordingReceiver.reply(503)))
  await internal("/webhook/pause", "POST")
  const person = await signedIn(browser, server)
  const { page } = person
  await person.open("/settings/webhook?dialog=resume")
  const asking = dialog(page, "Resume the webhook")
  await button(asking, "Resume").click()
  const probe = asking.getByText("The probe failed")
  await probe.waitFor()
  await page.route(/\/internal\/webhook\/resume$/, (route) => route.fulfill(refusal))
  await button(asking, "Resume").click()
  await asking.getByText("This is refused by the test.").waitFor()
  assert.strictEqual(await probe.count(), 0)
  person.assertSound()
  await person.end()
})

it("the attempt that a reader has opened stays open when another attempt comes", async () => {
  const { session, url } = server
  await setNewWebhook()
  const sent = await inScope(send({ key, url }, hello("+15005550003")))
  assert.strictEqual(sent.status, 200, sent.text)
  const { body } = await inScope(
    checks.until(
      call(`${url}/internal/webhook/deliveries?messageId=${sent.body.message_id}`, { headers: session }),
      ({ body }) => areDelivered(body.data)
    )
  )
  const person = await signedIn(browser, server)
  const { page } = person
  await person.open(`/deliveries/${body.data[0].id}`)
  const attempts = page.getByRole("region", { name: "Attempts" }).locator("details")
  await attempts.first().waitFor()
  assert.deepStrictEqual(await attempts.evaluateAll((all) => all.map((one) => (one as HTMLDetailsElement).open)), [
    true
  ])
  await button(page, "Deliver again").click()
  await attempts.nth(1).waitFor()
  assert.deepStrictEqual(
    await attempts.evaluateAll((all) => all.map((one) => (one as HTMLDetailsElement).open)),
    [true, true]
  )
  person.assertSound()
  await person.end()
})

it("the error of an entry in a list is shown at the list’s field, with the entry’s line", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  const error = page.getByRole("alert")
  await person.open("/settings/opt-out")
  await page.getByLabel("Words that opt out").fill("\nEnough\n\n!!")
  await button(page, "Save").click()
  await error.getByText("Line 4: a word needs a letter or a digit.", { exact: true }).waitFor()
  await person.open("/alerts")
  await page.getByLabel("E-mail addresses").fill("on-call@example.com, sales@example.com\nnobody")
  await button(page, "Save").click()
  await error.getByText(/^Line 2: must be an e-mail address[^(]*$/).waitFor()
  await person.open("/api-keys?dialog=create")
  await page.getByLabel("Name").fill("Night job")
  await page.getByLabel("Used from").fill("10.0.0.0/8\nexample.com")
  await button(page, "Create key").click()
  await error.getByText(/^Line 2: must be a network like [^(]*$/).waitFor()
  assert.strictEqual(await error.count(), 1)
  person.assertSound()
  await person.end()
})

it("the error of a placeholder is shown at the placeholder, and not at the template", async () => {
  const person = await signedIn(browser, server)
  const { page } = person
  await page.route(/\/internal\/(messages|campaigns)$/, async (route) => {
    if (route.request().method() !== "POST") return route.fallback()
    const param = "template.bodyParams[1]"
    const error = { code: "invalid_body", param, message: `${param}: must be one line`, request_id: "req_of_the_test" }
    await route.fulfill({ status: 400, json: { error } })
  })
  const alert = page.getByRole("alert")
  /** Whether a field has the only error, which it shows without the place in the body. */
  const isAt = async (label: string) => {
    await alert.getByText("Must be one line.", { exact: true }).waitFor()
    assert.strictEqual(await alert.count(), 1)
    const field = page.getByLabel(label, { exact: true })
    assert.strictEqual(await field.getAttribute("aria-invalid"), "true")
    assert.strictEqual(await field.getAttribute("aria-describedby"), await alert.getAttribute("id"))
  }
  await person.open("/messages/new?to=%2B15005550003")
  await page.getByLabel("Template", { exact: true }).selectOption({ label: "order_update · en_US" })
  await page.getByLabel("Placeholder 1").fill("Ana")
  await page.getByLabel("Placeholder 2").fill("1042")
  await button(page, "Send message").click()
  await isAt("Placeholder 2")
  await person.open("/campaigns/new")
  await page.getByLabel("Name", { exact: true }).fill("Spring")
  await page.getByLabel("Template", { exact: true }).selectOption({ label: "order_update · en_US" })
  await page.getByLabel("Customers", { exact: true }).setInputFiles({
    name: "customers.csv",
    mimeType: "text/csv",
    buffer: Buffer.from("to\n+15005550003\n")
  })
  await page.getByLabel("Text for 1").fill("Ana")
  await page.getByLabel("Text for 2").fill("1042")
  await button(page, "Upload and check").click()
  await isAt("Text for 2")
  person.assertSound()
  await person.end()
})

it("all contacts of a number are opted out after a question, and those who are already are not counted", async () => {
  const { session, url } = server
  const { data: [number] } = await internal("/phone-numbers")
  const at = `/contacts?phoneNumberId=${number.id}`
  // both answer every message
  for (const to of ["+15005550008", "US.15005550008"]) {
    const sent = await inScope(send({ key, url }, hello(to)))
    assert.strictEqual(sent.status, 200, sent.text)
  }
  const { body: { data: known } } = await inScope(
    checks.until(call(`${url}/internal${at}`, { headers: session }), ({ body }) => body.data.length === 2)
  )
  await internal(`/contacts/${encodeURIComponent(known[0].id)}/opt-out`, "PUT")
  const person = await signedIn(browser, server)
  const { page } = person
  await person.open("/contacts")
  await page.getByRole("link", { name: "+15005550008" }).waitFor()
  assert.strictEqual(await button(page, "Opt out all…").count(), 0)
  // the question names the number, so nothing can be asked before its name is there
  const numbersRead = Promise.withResolvers<void>()
  await page.route("**/internal/phone-numbers*", async (route) => {
    await numbersRead.promise
    await route.continue()
  })
  await person.open(at)
  await page.getByRole("link", { name: "+15005550008" }).waitFor()
  assert.strictEqual(await button(page, "Opt out all…").count(), 0)
  numbersRead.resolve()
  await button(page, "Opt out all…").click()
  const asking = dialog(page, "Opt out 1 contact?")
  assert.deepStrictEqual(await asking.getByRole("listitem").allInnerTexts(), [`Your number: ${number.phoneNumber}`])
  await button(asking, "Opt out contacts").click()
  await asking.getByText("1 of 1 opted out", { exact: true }).waitFor()
  await button(asking, "Close").click()
  const { data: contacts } = await internal(at)
  assert.deepStrictEqual(contacts.map(({ optedOut }: { readonly optedOut: boolean }) => optedOut), [true, true])
  await button(page, "Opt out all…").click()
  await page.getByText("There is nothing to do: no contact of the list can be opted out now.").waitFor()
  person.assertSound()
  await person.end()
})

it("the buttons that end a person's sessions differ in their names", async () => {
  await inScope(signIn(server.url))
  await inScope(server.pass("1 minute"))
  await inScope(signIn(server.url))
  const person = await signedIn(browser, server)
  const { page } = person
  await person.open("/account")
  const sessions = page.getByRole("region", { name: "Sessions" })
  const ends = sessions.getByRole("row").getByRole("button", { name: /^End/ })
  await ends.nth(1).waitFor()
  const names = await ends.evaluateAll((all) => all.map((one) => one.getAttribute("aria-label") ?? one.textContent))
  assert.strictEqual(new Set(names).size, names.length, names.join(", "))
  person.assertSound()
  await person.end()
})

it("a campaign is not started while the time for its start is half filled in", async () => {
  const id = await inScope(workspace.ready(server))
  const person = await signedIn(browser, server)
  const { page } = person
  const starts: Array<string> = []
  page.on("request", (request) => {
    if (request.method() === "POST" && request.url().endsWith(`/campaigns/${id}/start`)) starts.push(request.url())
  })
  await person.open(`/campaigns/${id}`)
  await button(page, "Start").click()
  const question = dialog(page, "Start the campaign")
  const time = question.getByLabel("Start at")
  await time.focus()
  await page.keyboard.type("12")
  assert.isTrue(await time.evaluate((field: HTMLInputElement) => field.validity.badInput))
  await page.keyboard.press("Enter")
  await button(question, /^Send to/).click()
  await drawn(page)
  assert.deepStrictEqual(starts, [])
  await time.fill("2020-01-01T00:00")
  await button(question, /^Send to/).click()
  await question.waitFor({ state: "detached" })
  assert.strictEqual(starts.length, 1)
  person.assertSound()
  await person.end()
})

it("a button that a role may not press says why in its name, also if it has a name of its own", async () => {
  const cookie = (await inScope(workspace.asMember(server, "reader@example.com"))).cookie
  const person = await signedIn(browser, { ...server, session: { cookie } })
  const { page } = person
  await person.open("/api-keys")
  await button(page, /^Revoke test \(This needs the role developer; you are member\./).waitFor()
  person.assertSound()
  await person.end()
})

it("the buttons that cancel replays differ in their names", async () => {
  await setNewWebhook()
  const person = await signedIn(browser, server)
  const { page } = person
  const replays = [4, 5].map((minute) => ({
    id: `job_01K8ZQ50V4W6X8Y0Z1A3B5C7D${minute}`,
    state: "running",
    since: "2026-01-02T02:00:00.000Z",
    until: "2026-01-02T03:00:00.000Z",
    status: null,
    total: 9,
    replayed: 1,
    createdAt: `2026-01-02T03:0${minute}:05.700Z`,
    completedAt: null
  }))
  await page.route(
    /\/internal\/webhook\/replays\?/,
    (route) => route.fulfill({ json: { data: replays, hasMore: false, nextCursor: null } })
  )
  await person.open("/settings/webhook")
  const cancels = page.getByRole("region", { name: "Replays" }).getByRole("button", { name: /^Cancel/ })
  await cancels.nth(1).waitFor()
  const names = await cancels.evaluateAll((all) => all.map((one) => one.getAttribute("aria-label") ?? one.textContent))
  assert.strictEqual(new Set(names).size, 2, names.join(", "))
  person.assertSound()
  await person.end()
})

it("a replay of a paused webhook says what it waits for", async () => {
  await setNewWebhook()
  await internal("/webhook/pause", "POST")
  await internal("/webhook/replays", "POST", { since: new Date(Date.now() - 60_000).toISOString() })
  const person = await signedIn(browser, server)
  await person.open("/settings/webhook")
  const replays = person.page.getByRole("region", { name: "Replays" })
  await replays.getByText("Waits until the webhook is resumed").waitFor()
  person.assertSound()
  await person.end()
})

it("if the passkeys of a sign-in cannot be asked for, the page says why", async () => {
  // passkeys need a name
  const person = await visit(browser, server.url.replace("127.0.0.1", "localhost"))
  const { page } = person
  await page.route(/\/internal\/session$/, (route) =>
    route.request().method() === "POST"
      ? route.fulfill({
        status: 401,
        json: {
          error: {
            code: "unauthorized",
            message: "a second factor",
            reason: "second_factor_required",
            challenge: "one",
            request_id: "req_of_the_test"
          }
        }
      })
      : route.fallback())
  await page.route(/\/internal\/session\/factor\/options$/, (route) => route.fulfill(refusal))
  await person.open("")
  await page.getByLabel("E-mail").fill("owner@example.com")
  await page.getByLabel("Password", { exact: true }).fill("correct horse battery")
  await button(page, "Sign in").click()
  await button(page, "Begin again").waitFor()
  await page.getByRole("alert").getByText("This is refused by the test.").waitFor()
  person.assertSound()
  await person.end()
})

/** Sends to a customer who answers every message. Gives the contact that the answer made. */
const contactOf = async (to: string, from?: string) => {
  const sent = await inScope(send({ key, url: server.url }, { ...hello(to), ...(from === undefined ? {} : { from }) }))
  assert.strictEqual(sent.status, 200, sent.text)
  const { body } = await inScope(checks.until(
    call(`${server.url}/internal/contacts`, { headers: server.session }),
    ({ body }) => contactIn(body, to, from) !== undefined
  ))
  return contactIn(body, to, from)!
}

interface Known {
  readonly id: string
  readonly phone: string | null
  readonly userId: string | null
  readonly phoneNumberId: string
  readonly windowOpenUntil: string | null
}

const contactIn = ({ data }: { readonly data: ReadonlyArray<Known> }, to: string, from?: string) =>
  data.find(({ phone, phoneNumberId, userId }) =>
    (phone === to || userId === to) && (from === undefined || phoneNumberId === from)
  )

it("a customer is opted in only once a person has confirmed it, so a second press on “Opt out” does not undo the first", async () => {
  const to = "US.15005550008"
  const at = `/contacts/${encodeURIComponent((await contactOf(to)).id)}`
  await internal(`${at}/opt-out`, "DELETE")
  const person = await signedIn(browser, server)
  const { page } = person
  const isOptedOut = async () => (await internal(at)).optedOut
  await person.open(at)
  await button(page, "Opt out").press("Enter")
  const optIn = button(page, /^Opt in/)
  await optIn.waitFor()
  assert.isFalse(await optIn.evaluate((element) => element === document.activeElement))
  await optIn.click()
  const asking = dialog(page, `Opt in ${to}?`)
  await asking.getByText("This customer has opted out").waitFor()
  assert.isTrue(await isOptedOut())
  await button(asking, "Cancel").click()
  await asking.waitFor({ state: "detached" })
  assert.isTrue(await isOptedOut())
  await optIn.click()
  await button(asking, "Opt in").click()
  await button(page, "Opt out").waitFor()
  assert.isFalse(await isOptedOut())
  person.assertSound()
  await person.end()
})

it("a paused campaign is resumed only after a question that says why it was paused and how many are left", async () => {
  const at = `/campaigns/${await inScope(workspace.ready(server))}`
  await internal(at, "PATCH", { startAt: "2040-01-02T03:04:05Z" })
  await internal(`${at}/start`, "POST")
  const status = async () => (await internal(at)).status
  assert.strictEqual(await status(), "scheduled")
  const person = await signedIn(browser, server)
  const { page } = person
  await person.open(at)
  await button(page, "Pause").click()
  await button(page, "Resume").click()
  const question = dialog(page, "Resume the campaign")
  await question.getByText("Someone paused it. 2 customers are left.").waitFor()
  assert.strictEqual(await status(), "paused")
  await button(question, "Send to 2 customers").click()
  await button(page, "Pause").waitFor()
  assert.strictEqual(await status(), "scheduled")
  await internal(`${at}/cancel`, "POST")
  person.assertSound()
  await person.end()
})

it("what is sent from a contact’s page comes from the number that the customer wrote to", async () => {
  const { clock, pass, services } = server
  const { workspaceId } = await internal("/session")
  const second = PhoneNumber.fresh({
    ...SandboxProvider.firstNumber,
    id: await inScope(Id.generate(Context.get(services, SecureRandom.SecureRandom), "pn")),
    workspaceId,
    provider: "sandbox",
    phoneNumber: "+15005550102",
    providerNumberId: "sandbox-2",
    isDefault: false
  })
  await inScope(Context.get(services, PhoneNumberStore.PhoneNumberStore).add(second))
  const to = "+15005550008"
  const contact = await contactOf(to, second.id)
  await inScope(pass("25 hours"))
  assert.isBelow(Date.parse(contact.windowOpenUntil!), clock.currentTimeMillisUnsafe())
  const person = await signedIn(browser, { ...server, session: await inScope(signIn(server.url)) })
  const { page } = person
  for (const link of ["Send a template", "Send a message"]) {
    await person.open(`/contacts/${encodeURIComponent(contact.id)}`)
    await page.getByRole("link", { name: link, exact: true }).click()
    await page.getByLabel("From", { exact: true }).waitFor()
    const asked = page.waitForRequest((request) =>
      request.method() === "POST" && request.url().endsWith("/internal/messages")
    )
    await page.getByLabel("Template", { exact: true }).selectOption({ label: "hello_world · en_US" })
    await button(page, "Send message").click()
    assert.include((await asked).postDataJSON(), { to, from: second.id })
    await page.getByRole("heading", { name: `Message to ${to}` }).waitFor()
  }
  person.assertSound()
  await person.end()
})
