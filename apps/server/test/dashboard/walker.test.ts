/**
 * Somebody who does anything at all in the dashboard: presses what can be pressed, fills in what can be filled in, goes
 * back and forth. Whatever they do, nothing breaks. `npm run long -- walker` has them do it for much longer.
 */
import * as Extent from "@wac/testbed/Extent"
import { SeededRandom } from "@wac/testkit"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { it } from "vitest"
import { environment } from "../harness.ts"
import { browser as launch, signedIn } from "./browser.ts"
import * as workspace from "./workspace.ts"

const actions = Extent.of(300, 20_000)

const seed = Number(process.env["SEED"] ?? 1)

/** Something that a person can reach at this moment: nothing lies over it. */
interface Thing {
  readonly kind: "press" | "fill" | "choose"
  readonly name: string
  readonly x: number
  readonly y: number
  readonly options: number
}

/** What can be reached in the page as it is; nothing while it has no title and heading. Runs in the page. */
const reachable = (): ReadonlyArray<Thing> | undefined => {
  if (!/\S · wac$/.test(document.title) || (document.querySelector("h1")?.textContent ?? "") === "") return undefined
  const selector = "a[href], button, summary, input, textarea, select, [role=option]"
  const things = [...document.querySelectorAll<HTMLElement>(selector)].flatMap((element): ReadonlyArray<Thing> => {
    const { height, left, top, width } = element.getBoundingClientRect()
    const [x, y] = [left + Math.min(width / 2, 40), top + height / 2]
    const seen = width > 0 && height > 0 ? document.elementFromPoint(x, y) : null
    if (seen === null || !(element.contains(seen) || seen.contains(element))) return []
    if (element instanceof HTMLAnchorElement && !element.pathname.startsWith("/dashboard")) return []
    const name = (element.ariaLabel ?? element.textContent ?? "").slice(0, 60) || element.getAttribute("name") ||
      element.id
    const isText = element instanceof HTMLTextAreaElement ||
      element instanceof HTMLInputElement && !["checkbox", "radio"].includes(element.type)
    return [{
      kind: isText ? "fill" : element instanceof HTMLSelectElement ? "choose" : "press",
      name: `${element.tagName.toLowerCase()} ${name}`,
      x,
      y,
      options: element instanceof HTMLSelectElement ? element.options.length : 0
    }]
  })
  return things.length === 0 ? undefined : things
}

/** What people, their clipboards and those who mean them harm put into fields. */
const texts = [
  "",
  "Ana",
  "+15551234567",
  "+15005550008",
  "hello_world",
  "https://example.com/hook",
  "http://127.0.0.1:1/",
  "<img src=x onerror=alert(1)>",
  "\"};alert(1)//",
  "%00%ff../../",
  "msg_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  "ana@example.com",
  "💐".repeat(40),
  "x".repeat(3000),
  "2026-01-01T00:00"
]

/** What the browser says when one document goes and the next is not there yet. */
const betweenDocuments =
  /Execution context was destroyed|Not attached to an active page|interrupted by another navigation|net::ERR_ABORTED/

/** Asks the browser, and again if the page was between two documents: signing out loads the page again. */
const ask = async <A>(question: () => Promise<A>): Promise<A> => {
  try {
    return await question()
  } catch (error) {
    if (betweenDocuments.test(String(error))) return ask(question)
    throw error
  }
}

/** What can be reached, as soon as there is something: never in a dead end, nor on a page without a title. */
const look = (page: Page): Promise<ReadonlyArray<Thing>> =>
  ask(async () => (await (await page.waitForFunction(reachable)).jsonValue())!)

const act = async (page: Page, random: SeededRandom.SeededRandom): Promise<string> => {
  const things = await look(page)
  const chance = random.below(100)
  if (chance < 3) {
    await ask(() => page.goBack({ waitUntil: "commit" }))
    return "back"
  }
  if (chance < 4) {
    await ask(() => page.reload({ waitUntil: "commit" }))
    return "reload"
  }
  if (chance < 10) {
    const key = random.pick(["Escape", "Tab", "Enter", "ArrowDown", "ControlOrMeta+k", " "])
    await page.keyboard.press(key)
    return `key ${key}`
  }
  if (chance < 14) {
    await page.mouse.wheel(0, random.pick([-600, 600]))
    return "scroll"
  }
  const thing = random.pick(things)
  await page.mouse.click(thing.x, thing.y)
  if (thing.kind === "choose") {
    await page.keyboard.press("Escape")
    for (let i = random.below(thing.options); i > 0; i--) await page.keyboard.press("ArrowDown")
  }
  if (thing.kind === "fill") {
    await page.keyboard.press("ControlOrMeta+a")
    await page.keyboard.insertText(random.pick(texts))
    if (random.below(3) === 0) await page.keyboard.press("Enter")
  }
  return `${thing.kind} ${thing.name}`
}

/**
 * Waits until nothing is pending. Of some requests the browser never tells the end: whatever is pending after so many
 * milliseconds is forgotten, and the walk goes on, though its seed may then lead elsewhere.
 */
const settled = async (pending: Set<object>, patience: number): Promise<void> => {
  const until = performance.now() + patience
  while (pending.size > 0 && performance.now() < until) await new Promise((resolve) => setImmediate(resolve))
  pending.clear()
}

it(`${actions} random actions break nothing`, () =>
  Effect.gen(function*() {
    const server = yield* workspace.filled
    const browser = yield* launch
    yield* Effect.promise(async () => {
      const person = await signedIn(browser, server)
      const { page } = person
      const random = SeededRandom.make(seed)
      const pending = new Set<object>()
      page.on("request", (request) => {
        // the stream of changes has no end
        if (request.resourceType() !== "eventsource") pending.add(request)
      })
      page.on("requestfinished", (request) => pending.delete(request))
      page.on("requestfailed", (request) => pending.delete(request))
      // of requests of a document that is gone, the browser reports no end
      page.on("domcontentloaded", () => pending.clear())
      const done: Array<string> = []
      await person.open("")
      for (let i = 0; i < actions; i++) {
        try {
          if (await page.title() === "Sign in · wac") {
            await page.getByLabel("E-mail", { exact: true }).fill(environment.WAC_OWNER_EMAIL)
            await page.getByLabel("Password", { exact: true }).fill(environment.WAC_OWNER_PASSWORD)
            await page.keyboard.press("Enter")
            await page.waitForFunction(() => document.title !== "Sign in · wac")
          }
          done.push(`${new URL(page.url()).pathname}: ${await act(page, random)}`)
          if (!page.url().startsWith(`${server.url}/dashboard`)) {
            // further back than where the walk began
            await ask(() => person.open(""))
          }
          // the same page for the same seed: what an action asked for comes before the next
          await settled(pending, 10_000)
          person.assertSound()
        } catch (error) {
          throw new Error(`seed ${seed}, after action ${i}:\n${done.slice(-15).join("\n")}`, { cause: error })
        }
      }
      await person.end()
    })
  }).pipe(Effect.scoped, Effect.runPromise), Extent.of(600_000, 3_600_000))
