/**
 * Templates in the dashboard: each has a page.
 */
import { Effect, Exit, Scope } from "effect"
import type { Browser, Page } from "playwright-core"
import { afterAll, assert, beforeAll, it } from "vitest"
import { call, createKey, ownPage, send } from "../harness.ts"
import { browser as launch, signedIn, type Visit } from "./browser.ts"
import * as workspace from "./workspace.ts"

const scope = Scope.makeUnsafe()

const inScope = <A>(effect: Effect.Effect<A, unknown, Scope.Scope>): Promise<A> =>
  Effect.runPromise(Scope.provide(Effect.orDie(effect), scope))

/** A template in two languages, and a message and a campaign that use one of them. */
const set = Effect.gen(function*() {
  const server = yield* workspace.empty
  const { session, url } = server
  const asked = (path: string, body: object) =>
    Effect.map(call(`${url}/internal${path}`, { headers: { ...ownPage, ...session }, body }), (answer) => {
      assert.strictEqual(answer.status, 201, answer.text)
      return answer.body.id as string
    })
  const german = yield* asked("/templates", {
    name: "order_update",
    language: "de",
    category: "utility",
    components: [{ type: "BODY", text: "Ihre Bestellung ist unterwegs." }]
  })
  const template = { name: "order_update", language: "en_US", bodyParams: ["Ana", "1042"] }
  const campaign = yield* asked("/campaigns", { name: "Spring", template })
  const key = yield* createKey(url, session)
  const sent = yield* send({ key, url }, { to: "+15551240007", type: "template", template })
  assert.strictEqual(sent.status, 200, sent.text)
  return { ...server, campaign, german, message: sent.body.message_id as string }
})

let browser: Browser
let server: Effect.Success<typeof set>
let person: Visit

beforeAll(async () => {
  ;[browser, server] = await Promise.all([inScope(launch), inScope(set)])
  person = await signedIn(browser, server)
})
afterAll(async () => {
  person.assertSound()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const titled = (page: Page, name: string) => page.getByRole("heading", { level: 1, name, exact: true }).waitFor()

it("a template's page shows how it looks and where it stands, and Back leads to the list", async () => {
  const { page } = person
  await person.open("/templates?status=rejected")
  await page.getByRole("link", { name: "rejected_offer" }).click()
  await titled(page, "rejected_offer")
  assert.match(page.url(), /\/templates\/tpl_\w+$/)
  await page.getByText(/^The provider rejected it: /).waitFor()
  await page.getByRole("figure", { name: "Preview of rejected_offer" }).waitFor()
  await page.getByText("Edit it, and the provider reviews it again.").waitFor()
  await page.goBack()
  await titled(page, "Templates")
  assert.include(page.url(), "status=rejected")
  await person.open("/templates/tpl_01K8ZPZ1P6E8F0G4H5J7K9M1TV")
  await page.getByText("There is no such template").waitFor()
})

it("a template's page lists its other languages, and its id leads to it from the command menu", async () => {
  const { page } = person
  await person.open(`/templates/${server.german}`)
  await page.getByText("Ihre Bestellung ist unterwegs.").waitFor()
  await page.getByRole("region", { name: "Languages" }).getByRole("link", { name: "en_US", exact: true }).click()
  await page.getByText("Hi name, your order").or(page.getByText("your order")).first().waitFor()
  await page.keyboard.press("ControlOrMeta+k")
  await page.getByRole("combobox", { name: "Page, identifier or number" }).fill(server.german)
  await page.getByRole("option", { name: `Open template ${server.german}`, exact: true }).click()
  await page.getByText("Ihre Bestellung ist unterwegs.").waitFor()
})

it("the page of a message and of a campaign lead to the template that they use", async () => {
  const { page } = person
  await person.open(`/messages/${server.message}`)
  await page.getByRole("region", { name: "What was sent" }).getByRole("link", { name: "today", exact: true }).click()
  await titled(page, "order_update")
  await person.open(`/campaigns/${server.campaign}`)
  await page.getByRole("region", { name: "Plan" }).getByRole("link", { name: "order_update · en_US", exact: true })
    .click()
  await titled(page, "order_update")
})
