/**
 * The portal as a host's customer meets it: in a frame of another site, in a browser that keeps no third-party cookies
 * but partitioned ones. The host's page is on 127.0.0.1, the portal on localhost.
 */
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import type { Browser, BrowserContext, Frame, Locator, Page } from "playwright-core"
import { afterEach, assert, beforeAll, beforeEach, it } from "vitest"
import { createWac, memory, type NewPortalLink, sandbox, type Wac } from "wac"
import { violations } from "./axe.ts"
import { button, desktop, dialog, strictBrowser } from "./browser.ts"
import * as Scope from "./scope.ts"

const inScope = Scope.ofFile()

/** A server on loopback; its port. */
const serve = (listener: RequestListener): Promise<number> =>
  inScope(
    Effect.map(
      Effect.acquireRelease(
        Effect.promise(() => {
          const server = createServer(listener)
          return new Promise<typeof server>((resolve) => server.listen(0, () => resolve(server)))
        }),
        (server) =>
          Effect.promise(() => {
            server.closeAllConnections()
            return new Promise((resolve) => server.close(resolve))
          })
      ),
      (server) => (server.address() as AddressInfo).port
    )
  )

let wac: Wac
let browser: Browser
let context: BrowserContext
let page: Page
/** What the host's page frames. */
let framed = ""
/** What the host's page has in place of a frame of a fixed size. */
let framing: string | undefined
let host = ""
let stranger = ""
let portal = ""

const logo = `<svg xmlns="http://www.w3.org/2000/svg" width="60" height="20"><rect width="60" height="20"/></svg>`

/** What the guide has a host put into its page. */
const [, framingOfGuide = ""] = /^```html in="a host's page"\n(.*?)^```$/ms.exec(
  readFileSync(new URL("../../../../docs/guides/embedding.md", import.meta.url), "utf8")
)!

beforeAll(async () => {
  const hostPage: RequestListener = ({ url }, response) => {
    if (url === "/logo.svg") return void response.setHeader("content-type", "image/svg+xml").end(logo)
    const frame = framing ?? `<iframe width="1000" height="800"></iframe>`
    response.setHeader("content-type", "text/html").end(
      `<!doctype html><title>Host</title><h1>Shop</h1>${frame.replace("<iframe", `<iframe src="${framed}"`)}`
    )
  }
  host = `http://127.0.0.1:${await serve(hostPage)}`
  stranger = `http://127.0.0.1:${await serve(hostPage)}`
  portal = `http://localhost:${await serve((request, response) => wac.nodeHandler(request, response))}`
  wac = await createWac({
    storage: memory(),
    provider: sandbox(),
    workspaceName: "Ana’s shop",
    dashboard: true,
    prefix: "/messaging",
    publicUrl: portal,
    portalOrigins: [host],
    receivers: { allowInsecure: true, allowCidrs: ["127.0.0.0/8"] }
  })
  await inScope(Effect.addFinalizer(() => Effect.promise(wac.close)))
  browser = await inScope(strictBrowser)
})

const troubles: Array<string> = []

beforeEach(async () => {
  // the whole frame is in sight, whatever the size of its letters
  context = await browser.newContext({ viewport: desktop, reducedMotion: "reduce" })
  page = await context.newPage()
  page.setDefaultTimeout(300_000)
  page.on("pageerror", (error) => troubles.push(`exception: ${error.stack ?? error.message}`))
  page.on("response", (response) => {
    if (response.status() === 403 || response.status() >= 500) troubles.push(`${response.status()} ${response.url()}`)
  })
})

afterEach(async () => {
  await context.close()
  framing = undefined
  assert.deepStrictEqual(troubles.splice(0), [])
})

/** Has the host's page show a new link in its frame. */
const show = async (link: NewPortalLink): Promise<Frame> => {
  framed = (await wac.portal.link(link)).url.replaceAll("&", "&amp;")
  await page.goto(host)
  return page.frames()[1]!
}

it("a customer sets the webhook and creates a key in a frame of another site", async () => {
  const frame = await show({ role: "developer", visitor: "ana@shop.example" })
  await frame.getByRole("heading", { name: "Webhooks", exact: true }).waitFor()
  // the secret of the address is gone from it
  assert.strictEqual(frame.url(), `${portal}/messaging/portal/${wac.id}/settings/webhook`)
  await frame.getByLabel("URL").fill("http://127.0.0.1:9/hook")
  await button(frame, "Set webhook").click()
  const secret = frame.getByRole("dialog", { name: "Store the signing secret now" })
  await secret.getByText(/^whsec_/).waitFor()
  assert.strictEqual((await wac.webhook.get())?.url, "http://127.0.0.1:9/hook")
  await secret.getByLabel("I have stored it").check()
  await button(secret, "Done").click()

  await frame.getByRole("link", { name: "API keys" }).click()
  await button(frame, "Create API key").first().click()
  const form = frame.getByRole("dialog", { name: "Create an API key" })
  await form.getByLabel("Name").fill("Shop")
  await button(form, "Create key").click()
  await frame.getByRole("dialog", { name: "API key “Shop”" }).waitFor()
  const [key] = (await wac.keys.list().page()).data
  assert.strictEqual(key!.name, "Shop")
})

it("the frame shows the webhook, deliveries and keys, and no way to anything else", async () => {
  const frame = await show({ role: "member", path: "/deliveries" })
  await frame.getByRole("heading", { name: "Deliveries", exact: true }).waitFor()
  const names = await frame.getByRole("navigation", { name: "Pages" }).getByRole("link").allInnerTexts()
  assert.sameMembers(names.map((name) => name.trim()), ["Deliveries", "API keys", "Webhooks"])
  assert.strictEqual(await frame.getByText("Go to…").count(), 0)
  assert.strictEqual(await frame.getByRole("link", { name: "API documentation" }).count(), 0)
  await frame.goto(`${portal}/messaging/portal/${wac.id}/messages`)
  await frame.waitForURL(`${portal}/messaging/portal/${wac.id}/settings/webhook`)
  await frame.getByRole("link", { name: "API keys" }).click()
  const create = frame.getByRole("button", { name: /^Create API key \(This needs the role developer/ })
  assert.strictEqual(await create.first().getAttribute("aria-disabled"), "true")
})

it("a session lives on when the frame is loaded again, and nowhere but in frames of that site", async () => {
  const frame = await show({ role: "member", path: "/api-keys" })
  await frame.getByRole("heading", { name: "API keys", exact: true }).waitFor()
  await page.reload()
  await page.frames()[1]!.getByRole("heading", { name: "API keys", exact: true }).waitFor()
  assert.deepStrictEqual(
    (await context.cookies()).map(({ name, partitionKey }) => [name, partitionKey]),
    [["__Host-wac_portal", new URL(host).origin.replace(/:\d+$/, "")]]
  )
  await page.goto(framed)
  await page.getByText("This view has ended").waitFor()
})

/** Opens a link as a different browser would, so that it is used up. */
const useUp = async (link: string): Promise<void> => {
  const token = new URLSearchParams(new URL(link).hash.slice(1)).get("token")
  const response = await fetch(`${portal}/messaging/internal/portal`, {
    method: "POST",
    headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
    body: JSON.stringify({ token })
  })
  assert.strictEqual(response.status, 200)
}

it("a used link shows no earlier visitor's session, and the frame's own link goes on when it is loaded again", async () => {
  const create = (frame: Frame) => button(frame, "Create API key").first()
  await create(await show({ role: "developer", path: "/api-keys", visitor: "ana@shop.example" })).waitFor()
  const ofAna = framed
  const ofBen = (await wac.portal.link({ role: "member", path: "/api-keys", visitor: "ben@shop.example" })).url
  await useUp(ofBen)
  framed = ofBen.replaceAll("&", "&amp;")
  await page.goto(host)
  for (const load of [() => page.reload(), () => page.goto(host)]) {
    await page.frames()[1]!.getByText("This view has ended").waitFor()
    assert.strictEqual(await page.frames()[1]!.getByText("API keys").count(), 0)
    await load()
  }
  framed = ofAna
  await page.goto(host)
  await create(page.frames()[1]!).waitFor()
})

it("a frame shows no other visitor's session, begun in another tab, when it is loaded again with its own link", async () => {
  await button(await show({ role: "member", path: "/api-keys" }), /^Create API key/).first().waitFor()
  const own = framed
  const other = await context.newPage()
  framed = (await wac.portal.link({ role: "developer", path: "/api-keys" })).url.replaceAll("&", "&amp;")
  await other.goto(host)
  await button(other.frames()[1]!, "Create API key").first().waitFor()
  framed = own
  await page.reload()
  await page.frames()[1]!.getByText("This view has ended").waitFor()
})

it("a frame that is loaded again before its link's opening is answered keeps the session, even without storage, and a second tab has it too", async () => {
  await page.addInitScript(() => {
    Object.defineProperty(window, "sessionStorage", {
      get: () => {
        throw new DOMException("refused", "SecurityError")
      }
    })
    const { fetch } = window
    window.fetch = async (...given) => {
      const response = await fetch(...given)
      return response.ok && response.url.endsWith("/internal/portal") ? new Promise(() => {}) : response
    }
  })
  const opened = page.waitForResponse((response) => response.url().endsWith("/internal/portal"))
  framed = (await wac.portal.link({ role: "member", path: "/api-keys" })).url.replaceAll("&", "&amp;")
  await page.goto(host)
  assert.strictEqual((await opened).status(), 200)
  await page.reload()
  await page.frames()[1]!.getByRole("heading", { name: "API keys", exact: true }).waitFor()
  const second = await context.newPage()
  await second.goto(host)
  await second.frames()[1]!.getByRole("heading", { name: "API keys", exact: true }).waitFor()
})

it("a new link in the frame is opened, even if its address differs only behind #", async () => {
  const frame = await show({ role: "member", path: "/api-keys" })
  const create = (name: string | RegExp) => button(frame, name).first()
  await create(/^Create API key \(This needs the role developer/).waitFor()
  const { url } = await wac.portal.link({ role: "developer", path: "/api-keys", theme: { radius: 20 } })
  assert.strictEqual(new URL(url).pathname, new URL(frame.url()).pathname)
  await page.evaluate((url) => document.querySelector("iframe")!.setAttribute("src", url), url)
  await create("Create API key").waitFor()
  assert.strictEqual((await styleOf(frame.locator(".card").first())).borderRadius, "20px")
  await frame.waitForURL(`${portal}/messaging/portal/${wac.id}/api-keys`)
})

it("when the session ends, the page says what to do, and keeps what it shows", async () => {
  const frame = await show({ role: "member", path: "/api-keys" })
  await frame.getByRole("heading", { name: "API keys", exact: true }).waitFor()
  const status = await frame.evaluate(async (workspace) => {
    const response = await fetch("/messaging/internal/session", {
      method: "DELETE",
      headers: { "wac-portal": workspace }
    })
    return response.status
  }, wac.id)
  assert.strictEqual(status, 204)
  const ended = frame.getByRole("dialog", { name: "Your session has ended" })
  await ended.getByText("Reload the page in the application that embeds this view.").waitFor()
  assert.strictEqual(await ended.getByRole("textbox").count(), 0)
})

/** How a part of the page looks. */
const styleOf = (part: Locator) =>
  part.evaluate((element) => {
    const { backgroundColor, borderRadius, color, fontFamily } = getComputedStyle(element)
    return { backgroundColor, borderRadius, color, fontFamily }
  })

for (const scheme of ["light", "dark"] as const) {
  it(`a ${scheme} theme has the host’s colours, corners, font and logo, also when the frame is loaded again`, async () => {
    const frame = await show({
      role: "developer",
      path: "/api-keys",
      theme: { accent: "#fc0", radius: 20, font: "Host Sans, system-ui", scheme, logo: `${host}/logo.svg` }
    })
    const looks = async () => {
      const create = button(frame, "Create API key").first()
      await create.waitFor()
      const { backgroundColor, color, fontFamily } = await styleOf(create)
      const { borderRadius } = await styleOf(frame.locator(".card").first())
      assert.deepStrictEqual({ backgroundColor, borderRadius, color }, {
        backgroundColor: "rgb(255, 204, 0)",
        borderRadius: "20px",
        color: "rgb(0, 0, 0)"
      })
      assert.match(fontFamily, /^"Host Sans", system-ui, sans-serif$/)
      const canvas = await styleOf(frame.locator("html"))
      assert.strictEqual(canvas.backgroundColor, { light: "rgb(248, 249, 248)", dark: "rgb(16, 19, 17)" }[scheme])
      const image = frame.getByRole("img", { name: "Ana’s shop" }).filter({ visible: true })
      assert.isTrue(
        await image.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth > 0))
      )
      assert.deepStrictEqual(await violations(frame), [])
    }
    await looks()
    await frame.goto(frame.url())
    await looks()
    // what the host has chosen is not asked of the visitor
    await frame.getByRole("button", { name: "portal" }).click()
    await frame.getByText("Your role: developer").waitFor()
    assert.strictEqual(await frame.getByLabel("Appearance").count(), 0)
    // a link without a theme is not shown in the look of the one before
    const next = await show({ role: "developer", path: "/api-keys" })
    await button(next, "Create API key").first().waitFor()
    assert.strictEqual((await styleOf(next.locator(".card").first())).borderRadius, "10px")
  })
}

it("a theme that the address was given by hand sets no style but of valid values, and loads nothing", async () => {
  const elsewhere: Array<string> = []
  page.on("request", (request) => {
    if (request.url().startsWith(stranger)) elsewhere.push(request.url())
  })
  const { url } = await wac.portal.link({ role: "member", path: "/api-keys" })
  const fields = new URLSearchParams({
    accent: "red;background:url(x)",
    font: "x;}body{display:none}",
    radius: "20;color:red",
    scheme: "dark light",
    logo: `${stranger}/logo.svg`
  })
  framed = `${url}&${fields}`.replaceAll("&", "&amp;")
  await page.goto(host)
  const frame = page.frames()[1]!
  await frame.getByRole("heading", { name: "API keys", exact: true }).waitFor()
  assert.isNull(await frame.locator("html").getAttribute("style"))
  assert.isNull(await frame.locator("html").getAttribute("data-theme"))
  assert.deepStrictEqual(elsewhere, [])
})

it("with the guide’s lines in the host’s page, the frame is as high as its content, and again when that is less", async () => {
  const guide = "https://messaging.example.com"
  assert.include(framingOfGuide, guide)
  framing = framingOfGuide.replace(guide, portal)
  const keys = await Promise.all(Array.from({ length: 30 }, (_, i) => wac.keys.create({ name: `key ${i}` })))
  const frame = await show({ role: "member", path: "/api-keys" })
  await frame.getByText("key 29").first().waitFor()
  const height = () => page.locator("#portal").evaluate((element) => element.getBoundingClientRect().height)
  const fits = () => page.waitForFunction(() => document.querySelector("#portal")!.getBoundingClientRect().height > 900)
  await fits()
  await frame.waitForFunction(() => document.documentElement.scrollHeight <= innerHeight)
  const { bottom } = await frame.locator("main").evaluate((element) => element.getBoundingClientRect().toJSON())
  assert.approximately(await height(), bottom, 1)
  // the page without keys is low: the frame follows, down to the height that dialogs need
  await frame.getByRole("link", { name: "Deliveries" }).click()
  await page.waitForFunction(() => document.querySelector("#portal")!.getBoundingClientRect().height === 600)
  await Promise.all(keys.map(({ id }) => wac.keys.revoke(id)))
})

it("in a tab of its own, the portal reports its height to nobody", async () => {
  await page.addInitScript(() => {
    const heard: Array<unknown> = []
    Object.assign(window, { heard })
    addEventListener("message", ({ data }) => heard.push(data))
  })
  await page.goto((await wac.portal.link({ role: "developer", path: "/api-keys" })).url)
  await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor()
  assert.deepStrictEqual(await page.evaluate(() => (window as unknown as { readonly heard: unknown }).heard), [])
})

it("a link opens in a tab of its own, too", async () => {
  await page.goto((await wac.portal.link({ role: "developer" })).url)
  await page.getByRole("heading", { level: 1, name: /^Webhooks?$/ }).waitFor()
  assert.strictEqual(await dialog(page, "Your session has ended").count(), 0)
})

it("a page of an origin that was not named shows no portal", async () => {
  framed = (await wac.portal.link({ role: "member" })).url
  const refused = page.waitForEvent("console", (message) => message.text().includes("frame-ancestors"))
  await page.goto(stranger)
  await refused
  assert.notInclude(page.frames()[1]!.url(), portal)
})
