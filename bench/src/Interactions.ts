/**
 * The `dashboard` measurement: with messages, events and deliveries stored, how long each list takes over HTTP, and how
 * long a person using Chromium waits from a click to the result on the screen.
 */
import * as Chromium from "@wac/testbed/Chromium"
import { Console, Effect, type Scope } from "effect"
import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import type { Page } from "playwright-core"
import { because, BenchFailed } from "./BenchFailed.ts"
import * as Child from "./Child.ts"
import * as Dashboard from "./Dashboard.ts"
import * as Database from "./Database.ts"
import * as Report from "./Report.ts"
import * as SeededMessages from "./SeededMessages.ts"
import { median, percentile } from "./Statistics.ts"
import * as Time from "./Time.ts"

export interface Plan {
  /** The number of messages, and also of events and of deliveries. */
  readonly stored: number
  /** The number of repetitions of each list and each interaction. */
  readonly repetitions: number
}

/** The goal for the 75th percentile, in milliseconds. */
const goal = 100

/** Every paginated list of the dashboard, without filters and with each filter. */
const lists = [
  "/internal/messages",
  "/internal/messages?status=delivered",
  "/internal/messages?status=failed",
  "/internal/events",
  "/internal/events?type=message.sent",
  "/internal/events?type=message.failed",
  "/internal/webhook/deliveries",
  "/internal/webhook/deliveries?status=delivered",
  "/internal/webhook/deliveries?status=exhausted",
  "/internal/webhook/replays",
  "/internal/requests",
  "/internal/requests?refused=true",
  "/internal/contacts",
  "/internal/templates",
  "/internal/api-keys",
  "/internal/phone-numbers",
  "/internal/audit",
  "/internal/alerts"
]

const repeated = Effect.fnUntraced(function*<E>(one: Effect.Effect<unknown, E>, repetitions: number) {
  const times: Array<number> = []
  for (let i = 0; i < repetitions; i++) {
    const startedAt = Time.monotonic()
    yield* one
    times.push(Time.monotonic() - startedAt)
  }
  return times
})

const sorted = (times: ReadonlyArray<number>) => [...times].sort((a, b) => a - b)

const row = (name: string, times: ReadonlyArray<number>): ReadonlyArray<string> => [
  name,
  Report.decimals(median(times), 1),
  Report.decimals(percentile(sorted(times), 0.75), 1),
  Report.decimals(Math.max(...times), 1)
]

/** Starts the server, creates a workspace, an API key and a paused webhook, and stores the messages. */
const served = Effect.fnUntraced(function*(cluster: Database.Cluster, stored: number) {
  const database = yield* cluster.database("wac_bench_dashboard")
  const { ready: { url } } = yield* Child.start<{ readonly url: string }>("WacProcess", {
    PORT: "0",
    DATABASE_URL: database.url,
    LOG_LEVEL: "warn",
    LOG_FORMAT: "json",
    WAC_MASTER_KEY: randomBytes(32).toString("base64"),
    ...Dashboard.environment
  })
  const { ask } = yield* Dashboard.signIn(url)
  yield* ask("POST", "/internal/api-keys", { name: "bench" }, { "idempotency-key": "bench" })
  yield* ask("PUT", "/internal/webhook", { url: "https://receiver.invalid/" })
  yield* database.query("update wac.webhooks set paused_at = 1")
  yield* SeededMessages.insert(database, stored)
  return { ask, url }
})

/** Measures the first and the second page of each list. */
const overHttp = Effect.fnUntraced(function*(ask: Dashboard.Dashboard["ask"], { repetitions, stored }: Plan) {
  const rows: Array<ReadonlyArray<string>> = []
  const all: Array<number> = []
  for (const path of lists) {
    const first = ask("GET", path)
    const { body } = yield* first
    const times = [...yield* repeated(first, repetitions)]
    const next = body["nextCursor"] ?? body["next_cursor"]
    if (typeof next === "string") {
      times.push(...yield* repeated(ask("GET", `${path}${path.includes("?") ? "&" : "?"}cursor=${next}`), repetitions))
    }
    all.push(...times)
    rows.push(row(path, times))
  }
  yield* Console.log(
    `\n${
      Report.table([[`a page, ${Report.whole(stored)} messages stored`, "median ms", "p75 ms", "most ms"], ...rows])
    }`
  )
  const p75 = percentile(sorted(all), 0.75)
  yield* Console.log(
    `\na page of a list over HTTP, p75 ms  ${Report.decimals(p75, 1)}${Report.verdict(p75, { most: goal })}`
  )
})

/** The goal for the 99th percentile of a conversation's page, in milliseconds. */
const conversationGoal = 20

/** Measures the first and the second page of a conversation, of which each holds as many messages as it can. */
const conversation = Effect.fnUntraced(function*(ask: Dashboard.Dashboard["ask"], { repetitions, stored }: Plan) {
  const { body: { data } } = yield* ask("GET", "/internal/phone-numbers")
  const [number] = data as ReadonlyArray<{ readonly id: string }>
  const path = `/internal/contacts/${
    encodeURIComponent(`${number!.id}:${SeededMessages.frequentCustomer}`)
  }/messages?limit=50`
  const { body } = yield* ask("GET", path)
  const next = body["nextCursor"]
  const pages = [path, ...typeof next === "string" ? [`${path}&cursor=${next}`] : []]
  const times = yield* Effect.forEach(pages, (page) => repeated(ask("GET", page), 50 * repetitions))
  const all = sorted(times.flat())
  const [half, p90, p99] = [0.5, 0.9, 0.99].map((part) => percentile(all, part))
  yield* Console.log(
    `a page of a conversation over HTTP, ${Report.whole(stored)} messages stored, median, p90 and p99 ms  ${
      [half!, p90!, p99!].map((ms) => Report.decimals(ms, 1)).join("  ")
    }${Report.verdict(p99!, { most: conversationGoal })}`
  )
})

/** An interaction of a person, and the address that it leads to. */
interface Interaction {
  readonly name: string
  readonly act: (page: Page) => Promise<unknown>
  /** The path and query, relative to the root of the pages. */
  readonly leadsTo: RegExp
}

const place = (name: string, path: string): Interaction => ({
  name: `to ${name}`,
  act: (page) => page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name, exact: true }).click(),
  leadsTo: new RegExp(`^${path}$`)
})

const filter = (name: string, label: string, value: string): Interaction => ({
  name: `${name}, filtered`,
  act: (page) => page.getByLabel(label, { exact: true }).selectOption(value),
  leadsTo: new RegExp(`=${value.replace(".", "\\.")}`)
})

const nextPage = (name: string): Interaction => ({
  name: `${name}, next page`,
  act: (page) => page.getByRole("link", { name: "Next page" }).click(),
  leadsTo: /[?&]cursor=/
})

const firstOf = (name: string, path: string): Interaction => ({
  name: `${name}, the first one`,
  act: (page) => page.getByRole("table").first().getByRole("link").first().click(),
  leadsTo: new RegExp(`^${path}/[^/?]+$`)
})

/** The interactions in order. Each starts where the previous one ended. */
const walk: ReadonlyArray<Interaction> = [
  place("Messages", "/messages"),
  nextPage("Messages"),
  firstOf("Messages", "/messages"),
  place("Messages", "/messages"),
  filter("Messages", "Status", "delivered"),
  place("Events", "/events"),
  nextPage("Events"),
  filter("Events", "Type", "message.sent"),
  firstOf("Events", "/events"),
  place("Deliveries", "/deliveries"),
  nextPage("Deliveries"),
  filter("Deliveries", "Status", "delivered"),
  firstOf("Deliveries", "/deliveries"),
  place("Requests", "/requests"),
  place("Usage", "/usage"),
  place("Contacts", "/contacts"),
  nextPage("Contacts"),
  firstOf("Contacts", "/contacts"),
  place("Templates", "/templates"),
  place("Phone numbers", "/phone-numbers"),
  place("API keys", "/api-keys"),
  place("Webhooks", "/settings/webhook"),
  place("Members", "/settings/members"),
  place("Audit", "/settings/audit"),
  place("Alerts", "/alerts"),
  place("Overview", "/?")
]

/** Runs in the page. Counts the requests in progress and records when a click happened. */
const watch = () => {
  const state = { pending: 0, pressedAt: 0 }
  Object.assign(window, { bench: state })
  const own = window.fetch.bind(window)
  window.fetch = async (...given) => {
    state.pending++
    try {
      return await own(...given)
    } finally {
      state.pending--
    }
  }
  const press = (event: Event) => {
    state.pressedAt = event.timeStamp
  }
  for (const type of ["click", "change"]) addEventListener(type, press, { capture: true })
}

/** Runs in the page. Returns the milliseconds from the click to the second consecutive frame that shows the result. */
const shown = (pattern: string) =>
  new Promise<number>((resolve) => {
    const { bench } = window as unknown as { readonly bench: { pending: number; pressedAt: number } }
    bench.pressedAt = 0
    const leadsTo = new RegExp(pattern)
    let inRow = 0
    const look = (now: number) => {
      const path = location.pathname.replace("/dashboard", "") || "/"
      const isThere = bench.pressedAt > 0 && bench.pending === 0 && leadsTo.test(path + location.search) &&
        document.querySelector("#content h1") !== null &&
        !document.querySelector("#content")!.textContent.includes("Loading")
      inRow = isThere ? inRow + 1 : 0
      if (inRow === 2) resolve(now - bench.pressedAt)
      else requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  })

const browser: Effect.Effect<Page, BenchFailed, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.tryPromise({
      try: () => Chromium.launch(),
      catch: because("Chromium cannot be started")
    }),
    (browser) => Effect.promise(() => browser.close())
  ).pipe(
    Effect.flatMap((browser) =>
      Effect.tryPromise({
        try: async () => {
          const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
          await context.addInitScript(watch)
          return context.newPage()
        },
        catch: because("Chromium")
      })
    )
  ),
  (page) => page
)

const inBrowser = Effect.fnUntraced(function*(url: string, { repetitions }: Plan) {
  const page = yield* browser
  const interact = Effect.fnUntraced(function*({ act, leadsTo, name }: Interaction) {
    return yield* Effect.tryPromise({
      try: async () => {
        const showing = page.evaluate(shown, leadsTo.source)
        // hidden elements cannot be clicked
        showing.catch(() => {})
        await act(page)
        return await showing
      },
      catch: because(name)
    }).pipe(Effect.timeoutOrElse({
      duration: "20 seconds",
      orElse: () => Effect.fail(new BenchFailed({ message: `${name}: it was not shown within 20 seconds` }))
    }))
  })
  yield* Effect.tryPromise({
    try: async () => {
      await page.goto(`${url}/dashboard`)
      await page.getByRole("textbox", { name: "E-mail", exact: true }).fill(Dashboard.environment.WAC_OWNER_EMAIL)
      await page.getByLabel("Password", { exact: true }).fill(Dashboard.environment.WAC_OWNER_PASSWORD)
      await page.getByRole("button", { name: "Sign in" }).click()
      await page.getByRole("navigation", { name: "Pages" }).waitFor()
    },
    catch: because("signing in")
  })
  // visit every page once first, as the first visit also loads the page's code
  for (const interaction of walk) yield* interact(interaction)
  const times = new Map<string, Array<number>>()
  for (let i = 0; i < repetitions; i++) {
    for (const interaction of walk) {
      const { name } = interaction
      times.set(name, [...times.get(name) ?? [], yield* interact(interaction)])
    }
  }
  const p75 = percentile(sorted([...times.values()].flat()), 0.75)
  yield* Console.log(
    `\n${
      Report.table([
        ["from the press to what was asked for, in Chromium", "median ms", "p75 ms", "most ms"],
        ...[...times].map(([name, times]) => row(name, times))
      ])
    }\n\nan interaction, p75 ms  ${Report.decimals(p75, 1)}${Report.verdict(p75, { most: goal })}`
  )
})

const build = Effect.tryPromise({
  try: () =>
    promisify(execFile)(process.execPath, [fileURLToPath(new URL("../../apps/dashboard/build.ts", import.meta.url))]),
  catch: because("the pages cannot be built")
})

export const run = (plan: Plan): Effect.Effect<void, BenchFailed, Scope.Scope> =>
  Effect.gen(function*() {
    yield* build
    const cluster = yield* Database.cluster
    yield* Console.log(
      Report.conditions(cluster, `${Report.whole(plan.stored)} messages, events and deliveries stored, one person`)
    )
    const { ask, url } = yield* served(cluster, plan.stored)
    yield* overHttp(ask, plan)
    yield* conversation(ask, plan)
    yield* inBrowser(url, plan)
  })
