/**
 * The second factor in the dashboard: a person sets it up, signs in with it, proves their presence with it, and switches
 * it off; an owner resets that of a member.
 */
import { Totp } from "@wac/core"
import { Effect, Redacted } from "effect"
import { readFile } from "node:fs/promises"
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, it } from "vitest"
import { call, environment, signIn } from "../harness.ts"
import { enrol } from "../people/enrolment.ts"
import { invite, join, password } from "../people/joining.ts"
import { browser as launch, button, dialog, signedIn, type Visit, visit } from "./browser.ts"
import * as Scope from "./scope.ts"
import * as workspace from "./workspace.ts"

const inScope = Scope.ofFile()

let browser: Browser
let server: Effect.Success<typeof workspace.emptyAndStill>
let person: Visit
/** What the person's app has. */
let secret: Redacted.Redacted
let recoveryCodes: ReadonlyArray<string>

beforeAll(async () => {
  ;[browser, server] = await Promise.all([inScope(launch), inScope(workspace.emptyAndStill)])
  person = await signedIn(browser, server)
})
afterAll(() => person.assertSound())

/** The code of the step that is `after` the current one. Each test uses a later one, since each is good once. */
const code = (after: number): string => Totp.codeAt(secret, server.clock.currentTimeMillisUnsafe() + after * 30_000)

it("a person scans the secret, switches the second factor on by a code, and keeps the recovery codes", async () => {
  const { page } = person
  await person.open("/account")
  await button(page, "Set up an app").click()
  const form = dialog(page, "Set up an authenticator app")
  await form.getByRole("img", { name: "The secret as a QR code" }).waitFor()
  secret = Redacted.make(await form.locator("code").innerText())
  await form.getByLabel("Code", { exact: true }).fill("000000")
  await button(form, "Switch on").click()
  await form.getByRole("alert").waitFor()
  await form.getByLabel("Code", { exact: true }).fill(code(-1))
  await button(form, "Switch on").click()
  const shown = dialog(page, "Recovery codes")
  recoveryCodes = (await shown.getByRole("group", { name: "Recovery codes" }).innerText()).split("\n")
  assert.lengthOf(recoveryCodes, 10)
  // the page behind has learned meanwhile that the second factor is on
  await page.getByText("On. Recovery codes left: 10.").waitFor()
  const [download] = await Promise.all([page.waitForEvent("download"), shown.getByText("Download").click()])
  assert.strictEqual(await readFile(await download.path(), "utf8"), `${recoveryCodes.join("\n")}\n`)
  await button(shown, "I have kept them").click()
  await shown.waitFor({ state: "detached" })
})

it("the sign-in asks for a code after the password, and a wrong one leaves the person there", async () => {
  const other = await visit(browser, server.url)
  const { page } = other
  await other.open("")
  await page.getByLabel("E-mail").fill(environment.WAC_OWNER_EMAIL)
  await page.getByLabel("Password").fill(environment.WAC_OWNER_PASSWORD)
  await button(page, "Sign in").click()
  await page.getByLabel("Code", { exact: true }).fill("000000")
  await button(page, "Continue").click()
  await page.getByText("The code is wrong or was used before").waitFor()
  await page.getByLabel("Code", { exact: true }).fill(code(0))
  await button(page, "Continue").click()
  await page.getByRole("heading", { name: "Overview" }).waitFor()
  other.assertSound()
  await other.end()
})

it("a code proves the person's presence in place of the password, and they switch the second factor off", async () => {
  const { page } = person
  await Effect.runPromise(server.pass("10 minutes"))
  await person.open("/account")
  await button(page, "Switch off…").click()
  await button(dialog(page, "Switch the second factor off?"), "Switch off").click()
  const proof = dialog(page, "Confirm that it is you")
  await button(proof, "Use a code").click()
  await proof.getByLabel("Code", { exact: true }).fill(recoveryCodes[0]!)
  await button(proof, "Confirm").click()
  await button(page, "Set up an app").waitFor()
})

it("an owner resets the second factor of a member, whose password alone signs them in again", async () => {
  const { page } = person
  const { clock, url } = server
  // the person's proof has replaced the cookie that the test had
  const session = await Effect.runPromise(signIn(url))
  const ben = await Effect.runPromise(join(url, session, "ben@example.com", "member"))
  await Effect.runPromise(enrol(url, ben.headers, clock))
  await person.open("/settings/members")
  await button(page, "Reset the second factor of ben@example.com").click()
  const question = dialog(page, "Reset the second factor of ben@example.com?")
  await button(question, "Reset second factor").click()
  await question.waitFor({ state: "detached" })
  const other = await visit(browser, url)
  await other.open("")
  await other.page.getByLabel("E-mail").fill("ben@example.com")
  await other.page.getByLabel("Password").fill(password)
  await button(other.page, "Sign in").click()
  await other.page.getByRole("heading", { name: "Overview" }).waitFor()
  await other.end()
  // there is none left to reset
  await button(page, "Reset the second factor of ben@example.com").click()
  await button(question, "Reset second factor").click()
  await question.getByRole("alert").getByText("there is no second factor").waitFor()
})

it("a removed person with a second factor joins again by the link, their password and a recovery code", async () => {
  const { clock, url } = server
  const session = await Effect.runPromise(signIn(url))
  const email = "cleo@example.com"
  const cleo = await Effect.runPromise(join(url, session, email, "member"))
  const codes = await Effect.runPromise(enrol(url, cleo.headers, clock))
  await Effect.runPromise(call(`${url}/internal/members/${cleo.id}`, { method: "DELETE", headers: session }))
  const { body } = await Effect.runPromise(invite(url, session, email, "member"))
  const other = await visit(browser, url)
  const { page } = other
  await page.goto(body.inviteUrl)
  await page.getByLabel("Password").fill(password)
  await button(page, "Join").click()
  await page.getByLabel("Code", { exact: true }).fill("000000")
  await button(page, "Continue").click()
  await page.getByText("The code is wrong or was used before").waitFor()
  await page.getByLabel("Code", { exact: true }).fill(codes.recoveryCodes[0]!)
  await button(page, "Continue").click()
  await page.getByRole("heading", { name: "Overview" }).waitFor()
  await other.end()
})

it("if recovery codes were made in a response that was lost, the page says so until new ones are shown", async () => {
  const { url } = server
  const session = await Effect.runPromise(signIn(url))
  const dora = await Effect.runPromise(join(url, session, "dora@example.com", "member"))
  const other = await signedIn(browser, { ...server, session: dora.headers })
  const { page } = other
  const warning = page.getByRole("alert").filter({ hasText: "New recovery codes may have been made" })
  const lose = (address: RegExp) =>
    page.route(address, async (route) => {
      await route.fetch()
      await route.abort()
    })
  const makeNew = async () => {
    await button(page, "New recovery codes…").click()
    await button(dialog(page, "Make new recovery codes?"), "Make new codes").click()
  }
  const keep = async () => {
    await button(dialog(page, "Recovery codes"), "I have kept them").click()
    await warning.waitFor({ state: "detached" })
  }
  await lose(/\/internal\/factor\/confirm$/)
  await other.open("/account")
  await button(page, "Set up an app").click()
  const form = dialog(page, "Set up an authenticator app")
  const own = Redacted.make(await form.locator("code").innerText())
  await form.getByLabel("Code", { exact: true }).fill(Totp.codeAt(own, server.clock.currentTimeMillisUnsafe()))
  await button(form, "Switch on").click()
  await page.getByText("On. Recovery codes left: 10.").waitFor()
  await warning.waitFor()
  await makeNew()
  await keep()
  await lose(/\/internal\/factor\/recovery-codes$/)
  await makeNew()
  await dialog(page, "Make new recovery codes?").getByRole("alert").waitFor()
  await button(dialog(page, "Make new recovery codes?"), "Cancel").click()
  await warning.waitFor()
  await page.unroute(/\/internal\/factor\/recovery-codes$/)
  await makeNew()
  await keep()
  await other.end()
})
