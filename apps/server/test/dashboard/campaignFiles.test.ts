/**
 * Files as marketers have them, given to a campaign in the dashboard: each is sent, or the page says what to change. And
 * what is done beside a file: a test to oneself, and a campaign that begins as another.
 */
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, it } from "vitest"
import { call, ownPage } from "../harness.ts"
import { browser as launch, button, dialog, signedIn, type Visit } from "./browser.ts"
import * as Scope from "./scope.ts"
import * as workspace from "./workspace.ts"

const inScope = Scope.ofFile()

let browser: Browser
let server: Effect.Success<typeof workspace.empty>
let person: Visit

beforeAll(async () => {
  ;[browser, server] = await Promise.all([inScope(launch), inScope(workspace.empty)])
  person = await signedIn(browser, server)
})
afterAll(() => person.assertSound())

const choose = (file: string | Uint8Array, { page } = person) =>
  page.getByLabel("Customers").setInputFiles({
    name: "customers.csv",
    mimeType: "text/csv",
    buffer: Buffer.from(file)
  })

/** Begins a campaign whose template has no placeholders, and chooses its file. */
const begin = async (name: string, file: string | Uint8Array, by = person): Promise<void> => {
  const { page } = by
  await by.open("/campaigns/new")
  await page.getByLabel("Name", { exact: true }).fill(name)
  await page.getByLabel("Template", { exact: true }).selectOption({ label: "hello_world · en_US" })
  await choose(file, by)
}

/** Asks the service as its pages do. */
const ask = async (path: string, options: { readonly method?: string; readonly body?: unknown } = {}) => {
  const { body, status } = await Effect.runPromise(
    call(`${server.url}/internal${path}`, { headers: { ...ownPage, ...server.session }, ...options })
  )
  assert.isBelow(status, 300, JSON.stringify(body))
  return body
}

/** The campaigns whose name begins so, newest first. */
const campaignsOf = async (
  name: string
): Promise<ReadonlyArray<{ readonly id: string; readonly [field: string]: unknown }>> =>
  (await ask("/campaigns")).data.filter((campaign: { readonly name: string }) => campaign.name.startsWith(name))

/** The rows that the page shows of the chosen file. */
const preview = () => person.page.getByRole("group", { name: "First rows of the file" }).locator("tbody tr")

/** Has the file checked, and sends to this many customers. */
const sendTo = async (customers: number): Promise<void> => {
  const { page } = person
  await button(page, "Upload and check").click()
  await page.getByText("Ready", { exact: true }).waitFor()
  await button(page, "Start").click()
  const words = customers === 1 ? "1 customer" : `${customers} customers`
  await button(dialog(page, "Start the campaign"), `Send to ${words}`).click()
  await page.getByText("Completed", { exact: true }).waitFor()
}

/** A text as a program writes it in UTF-16, with its mark. */
const utf16 = (text: string): Uint8Array => Buffer.from(`\uFEFF${text}`, "utf16le")

const sent = [
  {
    file: "semicolons and quoted values",
    bytes: "Name;Phone\r\n\"Lee; \"\"Ana\"\"\";+15551230001\r\n\"Two\r\nlines\";+15551230002\r\n",
    found: "The file is in UTF-8, with semicolons between the values and the names of 2 columns in the first row.",
    shown: "Lee; \"Ana\"",
    customers: 2
  },
  {
    file: "tabs",
    bytes: "Mobile\tCity\n+15551230003\tBonn\n",
    found: "with tabs between the values and the names of 2 columns",
    shown: "Bonn",
    customers: 1
  },
  {
    file: "UTF-16",
    bytes: utf16("Phone\tName\r\n+15551230004\tÁna\r\n"),
    found: "The file is in UTF-16, with tabs between",
    shown: "Ána",
    customers: 1
  },
  {
    file: "columns without a name and rows without values",
    bytes: "Phone,,Name,\n+15551230005,,Ana,\n,,,\n+15551230006,,Ben,\n",
    found:
      "with commas between the values and the names of 2 columns in the first row. 2 columns have no name and are not",
    shown: "Ben",
    customers: 2
  }
]

for (const { bytes, customers, file, found, shown } of sent) {
  it(`a file with ${file} is shown as it is read, and sent`, async () => {
    const { page } = person
    await begin(file, bytes)
    await page.getByText(found).waitFor()
    await preview().getByRole("cell", { name: shown, exact: true }).waitFor()
    assert.strictEqual(await preview().count(), customers)
    await sendTo(customers)
  })
}

it("a file in which 1 row in 10 is wrong shows five rows, is sent to the others, and names the row with its line", async () => {
  const { page } = person
  const rows = Array.from({ length: 10 }, (_, n) => n === 6 ? "none,Ana" : `+155512301${n + 10},Ana`)
  await begin("One in ten", ["Phone,Name", ...rows].join("\n"))
  await preview().first().waitFor()
  assert.strictEqual(await preview().count(), 5)
  await sendTo(9)
  await page.getByRole("row", { name: /none.*Line 8 of the file/ }).waitFor()
})

it("a file with three kinds of fault is told by reason with lines and values before it is sent, and takes a better file", async () => {
  const { page } = person
  const faulty = [
    "Phone,Name,Order",
    "+15551230060,Ana,A-1",
    "1.55512E+10,Ben,A-2",
    "+15551230060,Ana,A-3",
    "+15551230061,,A-4",
    "+15551230060,Ana,A-5",
    "+15551230062,,A-6"
  ]
  await begin("Faulty", faulty.join("\n"))
  await page.getByLabel("Template", { exact: true }).selectOption({ label: "order_update · en_US" })
  await preview().first().waitFor()
  await page.getByLabel("Placeholder 1", { exact: true }).selectOption({ label: "Column Name" })
  await page.getByLabel("Placeholder 2", { exact: true }).selectOption({ label: "Column Order" })
  await button(page, "Upload and check").click()
  await page.getByText("Ready", { exact: true }).waitFor()
  const why = page.getByRole("region", { name: "Why rows are left out" })
  const reason = (name: string) =>
    why.getByRole("listitem").filter({ has: page.getByRole("heading", { name, exact: true }) })
  await reason("Not a recipient").getByText("Line 3: 1.55512E+10").waitFor()
  await reason("Not a recipient").getByText(/^A spreadsheet has shortened the number/).waitFor()
  await reason("Duplicate").getByText("Line 4: +15551230060").waitFor()
  await reason("Duplicate").getByText("Line 6: +15551230060").waitFor()
  await reason("Does not fit the template").getByText("The value of “Name” is missing.").waitFor()
  await reason("Does not fit the template").getByText("Line 5: +15551230061").waitFor()
  await reason("Does not fit the template").getByText("Line 7: +15551230062").waitFor()
  const links = why.getByRole("link", { name: /^[0-9]+ rows?$/ })
  assert.sameMembers(await links.allInnerTexts(), ["1 row", "2 rows", "2 rows"])

  // the rows of one reason, and all of them as a file
  await reason("Duplicate").getByRole("link", { name: "2 rows" }).click()
  const rows = page.getByRole("region", { name: "Rows", exact: true })
  // the rows of other reasons were there before
  await rows.getByRole("row", { name: /Line 3 of the file/ }).waitFor({ state: "detached" })
  await rows.getByRole("row", { name: /Line 6 of the file/ }).waitFor()
  assert.strictEqual(await rows.locator("tbody tr").count(), 2)
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    button(why, "Download these rows").click()
  ])
  const lines = readFileSync(await download.path(), "utf8").trimEnd().split("\n")
  assert.deepStrictEqual(lines.slice(1).map((line) => line.split(",")[3]), [
    "malformed",
    "duplicate",
    "template_params_mismatch",
    "duplicate",
    "template_params_mismatch"
  ])

  // another file in its place
  await why.getByRole("link", { name: "Choose another file" }).click()
  await page.getByRole("heading", { name: "Change the campaign" }).waitFor()
  await choose("Phone,Name,Order\n+15551230060,Ana,A-1\n+15551230061,Ben,A-4\n")
  await preview().first().waitFor()
  await button(page, "Save and check").click()
  await page.getByText("Ready", { exact: true }).waitFor()
  await page.getByRole("region", { name: "Report" }).getByText("None", { exact: true }).waitFor()
  assert.strictEqual(await why.count(), 0)
})

it("a file whose numbers have no country code asks for their country, and is sent with it", async () => {
  const { page } = person
  await begin("National", "Phone,Name\n(555) 123-0021,Ana\n")
  const advice = page.getByText("Some numbers have no + and country code.")
  await advice.waitFor()
  // by two letters, a calling code or a part of a name
  const country = page.getByLabel("Country of numbers")
  const options = page.getByRole("option")
  await country.fill("DE")
  await page.getByRole("option", { name: "Germany +49" }).waitFor()
  assert.strictEqual(await options.count(), 1)
  await country.fill("+49")
  await page.keyboard.press("Enter")
  await advice.waitFor({ state: "hidden" })
  assert.strictEqual(await country.inputValue(), "Germany +49")
  // what is no country is not kept
  await country.fill("Atlantis")
  await page.getByText("No country is called so.").waitFor()
  await country.fill("")
  await advice.waitFor()
  await country.fill("cote d")
  await page.getByRole("option", { name: "Côte d’Ivoire +225" }).waitFor()
  await country.fill("united st")
  await page.getByRole("option", { name: "United States +1" }).click()
  await advice.waitFor({ state: "hidden" })
  await sendTo(1)
})

it("a file whose numbers a spreadsheet has shortened is told what to change, and sent once it is", async () => {
  const { page } = person
  await begin("Shortened", "Phone,Name\n1.55512E+10,Ana\n")
  const advice = page.getByText("The spreadsheet has shortened numbers to 1.55512E+10, and their last digits are lost.")
  await advice.waitFor()
  await choose("Phone,Name\n+15551230031,Ana\n")
  await advice.waitFor({ state: "hidden" })
  await sendTo(1)
})

it("a file without names of its columns is told what to change, and sent once it has them", async () => {
  const { page } = person
  await begin("Nameless", "+15551230041,Ana\n+15551230042,Ben\n")
  const told = page.getByRole("alert").getByText("The first row is a customer. Insert a row above it")
  await told.waitFor()
  assert.strictEqual(await button(page, /^Upload and check/).getAttribute("aria-disabled"), "true")
  await choose("phone,name\n+15551230041,Ana\n+15551230042,Ben\n")
  await told.waitFor({ state: "hidden" })
  await sendTo(2)
})

it("a file that has changed since it was chosen is said to have, nothing is created, and it can be chosen again", async () => {
  const { page } = person
  const directory = await mkdtemp(join(tmpdir(), "wac-customers-"))
  try {
    const file = join(directory, "customers.csv")
    await writeFile(file, "Phone\n+15551230048\n")
    await person.open("/campaigns/new")
    await page.getByLabel("Name", { exact: true }).fill("Changed file")
    await page.getByLabel("Template", { exact: true }).selectOption({ label: "hello_world · en_US" })
    const field = page.getByLabel("Customers")
    await field.setInputFiles(file)
    await preview().first().waitFor()
    await writeFile(file, "Phone\n+15551230048\n+15551230049\n")
    await button(page, "Upload and check").click()
    await page.getByRole("alert").getByText("The file has changed since it was chosen: choose it again.").waitFor()
    assert.lengthOf(await campaignsOf("Changed file"), 0)

    // a field that keeps its choice does not tell the page that the same file is chosen
    const [chooser] = await Promise.all([page.waitForEvent("filechooser"), field.click()])
    assert.strictEqual(await field.inputValue(), "")
    await preview().first().waitFor({ state: "detached" })
    await chooser.setFiles(file)
    await preview().nth(1).waitFor()
    await sendTo(2)
  } finally {
    await rm(directory, { recursive: true })
  }
})

it("a test goes to oneself as the first customer gets it, as often as it is asked for", async () => {
  const { page } = person
  // the first order is written so that a spreadsheet does not read a number
  await begin("Orders", "Phone,Name,Order\n+15551230040,Ana,\"=\"\"0042\"\"\"\n+15551230041,Ben,A-8\n")
  await page.getByLabel("Template", { exact: true }).selectOption({ label: "order_update · en_US" })
  await preview().first().waitFor()
  const test = page.getByRole("form", { name: "Test" })
  await test.getByLabel("Test number").fill("+15551230049")
  assert.include(await button(test, /^Send a test/).innerText(), "they fill the placeholders")
  // a variable in a text for everyone is filled for each customer, so in a test too
  await page.getByLabel("Text for 1").fill("Dear {{Nobody}}")
  await page.getByLabel("Placeholder 2", { exact: true }).selectOption({ label: "Column Order" })
  assert.include(await button(test, /^Send a test/).innerText(), "they fill the placeholders")
  await page.getByLabel("Text for 1").fill("Dear {{Name}}")
  const figure = page.getByRole("figure", { name: "Preview of order_update" })
  await figure.getByText("Dear Ana").waitFor()
  assert.match(await figure.innerText(), /(?<![="])0042(?!")/)
  await button(test, "Send a test").click()
  const link = test.getByRole("link", { name: "See what became of it" })
  const first = await link.getAttribute("href")
  await button(test, "Send a test").click()
  await page.waitForFunction(
    (first) => document.querySelector("form[aria-label=Test] a")?.getAttribute("href") !== first,
    first
  )
  // the form keeps what was typed, and nothing of the campaign was made
  assert.strictEqual(await page.getByLabel("Name", { exact: true }).inputValue(), "Orders")
  const other = await person.page.context().newPage()
  await other.goto(new URL(first!, server.url).href)
  await other.getByText("Dear Ana").first().waitFor()
  await other.getByText(/(?<![="])0042(?!")/).first().waitFor()
  await other.close()
  const { body } = await Effect.runPromise(call(`${server.url}/internal/campaigns`, { headers: server.session }))
  assert.notInclude(body.data.map(({ name }: { readonly name: string }) => name), "Orders")
})

it("a campaign begins as another with its plan, and takes a file of its own", async () => {
  const { page } = person
  await begin("Spring", "Phone,Name,Order\n+15551230050,Ana,A-7\n")
  await page.getByLabel("Template", { exact: true }).selectOption({ label: "order_update · en_US" })
  await preview().first().waitFor()
  await page.getByLabel("Placeholder 1", { exact: true }).selectOption({ label: "Column Name" })
  await page.getByLabel("Placeholder 2", { exact: true }).selectOption({ label: "Column Order" })
  await page.getByLabel("Share of the number’s rate, in percent").fill("30")
  await sendTo(1)
  await page.getByRole("link", { name: "Duplicate" }).click()
  await page.getByRole("heading", { name: "New campaign" }).waitFor()
  assert.strictEqual(await page.getByLabel("Name", { exact: true }).inputValue(), "Spring (copy)")
  assert.strictEqual(await page.getByLabel("Share of the number’s rate, in percent").inputValue(), "30")
  await choose("Phone,Name,Order\n+15551230051,Ben,A-8\n")
  await preview().first().waitFor()
  await sendTo(1)
  await page.getByRole("heading", { name: "Spring (copy)" }).waitFor()
  await page.getByText("30 %").waitFor()
  await page.getByText("{{Name}}, {{Order}}").waitFor()
  await page.getByRole("row", { name: /\+15551230051/ }).waitFor()
})

it("a placeholder whose column a new file lacks says so, and the campaign waits until another column is chosen", async () => {
  const { page } = person
  await begin("Columns", "Phone,Name,Order,timeZone\n+15551230070,Ana,A-1,Europe/Berlin\n")
  await page.getByLabel("Template", { exact: true }).selectOption({ label: "order_update · en_US" })
  await preview().first().waitFor()
  const [one, two] = ["1", "2"].map((name) => page.getByLabel(`Placeholder ${name}`, { exact: true }))
  // neither the numbers nor the time zones are variables of a row
  assert.deepStrictEqual(
    await one!.locator("option").allTextContents(),
    ["The same text for everyone", "Column Name", "Column Order"]
  )
  await one!.selectOption({ label: "Column Name" })
  await two!.selectOption({ label: "Column Order" })
  await choose("Phone,First name,Order\n+15551230070,Ana,A-1\n")
  const lack = page.getByRole("alert").getByText("The file has no column “Name” that can fill this placeholder.")
  await lack.waitFor()
  const upload = button(page, /^Upload and check/)
  assert.strictEqual(await upload.getAttribute("aria-disabled"), "true")
  assert.include(await upload.innerText(), "The file has no column for {{Name}}")
  await one!.selectOption({ label: "Column First name" })
  await lack.waitFor({ state: "detached" })
  await sendTo(1)
  await page.getByText("{{First name}}, {{Order}}").waitFor()
})

it("a campaign that is changed or duplicated keeps the exact values that nobody changed", async () => {
  const { page } = person
  const exact = { share: 0.123, holdout: 0.0725, maxFailureRate: 0.055, notAfter: "2040-01-02T03:04:05.700Z" }
  const { id } = await ask("/campaigns", {
    body: { name: "Exact", template: { name: "hello_world", language: "en_US" }, ...exact }
  })
  await person.open(`/campaigns/${id}/edit`)
  const share = page.getByLabel("Share of the number’s rate, in percent")
  assert.strictEqual(await share.inputValue(), "12.3")
  assert.strictEqual(await page.getByLabel("Held out for comparison, in percent").inputValue(), "7.25")
  await page.getByLabel("Name", { exact: true }).fill("Exact values")
  await choose("Phone\n+15551230080\n")
  await preview().first().waitFor()
  await button(page, "Save and check").click()
  await page.getByRole("heading", { level: 1, name: "Exact values" }).waitFor()
  await page.getByText("12.3 %").waitFor()
  const { holdout, maxFailureRate, notAfter, share: saved } = await ask(`/campaigns/${id}`)
  assert.deepStrictEqual({ share: saved, holdout, maxFailureRate, notAfter }, exact)

  await page.getByRole("link", { name: "Duplicate" }).click()
  await page.getByRole("heading", { name: "New campaign" }).waitFor()
  await choose("Phone\n+15551230081\n")
  await preview().first().waitFor()
  await button(page, "Upload and check").click()
  await page.getByRole("heading", { level: 1, name: "Exact values (copy)" }).waitFor()
  const [copy] = await campaignsOf("Exact values (copy)")
  assert.deepInclude(copy, { share: 0.123, holdout: 0.0725, maxFailureRate: 0.055, notAfter: null })
})

it("a change that was lost and is taken back leaves the campaign as the form shows it, with what another changed meanwhile", async () => {
  // a lost connection is written to the console
  const other = await signedIn(browser, server)
  const { page } = other
  const { id } = await ask("/campaigns", {
    body: {
      name: "Lost change",
      template: { name: "hello_world", language: "en_US" },
      startAt: "2040-01-02T10:00:30.123Z"
    }
  })
  await other.open(`/campaigns/${id}/edit`)
  const name = page.getByLabel("Name", { exact: true })
  await name.fill("Lost change, changed")
  await choose("Phone\n+15551230096\n", other)
  await page.getByRole("group", { name: "First rows of the file" }).waitFor()
  // the form is there while another changes the campaign, and its page is told so
  await Promise.all([
    page.waitForResponse((response) => response.url().endsWith(`/campaigns/${id}`)),
    ask(`/campaigns/${id}`, { method: "PATCH", body: { startAt: "2041-01-02T10:00:30.123Z" } })
  ])
  const path = new RegExp(`/internal/campaigns/${id}$`)
  const changes: Array<unknown> = []
  await page.route(path, async (route) => {
    if (route.request().method() !== "PATCH") return route.fallback()
    changes.push(route.request().postDataJSON())
    await route.fetch()
    await route.abort()
  })
  await button(page, "Save and check").click()
  await page.getByText("The changes may not have been saved.").waitFor()
  await page.unroute(path)
  await name.fill("Lost change")
  await button(page, "Save and check").click()
  await page.getByRole("heading", { level: 1, name: "Lost change", exact: true }).waitFor()
  for (const change of changes) assert.deepStrictEqual(change, { name: "Lost change, changed" })
  assert.deepInclude(await ask(`/campaigns/${id}`), { name: "Lost change", startAt: "2041-01-02T10:00:30.123Z" })
  await other.end()
})

it("a refused change leaves the campaign's customers, and the form says that nothing was changed", async () => {
  const { page } = person
  await begin("Kept rows", "Phone\n+15551230090\n")
  await button(page, "Upload and check").click()
  await page.getByText("Ready", { exact: true }).waitFor()
  await page.getByRole("link", { name: "Change", exact: true }).click()
  await choose("Phone\n+15551230091\n+15551230092\n")
  await preview().nth(1).waitFor()
  await page.getByLabel("Quiet from").fill("08:00")
  await page.getByLabel("Quiet until").fill("08:00")
  await button(page, "Save and check").click()
  await page.getByRole("alert").getByText("differ from the time in from").waitFor()
  assert.strictEqual((await campaignsOf("Kept rows"))[0]?.["rows"], 1)
  await page.getByText("The changes were not saved.").waitFor()
  await page.getByLabel("Quiet until").fill("09:00")
  await button(page, "Save and check").click()
  await page.getByRole("heading", { level: 1, name: "Kept rows" }).waitFor()
  await page.getByText("08:00 to 09:00").waitFor()
  assert.strictEqual((await campaignsOf("Kept rows"))[0]?.["rows"], 2)
})

it("a refused file leaves the campaign's customers, and the form says that the settings are saved", async () => {
  const { page } = person
  await begin("Kept file", "Phone\n+15551230090\n")
  await button(page, "Upload and check").click()
  await page.getByText("Ready", { exact: true }).waitFor()
  await page.getByRole("link", { name: "Change", exact: true }).click()
  await page.getByLabel("Name", { exact: true }).fill("Kept file, renamed")
  await choose("Phone,Twice,Twice\n+15551230091,a,b\n")
  await preview().first().waitFor()
  await button(page, "Save and check").click()
  await page.getByText("The settings are saved. The file is not: the campaign keeps the customers that it has.")
    .waitFor()
  assert.deepInclude((await campaignsOf("Kept file"))[0], { name: "Kept file, renamed", rows: 1 })
})

for (
  const { lost, method, path, told } of [
    { lost: "creation", method: "POST", path: /\/internal\/campaigns$/, told: "The campaign may have been created." },
    { lost: "upload", method: "PUT", path: /\/recipients\?/, told: "The settings are saved. The file may not be" }
  ]
) {
  it(`a new campaign whose ${lost} gets no response is one campaign once the changed form is saved`, async () => {
    // a lost connection is written to the console
    const other = await signedIn(browser, server)
    const { page } = other
    await begin(`Lost ${lost}`, "Phone\n+15551230093\n", other)
    await page.getByRole("group", { name: "First rows of the file" }).waitFor()
    await page.route(path, async (route) => {
      if (route.request().method() !== method) return route.fallback()
      // the service has made the campaign
      if (method === "POST") await route.fetch()
      await route.abort()
    })
    await button(page, "Upload and check").click()
    await page.getByText(told).waitFor()
    await page.unroute(path)
    await page.getByLabel("Name", { exact: true }).fill(`Lost ${lost}, found`)
    await button(page, "Upload and check").click()
    await page.getByRole("heading", { level: 1, name: `Lost ${lost}, found` }).waitFor()
    const all = await campaignsOf(`Lost ${lost}`)
    assert.deepStrictEqual(all.map(({ name, rows }) => ({ name, rows })), [{ name: `Lost ${lost}, found`, rows: 1 }])
    await other.end()
  })
}

it("a new campaign whose creation is lost with its server is created under another key, once the person was told to look for it", async () => {
  // a response of 504 is written to the console
  const other = await signedIn(browser, server)
  const { page } = other
  await begin("Lost server", "Phone\n+15551230095\n", other)
  await page.getByRole("group", { name: "First rows of the file" }).waitFor()
  const lost = {
    status: 504,
    json: {
      error: {
        code: "server_error",
        reason: "outcome_unknown",
        message: "the server that worked on the first request ended before it answered",
        request_id: "req_01K8ZQ50V4W6X8Y0Z1A3B5C7DE"
      }
    }
  }
  const keys: Array<string | undefined> = []
  await page.route(/\/internal\/campaigns$/, async (route) => {
    if (route.request().method() !== "POST") return route.fallback()
    keys.push(route.request().headers()["idempotency-key"])
    // the client repeats each of two tries once
    return keys.length > 4 ? route.fallback() : route.fulfill(lost)
  })
  const told = page.getByText("The campaign may have been created: look in the list before you save again.")
  for (const tries of [2, 4]) {
    await Promise.all([
      page.waitForResponse((response) => response.status() === 504 && keys.length === tries),
      button(page, "Upload and check").click()
    ])
    await told.waitFor()
  }
  await button(page, "Upload and check").click()
  await page.getByRole("heading", { level: 1, name: "Lost server" }).waitFor()
  assert.deepStrictEqual(keys.map((key) => key === keys[0]), [true, true, true, true, false])
  assert.lengthOf(await campaignsOf("Lost server"), 1)
  await other.end()
})

it("a refused download of a campaign's rows shows the service's reason, and the next one is saved", async () => {
  const { page } = person
  const id = await inScope(workspace.ready(server))
  await person.open(`/campaigns/${id}`)
  const path = /\/recipients(\?|$)/
  await page.route(path, (route) =>
    route.request().headers()["accept"] === "text/csv"
      ? route.fulfill({
        status: 403,
        json: {
          error: {
            code: "forbidden",
            message: "the rows are counted at present",
            doc_url: "https://wac.example/errors",
            request_id: "req_01K8ZQ50V4W6X8Y0Z1A3B5C7DE"
          }
        }
      })
      : route.fallback())
  for (const name of ["Download as CSV", "Download these rows"]) {
    await button(page, name).click()
  }
  await page.getByRole("alert").filter({ hasText: "The rows are counted at present." }).nth(1).waitFor()
  await page.getByRole("link", { name: "req_01K8ZQ50V4W6X8Y0Z1A3B5C7DE" }).first().waitFor()
  await page.unroute(path)
  const [file] = await Promise.all([page.waitForEvent("download"), button(page, "Download these rows").click()])
  assert.include(readFileSync(await file.path(), "utf8"), "duplicate")
})
