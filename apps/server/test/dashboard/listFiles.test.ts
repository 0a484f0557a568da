/** Lists that people take along as CSV files, in a real browser. */
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import type { Browser, Page } from "playwright-core"
import { assert, beforeAll, it } from "vitest"
import { call, createKey, ownPage, send } from "../harness.ts"
import { browser as launch, button, signedIn } from "./browser.ts"
import * as Scope from "./scope.ts"
import * as workspace from "./workspace.ts"

const inScope = Scope.ofFile()

let browser: Browser
let server: Effect.Success<typeof workspace.empty>

beforeAll(async () => {
  ;[browser, server] = await Promise.all([inScope(launch), inScope(workspace.empty)])
})

/** The name and the lines of the file of the list that a page shows. */
const downloaded = async (page: Page) => {
  const saved = page.waitForEvent("download")
  await button(page, "Download CSV").click()
  const file = await saved
  const text = await readFile(await file.path(), "utf8")
  assert.isTrue(text.startsWith("\uFEFF"))
  const lines = text.slice(1).split("\r\n")
  assert.strictEqual(lines.pop(), "")
  return { name: file.suggestedFilename(), lines }
}

it("the audit's file has the changes that the filter leaves, and no others", async () => {
  const { session, url } = server
  const named = (name: string) => Effect.runPromise(createKey(url, { ...ownPage, ...session }, { name }))
  const { id } = await named("Shop \"=1+1\", Łódź")
  await named("Another")
  const { open, page } = await signedIn(browser, server)
  await open(`/settings/audit?target=${id}`)
  const { lines: [header, ...rows], name } = await downloaded(page)
  assert.strictEqual(name, "audit.csv")
  assert.strictEqual(header, "Change,Target,Detail,By,Address,At,Id")
  assert.strictEqual(rows.length, 1)
  assert.include(rows[0], `,${id},`)
  assert.include(rows[0], "\"\"=1+1\"\", Łódź")
  assert.match(rows[0]!, /,\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z,/)
  await page.getByRole("status").filter({ hasText: "1 row saved." }).waitFor()
})

it("a spreadsheet does not read a cell as a formula", async () => {
  const { session, url } = server
  const { id } = await Effect.runPromise(
    createKey(url, { ...ownPage, ...session }, { name: "=HYPERLINK(1)", scopes: ["messages:send", "messages:read"] })
  )
  const { open, page } = await signedIn(browser, server)
  await open("/api-keys")
  const { lines, name } = await downloaded(page)
  assert.strictEqual(name, "api-keys.csv")
  assert.strictEqual(lines[0], "Name,May,Last used,Id")
  assert.include(lines, `'=HYPERLINK(1),messages:send messages:read,,${id}`)
})

it("the members' file has everyone who may work in the workspace, and who is invited", async () => {
  const { session, url } = server
  const invited = await Effect.runPromise(
    call(`${url}/internal/members`, {
      headers: { ...ownPage, ...session },
      body: { email: "ana@example.com", role: "developer" }
    })
  )
  assert.strictEqual(invited.status, 201, invited.text)
  const { open, page } = await signedIn(browser, server)
  await open("/settings/members")
  const { lines: [header, ...rows], name } = await downloaded(page)
  assert.strictEqual(name, "members.csv")
  assert.strictEqual(header, "E-mail,Role,Status,Invited by,Since,Id")
  assert.strictEqual(rows.length, 2)
  assert.match(rows.join("\n"), /^owner@example\.com,owner,active,,[^,]+,usr_\w+$/m)
  assert.match(rows.join("\n"), /^ana@example\.com,developer,invited,owner@example\.com,[^,]+,inv_\w+$/m)
})

it("campaigns are found by a part of the name and by status, and their file has what was found", async () => {
  const { session, url } = server
  const draft = (name: string) =>
    Effect.runPromise(Effect.map(
      call(`${url}/internal/campaigns`, {
        headers: { ...ownPage, ...session, "idempotency-key": crypto.randomUUID() },
        body: { name, template: { name: "hello_world", language: "en_US" } }
      }),
      ({ body }): string => body.id
    ))
  const { open, page } = await signedIn(browser, server)
  await open("/campaigns")
  await page.getByText("No campaigns yet").waitFor()
  const spring = await draft("Spring offer")
  await draft("Summer offer")
  await page.getByLabel("Name", { exact: true }).fill("SPRING")
  await button(page, "Search").click()
  await page.getByRole("row", { name: /Spring offer/ }).waitFor()
  await page.getByRole("row", { name: /Summer offer/ }).waitFor({ state: "detached" })
  assert.strictEqual(new URL(page.url()).search, "?name=SPRING")
  const { lines } = await downloaded(page)
  assert.strictEqual(lines.length, 2)
  assert.match(lines[1]!, new RegExp(`^Spring offer,draft,.*,${spring}$`))
  await page.getByLabel("Status").selectOption("Running")
  await page.getByText("No campaign fits these filters").waitFor()
  await page.getByText("A campaign is found by any part of its name.").waitFor()
  assert.strictEqual(await page.getByText("No campaigns yet").count(), 0)
  await page.getByLabel("Status").selectOption("Draft")
  await page.getByRole("row", { name: /Spring offer/ }).waitFor()
})

it("a file has the rows of all pages, each once, and those of the filter alone if one is set", async () => {
  const { session, url } = server
  const key = await Effect.runPromise(createKey(url, { ...ownPage, ...session }))
  const ids = await Effect.runPromise(Effect.forEach(
    Array.from({ length: 250 }, (_, i) => `+1555123${4000 + i}`),
    (to) =>
      Effect.map(
        send({ key, url }, { to, type: "template", template: { name: "hello_world", language: "en_US" } }),
        ({ body }): string => body.message_id
      ),
    { concurrency: 8 }
  ))
  const { open, page } = await signedIn(browser, server)
  const read: Array<string> = []
  page.on("request", (request) => {
    const { pathname, searchParams } = new URL(request.url())
    if (searchParams.get("limit") === "100") read.push(pathname)
  })
  await open("/messages")
  const { lines: [header, ...rows] } = await downloaded(page)
  assert.strictEqual(header, "To,Status,Kind,From,Created,Id")
  assert.deepStrictEqual(rows.map((row) => row.split(",").at(-1)!).toSorted(), ids.toSorted())
  assert.deepStrictEqual(read.filter((path) => path === "/internal/messages").length, 3)
  await open("/messages?to=%2B15551234007")
  const filtered = await downloaded(page)
  assert.strictEqual(filtered.lines.length, 2)
  assert.match(
    filtered.lines[1]!,
    new RegExp(`^'\\+15551234007,[a-z]+,template,'\\+\\d+,[\\dT:.-]+Z,${ids[7]}$`)
  )
})

it("a file whose reading is stopped is not saved", async () => {
  const { open, page } = await signedIn(browser, server)
  await open("/settings/audit")
  // the service's response does not come
  await page.route((url) => url.searchParams.get("limit") === "100", () => undefined)
  await button(page, "Download CSV").click()
  await button(page, "Stop").click()
  await page.getByRole("status").filter({ hasText: "Stopped: no file was saved." }).waitFor()
})
