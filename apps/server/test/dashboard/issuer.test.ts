/**
 * Signing in to the dashboard at an OpenID Connect issuer, in a real browser against a real issuer.
 */
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { assert, it } from "vitest"
import * as checks from "../checks.ts"
import { start } from "../harness.ts"
import { environmentFor, issuer } from "../people/issuer.ts"
import { browser as launch, button, dialog, unasked, visit } from "./browser.ts"

const fonts = "https://fonts.googleapis.com"

/** What a person does at the issuer: says who they are, and that we may know it. */
const passIssuer = async (page: Page, name: string): Promise<void> => {
  await page.locator("[name=login]").fill(name)
  await page.locator("[name=password]").fill("x")
  await page.getByRole("button", { name: "Sign-in" }).click()
  await page.getByRole("button", { name: "Continue" }).click()
}

it("a person signs in at the issuer, and again in another tab without losing a form; one without a role learns why not", () =>
  Effect.gen(function*() {
    const { redirectUris, url: issuerUrl } = yield* issuer({
      ada: { email: "ada@example.com", email_verified: true, wac_roles: "developer" },
      eve: { email: "eve@example.com", email_verified: true },
      olga: { email: "olga@example.com", email_verified: true, wac_roles: "owner" }
    })
    const { url } = yield* start({ environment: { ...checks.unlimited, ...environmentFor(issuerUrl) } })
    redirectUris.push(`${url}/internal/oidc/callback`)
    const browser = yield* launch
    yield* Effect.promise(async () => {
      const person = await visit(browser, url, { others: [issuerUrl, fonts] })
      const { page } = person
      // of the issuer's own pages: nothing is loaded from the network in a test
      await page.context().route(`${fonts}/**`, (route) => route.fulfill({ contentType: "text/css", body: "" }))
      await person.open("/api-keys")
      await page.getByRole("heading", { name: "Sign in" }).waitFor()
      assert.strictEqual(await page.getByLabel("Password").count(), 0, "nobody has a password here")
      await page.getByRole("link", { name: "Sign in" }).click()
      await passIssuer(page, "ada")
      // the page that was asked for
      await page.getByRole("heading", { name: "API keys" }).waitFor()
      await page.getByText("ada@example.com").waitFor()
      await page.getByRole("button", { name: /ada@example\.com/ }).click()
      await page.getByText("Your role: developer").waitFor()

      await person.open("/api-keys")
      await button(page, "Create API key").first().click()
      const form = dialog(page, "Create an API key")
      await form.getByLabel("Name").fill("Kept")
      const asking = dialog(page, "Your session has ended")
      await unasked(page, async () => {
        await page.evaluate(() => fetch("/internal/session", { method: "DELETE" }))
        await button(form, "Create key").click()
        await asking.waitFor()
      })
      const [tab] = await Promise.all([
        page.waitForEvent("popup"),
        asking.getByRole("link", { name: "Sign in in another tab" }).click()
      ])
      // the issuer remembers who is there
      await tab.getByRole("heading", { name: "Overview" }).waitFor()
      await tab.close()
      await asking.waitFor({ state: "detached" })
      assert.strictEqual(await form.getByLabel("Name").inputValue(), "Kept")
      await button(form, "Create key").click()
      await dialog(page, "API key “Kept”").waitFor()

      await person.open("/account")
      await page.getByRole("region", { name: "Sessions" }).waitFor()
      assert.strictEqual(await page.getByRole("region", { name: "Password" }).count(), 0)
      person.assertSound()
      await person.end()

      const owner = await visit(browser, url, { others: [issuerUrl, fonts] })
      await owner.page.context().route(`${fonts}/**`, (route) => route.fulfill({ contentType: "text/css", body: "" }))
      await owner.open("/settings/members")
      await owner.page.getByRole("link", { name: "Sign in" }).click()
      await passIssuer(owner.page, "olga")
      await owner.page.getByRole("row", { name: /ada@example\.com/ }).waitFor()
      const invite = button(owner.page, /^Invite a person/)
      await owner.page.getByText("People sign in at the issuer, which gives them their roles").first().waitFor()
      assert.strictEqual(await invite.getAttribute("aria-disabled"), "true")
      assert.strictEqual(await button(owner.page, /^Reset the second factor/).count(), 0)
      owner.assertSound()
      await owner.end()

      const stranger = await visit(browser, url, { others: [issuerUrl, fonts] })
      await stranger.page.context().route(
        `${fonts}/**`,
        (route) => route.fulfill({ contentType: "text/css", body: "" })
      )
      await stranger.open("")
      await stranger.page.getByRole("link", { name: "Sign in" }).click()
      await passIssuer(stranger.page, "eve")
      const told = await stranger.page.getByRole("alert").innerText()
      assert.match(told, /^You were signed in, but you have no role in this service\..*\s*Request req_/)
      stranger.assertSound()
      await stranger.end()
    })
  }).pipe(Effect.scoped, Effect.runPromise))
