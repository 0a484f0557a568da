/**
 * The portal in its languages: what a reader of Spanish or Portuguese sees is compared with what a reader of English
 * sees at the same address.
 */
import { Effect } from "effect"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import type { Browser, Page } from "playwright-core"
import { assert, beforeAll, it, vi } from "vitest"
import { createWac, memory, type NewPortalLink, sandbox, type Wac } from "wac"
import { violations } from "./axe.ts"
import { browser as launch, desktop } from "./browser.ts"
import * as Scope from "./scope.ts"

const inScope = Scope.ofFile()

const serve = (listener: RequestListener): Promise<string> =>
  inScope(
    Effect.map(
      Effect.acquireRelease(
        Effect.promise(() => {
          const server = createServer(listener)
          return new Promise<typeof server>((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)))
        }),
        (server) =>
          Effect.promise(() => {
            server.closeAllConnections()
            return new Promise((resolve) => server.close(resolve))
          })
      ),
      (server) => `http://localhost:${(server.address() as AddressInfo).port}`
    )
  )

type Language = NonNullable<NewPortalLink["language"]>

/** A page of the portal. */
interface Scene {
  readonly workspaceId: string
  readonly role: NewPortalLink["role"]
  readonly path: string
  /** What is there once the page has what it asked for. */
  readonly ready: string
}

let wac: Wac
let browser: Browser
const scenes: Array<Scene> = []

/** The names that the test itself gave: they are the same in every language. */
const given = { key: "Tienda", workspaces: ["Aachen", "Bilbao", "Cuiaba"], visitor: "ana@lima.example" } as const

beforeAll(async () => {
  const answers: Array<number> = []
  const receiver = await serve((request, response) => {
    request.resume().on("end", () => void response.writeHead(answers.shift() ?? 200).end("{}"))
  })
  const origin = await serve((request, response) => wac.nodeHandler(request, response))
  wac = await createWac({
    storage: memory(),
    provider: sandbox(),
    dashboard: true,
    publicUrl: origin,
    workspaceName: given.workspaces[0],
    receivers: { allowInsecure: true, allowCidrs: ["127.0.0.0/8", "::1/128"] }
  })
  await inScope(Effect.addFinalizer(() => Effect.promise(wac.close)))
  browser = await inScope(launch)
  const [bilbao, cuiaba] = await Promise.all(
    given.workspaces.slice(1).map((name, i) => wac.workspaces.create({ name, phoneNumber: `+1555010000${i + 2}` }))
  )
  const add = (workspaceId: string, role: Scene["role"], ready: string, ...paths: ReadonlyArray<string>) =>
    scenes.push(...paths.map((path) => ({ workspaceId, role, path, ready })))

  // nothing is set
  add(bilbao!.id, "developer", "form", "/settings/webhook")
  add(bilbao!.id, "member", "form", "/settings/webhook")
  add(bilbao!.id, "member", ".card p", "/deliveries", "/api-keys")

  const template = { name: "hello_world", language: "en_US" } as const
  const sent = async (of: Pick<Wac, "messages">, to: string) =>
    of.messages.send({ to, type: "template", template }, { idempotencyKey: crypto.randomUUID() })
  const settled = (of: Wac | ReturnType<Wac["workspace"]>, status: string, count: number) =>
    vi.waitFor(async () => {
      const { data } = await of.webhook.deliveries.list().page()
      const found = data.filter((one) => one.status === status && one.attemptCount > (status === "held" ? -1 : 0))
      assert.isAtLeast(found.length, count)
      return found
    }, { timeout: 300_000, interval: 50 })

  // it works, but for a first attempt
  await wac.webhook.set({ url: `${receiver}/hook` })
  answers.push(503)
  await sent(wac, "+15005550003")
  const [tried] = await settled(wac, "pending", 1)
  await sent(wac, "+15551234567")
  const [delivered] = await settled(wac, "delivered", 1)
  await wac.webhook.replays.create({ since: new Date(Date.now() - 60_000) })
  const key = await wac.keys.create({ name: given.key })
  const revoked = await wac.keys.create({ name: `${given.key} 2` })
  await wac.keys.revoke(revoked.id)
  add(wac.id, "developer", "dl", "/settings/webhook", `/deliveries/${tried!.id}`, `/deliveries/${delivered!.id}`)
  const dialogs = ["edit", "rotate", "pause", "remove", "replay"].map((name) => `/settings/webhook?dialog=${name}`)
  add(wac.id, "developer", "[role=dialog] button", ...dialogs, "/api-keys?dialog=create")
  add(wac.id, "developer", "table", "/deliveries", "/api-keys")
  add(wac.id, "developer", "dl", `/api-keys/${key.id}`, `/api-keys/${revoked.id}`)
  const nothing = "0".repeat(26)
  const empty = ["/deliveries?code=hola", `/deliveries/dlv_${nothing}`, `/api-keys/key_${nothing}`]
  add(wac.id, "developer", ".card p", ...empty)
  add(wac.id, "member", "dl", `/deliveries/${delivered!.id}`, `/api-keys/${key.id}`)
  for (const status of ["held", "exhausted", "skipped"]) {
    add(wac.id, "developer", ".card p", `/deliveries?status=${status}`)
  }

  // it is paused, and events are held
  const paused = wac.workspace(cuiaba!.id)
  await paused.templates.sync()
  await paused.webhook.set({ url: `${receiver}/paused` })
  await paused.webhook.pause()
  await sent(paused, "+15551234568")
  const [held] = await settled(paused, "held", 1)
  add(cuiaba!.id, "developer", "dl", "/settings/webhook", `/deliveries/${held!.id}`)
  add(cuiaba!.id, "developer", "[role=dialog] button", "/settings/webhook?dialog=resume")
})

/** Every text of the page, with digits and times made equal: of two readers, one comes a second later. */
const textsOf = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate(() => {
    const texts = [...document.querySelectorAll("body *")].flatMap((element) => {
      // what programs wrote, and the icons
      if (element.closest("code, noscript, pre, script, style, svg") !== null) return []
      const own = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent!.trim())
      const attributes = ["aria-label", "title", "placeholder", "alt", "aria-valuetext"]
      return [own ? element.textContent ?? "" : "", ...attributes.map((name) => element.getAttribute(name) ?? "")]
    })
    return [...new Set(texts.map((text) => text.trim().replace(/\d+/g, "0")))].filter((text) => /\p{L}/u.test(text))
  })

/** Visits the scenes of each link in turn, and looks at each. */
const visited = async (
  language: Language | undefined,
  look: (page: Page, scene: Scene) => Promise<unknown>
): Promise<void> => {
  for (const { role, workspaceId } of new Map(scenes.map((one) => [`${one.workspaceId} ${one.role}`, one])).values()) {
    const context = await browser.newContext({ viewport: desktop, reducedMotion: "reduce", locale: "pt-PT" })
    const page = await context.newPage()
    page.setDefaultTimeout(300_000)
    const link = { workspaceId, role, visitor: given.visitor, ...(language === undefined ? {} : { language }) }
    const { url } = await wac.portal.link(link)
    await page.goto(url)
    await page.locator("main h1").waitFor()
    for (const scene of scenes.filter((one) => one.role === role && one.workspaceId === workspaceId)) {
      await page.goto(new URL(`/portal/${workspaceId}${scene.path}`, url).href)
      await page.locator(scene.ready.startsWith("[role=dialog]") ? scene.ready : `#content ${scene.ready}`).first()
        .waitFor()
      await page.waitForFunction(() => document.querySelector("#content [role=status] > .sr-only") === null)
      await look(page, scene)
    }
    await context.close()
  }
}

const placeOf = ({ path, role, workspaceId }: Scene): string => `${workspaceId} ${role} ${path}`

const english = new Map<string, ReadonlyArray<string>>()

beforeAll(() => visited(undefined, async (page, scene) => english.set(placeOf(scene), await textsOf(page))))

/** The name of the key that the service makes for its host. */
const hostKey = "the application that embeds this service"

/** Names, addresses, units and the like: what no language changes. */
const isData = (text: string): boolean =>
  [given.key, ...given.workspaces, given.visitor].some((name) => text === name || text === `${name} 0`) ||
  /^(?:wac|URL|0 ms|0xx|[a-z]+\.[a-z]+|\S+:\/\/\S*|\S+_\S+|Europe\/\w+|UTC)$/.test(text) || text.endsWith(hostKey)

/** Words that English has, and neither Spanish nor Portuguese. */
const isEnglish = (text: string): boolean =>
  /\b(?:the|of|is|are|was|were|and|not|this|that|from|with|your|you|it|its|by|yet|will|be|to)\b/i.test(
    text.replaceAll(/“[^”]*”/g, "")
  )

/** The texts that a language writes as English does, of the catalogue that a browser loads. */
const alikeIn = async (page: Page, language: Language): Promise<ReadonlySet<string>> => {
  const loaded = page.waitForResponse(new RegExp(`/assets/${language}-[^/]+\\.js$`))
  await page.goto((await wac.portal.link({ role: "member", language })).url)
  // a text, for the module is the page's
  const [texts] = await page.evaluate<ReadonlyArray<Record<string, string | Array<string>>>>(
    `import("${(await loaded).url()}").then(Object.values)`
  )
  return new Set(Object.entries(texts!).flatMap(([text, form]) => [form].flat().includes(text) ? [text] : []))
}

it.each([["es", "es"], ["pt", "pt-BR"]] as const)(
  "each page of the portal, and each of its dialogs, is in %s wherever it is not data, and fits a telephone",
  async (language, tag) => {
    const own = await browser.newPage()
    const alike = await alikeIn(own, language)
    await own.close()
    const wrong: Array<string> = []
    await visited(language, async (page, scene) => {
      const place = placeOf(scene)
      const before = new Set(english.get(place))
      const texts = await textsOf(page)
      assert.isAbove(texts.length, 5, place)
      for (const text of texts) {
        if (!isData(text) && (isEnglish(text) || before.has(text) && !alike.has(text))) wrong.push(`${place}: ${text}`)
      }
      assert.strictEqual(await page.locator("html").getAttribute("lang"), tag)
      await page.setViewportSize({ width: 375, height: 800 })
      // charts follow a frame later
      await page.waitForFunction(() => document.documentElement.scrollWidth <= 375)
      await page.setViewportSize(desktop)
    })
    assert.deepStrictEqual([...new Set(wrong)], [])
  }
)

it("auto is the visitor's own language, also when the page is loaded again, and without a choice it is English", async () => {
  const context = await browser.newContext({ locale: "pt-PT" })
  const page = await context.newPage()
  page.setDefaultTimeout(300_000)
  await page.goto((await wac.portal.link({ role: "developer", path: "/deliveries", language: "auto" })).url)
  await page.getByRole("heading", { level: 1, name: "Entregas" }).waitFor()
  await page.reload()
  await page.getByRole("heading", { level: 1, name: "Entregas" }).waitFor()
  assert.deepStrictEqual(await violations(page), [])
  await page.goto((await wac.portal.link({ role: "developer", path: "/api-keys" })).url)
  await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor()
  assert.strictEqual(await page.locator("html").getAttribute("lang"), "en")
  await context.close()
})

it("the portal is in English where the texts of its language cannot be loaded", async () => {
  const context = await browser.newContext()
  const page = await context.newPage()
  page.setDefaultTimeout(300_000)
  let refused = 0
  await page.route(/\/assets\/es-[^/]+\.js$/, (route) => {
    refused++
    return route.abort()
  })
  await page.goto((await wac.portal.link({ role: "developer", path: "/api-keys", language: "es" })).url)
  await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor()
  assert.isAbove(refused, 0)
  await context.close()
})
