/** Lists that people take along as CSV files, in a real browser. */
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import type { Browser } from "playwright-core"
import { assert, beforeAll, it } from "vitest"
import { call, ownPage } from "../harness.ts"
import { browser as launch, button, signedIn } from "./browser.ts"
import * as Scope from "./scope.ts"
import * as workspace from "./workspace.ts"

const inScope = Scope.ofFile()

let browser: Browser
let server: Effect.Success<typeof workspace.empty>

beforeAll(async () => {
  ;[browser, server] = await Promise.all([inScope(launch), inScope(workspace.empty)])
})

it("the audit's file has the changes that the filter leaves, and no others", async () => {
  const { session, url } = server
  const made = async (name: string): Promise<string> => {
    const answer = await Effect.runPromise(call(`${url}/internal/api-keys`, {
      headers: { ...ownPage, ...session, "idempotency-key": crypto.randomUUID() },
      body: { name, scopes: ["messages:send"] }
    }))
    assert.strictEqual(answer.status, 201, answer.text)
    return answer.body.apiKey?.id ?? answer.body.id
  }
  const id = await made("Shop \"=1+1\", Łódź")
  await made("Another")
  const { open, page } = await signedIn(browser, server)
  await open(`/settings/audit?target=${id}`)
  const saved = page.waitForEvent("download")
  await button(page, "Download CSV").click()
  const file = await saved
  assert.strictEqual(file.suggestedFilename(), "audit.csv")
  const [header, row, ...rest] = (await readFile(await file.path(), "utf8")).split("\r\n")
  assert.strictEqual(header, "\uFEFFChange,Target,Detail,By,Address,At")
  assert.include(row, `,${id},`)
  assert.include(row, "\"\"=1+1\"\", Łódź")
  assert.match(row!, /,\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.deepStrictEqual(rest, [""])
  await page.getByRole("status").filter({ hasText: "1 row saved." }).waitFor()
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
