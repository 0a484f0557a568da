/**
 * Templates in the dashboard: each has a page, and people with the role create, change and delete them.
 */
import { Effect } from "effect"
import type { Browser, Page } from "playwright-core"
import { afterAll, assert, beforeAll, it } from "vitest"
import { call, createKey, ownPage, send, signIn } from "../harness.ts"
import { browser as launch, button, dialog, signedIn, unasked, type Visit } from "./browser.ts"
import * as Scope from "./scope.ts"
import * as workspace from "./workspace.ts"

const inScope = Scope.ofFile()

/** A template in two languages, and a message and a campaign that use one of them. */
const set = Effect.gen(function*() {
  const server = yield* workspace.empty
  const { session, url } = server
  const asked = (path: string, body: object) =>
    Effect.map(call(`${url}/internal${path}`, { headers: { ...ownPage, ...session }, body }), (answer) => {
      assert.strictEqual(answer.status, 201, answer.text)
      return answer.body.id as string
    })
  const german = yield* asked("/templates", {
    name: "order_update",
    language: "de",
    category: "utility",
    components: [{ type: "BODY", text: "Ihre Bestellung ist unterwegs." }]
  })
  const template = { name: "order_update", language: "en_US", bodyParams: ["Ana", "1042"] }
  const campaign = yield* asked("/campaigns", { name: "Spring", template })
  const key = yield* createKey(url, session)
  const sent = yield* send({ key, url }, { to: "+15551240007", type: "template", template })
  assert.strictEqual(sent.status, 200, sent.text)
  return { ...server, campaign, german, message: sent.body.message_id as string }
})

let browser: Browser
let server: Effect.Success<typeof set>
let person: Visit

beforeAll(async () => {
  ;[browser, server] = await Promise.all([inScope(launch), inScope(set)])
  person = await signedIn(browser, server)
})
afterAll(() => person.assertSound())

const titled = (page: Page, name: string) => page.getByRole("heading", { level: 1, name, exact: true }).waitFor()

it("a template's page shows how it looks and where it stands, and Back leads to the list", async () => {
  const { page } = person
  await person.open("/templates?status=rejected")
  await page.getByRole("link", { name: "rejected_offer" }).click()
  await titled(page, "rejected_offer")
  assert.match(page.url(), /\/templates\/tpl_\w+$/)
  await page.getByText(/^The provider rejected it: /).waitFor()
  await page.getByRole("figure", { name: "Preview of rejected_offer" }).waitFor()
  await page.getByText("Edit it, and the provider reviews it again.").waitFor()
  await page.goBack()
  await titled(page, "Templates")
  assert.include(page.url(), "status=rejected")
  await person.open("/templates/tpl_01K8ZPZ1P6E8F0G4H5J7K9M1TV")
  await page.getByText("There is no such template").waitFor()
})

it("a part of a name finds templates in the list and in the command menu", async () => {
  const { page } = person
  await person.open("/templates")
  await page.getByLabel("Name", { exact: true }).fill("Der_up")
  await page.keyboard.press("Enter")
  await page.waitForURL(/name=der_up/)
  await page.getByRole("link", { name: "promo" }).waitFor({ state: "detached" })
  assert.deepStrictEqual(await page.locator("tbody").getByRole("link").allInnerTexts(), [
    "order_update",
    "order_update"
  ])
  await page.keyboard.press("ControlOrMeta+k")
  await page.getByRole("combobox", { name: "Page, identifier or number" }).fill("rejected off")
  await page.getByRole("option", { name: "Template rejected_offer · en_US", exact: true }).click()
  await titled(page, "rejected_offer")
})

it("a template's page lists its other languages, and its id leads to it from the command menu", async () => {
  const { page } = person
  await person.open(`/templates/${server.german}`)
  await page.getByText("Ihre Bestellung ist unterwegs.").waitFor()
  await page.getByRole("region", { name: "Languages" }).getByRole("link", { name: "en_US", exact: true }).click()
  await page.getByText("Hi name, your order").or(page.getByText("your order")).first().waitFor()
  await page.keyboard.press("ControlOrMeta+k")
  await page.getByRole("combobox", { name: "Page, identifier or number" }).fill(server.german)
  await page.getByRole("option", { name: `Open template ${server.german}`, exact: true }).click()
  await page.getByText("Ihre Bestellung ist unterwegs.").waitFor()
})

it("the page of a message and of a campaign lead to the template that they use", async () => {
  const { page } = person
  await person.open(`/messages/${server.message}`)
  await page.getByRole("region", { name: "What was sent" }).getByRole("link", { name: "today", exact: true }).click()
  await titled(page, "order_update")
  await person.open(`/campaigns/${server.campaign}`)
  await page.getByRole("region", { name: "Settings" }).getByRole("link", { name: "order_update · en_US", exact: true })
    .click()
  await titled(page, "order_update")
})

/** The templates of a name, as the service has them. */
const named = (name: string) =>
  inScope(
    Effect.map(
      call(`${server.url}/internal/templates?name=${name}`, { headers: server.session }),
      ({ body }) => body.data as ReadonlyArray<{ readonly [field: string]: unknown }>
    )
  )

const preview = (page: Page, name: string) => page.getByRole("figure", { name: `Preview of ${name}` })

it("an alert about a template leads to its page, and one about something without a page to the list", async () => {
  const { page } = person
  const alert = (kind: string, subject: string, message: string) => ({
    id: `alr_${kind}`,
    kind,
    subject,
    message,
    openedAt: "2026-01-02T03:04:05.700Z",
    closedAt: null
  })
  await page.route(/\/internal\/alerts\?/, (route) =>
    route.fulfill({
      json: {
        data: [
          alert("template_paused", server.german, "the template is paused"),
          alert("subscription_failed", "tpl_of_mine", "the subscription failed")
        ],
        hasMore: false,
        nextCursor: null
      }
    }))
  await person.open("/alerts")
  const link = (name: string) => page.getByRole("link", { name, exact: true })
  assert.match(await link("The subscription failed.").getAttribute("href") ?? "", /\/alerts$/)
  await link("The template is paused.").click()
  await titled(page, "order_update")
  await page.unroute(/\/internal\/alerts\?/)
})

it("a template is created with header, examples, footer and buttons beside its preview, and its page opens", async () => {
  const { page } = person
  await person.open("/templates")
  await page.getByRole("link", { name: "New template" }).first().click()
  await titled(page, "New template")
  await page.getByLabel("Name", { exact: true }).fill("Parcel on-its way")
  assert.strictEqual(await page.getByLabel("Name", { exact: true }).inputValue(), "parcel_on_its_way")
  await page.getByLabel("Header", { exact: true }).selectOption("Text")
  await page.getByLabel("Header text").fill("Parcel {{1}}")
  await page.getByLabel("Example for the header’s placeholder").fill("<b>7</b>")
  await page.getByLabel("Body", { exact: true }).fill("Hi {{1}}, it comes on {{2}}. Good-bye.")
  await page.getByLabel("Example for {{1}}", { exact: true }).fill("Ana")
  await page.getByLabel("Example for {{2}}", { exact: true }).fill("Monday")
  await page.getByLabel("Footer").fill("Lima Flowers")
  await button(page, "Add a button").click()
  const first = page.getByRole("group", { name: "Button 1", exact: true })
  await first.getByLabel("Label").fill("Thanks")
  await button(page, "Add a button").click()
  const second = page.getByRole("group", { name: "Button 2", exact: true })
  await second.getByLabel("Kind").selectOption("Opens a page")
  await second.getByLabel("Label").fill("Follow")
  await second.getByLabel("Address").fill("https://shop.example/{{1}}")
  await second.getByLabel("Example").fill("https://shop.example/7")
  const shown = preview(page, "parcel_on_its_way")
  for (const text of ["Parcel <b>7</b>", "Hi Ana, it comes on Monday. Good-bye.", "Lima Flowers", "Thanks", "Follow"]) {
    await shown.getByText(text, { exact: true }).waitFor()
  }
  await page.getByText(/^The provider reviews it/).waitFor()
  await button(page, "Submit for review").click()
  await titled(page, "parcel_on_its_way")
  const [template] = await named("parcel_on_its_way")
  assert.deepStrictEqual(template!["components"], [
    { type: "HEADER", format: "TEXT", text: "Parcel {{1}}", example: { header_text: ["<b>7</b>"] } },
    {
      type: "BODY",
      text: "Hi {{1}}, it comes on {{2}}. Good-bye.",
      example: { body_text: [["Ana", "Monday"]] }
    },
    { type: "FOOTER", text: "Lima Flowers" },
    {
      type: "BUTTONS",
      buttons: [
        { type: "QUICK_REPLY", text: "Thanks" },
        { type: "URL", text: "Follow", url: "https://shop.example/{{1}}", example: ["https://shop.example/7"] }
      ]
    }
  ])
})

it("what the provider would refuse is said at its field while it is typed, by the rules of the service", async () => {
  const { page } = person
  await person.open("/templates/new")
  const wrong = page.getByRole("alert")
  const body = page.getByLabel("Body", { exact: true })
  for (
    const [text, words] of [
      ["{{1}} is here.", "Must not begin or end with a placeholder."],
      ["Hi {{2}}, hello.", "Must number its placeholders 1, 2, 3 and so on, without a gap."],
      ["Hi {{1}} {{2}}, hello.", "Must have words between placeholders."]
    ] as const
  ) {
    await body.fill(text)
    await wrong.getByText(words, { exact: true }).or(wrong.filter({ hasText: words })).first().waitFor()
    assert.strictEqual(await body.getAttribute("aria-invalid"), "true")
    assert.strictEqual(await button(page, /^Submit for review/).getAttribute("aria-disabled"), "true")
  }
  await body.fill("Hi {{name}}, hello.")
  await page.getByLabel("Example for {{name}}", { exact: true }).waitFor()
  await wrong.waitFor({ state: "detached" })
  await page.getByLabel("Name", { exact: true }).fill("überall")
  await wrong.filter({ hasText: "Must have 1 to 512 lower-case letters, digits and underscores." }).waitFor()
  await page.getByLabel("Name", { exact: true }).fill("hello_world")
  await page.getByLabel("Example for {{name}}", { exact: true }).fill("Ana")
  // of this, only the provider knows
  await button(page, "Submit for review").click()
  await wrong.filter({ hasText: "Name is taken by another template of the same language." }).waitFor()
  assert.strictEqual(await page.getByLabel("Name", { exact: true }).getAttribute("aria-invalid"), "true")
  await page.getByLabel("Name", { exact: true }).fill("hello_name")
  await wrong.waitFor({ state: "detached" })
  await button(page, "Submit for review").click()
  await titled(page, "hello_name")
  const [template] = await named("hello_name")
  assert.strictEqual(template!["parameterFormat"], "named")
})

it("a template of another language begins with the texts of the first, and a one-time code has no texts", async () => {
  const { page } = person
  await person.open(`/templates/${server.german}`)
  await page.getByRole("link", { name: "Add a language" }).click()
  await titled(page, "New template")
  assert.strictEqual(await page.getByLabel("Body", { exact: true }).inputValue(), "Ihre Bestellung ist unterwegs.")
  await page.getByLabel("Language").fill("fr")
  await page.getByLabel("Body", { exact: true }).fill("Votre commande est en route.")
  await button(page, "Submit for review").click()
  await titled(page, "order_update")
  const languages = page.getByRole("region", { name: "Languages" }).getByRole("listitem")
  await languages.nth(2).waitFor()
  assert.deepStrictEqual(
    (await languages.allInnerTexts()).map((text) => text.split(/\s/)[0]),
    ["de", "en_US", "fr"]
  )

  await person.open("/templates/new")
  await page.getByLabel("Name", { exact: true }).fill("code")
  await page.getByLabel(/^Authentication/).check()
  assert.strictEqual(await page.getByLabel("Body", { exact: true }).count(), 0)
  await page.getByLabel("The code expires after, in minutes").fill("10")
  await button(page, "Submit for review").click()
  await titled(page, "code")
  const [template] = await named("code")
  assert.deepStrictEqual(template!["components"], [
    { type: "BODY", add_security_recommendation: true },
    { type: "FOOTER", code_expiration_minutes: 10 },
    { type: "BUTTONS", buttons: [{ type: "OTP", otp_type: "COPY_CODE" }] }
  ])
})

it("a change begins with what the template has, outlives the end of the session, and a deletion asks first", async () => {
  const { page } = person
  await person.open(`/templates/${server.german}`)
  await page.getByRole("link", { name: "Edit", exact: true }).click()
  await titled(page, "Change the template")
  await page.getByLabel("Body", { exact: true }).fill("Ihre Bestellung {{1}} ist unterwegs.")
  await page.getByLabel("Example for {{1}}", { exact: true }).fill("1042")
  await unasked(page, async () => {
    await page.evaluate(() => fetch("/internal/session", { method: "DELETE" }))
    await button(page, "Submit for review").click()
    await dialog(page, "Your session has ended").getByLabel("Password").waitFor()
  })
  await dialog(page, "Your session has ended").getByLabel("Password").fill("correct horse battery")
  await button(dialog(page, "Your session has ended"), "Sign in").click()
  await dialog(page, "Your session has ended").waitFor({ state: "detached" })
  assert.strictEqual(
    await page.getByLabel("Body", { exact: true }).inputValue(),
    "Ihre Bestellung {{1}} ist unterwegs."
  )
  await button(page, "Submit for review").click()
  await titled(page, "order_update")
  await page.getByText("Ihre Bestellung 1 ist unterwegs.").waitFor()

  await button(page, "Delete…").click()
  const question = dialog(page, "Delete order_update in de?")
  await question.getByText("Templates of the same name in other languages stay.").waitFor()
  await button(question, "Cancel").click()
  await button(page, "Delete…").click()
  await button(question, "Delete template").click()
  await titled(page, "Templates")
  server = { ...server, session: await inScope(signIn(server.url)) }
  assert.notInclude((await named("order_update")).map(({ language }) => language), "de")
})

/** Creates templates with these names. */
const create = async (...names: ReadonlyArray<string>): Promise<void> => {
  const { session, url } = server
  for (const name of names) {
    const components = [{ type: "BODY", text: "See you soon." }]
    const body = { name, language: "en_US", category: "utility", components }
    const made = await inScope(call(`${url}/internal/templates`, { headers: { ...ownPage, ...session }, body }))
    assert.strictEqual(made.status, 201, made.text)
  }
}

it("all templates of a filter are deleted after a question, except what the provider keeps", async () => {
  await create("summer_1", "summer_2", "summer_3", "winter_1")
  const owner = await signedIn(browser, server)
  const { page } = owner
  let kept: string | undefined
  await page.route("**/internal/templates/*", async (route) => {
    if (route.request().method() !== "DELETE") return route.fallback()
    kept ??= route.request().url()
    if (route.request().url() !== kept) return route.fallback()
    await route.fulfill({
      status: 400,
      json: { error: { code: "invalid_body", message: "it is kept", request_id: "req_of_the_test" } }
    })
  })
  await owner.open("/templates")
  await page.getByRole("link", { name: "winter_1" }).waitFor()
  assert.strictEqual(await button(page, /^Delete all/).count(), 0)
  await owner.open("/templates?name=summer")
  await button(page, "Delete all 3…").click()
  const asking = dialog(page, "Delete 3 templates?")
  assert.deepStrictEqual(await asking.getByRole("listitem").allInnerTexts(), ["Name: summer"])
  await button(asking, "Delete templates").click()
  await asking.getByText("2 of 3 deleted, 1 is kept by the provider", { exact: true }).waitFor()
  await button(asking, "Close").click()
  await button(page, "Delete all 1…").waitFor()
  assert.lengthOf(await named("winter_1"), 1)
  owner.assertSound()
  await owner.end()
})

it("Back from a question about all of a filter closes it, and a run that has begun keeps the filter of its items", async () => {
  await create("spring_1", "autumn_1")
  const owner = await signedIn(browser, server)
  const { page } = owner
  const held = Promise.withResolvers<void>()
  await page.route("**/internal/templates/*", async (route) => {
    if (route.request().method() === "DELETE") await held.promise
    await route.fallback()
  })
  await owner.open("/templates?name=spring")
  const name = page.getByRole("searchbox")
  await button(page, "Delete all 1…").waitFor()
  await name.fill("autumn")
  await page.keyboard.press("Enter")
  await page.getByRole("link", { name: "autumn_1" }).waitFor()
  await page.getByRole("link", { name: "spring_1" }).waitFor({ state: "detached" })
  await button(page, "Delete all 1…").click()
  const asking = dialog(page, "Delete 1 template?")
  await asking.getByText("Name: autumn").waitFor()
  await page.goBack()
  await asking.waitFor({ state: "detached" })

  await page.goForward()
  await page.getByRole("link", { name: "autumn_1" }).waitFor()
  await button(page, "Delete all 1…").click()
  await button(asking, "Delete templates").click()
  await button(asking, "Stop").waitFor()
  await page.goBack()
  await page.waitForURL(/name=spring/)
  assert.deepStrictEqual(await asking.getByRole("listitem").allInnerTexts(), ["Name: autumn"])
  held.resolve()
  await asking.getByText("1 of 1 deleted", { exact: true }).waitFor()
  await button(asking, "Close").click()
  await asking.waitFor({ state: "detached" })
  assert.lengthOf(await named("spring_1"), 1)
  assert.lengthOf(await named("autumn_1"), 0)
  owner.assertSound()
  await owner.end()
})

it("of templates of one name in two accounts, forms and pages show the one of the number that sends", async () => {
  const owner = await signedIn(browser, server)
  const { page } = owner
  await page.route(/\/internal\/phone-numbers/, async (route) => {
    const response = await route.fetch()
    const { data, ...rest } = await response.json()
    const other = {
      ...data[0],
      id: "pn_other",
      phoneNumber: "+15550007777",
      isDefault: false,
      providerAccountId: "other"
    }
    await route.fulfill({ response, json: { ...rest, data: [...data, other] } })
  })
  await page.route(/\/internal\/templates\?/, async (route) => {
    const response = await route.fetch()
    const { data, ...rest } = await response.json()
    const others = data
      .filter(({ language, name }: { readonly language: string; readonly name: string }) =>
        name === "order_update" && language === "en_US"
      )
      .map((template: object) => ({
        ...template,
        id: "tpl_other",
        providerAccountId: "other",
        components: [{ type: "BODY", text: "{{2}} is of {{1}}" }]
      }))
    await route.fulfill({ response, json: { ...rest, data: [...others, ...data] } })
  })
  const figure = page.getByRole("figure", { name: "Preview of order_update" })
  const isOther = async () => (await figure.innerText()).includes(" is of ")
  for (const path of ["/messages/new", "/campaigns/new"]) {
    await owner.open(path)
    const template = page.getByLabel("Template", { exact: true })
    await template.selectOption({ label: "order_update · en_US" })
    await figure.waitFor()
    assert.isFalse(await isOther(), path)
    await page.getByLabel("From", { exact: true }).selectOption("+15550007777")
    await figure.getByText(" is of ").waitFor()
    assert.deepStrictEqual(
      (await template.locator("option").allTextContents()).filter((label) => !label.startsWith("order_update")),
      [],
      path
    )
    await page.getByLabel("From", { exact: true }).selectOption("The default number")
    await figure.getByText(" is of ").waitFor({ state: "detached" })
  }
  await owner.open(`/messages/${server.message}`)
  await figure.waitFor()
  assert.isFalse(await isOther())
  owner.assertSound()
  await owner.end()
})

it("a member sees a template's page, which names the role that can change it", async () => {
  const member = await signedIn(browser, { ...server, session: await inScope(workspace.asMember(server)) })
  const { page } = member
  await member.open("/templates")
  await button(page, /^New template \(This needs the role developer/).waitFor()
  await page.getByRole("link", { name: "hello_world" }).click()
  await titled(page, "hello_world")
  await button(page, /^Delete… \(This needs the role developer/).waitFor()
  await member.open("/templates/new")
  await button(page, /^Submit for review \(This needs the role developer/).waitFor()
  member.assertSound()
  await member.end()
})
