/**
 * Files as marketers have them, given to a campaign in the dashboard: each is sent, or the page says what to change. And
 * what is done beside a file: a test to oneself, and a campaign that begins as another.
 */
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, it } from "vitest"
import { call } from "../harness.ts"
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

const choose = (file: string | Uint8Array) =>
  person.page.getByLabel("Customers").setInputFiles({
    name: "customers.csv",
    mimeType: "text/csv",
    buffer: Buffer.from(file)
  })

/** Begins a campaign whose template has no placeholders, and chooses its file. */
const begin = async (name: string, file: string | Uint8Array): Promise<void> => {
  const { page } = person
  await person.open("/campaigns/new")
  await page.getByLabel("Name", { exact: true }).fill(name)
  await page.getByLabel("Template", { exact: true }).selectOption({ label: "hello_world · en_US" })
  await choose(file)
}

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

it("a test goes to oneself as the first customer gets it, as often as it is asked for", async () => {
  const { page } = person
  await begin("Orders", "Phone,Name,Order\n+15551230040,Ana,A-7\n+15551230041,Ben,A-8\n")
  await page.getByLabel("Template", { exact: true }).selectOption({ label: "order_update · en_US" })
  await preview().first().waitFor()
  const test = page.getByRole("form", { name: "Test" })
  await test.getByLabel("Test number").fill("+15551230049")
  assert.include(await button(test, /^Send a test/).innerText(), "they fill the placeholders")
  await page.getByLabel("Placeholder 1", { exact: true }).selectOption({ label: "Column Name" })
  await page.getByLabel("Placeholder 2", { exact: true }).selectOption({ label: "Column Order" })
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
  await other.getByText("Ana").first().waitFor()
  await other.getByText("A-7").first().waitFor()
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
