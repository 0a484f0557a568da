import { Portal, PortalTheme as Core } from "@wac/core"
import { assert, expect, expectTypeOf, it } from "vitest"
import { createWac, memory, type NewPortalLink, type PortalTheme, sandbox } from "../../src/promises.ts"
import { failure, start } from "../instance.ts"

const served = { dashboard: true, publicUrl: "https://shop.example", prefix: "/messaging" } as const

const fieldsOf = (url: string) => new URLSearchParams(new URL(url).hash.slice(1))

/** Opens a link's token, like the portal's page. */
const open = (handler: (request: Request) => Promise<Response>, url: string) =>
  handler(
    new Request("https://shop.example/messaging/internal/portal", {
      method: "POST",
      headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
      body: JSON.stringify({ token: fieldsOf(url).get("token") })
    })
  )

it("a link leads to the workspace's page, opens a session with its role, and is valid for an hour", async () => {
  const { clock, wac } = await start(served)
  const shop = await wac.workspaces.create({ name: "Second shop", phoneNumber: "+15550100002" })
  const link = await wac.portal.link({ workspaceId: shop.id, role: "developer", path: "/deliveries", visitor: "Ana" })
  assert.match(
    link.url,
    new RegExp(`^https://shop\\.example/messaging/portal/${shop.id}/deliveries#token=\\w{32}&id=\\w+$`)
  )
  assert.strictEqual(Date.parse(link.expiresAt), clock.now().getTime() + 3_600_000)
  const opened = await open(wac.handler, link.url)
  expect(await opened.json()).toMatchObject({
    userId: fieldsOf(link.url).get("id"),
    workspaceId: shop.id,
    role: "developer",
    email: "Ana"
  })
  const late = await wac.portal.link({ role: "member", expiresIn: 60 })
  assert.include(late.url, `/portal/${wac.id}#token=`)
  await clock.advance("1 minute")
  assert.strictEqual((await open(wac.handler, late.url)).status, 401)
})

it("an invalid link is refused by the name of its field", async () => {
  const { wac } = await start(served)
  const link = (fields: object) => failure(wac.portal.link({ role: "member", ...fields }))
  for (
    const [param, value] of [
      ["role", "guest"],
      ["path", "deliveries"],
      ["path", "/../../dashboard"],
      ["path", "/%2e%2e/%2e%2e/dashboard"],
      ["path", "/deliveries#token=x"],
      ["path", "/\\evil.example"],
      ["expiresIn", 0],
      ["expiresIn", 604_801],
      ["visitor", ""],
      ["language", "fr"],
      ["nobody", "knows"]
    ] as const
  ) assert.deepInclude(await link({ [param]: value }), { code: "invalid_body", param }, `${param}: ${value}`)
  for (const workspaceId of ["ws_00000000000000000000000000", "nothing"]) {
    assert.deepInclude(await link({ workspaceId }), { code: "not_found" })
  }
})

it("a theme has the same fields in the façade, in what is checked and in a link's address", () => {
  const theme: Required<PortalTheme> = { accent: "#0b7446", logo: "", radius: 4, font: "Inter", scheme: "dark" }
  const checked = Portal.themeOf([])
  // the compiler compares the types: the façade's declarations name no other package
  expectTypeOf<PortalTheme>().toEqualTypeOf<Core.PortalTheme>()
  expectTypeOf<typeof checked.Type>().toEqualTypeOf<Core.PortalTheme>()
  assert.sameMembers(Object.keys(checked.fields), Object.keys(theme))
  assert.sameMembers([...Core.fieldsOf(theme).keys()], Object.keys(theme))
})

it("a link carries the instance's theme, whose fields its own theme replaces", async () => {
  const { wac } = await start({
    ...served,
    portalOrigins: ["https://app.example"],
    portalTheme: { accent: "#0b7446", radius: 4, logo: "https://app.example/logo.svg?v=1&size=2" }
  })
  const link = await wac.portal.link({
    role: "member",
    theme: { accent: "#FC0", font: "Inter, \"Helvetica Neue\"", scheme: "dark" }
  })
  const { id, token, ...theme } = Object.fromEntries(fieldsOf(link.url))
  assert.match(`${id} ${token}`, /^\w+ \w{32}$/)
  assert.deepStrictEqual(theme, {
    accent: "#FC0",
    radius: "4",
    font: "Inter, \"Helvetica Neue\"",
    scheme: "dark",
    logo: "https://app.example/logo.svg?v=1&size=2"
  })
})

it("a link has the language of its pages, and none if it is not given", async () => {
  const { wac } = await start(served)
  const languageOf = async (link: Partial<NewPortalLink>) => {
    const { url } = await wac.portal.link({ role: "member", ...link })
    return fieldsOf(url).get("language")
  }
  // the compiler compares the types: the façade's declarations name no other package
  expectTypeOf<NonNullable<NewPortalLink["language"]>>().toEqualTypeOf<typeof Portal.Language.Type>()
  for (const language of Portal.Language.literals) assert.strictEqual(await languageOf({ language }), language)
  assert.isNull(await languageOf({}))
})

it("an invalid theme is refused by the name of its field, in the options and in a link", async () => {
  const portalOrigins = ["https://app.example"]
  const { wac } = await start({ ...served, portalOrigins })
  for (
    const [param, value] of [
      ["accent", "green"],
      ["accent", "#12345"],
      ["accent", "#0b7446;color:red"],
      ["logo", "https://other.example/logo.svg"],
      ["logo", "javascript:alert(1)"],
      ["logo", "data:text/html;base64,AAAA"],
      ["logo", `data:image/png;base64,${"A".repeat(32_768)}`],
      ["radius", 25],
      ["radius", -1],
      ["radius", 1.5],
      ["radius", "4"],
      ["font", "Inter; color: red"],
      ["font", "url(https://other.example/font)"],
      ["font", ""],
      ["scheme", "sepia"],
      ["colour", "#0b7446"]
    ] as const
  ) {
    const theme = { [param]: value } as object
    const ofLink = await failure(wac.portal.link({ role: "member", theme }))
    assert.deepInclude(ofLink, { code: "invalid_body", param: `theme.${param}` }, String(value))
    const ofOption = await failure(
      createWac({ storage: memory(), provider: sandbox(), portalOrigins, portalTheme: theme })
    )
    assert.deepInclude(ofOption, { code: "invalid_body", param: `portalTheme.${param}` }, String(value))
  }
  const nothing = await failure(createWac({ storage: memory(), provider: sandbox(), portalTheme: "dark" as never }))
  assert.deepInclude(nothing, { param: "portalTheme" })
})

it("without publicUrl or dashboard, links are refused", async () => {
  for (const { dashboard, publicUrl } of [{ ...served, publicUrl: undefined }, { ...served, dashboard: false }]) {
    const { wac } = await start({ dashboard, ...(publicUrl === undefined ? {} : { publicUrl }) })
    const error = await failure(wac.portal.link({ role: "member" }))
    assert.deepInclude(error, { code: "invalid_body", param: "publicUrl" })
  }
})

it("portalOrigins accepts origins and nothing else", async () => {
  const made = (portalOrigins: ReadonlyArray<string>) =>
    failure(createWac({ storage: memory(), provider: sandbox(), portalOrigins }))
  for (
    const origin of [
      "*",
      "https://*",
      "app.example",
      "https://app.example/",
      "https://app.example; script-src *",
      "https://app.example;x",
      "https://*.app.example",
      ""
    ]
  ) assert.deepInclude(await made([origin]), { param: "portalOrigins" }, origin)
  assert.deepInclude(await made("https://app.example" as never), { param: "portalOrigins" })
})
