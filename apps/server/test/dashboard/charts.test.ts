/**
 * The charts of the dashboard: their numbers without a mouse, what a bar opens, and what a range shows.
 */
import { Effect } from "effect"
import type { Browser, Locator, Page } from "playwright-core"
import { assert, beforeAll, it } from "vitest"
import * as checks from "../checks.ts"
import { call, createKey, hello, ownPage, send, setWebhook } from "../harness.ts"
import { browser as launch, signedIn } from "./browser.ts"
import * as Scope from "./scope.ts"
import * as workspace from "./workspace.ts"

const inScope = Scope.ofFile()

let browser: Browser
let filled: Effect.Success<typeof workspace.filled>

beforeAll(async () => {
  ;[browser, filled] = await Promise.all([inScope(launch), inScope(workspace.filled)])
})

const chart = (page: Page, name = "Messages") => page.getByRole("figure", { name, exact: true })

const steps = (page: Page, name?: string) => chart(page, name).getByRole("slider")

/** What a chart of a day tells of each of its hours, step by step. */
const toldOf = async (page: Page, slider: Locator): Promise<ReadonlyArray<string>> => {
  await slider.focus()
  await page.keyboard.press("Home")
  const told: Array<string> = []
  for (let i = 0; i < 24; i++) {
    told.push((await slider.getAttribute("aria-valuetext"))!)
    await page.keyboard.press("ArrowRight")
  }
  return told
}

it("every number of a chart is reached by the keyboard, with its time and outcome", async () => {
  const { assertSound, end, open, page } = await signedIn(browser, filled)
  await open("/usage")
  const slider = steps(page)
  await slider.focus()
  const count = Number(await slider.getAttribute("aria-valuemax"))
  assert.strictEqual(count, 24)
  await page.keyboard.press("Home")
  const told: Array<string> = []
  for (let i = 1; i <= count; i++) {
    assert.strictEqual(await slider.getAttribute("aria-valuenow"), `${i}`)
    told.push((await slider.getAttribute("aria-valuetext"))!)
    await page.keyboard.press("ArrowRight")
  }
  assert.isTrue(told.every((text) => /: Accepted \d+, Failed \d+, Unknown \d+, Refused \d+$/.test(text)), told[0])
  assert.strictEqual(new Set(told).size, count)
  // a message every two hours
  assert.isAbove(told.filter((text) => / Accepted [1-9]/.test(text)).length, 8)
  await page.keyboard.press("ArrowRight")
  assert.strictEqual(await slider.getAttribute("aria-valuenow"), `${count}`)
  assertSound()
  await end()
})

it("a step that the keyboard chose opens the list of what it counts", async () => {
  const { assertSound, end, open, page } = await signedIn(browser, filled)
  await open("/usage")
  const slider = steps(page)
  await slider.focus()
  await page.keyboard.press("Home")
  while (!/ Accepted [1-9].* Failed [1-9]/.test((await slider.getAttribute("aria-valuetext"))!)) {
    await page.keyboard.press("ArrowRight")
  }
  // no list has exactly what the provider accepted
  assert.strictEqual(await chart(page).getByRole("link", { name: /^Accepted/ }).count(), 0)
  await page.keyboard.press("Tab")
  await page.keyboard.press("Enter")
  await page.getByRole("heading", { name: "Messages", level: 1 }).waitFor()
  const { searchParams } = new URL(page.url())
  assert.strictEqual(searchParams.get("status"), "failed")
  assert.strictEqual(searchParams.get("since"), "range")
  assert.strictEqual(Date.parse(searchParams.get("end")!) - Date.parse(searchParams.get("begin")!), 3_600_000)
  await page.getByRole("row").nth(1).waitFor()
  assertSound()
  await end()
})

it("a click on a bar opens the list of its time and outcome", async () => {
  const { assertSound, end, open, page } = await signedIn(browser, filled)
  await open("/usage?since=month")
  const slider = steps(page, "Webhook attempts")
  const bar = slider.locator("rect.fill-accent").last()
  await bar.waitFor()
  const box = (await bar.boundingBox())!
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
  await page.getByRole("heading", { name: "Deliveries", level: 1 }).waitFor()
  const { searchParams } = new URL(page.url())
  assert.strictEqual(searchParams.get("status"), "delivered")
  assert.strictEqual(Date.parse(searchParams.get("end")!) - Date.parse(searchParams.get("begin")!), 86_400_000)
  await page.getByRole("row").nth(1).waitFor()
  assertSound()
  await end()
})

it("what no list shows alone is no link in a chart, and a click on its bar opens nothing", async () => {
  const { assertSound, end, open, page } = await signedIn(browser, filled)
  await open("/usage?since=month")
  for (
    const [name, fill, outcome] of [["Messages", "accent", "Accepted"], ["Webhook attempts", "bad", "Failed"]] as const
  ) {
    const bar = steps(page, name).locator(`rect.fill-${fill}`).last()
    await bar.waitFor()
    const box = (await bar.boundingBox())!
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
    const caption = chart(page, name).locator("figcaption")
    await caption.getByText(new RegExp(`^${outcome} [1-9]`)).waitFor()
    assert.strictEqual(await caption.getByRole("link", { name: new RegExp(`^${outcome}`) }).count(), 0)
    assert.strictEqual(new URL(page.url()).pathname, "/dashboard/usage")
  }
  assertSound()
  await end()
})

it("a finger chooses a step, and opens nothing by that", async () => {
  const { assertSound, end, open, page } = await signedIn(browser, filled)
  await open("/usage?since=month")
  const slider = steps(page, "Webhook attempts")
  const bar = slider.locator("rect.fill-accent").last()
  await bar.waitFor()
  const box = (await bar.boundingBox())!
  const at = { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, pointerType: "touch", bubbles: true }
  await slider.dispatchEvent("pointerdown", at)
  await slider.dispatchEvent("pointerup", at)
  await chart(page, "Webhook attempts").getByRole("link", { name: /^Delivered [1-9]/ }).waitFor()
  assert.strictEqual(new URL(page.url()).pathname, "/dashboard/usage")
  assertSound()
  await end()
})

it("today is more than one bar at first, and each range has the steps that fit it", async () => {
  const { assertSound, end, open, page } = await signedIn(browser, filled)
  await open("")
  await steps(page).waitFor()
  assert.isAbove(await steps(page).locator("rect.fill-accent").count(), 8)
  for (const [range, count] of [["week", "28"], ["month", "30"], ["quarter", "90"]] as const) {
    await page.getByLabel("Time", { exact: true }).selectOption(range)
    await page.locator(`[aria-valuemax="${count}"]`).first().waitFor()
    assert.strictEqual(new URL(page.url()).searchParams.get("since"), range)
  }
  const now = filled.clock.currentTimeMillisUnsafe()
  const [begin, until] = [now - 6 * 3_600_000, now].map((at) => encodeURIComponent(new Date(at).toISOString()))
  await open(`/usage?since=range&begin=${begin}&end=${until}`)
  await steps(page).and(page.locator("[aria-valuemax=\"7\"]")).waitFor()
  assertSound()
  await end()
})

it("no label of an axis is cut off, not even that of the end", async () => {
  const { assertSound, end, open, page } = await signedIn(browser, filled)
  const hour = 3_600_000
  // an hour that has a label in Berlin, and the day before it
  const last = Math.floor((filled.clock.currentTimeMillisUnsafe() + hour) / (6 * hour)) * 6 * hour - hour
  const [from, until] = [last - 24 * hour, last].map((at) => new Date(at).toISOString())
  await open(`/usage?since=range&begin=${from}&end=${until}`)
  const svg = steps(page).locator("svg")
  await svg.locator("rect.fill-accent").first().waitFor()
  const ends = await svg.evaluate((svg) => {
    const within = svg.getBoundingClientRect()
    return [...svg.querySelectorAll("text")].map((text) => {
      const { left, right } = text.getBoundingClientRect()
      return { name: text.textContent, isWhole: left >= within.left && right <= within.right }
    })
  })
  assert.isAbove(ends.length, 6)
  assert.deepStrictEqual(ends.filter(({ isWhole }) => !isWhole), [])
  assertSound()
  await end()
})

it("the delivery rate has a value where messages were accepted, and none elsewhere", async () => {
  const { assertSound, end, open, page } = await signedIn(browser, filled)
  await open("")
  const told = await toldOf(page, steps(page, "Delivery rate"))
  assert.includeMembers(told.map((text) => / ([^ ]+)$/.exec(text)![1]), ["100%", "–"])
  assertSound()
  await end()
})

it("what was spent over time is shown for each currency", async () => {
  const { assertSound, end, open, page } = await signedIn(browser, filled)
  const line = { market: "DE", category: "utility", type: "regular", billable: true, messages: 3 }
  await page.route(/\/internal\/usage/, async (route) => {
    const response = await route.fetch()
    const usage = await response.json()
    const costs = [{ currency: "EUR", amount: "0.165" }]
    usage.steps.at(-1).costs = costs
    await route.fulfill({
      response,
      json: { ...usage, costs, lines: [{ ...line, cost: { ...costs[0], ratesFrom: "2026-01-01" } }] }
    })
  })
  await open("/usage")
  const slider = steps(page, "Spend in EUR")
  await slider.focus()
  await page.keyboard.press("End")
  assert.match((await slider.getAttribute("aria-valuetext"))!, /: EUR €0\.165$/)
  await page.keyboard.press("Home")
  assert.match((await slider.getAttribute("aria-valuetext"))!, /: EUR €0$/)
  await page.getByText("Total: 0.165 EUR").waitFor()
  assertSound()
  await end()
})

it("the time until messages were delivered has a value where messages were delivered, and none elsewhere", async () => {
  const { assertSound, end, open, page } = await signedIn(browser, filled)
  await open("/usage")
  const slider = steps(page, "Time until delivered")
  const told = await toldOf(page, slider)
  assert.isTrue(
    told.some((text) => /: Half within [\d.]+ m?s, 19 of 20 within [\d.]+ m?s$/.test(text)),
    told.join("\n")
  )
  assert.isTrue(told.some((text) => text.endsWith(": Half within –, 19 of 20 within –")))
  await page.getByText(/half arrived within [\d.]+ m?s, and 19 of 20 within/).waitFor()
  assertSound()
  await end()
})

it("the webhook's page shows what the receiver answered and how long that took, down to steps of five minutes", async () => {
  const { assertSound, end, open, page } = await signedIn(browser, filled)
  await open("/settings/webhook")
  const slider = steps(page, "Attempts by outcome")
  const told = await toldOf(page, slider)
  // one event is refused for a day, and the others are accepted
  assert.isTrue(told.every((text) => /: Delivered \d+, 4xx \d+$/.test(text)), told[0])
  assert.isTrue(told.some((text) => / 4xx [1-9]/.test(text)) && told.some((text) => / Delivered [1-9]/.test(text)))
  const took = steps(page, "Time to answer")
  await took.focus()
  await page.keyboard.press("End")
  assert.match(
    (await took.getAttribute("aria-valuetext"))!,
    /: Half within (–|[\d.]+ m?s), 19 of 20 within (–|[\d.]+ m?s)$/
  )
  await page.getByText("No outage of a minute or more was noticed in this time.").waitFor()
  await page.getByLabel("Time", { exact: true }).selectOption("hour")
  await slider.and(page.locator("[aria-valuemax=\"12\"]")).waitFor()
  assert.strictEqual(new URL(page.url()).searchParams.get("since"), "hour")
  assertSound()
  await end()
})

it("charts of attempts shade the time in which the webhook was failing, and name it in words", async () => {
  const failing = await inScope(workspace.failing)
  // alerts are looked for by the minute
  await Effect.runPromise(failing.pass("1 minute"))
  await Effect.runPromise(checks.until(
    Effect.map(call(`${failing.url}/internal/webhook/receiver`, { headers: failing.session }), ({ body }) => body),
    ({ outages, outcomes }) => outages.length === 1 && outcomes.status5xx >= 5
  ))
  const { assertSound, end, open, page } = await signedIn(browser, failing)
  await open("/settings/webhook?since=hour")
  const slider = steps(page, "Attempts by outcome")
  await slider.focus()
  await page.keyboard.press("End")
  assert.match((await slider.getAttribute("aria-valuetext"))!, /, failing: 5xx \d+$/)
  assert.strictEqual(await slider.locator("rect.fill-warn-soft").count(), 1)
  await page.getByRole("region", { name: "Receiver" }).getByText(/^Failing from .*, and still is$/).waitFor()
  await open("/usage")
  const attempts = steps(page, "Webhook attempts")
  await attempts.locator("rect.fill-warn-soft").waitFor()
  await attempts.focus()
  await page.keyboard.press("End")
  assert.match((await attempts.getAttribute("aria-valuetext"))!, /, failing: Delivered \d+, Failed \d+$/)
  await page.getByText("The webhook was failing or paused in the shaded time.").waitFor()
  assertSound()
  await end()
})

it("what waited over time is shown with the most of each step, and nothing where nobody looked", () =>
  Effect.gen(function*() {
    const server = yield* workspace.empty
    const { session, url } = server
    yield* setWebhook(server, { url: "https://receiver.example/hook" })
    yield* call(`${url}/internal/webhook/pause`, { headers: { ...ownPage, ...session }, body: {} })
    const key = yield* createKey(url, session)
    yield* send({ key, url }, hello("+15005550003"))
    yield* Effect.promise(async () => {
      const { end, open, page } = await signedIn(browser, server)
      await open("/usage")
      await page.getByText("Not known for this time").waitFor()
      await end()
    })
    yield* server.pass("6 minutes")
    yield* checks.until(
      Effect.map(call(`${url}/internal/usage`, { headers: session }), ({ body }) => body.steps),
      (steps: ReadonlyArray<{ readonly waiting: unknown }>) => steps.some(({ waiting }) => waiting !== null)
    )
    yield* Effect.promise(async () => {
      const { assertSound, end, open, page } = await signedIn(browser, server)
      await open("/usage")
      const told = await toldOf(page, steps(page, "Waiting"))
      const words = told.map((text) => text.slice(text.lastIndexOf(": ") + 2))
      assert.deepStrictEqual([...new Set(words)].sort(), [
        "Queued messages 0, Held events 1",
        "Queued messages –, Held events –"
      ])
      const labels = await steps(page, "Waiting").locator("text").allTextContents()
      assert.deepStrictEqual(labels.filter((label) => /^\d+([.,]\d+)?$/.test(label)), ["0", "1"])
      assertSound()
      await end()
    })
  }).pipe(Effect.scoped, Effect.runPromise))

it("a table has the same numbers as the chart", async () => {
  const { assertSound, end, open, page } = await signedIn(browser, filled)
  await open("/usage")
  await chart(page).getByText("All numbers").click()
  const rows = chart(page).getByRole("row")
  await rows.first().waitFor()
  assert.strictEqual(await rows.count(), 25)
  const slider = steps(page)
  await slider.focus()
  await page.keyboard.press("End")
  const [, accepted] = / Accepted (\d+)/.exec((await slider.getAttribute("aria-valuetext"))!)!
  assert.strictEqual(await rows.last().getByRole("cell").nth(1).textContent(), accepted)
  assertSound()
  await end()
})

it("a campaign's page shows how many messages were sent, delivered and read by when, and its funnel's numbers at the end", async () => {
  const { url } = filled
  const at = `${url}/internal/campaigns/${filled.campaign}`
  const headers = { ...ownPage, ...filled.session }
  const { assertSound, end, open, page } = await signedIn(browser, filled)
  await open(`/campaigns/${filled.campaign}`)
  await page.getByText("Ready", { exact: true }).waitFor()
  assert.strictEqual(await page.getByRole("region", { name: "Over time" }).count(), 0)
  assert.strictEqual((await Effect.runPromise(call(`${at}/start`, { method: "POST", headers }))).status, 200)
  // the page follows what happens
  const slider = steps(page, "Messages over time")
  await page.getByText("Completed", { exact: true }).waitFor()
  await slider.focus()
  await page.keyboard.press("End")
  await page.waitForFunction(
    (element) => element!.getAttribute("aria-valuetext")!.endsWith(": Sent 2, Delivered 2, Read 2"),
    await slider.elementHandle()
  )
  await page.getByRole("region", { name: "Result" }).getByText("2 · 100%").last().waitFor()
  const strokes = await slider.locator("path.visx-linepath").evaluateAll((lines) =>
    lines.map((line) => {
      const { stroke, strokeDasharray } = getComputedStyle(line)
      return `${stroke} ${strokeDasharray}`
    })
  )
  assert.strictEqual(new Set(strokes).size, 3, strokes.join())
  assert.isFalse(strokes.some((stroke) => stroke.startsWith("none")), strokes.join())
  await page.getByLabel("Time", { exact: true }).selectOption({ label: "First hour" })
  await page.waitForURL(/[?&]period=hour/)
  await slider.waitFor()
  assertSound()
  await end()
})
