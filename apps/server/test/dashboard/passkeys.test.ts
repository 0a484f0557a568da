/**
 * Passkeys in the dashboard, with Chromium's virtual authenticator: a person adds one, signs in with it, proves their
 * presence with it, and removes it.
 */
import { Effect } from "effect"
import type { Browser, CDPSession } from "playwright-core"
import { afterAll, assert, beforeAll, it } from "vitest"
import { environment } from "../harness.ts"
import { browser as launch, button, dialog, signedIn, type Visit } from "./browser.ts"
import * as Scope from "./scope.ts"
import * as workspace from "./workspace.ts"

const inScope = Scope.ofFile()

let browser: Browser
let server: Effect.Success<typeof workspace.empty>
let person: Visit
let devices: CDPSession
/** The virtual authenticator. */
let authenticatorId: string

beforeAll(async () => {
  const [launched, made] = await Promise.all([inScope(launch), inScope(workspace.empty)])
  browser = launched
  // passkeys need a name, and a browser trusts this one without https
  server = { ...made, url: made.url.replace("127.0.0.1", "localhost") }
  person = await signedIn(browser, server)
  devices = await person.page.context().newCDPSession(person.page)
  await devices.send("WebAuthn.enable")
  const added = await devices.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true
    }
  })
  authenticatorId = added.authenticatorId
})
afterAll(() => person.assertSound())

/** What the authenticator has. */
const credentials = async () => (await devices.send("WebAuthn.getCredentials", { authenticatorId })).credentials

const signOut = () => person.page.context().clearCookies()

/** Signs in by the password, up to the second step. */
const givePassword = async () => {
  const { page } = person
  await person.open("")
  await page.getByLabel("E-mail").fill(environment.WAC_OWNER_EMAIL)
  await page.getByLabel("Password").fill(environment.WAC_OWNER_PASSWORD)
  await button(page, "Sign in").click()
}

it("a person adds a passkey, which the browser makes, and keeps the recovery codes", async () => {
  const { page } = person
  await person.open("/account")
  await button(page, "Add a passkey…").click()
  const form = dialog(page, "Add a passkey")
  await form.getByLabel("Name").fill("My laptop")
  await button(form, "Continue").click()
  const shown = dialog(page, "Recovery codes")
  assert.lengthOf((await shown.getByRole("group", { name: "Recovery codes" }).innerText()).split("\n"), 10)
  await button(shown, "I have kept them").click()
  await shown.waitFor({ state: "detached" })
  const row = page.getByRole("group", { name: "Your passkeys" }).getByRole("row", { name: /My laptop/ })
  await row.getByText("Never").waitFor()
  const [credential] = await credentials()
  assert.deepInclude(credential, { rpId: "localhost", isResidentCredential: true })
  // the same authenticator has one already
  await button(page, "Add a passkey…").click()
  await form.getByLabel("Name").fill("Again")
  await button(form, "Continue").click()
  await form.getByRole("alert").getByText("has a passkey for your account already").waitFor()
})

it("the sign-in offers the passkey after the password", async () => {
  const { page } = person
  await signOut()
  await givePassword()
  await button(page, "Use a passkey").click()
  await page.getByRole("heading", { name: "Overview" }).waitFor()
  await person.open("/account")
  const row = page.getByRole("group", { name: "Your passkeys" }).getByRole("row", { name: /My laptop/ })
  await row.waitFor()
  assert.strictEqual(await row.getByText("Never").count(), 0)
})

it("a passkey that the browser does not give leaves the person at the sign-in, where a code is accepted too", async () => {
  const { page } = person
  await signOut()
  await givePassword()
  await devices.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false })
  const [credential] = await credentials()
  await devices.send("WebAuthn.removeCredential", { authenticatorId, credentialId: credential!.credentialId })
  await button(page, "Use a passkey").click()
  await page.getByRole("alert").getByText("The browser got no passkey").waitFor()
  await page.getByLabel("Code", { exact: true }).waitFor()
  await devices.send("WebAuthn.addCredential", { authenticatorId, credential: credential! })
  await devices.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: true })
  await button(page, "Use a passkey").click()
  await page.getByRole("heading", { name: "Overview" }).waitFor()
})

it("a passkey proves the person's presence, and they remove it, which switches the second factor off", async () => {
  const { page } = person
  await Effect.runPromise(server.pass("10 minutes"))
  await person.open("/account")
  await button(page, "Remove My laptop").click()
  await button(dialog(page, "Remove the passkey My laptop?"), "Remove").click()
  await button(dialog(page, "Confirm that it is you"), "Use a passkey").click()
  await button(page, "Set up an app").waitFor()
  await page.getByRole("group", { name: "Your passkeys" }).waitFor({ state: "detached" })
  await signOut()
  await givePassword()
  await page.getByRole("heading", { name: "Overview" }).waitFor()
})
